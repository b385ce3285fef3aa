// `hexcodes top`: what a running service is doing, read from its admin port every second, until q or Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { grouped, type Paint, paintFor, visibleMessage } from '../../files/terminal/say.js';
import {
  type KeyReading,
  type Quantiles,
  type Reading,
  readExposition,
  type View,
  viewOf,
} from '../readings.js';

// Draws a view as lines of text, for a terminal or a file alike.

/** Rows of each table where the height of the terminal is not known. */
const MOST_ROWS = 20;

export function drawView(view: View, address: string, paint: Paint, rows = MOST_ROWS): string[] {
  const { versions, pool, stream, bulk, eventLoop } = view;
  const state = view.isReady ? paint('green', 'ready') : paint('red', 'not ready');
  const faults = [
    ...(view.hasKeyStoreFault ? ['the key store cannot be read'] : []),
    ...(view.hasUsageStoreFault ? ['usage cannot be stored'] : []),
    ...(view.droppedLogLines > 0 ? [`${grouped(view.droppedLogLines)} log lines dropped`] : []),
  ];
  const summary = [
    [
      'requests',
      `${perSecond(view.requestsPerSecond)}, connections ${grouped(view.connections)}, refused over a limit ${perSecond(view.refusalsPerSecond)}`,
    ],
    [
      'points',
      `${perSecond(view.pointsPerSecond)}, of which failed ${perSecond(view.failedPointsPerSecond)}`,
    ],
    ['bodies', `in ${bytes(view.bytesInPerSecond)}/s, out ${bytes(view.bytesOutPerSecond)}/s`],
    [
      'event loop',
      `late by p50 ${duration(eventLoop.p50)}, p99 ${duration(eventLoop.p99)}, at most ${duration(eventLoop.max)}`,
    ],
    [
      'process',
      `CPU ${Math.round(view.cpuShare * 100)} %, memory ${bytes(view.residentBytes)}, held for peers ${bytes(view.heldBytes)} of ${bytes(view.heldBytesLimit)}`,
    ],
    [
      'pool',
      `${grouped(pool.threads)} threads, blocks ${grouped(pool.blocks)}, queued ${grouped(pool.queued)}, ${latencies(pool)}`,
    ],
    [
      'stream',
      `connections ${grouped(stream.connections)}, frames ${perSecond(stream.framesPerSecond)}, unanswered ${grouped(stream.unanswered)}, ${latencies(stream)}`,
    ],
    ['bulk', `under way ${grouped(bulk.underWay)}, on disk ${bytes(bulk.spooledBytes)}`],
  ];
  const routes = table(
    ['ROUTE', 'REQUESTS', 'P50', 'P99', '4XX', '5XX'],
    view.routes.map((route) => [
      route.route,
      perSecond(route.requestsPerSecond),
      duration(route.p50),
      duration(route.p99),
      perSecond(route.refusedPerSecond),
      perSecond(route.failedPerSecond),
    ]),
    rows,
    paint,
  );
  const keys = table(
    ['KEY', 'REQUESTS', 'POINTS'],
    view.keys.map((key) => [
      key.id === '' ? '(others)' : key.id,
      perSecond(key.requestsPerSecond),
      perSecond(key.pointsPerSecond),
    ]),
    rows,
    paint,
  );
  return [
    `${paint('bold', `hexcodes ${versions.version ?? ''}`)} on ${visibleMessage(address)}, ${state}, up ${upTime(view.upSeconds)}`,
    paint(
      'dim',
      `kernel ${versions.kernel ?? ''}, data of ${versions.data_date ?? ''} (${versions.data ?? ''}), ${versions.transport ?? ''} ${versions.transport_version ?? ''}, Node ${versions.node ?? ''}`,
    ),
    ...faults.map((fault) => paint('red', fault)),
    '',
    ...summary.map(([name = '', text = '']) => `${name.padEnd(11)} ${text}`),
    '',
    ...routes,
    '',
    ...keys,
  ];
}

/** The first column to the left, the others to the right; rows beyond `most` are counted. */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  most: number,
  paint: Paint,
): string[] {
  const shown = rows.slice(0, Math.max(1, most)).map((row) => row.map(visibleMessage));
  const widths = head.map((title, at) => Math.max(title.length, ...shown.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  const left = rows.length - shown.length;
  return [
    paint('dim', line(head)),
    ...shown.map(line),
    ...(rows.length === 0 ? [paint('dim', '(none)')] : []),
    ...(left > 0 ? [paint('dim', `and ${left} more`)] : []),
  ];
}

function latencies({ p50, p99 }: Quantiles): string {
  return `p50 ${duration(p50)}, p99 ${duration(p99)}`;
}

function perSecond(rate: number): string {
  return `${rate < 10 && rate > 0 ? rate.toFixed(1) : grouped(rate)}/s`;
}

/** Three digits, in the unit that suits: `250 µs`, `1.25 ms`, `2.50 s`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return '-';
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  return seconds < 1 ? `${(seconds * 1000).toPrecision(3)} ms` : `${seconds.toPrecision(3)} s`;
}

/** In binary units: `512 B`, `1.5 MiB`. */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function upTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`;
}

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
