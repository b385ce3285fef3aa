// Mutated requests against a server in a process of its own: it must answer or close, stay the same process, and have
// its memory back afterwards. A small number of them in `npm test`, 200,000 by `npm run proof -- http-fuzz`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FuzzResult {
  readonly requests: number;
  /** Connections it took: mutated requests end them, by an answer that closes or by waiting for what never comes. */
  readonly connections: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly samePid: boolean;
  readonly baseResidentBytes: number;
  readonly endResidentBytes: number;
}

const CONNECTIONS = 16;
/** Requests that go to one connection before it is closed, if it lives that long. */
const PER_CONNECTION = 40;
const ANSWER_WAIT_MS = 25;

/** Draws: a number in [0, 1). */
type Random = () => number;

export async function fuzz(requests: number, random: Random): Promise<FuzzResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-fuzz-'));
  const child = spawn(process.execPath, ['dist/cli/main.js', 'serve', '--port', '0', '--admin-port', '0'], {
    env: { ...process.env, HEXCODES_DATA_DIR: dataDir, HEXCODES_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (bytes) => {
    err += bytes;
  });
  let exited = false;
  child.on('exit', () => {
    exited = true;
  });
  try {
    while (!err.includes('answers on') && !exited) await sleep(10);
    const port = Number(/answers on http:\/\/[^:]+:(\d+)/.exec(err)?.[1]);
    const key = readFileSync(join(dataDir, 'first-key'), 'utf8').trim();
    const statuses: Record<string, number> = {};
    let connections = 0;
    let left = 0;
    const worker = async (): Promise<void> => {
      while (left > 0 && !exited) {
        connections++;
        left -= await oneConnection(port, key, Math.min(left, PER_CONNECTION), random, statuses);
      }
    };
    const all = async (): Promise<void> => {
      await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    };
    // Warm first: caches, compiled code and buffers of the process are no leak.
    left = Math.ceil(requests / 5);
    await all();
    const baseResidentBytes = await settledBytes(child.pid as number);
    left = requests;
    await all();
    const endResidentBytes = await settledBytes(child.pid as number);
    const alive = await fetch(`http://127.0.0.1:${port}/v1/hexcodes/decode?hexcodes=HN-2J&apikey=${key}`);
    const samePid = !exited && alive.status === 200;
    return { requests, connections, statuses, samePid, baseResidentBytes, endResidentBytes };
  } finally {
    child.kill('SIGKILL');
    while (!exited) await sleep(5);
    rmSync(dataDir, { recursive: true });
  }
}

/** The least of some looks at the resident memory: garbage comes and goes. */
async function settledBytes(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 10; look++) {
    await sleep(100);
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    least = Math.min(least, pages * 4096);
  }
  return least;
}

/** Sends up to `count` mutated requests on one connection, as long as it lives; how many it sent. */
function oneConnection(
  port: number,
  key: string,
  count: number,
  random: Random,
  statuses: Record<string, number>,
): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let sent = 0;
    let over = false;
    const next = (): void => {
      if (over) return;
      if (sent === count) {
        // Long enough for answers; what the server still waits for never comes.
        setTimeout(() => socket.destroy(), ANSWER_WAIT_MS);
        return;
      }
      sent++;
      const bytes = mutated(requestFor(key, random), random);
      // Some arrive in two pieces, some are abandoned half way.
      const cut = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
      socket.write(bytes.subarray(0, cut));
      setImmediate(() => {
        if (cut < bytes.length && random() < 0.9 && !over) socket.write(bytes.subarray(cut));
        // Mostly after the answer, sometimes behind the last request, as pipelined ones come.
        if (random() < 0.1) next();
        else setTimeout(next, 1);
      });
    };
    socket.on('connect', next);
    socket.on('data', (data: Buffer) => {
      for (const [, status] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        statuses[status as string] = (statuses[status as string] ?? 0) + 1;
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      over = true;
      resolve(Math.max(sent, 1));
    });
  });
}

const pick = <T>(items: readonly T[], random: Random): T => items[Math.floor(random() * items.length)] as T;

function requestFor(key: string, random: Random): Buffer {
  const method = pick(['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT'], random);
  const path = pick(
    [
      `/v1/hexcodes/encode?lat=21.0288&lng=105.8525&resolution=9&apikey=${key}`,
      `/v1/hexcodes/decode?hexcodes=HN-6GHP4-83RFR&apikey=${key}`,
      `/v1/hexcodes/encode?apikey=${key}`,
      `/v1/meta?apikey=${key}`,
      `/v1/admin-units/HN?apikey=${key}`,
      '/v1/hexcodes/decode?hexcodes=%C4%90&admin_v2=true',
    ],
    random,
  );
  const body = pick(
    ['', '', '{"lat":21.0288,"lng":105.8525,"resolution":13}', '{"hexcodes":"HN-2J"}', 'lat=21&lng=105'],
    random,
  );
  const type = pick(['application/json', 'application/x-www-form-urlencoded', 'text/plain'], random);
  const framing =
    body === ''
      ? ''
      : random() < 0.3
        ? `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n`
        : `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
  const payload = framing.includes('chunked') ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n${framing}\r\n${payload}`,
  );
}

const SPLICES = [
  ...[
    '%zz',
    '%',
    '%C0%AF',
    '\xff\xfe',
    '\r\n',
    '\n',
    '\0',
    '\r\n\r\n',
    '  ',
    '&&',
    '=',
    '?',
    '#',
    '/',
    '../',
  ],
  ...[
    'Content-Length: 5\r\n',
    'Content-Length: -1\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Host: b\r\n',
  ],
  ...['Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'],
  ...[
    'X-Request-Id: \r\n',
    `X-Big: ${'y'.repeat(5000)}\r\n`,
    'apikey=',
    'lat=1e400&',
    '{"',
    '"}',
    '[[[[',
    '1e5',
  ],
];

/** Up to four random edits: a byte changed, dropped, doubled, a stretch cut, a splice put in. */
function mutated(request: Buffer, random: Random): Buffer {
  let bytes = request;
  for (let edits = Math.floor(random() * 5); edits > 0; edits--) {
    const at = Math.floor(random() * bytes.length);
    const kind = random();
    if (kind < 0.3) {
      bytes = Buffer.from(bytes);
      bytes[at] = Math.floor(random() * 256);
    } else if (kind < 0.5) {
      const size = Math.floor(random() * (random() < 0.8 ? 4 : 60));
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)]);
    } else {
      const splice = Buffer.from(pick(SPLICES, random), 'latin1');
      bytes = Buffer.concat([bytes.subarray(0, at), splice, bytes.subarray(at)]);
    }
  }
  return bytes;
}
