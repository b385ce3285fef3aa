// /bulk with peers of every pace: bodies that are there before their answer begins, in turns, silent ones, and a key
// that is revoked meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { csvBody, dueAnswer, ndjsonBody, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { setKeyState } from '../../../support/keys.js';
import { openKernel, pointsOf, randomFrom } from '../../../support/open-world.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';
import type { BulkFormat } from '../../../support/wire.js';

const ENCODE = '/v1/hexcodes/encode/bulk';

const server = sharedServer();

const kernel = openKernel();

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

test('an answer with an error after good rows has no Content-Length, and is cut off', async () => {
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

const HEADER_BYTES = 16;

/** More than the buffers of both sockets hold. */
const TURN_ANSWER_BYTES = 14e6;

test.each([65_536, 4096])('frames of %i points, answered turn by turn', async (points) => {
  const frame = encodeFrame(
    1,
    Float64Array.from({ length: 2 * points }, (_, i) => (i % 2 === 0 ? 16 : 106) + i / 1e6),
  );
  const answerBytes = HEADER_BYTES + 20 * points;
  const turnFrames = Math.ceil(TURN_ANSWER_BYTES / answerBytes);
  const peer = await RawBulkPeer.connect(server.port);
  let receivedBytes = 0;
  peer.onBody = (bytes) => {
    receivedBytes += bytes.length;
  };
  const ask = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'frames' as const };
  peer.socket.write(requestHead(ask, 3 * turnFrames * frame.length));
  for (let turn = 1; turn <= 3; turn++) {
    peer.socket.pause();
    for (let n = 0; n < turnFrames; n++) peer.socket.write(frame);
    await sleep(300);
    peer.socket.resume();
    await expect.poll(() => receivedBytes).toBe(turn * turnFrames * answerBytes);
  }
  await peer.done;
  expect([peer.status, peer.isWhole]).toEqual([200, true]);
});

describe('silent peers', () => {
  const server = sharedServer({}, undefined, { bulk: { noProgressMs: 3000, sweepMs: 20 } });

  async function upload(part: string): Promise<RawBulkPeer> {
    const peer = await RawBulkPeer.connect(server.port);
    const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
    await peer.send(requestHead(request, 1e6));
    await peer.send(part);
    return peer;
  }

  test('a body that stops before a row is answered is 408', async () => {
    const peer = await upload('lat,');
    await peer.done;
    expect(peer.status).toBe(408);
    expect(peer.head.toLowerCase()).toContain('connection: close');
    expect(server.log()).toContain('the peer neither sends nor reads');
  });

  test('a body that stalls is cut off, and one that continues is not', async () => {
    const silent = await upload('lat,lng\n21.03,105.85\n');
    const steady = await upload('lat,lng\n');
    const sending = setInterval(() => steady.socket.write('21.03,105.85\n'), 50);
    await silent.done;
    expect([silent.status, silent.isWhole]).toEqual([200, false]);
    expect(steady.socket.destroyed).toBe(false);
    clearInterval(sending);
    await steady.done;
    expect(steady.isWhole).toBe(false);
  });
});

describe('a revoked key', () => {
  let server: TestServer;

  const ROWS = Buffer.from('21.03,105.85\n'.repeat(100));

  beforeEach(async () => {
    server = await startServer();
  });

  afterEach(() => server.stop());

  test.each(['revoked', 'disabled'] as const)(
    'an upload that is answered as it comes is cut off when its key is %s',
    async (state) => {
      const peer = await RawBulkPeer.connect(server.port);
      await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, 1e9));
      await peer.send('lat,lng\n');
      const sending = setInterval(() => peer.socket.write(ROWS), 20);
      peer.socket.once('data', () => void setKeyState(server.dataDir, state));
      await peer.done;
      clearInterval(sending);
      expect([peer.status, peer.sizeBytes > 0, peer.isWhole]).toEqual([200, true, false]);
      expect(server.log()).toMatch(/"reason":"the key is no longer valid".*an answer was cut off/);
    },
  );

  test('an upload that has no answer yet is answered 401', async () => {
    const peer = await RawBulkPeer.connect(server.port);
    await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, 1e9));
    await peer.send('lat,');
    const sending = setInterval(() => peer.socket.write(','), 20);
    await setKeyState(server.dataDir, 'revoked');
    await peer.done;
    clearInterval(sending);
    expect(peer.status).toBe(401);
    expect(peer.head.toLowerCase()).toContain('connection: close');
    expect(server.log()).toContain('the key is no longer valid');
  });

  test('an answer of known length whose reader has not taken it stays short of its length', async () => {
    const frames = Buffer.concat(Array.from({ length: 40 }, (_, i) => encodeFrame(i, pointsOf(i, 65_536))));
    const peer = await RawBulkPeer.connect(server.port);
    const request = { path: ENCODE, key: server.key, format: 'frames' } as const;
    peer.socket.once('data', () => {
      peer.socket.pause();
      void setKeyState(server.dataDir, 'revoked');
    });
    await peer.send(requestHead(request, frames.length));
    await peer.send(frames);
    while (!server.log().includes('an answer was cut off')) await new Promise((done) => setTimeout(done, 20));
    peer.socket.resume();
    await peer.done;
    expect(peer.isWhole).toBe(false);
  });
});
