// The real server for tests, in the test's own process (so that a test sees its memory), on a free port, with the
// open world as its map and a folder of its own; and a client of raw bytes.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { readConfig, SETTING_NAMES, type ServeConfig } from '#config';
import { LogSink, type LogTarget, lineForPeople, openLog } from '#dist/server/observe/log.js';
import { serve } from '#server';
import { openWorld } from './open-world.js';

type ServedData = Parameters<typeof serve>[1];
type ServeTuning = NonNullable<Parameters<typeof serve>[3]>;

export type { ServeConfig };
export { LogSink, type LogTarget, lineForPeople, openLog };
/** The account of bytes, requests and sockets of peers. */
export type Budget = Parameters<NonNullable<ServeTuning['withBudget']>>[0];
/** The threads of a server. */
export type Pool = Parameters<NonNullable<ServeTuning['withPool']>>[0];

export interface TestServer {
  readonly port: number;
  readonly adminPort: number;
  readonly base: string;
  readonly dataDir: string;
  /** The first key's text. */
  readonly key: string;
  /** All log lines so far. */
  log(): string;
  stop(): Promise<void>;
}

export async function startServer(
  overrides: Partial<ServeConfig> = {},
  files: ServedData = openWorld(),
  tuning: ServeTuning = {},
): Promise<TestServer> {
  const dataDir = overrides.dataDir ?? mkdtempSync(join(tmpdir(), 'hexcodes-'));
  const config: ServeConfig = {
    ...readConfig(SETTING_NAMES, {}, {}),
    port: 0,
    adminPort: 0,
    dataDir,
    logLevel: 'debug',
    drainMs: 0,
    graceMs: 2000,
    ...overrides,
  };
  let lines = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines += chunk.toString();
      done();
    },
  });
  const service = await serve(config, files, openLog(config.logLevel, sink), tuning);
  const { firstKeyFile } = service;
  return {
    port: service.port,
    adminPort: service.adminPort,
    base: `http://127.0.0.1:${service.port}`,
    dataDir,
    key: firstKeyFile === undefined ? '' : readFileSync(firstKeyFile, 'utf8').trim(),
    log: () => lines,
    stop: async () => {
      await service.stop();
      if (overrides.dataDir === undefined) rmSync(dataDir, { recursive: true });
    },
  };
}

/** On a loaded machine the first answer may take longer than the pauses between later bytes. */
const FIRST_BYTE_MS = 3000;

/**
 * Sends bytes as they are, in pieces if given several. Resolves to all that comes back until the connection is closed,
 * or until nothing has come for `idleMs`.
 */
export function sendRaw(
  port: number,
  pieces: string | readonly (string | Uint8Array)[],
  { idleMs = 300, gapMs = 0 } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let received = '';
    let idle: NodeJS.Timeout | undefined;
    const rest = typeof pieces === 'string' ? [pieces] : [...pieces];
    const armed = (): void => {
      clearTimeout(idle);
      const patienceMs = received === '' ? Math.max(idleMs, FIRST_BYTE_MS) : idleMs;
      idle = setTimeout(() => socket.destroy(), patienceMs);
    };
    const next = (): void => {
      const piece = rest.shift();
      if (piece === undefined || socket.destroyed) return;
      armed();
      socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
      if (rest.length > 0) setTimeout(next, gapMs);
    };
    socket.on('connect', next);
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      if (rest.length === 0) armed();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(idle);
      resolve(received);
    });
  });
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Splits what came back into answers: those of known length, and those in one chunk. */
export function parseAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) throw new Error(`no complete head in ${JSON.stringify(rest.slice(0, 200))}`);
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2) as [string, string]));
    if (headers.get('transfer-encoding') === 'chunked') {
      const chunk = /^([0-9a-f]+)\r\n/.exec(rest.slice(end + 4));
      const from = end + 4 + (chunk?.[0].length ?? 0);
      const to = from + Number.parseInt(chunk?.[1] ?? '0', 16);
      answers.push({ status: Number(first.split(' ')[1]), headers, body: rest.slice(from, to) });
      rest = rest.slice(to).replace(/^\r\n0\r\n\r\n/, '');
      continue;
    }
    const size = Number(headers.get('content-length') ?? 0);
    answers.push({
      status: Number(first.split(' ')[1]),
      headers,
      body: rest.slice(end + 4, end + 4 + size),
    });
    rest = rest.slice(end + 4 + size);
  }
  return answers;
}
