// One turn of the event loop, and what it may bring and leave: too many requests, and answers in memory that is used
// again.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../../support/server.js';

const HONEST = 40;

/** With all the others just above 1,000 and 4 for each connection, so that the one too many is one of the others. */
const FLOOD_REQUESTS = 1000 + 4 * (HONEST + 1) - HONEST / 2;

const REQUEST = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n';

/** Stops this process, and so the service in it, while the other end fills its sockets. */
function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a connection that brings one request in a turn is answered, whatever another one has brought before it', async () => {
  const server = await startServer({ logLevel: 'warn' });
  onTestFinished(() => server.stop());
  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      const socket: Socket = connect(server.port, '127.0.0.1', () => resolve(socket));
      socket.on('error', () => {});
    });
  const met = new Set<string>();
  for (let round = 0; round < 10; round++) {
    const flood = (await open()).resume();
    const honest = await Promise.all(Array.from({ length: HONEST }, open));
    const answers = honest.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.once('data', (bytes) => resolve(bytes.toString('latin1', 9, 12)));
          socket.once('close', () => resolve('closed'));
        }),
    );
    flood.write(REQUEST.repeat(FLOOD_REQUESTS));
    for (const socket of honest) socket.write(REQUEST);
    rest(50);
    for (const status of await Promise.all(answers)) met.add(status);
    const closed = [flood, ...honest].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of [flood, ...honest]) socket.destroy();
    await Promise.all(closed);
  }
  expect([...met].sort()).toEqual(['401', '503']);
  expect(server.log()).toContain('too many requests or frames in one turn of the event loop');
});

const POINTS = 900;

const MAX_ANSWERS = 300;

/** An answer that is complete is logged long before this. */
const STALLED_MS = 1000;

const PATH = '/v1/hexcodes/encode/batch';

const bodyFrom = (latDeg: number): string =>
  JSON.stringify({ points: Array.from({ length: POINTS }, (_, i) => [latDeg + i / 1e4, 105 + i / 1e4]) });

test('the rest of an answer is not overwritten by later answers', async () => {
  const server = await startServer();
  const ask = async (body: string): Promise<string> => {
    const headers = { 'X-API-Key': server.key, 'Content-Type': 'application/json' };
    return (await fetch(server.base + PATH, { method: 'POST', headers, body })).text();
  };
  try {
    const body = bodyFrom(21);
    const due = await ask(body);
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    const isLogged = async (id: string): Promise<boolean> => {
      for (const endMs = performance.now() + STALLED_MS; performance.now() < endMs; await sleep(1))
        if (server.log().includes(`"${id}"`)) return true;
      return false;
    };
    let asked = 0;
    for (let isTaken = true; isTaken && asked < MAX_ANSWERS; ) {
      const id = `stalled-${asked++}`;
      const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.key}\r\nX-Request-Id: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      socket.write(head + body);
      isTaken = await isLogged(id);
    }
    expect(asked).toBeLessThan(MAX_ANSWERS);
    for (let n = 0; n < 3; n++) await ask(bodyFrom(10 + n));
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.resume();
    while (received.split(due).length <= asked && !socket.destroyed) {
      await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(STALLED_MS)]);
      // All has come, and some of it is wrong.
      if (received.length >= asked * due.length + 200 * asked) break;
    }
    expect(received.split(due).length - 1).toBe(asked);
    socket.destroy();
  } finally {
    await server.stop();
  }
});
