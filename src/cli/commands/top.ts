// `hexcodes top`: what a running service is doing, read from its admin port every second, until q or Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { paintFor } from '../../files/terminal/paint.js';
import { readExposition } from '../top/exposition-text.js';
import { type KeyReading, type Reading, viewOf } from '../top/readings.js';
import { drawView } from '../top/screen.js';

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
/** Lines of a view besides the rows of its two tables. */
const OTHER_LINES = 18;

/** q, Q, Ctrl-C and Ctrl-D. */
const QUIT_KEYS = [0x71, 0x51, 3, 4];

const TO_ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l';
const TO_MAIN_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

export default function declare(program: Command): void {
  program
    .command('top')
    .summary('live rates, latencies and keys of a running service')
    .description(
      'Show what a running service is doing: rates, latencies, keys, streams, pool and event loop, every second. q or Ctrl-C ends it.',
    )
    .argument('[address]', 'the admin port of the service', defaultAddress())
    .option('--once', 'one view of a second as plain text')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes top
  $ hexcodes top http://10.0.0.7:9090
  $ hexcodes top --once`,
    )
    .action((address: string, { once }: { once?: boolean }) => show(baseOf(address), once === true));
}

/** That of `hexcodes serve` with the same environment. */
function defaultAddress(): string {
  const { HEXCODES_ADMIN_HOST = '127.0.0.1', HEXCODES_ADMIN_PORT = '9090' } = process.env;
  const host =
    HEXCODES_ADMIN_HOST === '0.0.0.0' || HEXCODES_ADMIN_HOST === '::' ? '127.0.0.1' : HEXCODES_ADMIN_HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${HEXCODES_ADMIN_PORT}`;
}

function baseOf(address: string): URL {
  const text = /^https?:\/\//.test(address) ? address : `http://${address}`;
  if (!URL.canParse(text)) throw new CliFailure(EXIT.USAGE, `${address} is not an address`);
  return new URL(text);
}

async function show(base: URL, isOnce: boolean): Promise<void> {
  const { stdout } = process;
  const isScreen = !isOnce && stdout.isTTY === true && process.env.TERM !== 'dumb';
  const paint = paintFor(stdout);
  const stop = new AbortController();
  const restore = isScreen ? openScreen(() => stop.abort()) : () => {};
  // A reader that goes away (`hexcodes top | head`) ends it as well.
  stdout.on('error', () => stop.abort());
  try {
    let before = await read(base, stop.signal);
    do {
      await sleep(INTERVAL_MS, undefined, { signal: stop.signal });
      const after = await read(base, stop.signal);
      // A terminal without a size says 0.
      const height = stdout.rows || 24;
      const rows = isScreen ? Math.floor((height - OTHER_LINES) / 2) : undefined;
      const lines = drawView(viewOf(before, after), base.host, paint, rows);
      stdout.write(
        isScreen
          ? frameOf(lines, height, stdout.columns || 80)
          : `${lines.join('\n')}\n${isOnce ? '' : '\n'}`,
      );
      before = after;
    } while (!isOnce);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    restore();
  }
}

/** Takes the terminal: `quit` is called at q or Ctrl-C. Returns what gives it back. */
function openScreen(quit: () => void): () => void {
  const { stdin, stdout } = process;
  const onKeys = (keys: Buffer): void => {
    if (keys.some((key) => QUIT_KEYS.includes(key))) quit();
  };
  const isRaw = stdin.isTTY === true;
  if (isRaw) {
    stdin.setRawMode(true);
    stdin.on('data', onKeys);
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, quit);
  stdout.write(TO_ALTERNATE_SCREEN);
  return () => {
    stdout.write(TO_MAIN_SCREEN);
    for (const signal of signals) process.off(signal, quit);
    if (!isRaw) return;
    stdin.off('data', onKeys);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

/** Overwrites the lines on the screen one by one, so that nothing flickers. */
function frameOf(lines: readonly string[], rows: number, columns: number): string {
  const shown = lines.slice(0, rows - 1).map((line) => `${cut(line, columns)}${CLEAR_LINE}\n`);
  return `${HOME}${shown.join('')}${CLEAR_BELOW}`;
}

/** Cuts a text to a number of columns; the sequences that colour it take none. */
function cut(line: string, columns: number): string {
  let width = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return line.replace(/\u001b\[\d+m|./gsu, (piece) =>
    piece.startsWith('\u001b') || ++width <= columns ? piece : '',
  );
}

async function read(base: URL, stopped: AbortSignal): Promise<Reading> {
  const get = async (path: string): Promise<Response> => {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await fetch(new URL(path, base), { signal }).catch((error: unknown) => {
      throw unreachable(base, error);
    });
    if (answer.ok) return answer;
    throw new CliFailure(
      EXIT.FAILED,
      `${base.host} answers ${answer.status}: it is no admin port of hexcodes serve`,
    );
  };
  const [metrics, activity] = await Promise.all([get('/metrics'), get('/activity')]);
  const atMs = performance.now();
  const { keys } = (await activity.json()) as { keys: KeyReading[] };
  return { atMs, metrics: readExposition(await metrics.text()), keys };
}

function unreachable(base: URL, error: unknown): CliFailure {
  const { cause } = error as { cause?: { code?: string } };
  return new CliFailure(
    EXIT.FAILED,
    `${base.host} cannot be reached${cause?.code === undefined ? '' : ` (${cause.code})`}`,
    'name the admin port of the service: hexcodes top http://HOST:9090',
  );
}
