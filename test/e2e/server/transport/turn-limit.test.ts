// Too many requests in one turn of the event loop: the one that is too many, if it is the only one of its connection,
// is answered.
import { connect, type Socket } from 'node:net';
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
