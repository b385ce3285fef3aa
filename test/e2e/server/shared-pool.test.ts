// The pool between keys, on real sockets: a key whose streams keep it full delays and refuses itself only; and a batch
// for which the pool has no room is refused before its body is read.
import { expect, test } from 'vitest';
import type { Pool } from '#dist/pool/pool.js';
import { handshake, RawWebSocket } from '../../support/raw-websocket.js';
import { sendRaw, startServer } from '../../support/server.js';
import { encodeFrame } from '../../support/stream-frames.js';

const FLOODING = 'flooding_key_0123456789abcdefghijklm';
const OTHER = 'other_key_0123456789abcdefghijklmnop';

/** More than 1 MiB, so that the pool converts it. */
const largeBatch = (): string =>
  `{"points":[${new Array(9000).fill(`[21.00001,105.00001]${' '.repeat(100)}`).join(',')}]}`;

test('batches and bodies of another key are answered while one key keeps the pool full', async () => {
  let pool: Pool | undefined;
  const server = await startServer(
    { apiKeys: [FLOODING, OTHER].map((secret) => ({ name: secret.slice(0, 5), secret })) },
    undefined,
    {
      pool: { threads: 1, maxQueued: 8 },
      withPool: (made) => {
        pool = made;
      },
    },
  );
  let isOver = false;
  const seen = { answers: 0, overloaded: 0, full: 0 };
  try {
    const frame = encodeFrame(1, new Float64Array(2 * 17_000).fill(Number.NaN));
    const flood = async (): Promise<void> => {
      const socket = await RawWebSocket.open(server.port, handshake(FLOODING));
      while (!isOver) {
        socket.send(frame);
        const { payload } = await socket.next();
        if (payload[2] !== 3) seen.answers++;
        else await new Promise((resolve) => setTimeout(resolve, 5, seen.overloaded++));
      }
      socket.end();
    };
    const floods = Array.from({ length: 14 }, flood);
    while (seen.overloaded < 10) await new Promise((resolve) => setTimeout(resolve, 5));
    const points = largeBatch();
    const post = async (path: string, type: string, body: string): Promise<number> => {
      if (pool!.figures.blocks >= 9) seen.full++;
      const headers = { 'X-API-Key': OTHER, 'Content-Type': type };
      const answer = await fetch(`${server.base}/v1/hexcodes/encode/${path}`, {
        method: 'POST',
        headers,
        body,
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    for (let i = 0; i < 4; i++) {
      expect(await post('batch', 'application/json', points)).toBe(200);
      expect(await post('bulk', 'text/csv', `lat,lng\n${'21.5,105.5\n'.repeat(20_000)}`)).toBe(200);
    }
    expect(seen.full).toBeGreaterThan(0);
    isOver = true;
    await Promise.all(floods);
    expect(seen.answers).toBeGreaterThan(0);
  } finally {
    isOver = true;
    await server.stop();
  }
});

test('a large batch is refused before its body is read while the pool is full', async () => {
  let pool: Pool | undefined;
  const server = await startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  });
  try {
    pool!.mayTakeBlock = () => false;
    const head = (sizeBytes: number): string =>
      `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: application/json\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
    // No byte of the body is sent.
    const received = await sendRaw(server.port, head(1_100_000));
    expect(received).toMatch(/^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n/s);
    // The size of a chunked one is known when it was read; its envelope is not searched.
    const body = largeBatch();
    const chunked = head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
    const answer = await sendRaw(
      server.port,
      `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n/s);
    const small = '{"points":[[21.5,105.5]]}';
    expect(await sendRaw(server.port, head(small.length) + small)).toMatch(/^HTTP\/1.1 200 /);
  } finally {
    await server.stop();
  }
});
