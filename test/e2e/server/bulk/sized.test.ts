// Bodies that are received completely before their answer begins: if its length is known, it has a Content-Length.
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BulkFormat } from '#dist/hexcodes/wire/job.js';
import { csvBody, dueAnswer, ndjsonBody, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { openKernel, randomFrom } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const ENCODE = '/v1/hexcodes/encode/bulk';
const kernel = openKernel();
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

function framesBody(points: number, frames: number, seed = 1): Buffer {
  const random = randomFrom(seed);
  return Buffer.concat(
    Array.from({ length: frames }, (_, seq) =>
      encodeFrame(
        seq,
        Float64Array.from({ length: 2 * points }, (_, i) =>
          i % 2 === 0 ? 8 + random() * 15 : 102 + random() * 7,
        ),
      ),
    ),
  );
}

/** The answer to a body that is sent in one write. */
async function answerTo(format: BulkFormat, body: Buffer, headers: string[] = []): Promise<RawBulkPeer> {
  const peer = await RawBulkPeer.connect(server.port);
  const ask = { path: ENCODE, key: server.key, format, headers };
  await peer.send(Buffer.concat([Buffer.from(requestHead(ask, body.length)), body]));
  await peer.done;
  return peer;
}

function lengthSaid(peer: RawBulkPeer): number {
  return Number(/^content-length: (\d+)\r$/im.exec(peer.head)?.[1] ?? -1);
}

test.each([
  ['csv', csvBody(1, 2000)],
  ['csv', csvBody(1, 6000)],
  ['ndjson', ndjsonBody(1, 900)],
  ['ndjson', ndjsonBody(1, 2500)],
  ['frames', framesBody(700, 5)],
] as const)('%s: the answer has a Content-Length, and as many bytes', async (format, body) => {
  const due = dueAnswer(kernel, 'encode', format, body);
  // A body that arrives in two parts may be answered from the first part on; the operating system decides how it
  // arrives.
  for (let tries = 1; ; tries++) {
    const peer = await answerTo(format, body);
    expect([peer.status, peer.body.equals(due)]).toEqual([200, true]);
    if (lengthSaid(peer) < 0 && tries < 50) continue;
    expect(lengthSaid(peer)).toBe(due.length);
    expect(peer.head).not.toMatch(/transfer-encoding/i);
    return;
  }
});

test('the length counts the answers to malformed frames', async () => {
  const wrong = framesBody(300, 1);
  wrong[2] = 16;
  const other = framesBody(200, 1);
  other[1] = 9;
  const body = Buffer.concat([framesBody(700, 3), wrong, framesBody(10, 1), other, framesBody(10, 1)]);
  const peer = await answerTo('frames', body);
  const due = dueAnswer(kernel, 'encode', 'frames', body);
  expect([peer.status, lengthSaid(peer), due.length]).toEqual([200, due.length, 3 * 14_016 + 16 + 216 + 16]);
  expect(peer.body.equals(due)).toBe(true);
});

test('a gzip body may get a Content-Length, a gzip answer never does', async () => {
  const body = csvBody(3, 2000);
  const packed = await answerTo('csv', gzipSync(body), ['Content-Encoding: gzip']);
  expect(packed.body.equals(dueAnswer(kernel, 'encode', 'csv', body))).toBe(true);
  const chunked = await answerTo('csv', body, ['Accept-Encoding: gzip']);
  expect([chunked.status, lengthSaid(chunked), chunked.isWhole]).toEqual([200, -1, true]);
});

test('an answer with an error behind good rows has no Content-Length, and is cut off', async () => {
  const long = Buffer.from(`1,10,x,"${'a'.repeat(300_000)}`);
  const peer = await answerTo('csv', Buffer.concat([csvBody(1, 1000), long]));
  expect([peer.status, peer.isWhole, lengthSaid(peer)]).toEqual([200, false, -1]);
});

test('readers of any pace get every byte, and may send the next request on the same connection', async () => {
  const body = framesBody(4096, 60);
  const due = dueAnswer(kernel, 'encode', 'frames', body);
  const head = requestHead({ path: ENCODE, key: server.key, format: 'frames' }, body.length);
  const random = randomFrom(5);
  let sized = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const peer = await RawBulkPeer.connect(server.port);
      const received: Buffer[] = [];
      peer.socket.removeAllListeners('data');
      peer.socket.on('data', (bytes: Buffer) => received.push(bytes));
      for (let request = 0; request < 3; request++) {
        received.length = 0;
        peer.socket.write(head);
        peer.socket.write(body);
        const parts: Buffer[] = [];
        let bytes = 0;
        let dueBytes = due.length;
        let headEnd = 0;
        while (bytes < dueBytes) {
          peer.socket.pause();
          await sleep(n === 0 ? 0 : random() * 30);
          peer.socket.resume();
          await sleep(1);
          if (received.length === 0) continue;
          parts.push(...received.splice(0));
          bytes = parts.reduce((sum, part) => sum + part.length, 0);
          if (headEnd === 0) {
            const text = Buffer.concat(parts).toString('latin1');
            headEnd = text.indexOf('\r\n\r\n') + 4;
            expect(text).toMatch(/^HTTP\/1\.1 200/);
            const size = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
            dueBytes = size === undefined ? Number.POSITIVE_INFINITY : headEnd + Number(size);
          }
          const end = Buffer.concat(parts.slice(-5)).subarray(-5).toString('latin1');
          if (dueBytes === Number.POSITIVE_INFINITY && end === '0\r\n\r\n') break;
        }
        if (dueBytes === Number.POSITIVE_INFINITY) continue;
        sized++;
        expect(Buffer.concat(parts).subarray(headEnd).equals(due)).toBe(true);
      }
      peer.socket.destroy();
    }),
  );
  // The operating system decides how a body arrives, but some arrive completely before their answer begins.
  expect(sized).toBeGreaterThan(0);
});

test.each([
  ['ndjson', '\n'.repeat(70_000)],
  ['csv', `lat,lng\n${'\n'.repeat(70_000)}`],
] as const)(
  'blank lines of %s have an empty answer, also if the pool converts them',
  async (format, body) => {
    const peer = await answerTo(format, Buffer.from(body), ['Accept: application/x-ndjson']);
    expect([peer.status, peer.isWhole, peer.body.length]).toEqual([200, true, 0]);
  },
);
