// Requests that are refused while their bodies are still to come, by a client that sends them in several flights and
// reads nothing before the last: each must get the reason, however its connection is to end.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** A refusal by the head, or by the first bytes of the body. */
export interface Refusal {
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
export const PASSED: readonly Refusal[] = [
  { status: 401, key: 'none' },
  { status: 401, key: 'none', path: `${ENCODE}/bulk`, type: 'text/csv' },
  { status: 404, path: '/v1/nothing' },
  { status: 405, method: 'PUT' },
  { status: 413 },
  { status: 415, type: 'a/b', path: `${ENCODE}/batch` },
  { status: 415, type: 'a/b', path: `${ENCODE}/bulk` },
];

export const REFUSALS: readonly Refusal[] = [
  ...PASSED,
  { status: 400, lines: 'Host: other\r\n' },
  { status: 414, path: `/v1/${'a'.repeat(9000)}` },
  { status: 417, lines: 'Expect: something\r\n' },
];

/** How a body is announced, and how it comes. */
export interface Flights {
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
  refusal: Refusal,
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
