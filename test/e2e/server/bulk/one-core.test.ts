// Bulk bodies and frames on one core, where all of them are converted in the main thread: fast and slow readers get the
// same answers. Binds its process, which vitest starts for this file alone, to one core.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { csvBody, dueAnswer, ndjsonBody, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { encodeFrame, handshake, RawWebSocket } from '../../../support/raw-stream.js';
import { type Pool, startServer } from '../../../support/server.js';
import { sharedOf } from '../../../support/shared.js';
import { type BulkFormat, Wire } from '../../../support/wire.js';

function bind(cores: string): boolean {
  try {
    execFileSync('taskset', ['-a', '-cp', cores, String(process.pid)], { stdio: 'ignore' });
  } catch {
    return false;
  }
  return true;
}

/** Elsewhere, on several cores and without taskset, the test is skipped. */
const isBound = bind('0') && availableParallelism() === 1;
const kernel = openKernel();

let pool: Pool;

const server = sharedOf(() =>
  startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  }),
);
afterAll(async () => {
  await server.stop();
  bind(`0-${cpus().length - 1}`);
});

function framesBody(frames: number, points: number): Buffer {
  const pairsDeg = Float64Array.from({ length: 2 * points }, (_, i) => (i % 2 === 0 ? 21 : 105) + i / 1e5);
  return Buffer.concat(Array.from({ length: frames }, (_, seq) => encodeFrame(seq, pairsDeg)));
}

/** Sends the whole body; reads all the time, or a millisecond in four. */
async function answer(format: BulkFormat, body: Buffer, isSlow: boolean): Promise<Buffer> {
  const peer = await RawBulkPeer.connect(server.port);
  const ask = { path: '/v1/hexcodes/encode/bulk', key: server.key, format };
  peer.socket.write(requestHead(ask, body.length));
  peer.socket.write(body);
  let isOver = false;
  const over = peer.done.then(() => {
    isOver = true;
  });
  while (isSlow && !isOver) {
    peer.socket.pause();
    await sleep(3);
    peer.socket.resume();
    await sleep(1);
  }
  await over;
  expect([peer.status, peer.isWhole]).toEqual([200, true]);
  return peer.body;
}

const BODIES: [BulkFormat, Buffer][] = [
  ['csv', csvBody(1, 200_000)],
  ['csv', csvBody(2, 30)],
  ['ndjson', ndjsonBody(3, 150_000)],
  ['frames', framesBody(40, 4096)],
  ['frames', framesBody(3, 65_536)],
];

test.skipIf(!isBound).each(BODIES)(
  '%s: the answer is complete and in order (needs taskset)',
  async (format, body) => {
    const due = dueAnswer(kernel, 'encode', format, body);
    const answers = await Promise.all([false, true, false].map((isSlow) => answer(format, body, isSlow)));
    expect(answers.map((bytes) => bytes.equals(due))).toEqual([true, true, true]);
  },
);

test.skipIf(!isBound)(
  'frames of 65,536 points in flight are answered in order, none by the pool',
  async () => {
    const { completed } = pool.figures;
    const peer = await RawWebSocket.open(server.port, handshake(server.key));
    const frames = [65_536, 16_385, 3, 65_536, 65_536].map((points, seq) =>
      encodeFrame(seq, pointsOf(seq, points)),
    );
    for (const frame of frames) peer.send(frame);
    for (const frame of frames) {
      const { payload } = await peer.next();
      expect(payload.equals(new Wire(kernel).frame(frame))).toBe(true);
    }
    expect(pool.figures.completed).toBe(completed);
    peer.end();
  },
);
