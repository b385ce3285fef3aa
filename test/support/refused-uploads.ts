// Uploads that the service refuses at their first rows or at their head, by programs that people use: each must get the
// reason, though it has most of its body still to send.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { HexcodesClient, HexcodesClientError } from '#hexcodes/client';

type UploadClient = 'curl' | 'curl in chunks' | 'urllib' | 'fetch' | 'hexcodes/client';
export const UPLOAD_CLIENTS: readonly UploadClient[] = [
  'curl',
  'curl in chunks',
  'urllib',
  'fetch',
  'hexcodes/client',
];

export interface Refusal {
  readonly name: string;
  readonly status: number;
  readonly path: string;
  readonly type: string;
  /** In place of the key of the caller. */
  readonly key?: string;
  /** The first bytes of the body. */
  readonly head: string;
  /** Words of the message. */
  readonly reason: string;
}

const BULK = '/v1/hexcodes/encode/bulk';

export const REFUSALS: readonly Refusal[] = [
  {
    name: 'columns that clash',
    status: 400,
    path: BULK,
    type: 'text/csv',
    head: 'lat,lng,status\n',
    reason: 'status',
  },
  {
    name: 'no key',
    status: 401,
    path: BULK,
    type: 'text/csv',
    key: 'none',
    head: 'lat,lng,a\n',
    reason: 'API key',
  },
  {
    name: 'a type',
    status: 415,
    path: BULK,
    type: 'text/plain',
    head: 'lat,lng,a\n',
    reason: 'Content-Type',
  },
  {
    ...{ name: 'a batch that is too large', status: 413, path: '/v1/hexcodes/encode/batch' },
    ...{ type: 'application/json', head: '{"points":[[21,105],\n', reason: 'exceeds' },
  },
];

/** The client of the package sends bulk bodies only, and always their right type. */
export const refusalsOf = (client: UploadClient): readonly Refusal[] =>
  REFUSALS.filter(({ path, status }) => client !== 'hexcodes/client' || (path === BULK && status !== 415));

const ROW = '21.0288,105.8525,1\n';
const PIECE = ROW.repeat(3400);

/** Sends one; resolves to undefined if the client got the reason. The key of the path is in `key`. */
export async function sendRefusedUpload(
  client: UploadClient,
  base: string,
  key: string,
  refusal: Refusal,
  megabytes: number,
): Promise<string | undefined> {
  const pieces = Math.ceil((megabytes * 1e6) / PIECE.length);
  const given = refusal.key ?? key;
  const said = await SENDERS[client]({ base, key: given, refusal, pieces }).catch(
    (error: Error) => `${error.message} ${String(error.cause ?? '')}`,
  );
  return said.includes(`${refusal.status} `) && said.includes(refusal.reason)
    ? undefined
    : `${client}, ${refusal.name}: ${said.slice(0, 300)}`;
}

interface Sending {
  readonly base: string;
  readonly key: string;
  readonly refusal: Refusal;
  readonly pieces: number;
}

function* piecesOf({ refusal, pieces }: Sending): Generator<Buffer> {
  yield Buffer.from(refusal.head);
  for (let i = 0; i < pieces; i++) yield Buffer.from(PIECE);
}

const sizeOf = ({ refusal, pieces }: Sending): number => refusal.head.length + pieces * PIECE.length;

const PYTHON = `
import sys, ssl, urllib.request, urllib.error
url, key, kind, head, piece, pieces = sys.argv[1:7]
body = head.encode() + piece.encode() * int(pieces)
call = urllib.request.Request(url, data=body, headers={'X-API-Key': key, 'Content-Type': kind})
try:
    urllib.request.urlopen(call, context=ssl._create_unverified_context()).read()
    print('200 ')
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
`;

