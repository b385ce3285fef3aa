// Facts about the connections of uWebSockets.js, as numbered in src/server/transport/README.md, shown on uWS itself.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadUws, mayKeepResponses } from '#dist/server/transport/load-uws.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

const { uws } = await loadUws();
const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';
const HANDLED = 'handler, offset 0; 5 bytes';
const CALLED = `${HANDLED}; data of the connection`;

/** Sends pieces with pauses over one connection, then closes it. @returns what uWS called, in this order */
async function callsOf(pieces: readonly string[]): Promise<string> {
  const app = uws.App();
  const seen: string[] = [];
  let kept: UwsResponse | undefined;
  const opened = (res: UwsResponse): void => {
    kept = res;
    res.onAborted(() => seen.push('closed'));
    res.onData(() => seen.push('data of the connection'));
  };
  app.filter((res, change) => (change > 0 ? opened(res) : undefined));
  app.any('/*', (res) => {
    seen.push(`handler, offset ${res.getWriteOffset()}`);
    res.end('hello');
    seen.push(`${kept?.getWriteOffset()} bytes`);
    kept?.onAborted(() => seen.push('closed'));
    setImmediate(() => kept?.onData(() => seen.push('data of the connection')));
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listener) =>
      resolve(uws.us_socket_local_port(listener as object)),
    );
  });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  while (kept === undefined) await sleep(5);
  for (const piece of pieces) {
    socket.write(piece);
    await sleep(50);
  }
  socket.destroy();
  while (!seen.includes('closed')) await sleep(5);
  app.close();
  return seen.join('; ');
}

test.each([
  ['a GET', ['GET / HTTP/1.1\r\nHost: a\r\n\r\n'], `${CALLED}; closed`],
  ['a GET in pieces', ['GET / HTTP/1.1\r\nHo', 'st: a\r\n\r', '\n'], `${CALLED}; closed`],
  [
    'two, after one another',
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    `${CALLED}; ${CALLED}; closed`,
  ],
  ['no request', [], 'closed'],
  ['a body of no bytes', [`${POST}Content-Length: 0\r\n\r\n`], `${CALLED}; closed`],
  ['the same, in pieces', [`${POST}Content-Length: 0\r\n`, '\r\n'], `${HANDLED}; closed`],
  ['a body behind its head', [`${POST}Content-Length: 5\r\n\r\n`], `${CALLED}; closed`],
  ['the same, in pieces', [`${POST}Content-Length: 5\r\n`, '\r\n'], `${CALLED}; closed`],
  ['a chunked body behind its head', [`${POST}Transfer-Encoding: chunked\r\n\r\n`], `${HANDLED}; closed`],
])('U39: the callbacks of a kept response: %s', async (_, pieces, due) => {
  expect(await callsOf(pieces)).toBe(due);
});

test('U39 is tried once a process', async () => {
  expect(await mayKeepResponses(uws)).toBe(true);
});
