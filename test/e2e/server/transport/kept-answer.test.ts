// An answer of a batch is written from memory that the next batch uses again. Where a socket does not take all of it,
// the rest must stay as it was.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startServer } from '../../../support/server.js';

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