const SENDERS: Record<UploadClient, (sending: Sending) => Promise<string>> = {
  curl: (sending) => curl(sending, false),
  'curl in chunks': (sending) => curl(sending, true),
  urllib: async (sending) => {
    const { base, key, refusal, pieces } = sending;
    const args = [base + refusal.path, key, refusal.type, refusal.head, PIECE, String(pieces)];
    return said(spawn('python3', ['-c', PYTHON, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
  },
  fetch: async (sending) => {
    const { base, key, refusal } = sending;
    const answer = await fetch(base + refusal.path, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': refusal.type },
      body: Buffer.concat([...piecesOf(sending)]),
    });
    return `${answer.status} ${await answer.text()}`;
  },
  'hexcodes/client': async (sending) => {
    const { base, key } = sending;
    const client = new HexcodesClient({ baseUrl: `${base}/v1`, apiKey: key });
    try {
      const answer = await client.bulk({ operation: 'encode', format: 'csv', source: piecesOf(sending) });
      for await (const _ of answer);
      return '200 ';
    } catch (error) {
      if (!(error instanceof HexcodesClientError)) throw error;
      return `${error.httpStatus} ${error.message}`;
    }
  },
};

async function curl(sending: Sending, isChunked: boolean): Promise<string> {
  const { base, key, refusal } = sending;
  // Chunks are of HTTP/1.1.
  const size = isChunked
    ? ['--http1.1']
    : ['-H', 'Transfer-Encoding:', '-H', `Content-Length: ${sizeOf(sending)}`];
  const headers = ['-H', `Content-Type: ${refusal.type}`, '-H', `X-API-Key: ${key}`, ...size];
  const args = ['-sSk', '-X', 'POST', '-T', '-', '-w', '\n%{http_code} ', ...headers, base + refusal.path];
  const child = spawn('curl', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin!.on('error', () => {});
  const answered = said(child);
  for (const piece of piecesOf(sending)) {
    if (child.exitCode !== null || child.stdin!.destroyed) break;
    if (!child.stdin!.write(piece))
      await Promise.race([once(child.stdin!, 'drain').catch(() => {}), answered]);
  }
  child.stdin!.end();
  return answered;
}

async function said(child: ReturnType<typeof spawn>): Promise<string> {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await once(child, 'close');
  return text;
}

// Requests that are refused while their bodies are still to come, by a client that sends them in several flights and
// reads nothing before the last: each must get the reason, however its connection is to end.

/** A refusal by the head, or by the first bytes of the body. */
interface EarlyRefusal {
  readonly status: number;
  readonly method?: string;
  readonly path?: string;
  readonly type?: string;
  /** In place of the key of the caller. */
  readonly key?: string;
  /** Further header lines, each with its CR LF. */
  readonly lines?: string;
}

const ENCODE = '/v1/hexcodes/encode';

/** Refusals that a proxy passes on unchanged. */
export const PASSED: readonly EarlyRefusal[] = [
  { status: 401, key: 'none' },
  { status: 401, key: 'none', path: `${ENCODE}/bulk`, type: 'text/csv' },
  { status: 404, path: '/v1/nothing' },
  { status: 405, method: 'PUT' },
  { status: 413 },
  { status: 415, type: 'a/b', path: `${ENCODE}/batch` },
  { status: 415, type: 'a/b', path: `${ENCODE}/bulk` },
];

export const EARLY_REFUSALS: readonly EarlyRefusal[] = [
  ...PASSED,
  { status: 400, lines: 'Host: other\r\n' },
  { status: 414, path: `/v1/${'a'.repeat(9000)}` },
  { status: 417, lines: 'Expect: something\r\n' },
];

/** How a body is announced, and how it comes. */
interface Flights {
  readonly connection: '' | 'close' | 'Close' | 'keep-alive';
  readonly isChunked: boolean;
  readonly flightBytes: number;
  readonly flights: number;
  readonly gapMs: number;
}

/** Every way to send a body of some flights: longer and shorter than the 64 KiB that the transport skips by itself. */
export function* waysToSend(): Generator<Flights> {
  for (const connection of ['', 'close', 'Close', 'keep-alive'] as const)
    for (const isChunked of [false, true])
      for (const [flightBytes, flights] of [
        [7000, 3],
        [40_000, 4],
      ] as const)
        for (const gapMs of [0, 2, 50]) yield { connection, isChunked, flightBytes, flights, gapMs };
}

/** Sends one. @returns undefined if the client got the reason, else what it got */
export async function sendInFlights(
  base: string,
  key: string,
  refusal: EarlyRefusal,
  way: Flights,
): Promise<string | undefined> {
  const { status, method = 'POST', path = ENCODE, type = 'application/json', lines = '' } = refusal;
  const { connection, isChunked, flightBytes, flights, gapMs } = way;
  const { hostname: host, port, protocol } = new URL(base);
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port || 443), rejectUnauthorized: false })
      : connect({ host, port: Number(port || 80), noDelay: true });
  let text = '';
  let fault = '';
  const isAnswered = new Promise<void>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fault = error.code ?? error.message;
      resolve();
    });
    socket.on('close', () => resolve());
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (/\r\n\r\n[\s\S]*"request_id"[\s\S]*\}/.test(text)) resolve();
    });
    socket.pause();
  });
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${flightBytes * flights}`;
  const closing = connection === '' ? '' : `Connection: ${connection}\r\n`;
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: hexcodes.test\r\nX-API-Key: ${refusal.key ?? key}\r\n` +
      `Content-Type: ${type}\r\n${lines}${closing}${framing}\r\n\r\n`,
  );
  const blank = ' '.repeat(flightBytes);
  for (let i = 0; i < flights && fault === ''; i++) {
    socket.write(isChunked ? `${flightBytes.toString(16)}\r\n${blank}\r\n` : blank);
    await sleep(gapMs);
  }
  if (isChunked && fault === '') socket.write('0\r\n\r\n');
  socket.resume();
  await isAnswered;
  socket.destroy();
  const got = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d+)/.exec(text)?.[1];
  return got === String(status)
    ? undefined
    : `${method} ${path.slice(0, 30)}, ${JSON.stringify(way)}: ${got ?? 'no answer'} for ${status}, ${fault}`;
}
