// The pool: answers equal to the kernel's own, the bounds of its queue, and workers that die.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { afterEach, expect, test, vi } from 'vitest';
import { answerFrame } from '#dist/hexcodes/wire/frames/answer-frame.js';
import { Pool, PoolLostError } from '#dist/pool/pool.js';
import { PoolFullError } from '#dist/pool/work-queue.js';
import { KERNEL_FILES, OPEN_INDEX, OPEN_REACH, openKernel, randomFrom } from '../../support/open-world.js';

const kernel = openKernel();
const source = {
  module: await WebAssembly.compile(readFileSync(KERNEL_FILES.kernel)),
  index: OPEN_INDEX,
  reach: OPEN_REACH,
};
const seed = 7_006;
const random = randomFrom(seed);

function frameOf(count: number): Uint8Array {
  const frame = new Uint8Array(16 + count * 16);
  frame.set([1, 1, 13, 0]);
  new DataView(frame.buffer).setUint32(8, count, true);
  const pairs = new Float64Array(frame.buffer, 16);
  for (let i = 0; i < pairs.length; i++) pairs[i] = i % 2 === 0 ? 8 + random() * 15 : 102 + random() * 8;
  return frame;
}

let pool: Pool;
afterEach(() => pool.close());

test('answers as the kernel does, from memory that the caller may change at once', async () => {
  pool = new Pool({ kernel: source, threads: 2 });
  const frames = Array.from({ length: 40 }, () => frameOf(Math.floor(random() * 20_000)));
  const due = frames.map((frame) => answerFrame(kernel, frame));
  const answers = frames.map((frame) => {
    const answer = pool.answerFrame(frame);
    frame.fill(255);
    return answer;
  });
  for (const [i, answer] of (await Promise.all(answers)).entries()) {
    if (!Buffer.from(answer).equals(due[i]!)) expect.fail(`seed ${seed}, frame ${i}`);
  }
  expect(pool.figures).toMatchObject({ blocks: 0, bytes: 0, completed: 40, lostWorkers: 0 });
});

test('the queue is bounded in blocks and in bytes, refuses before any work, and takes blocks again', async () => {
  pool = new Pool({ kernel: source, threads: 1, maxQueued: 2, maxBytes: 100_000 });
  const small = frameOf(10);
  const first = [small, small, small].map((frame) => pool.answerFrame(frame));
  expect([pool.mayTakeBlock(), pool.mayTakeBodyBlock()]).toEqual([false, false]);
  await expect(pool.answerFrame(small)).rejects.toBeInstanceOf(PoolFullError);
  const order: number[] = [];
  const waiting = [0, 1, 2, 3].map((n) => pool.whenBodyMayContinue().then(() => order.push(n)));
  await Promise.all(first);
  await Promise.all(waiting);
  expect(order).toEqual([0, 1, 2, 3]);

  const large = pool.answerFrame(frameOf(10_000));
  expect(pool.mayTakeBlock()).toBe(false);
  await large;
  expect(pool.mayTakeBlock()).toBe(true);
});

test('workers killed mid-block lose and double nothing', async () => {
  pool = new Pool({ kernel: source, threads: 2 });
  const frame = frameOf(30_000);
  const due = answerFrame(kernel, frame);
  let killed = 0;
  for (let round = 0; round < 20; round++) {
    const answers = Array.from({ length: 4 }, () => pool.answerFrame(frame));
    // At different moments: before the worker has begun, while it converts, just before it answers.
    await new Promise((resolve) => setTimeout(resolve, random() * 12));
    const { loadedWorkers } = pool;
    const worker = loadedWorkers[round % loadedWorkers.length];
    if (worker !== undefined && pool.figures.blocks > 0) killed++;
    await worker?.terminate();
    for (const answer of await Promise.all(answers)) {
      if (!Buffer.from(answer).equals(due)) expect.fail(`seed ${seed}, round ${round}`);
    }
  }
  expect(killed).toBeGreaterThan(5);
  expect(pool.figures.blocks).toBe(0);
});

test('closing answers the blocks in the pool and refuses others', async () => {
  pool = new Pool({ kernel: source, threads: 1, maxQueued: 1 });
  const inside = [frameOf(20_000), frameOf(5)].map((frame) => pool.answerFrame(frame));
  const outside = pool.whenBodyMayContinue();
  const closed = pool.close();
  await expect(outside).rejects.toBeInstanceOf(PoolLostError);
  await expect(pool.answerFrame(frameOf(1))).rejects.toBeInstanceOf(PoolLostError);
  expect((await Promise.all(inside)).map((answer) => answer.length)).toEqual([16 + 400_000, 116]);
  await closed;
});

// Terminating a thread in the middle of an import can abort the whole process (SIGABRT) in Node 20.
test.each([0, 1])('closing ends no thread before it is loaded, %i of them replaced', async (killed) => {
  pool = new Pool({ kernel: source, threads: 2 });
  const first = pool.workers as Worker[];
  if (killed > 0) {
    await Promise.all(first.map((thread) => once(thread, 'message')));
    await first[0]!.terminate();
    while (pool.workers.length < 2) await sleep(1);
  }
  const loaded = new Set<Worker>();
  const ended: Worker[] = [];
  const threads = (pool.workers as Worker[]).filter((thread) => killed === 0 || !first.includes(thread));
  expect(threads).toHaveLength(killed === 0 ? 2 : 1);
  for (const thread of threads) {
    thread.once('message', () => loaded.add(thread));
    thread.once('exit', () => ended.push(thread));
  }
  await pool.close();
  expect([loaded.size, ended.length]).toEqual([threads.length, threads.length]);
});

test('threads are made when work comes, as many as it takes, and end when there is none', async () => {
  pool = new Pool({ kernel: source, threads: 3, threadIdleMs: 50 });
  await sleep(100);
  expect(pool.workers).toHaveLength(0);
  const frame = frameOf(30_000);
  const due = answerFrame(kernel, frame);
  for (let round = 0; round < 3; round++) {
    const answers = Array.from({ length: 12 }, () => pool.answerFrame(frame));
    for (const answer of await Promise.all(answers)) expect(Buffer.from(answer).equals(due)).toBe(true);
    expect(pool.workers.length).toBeGreaterThan(0);
    expect(pool.workers.length).toBeLessThanOrEqual(3);
    while (pool.workers.length > 0) await sleep(5);
  }
  expect(pool.figures.lostWorkers).toBe(0);
});

test('a block that hangs shows its age, ends its worker, and is answered by another', async () => {
  pool = new Pool({ kernel: source, threads: 1, hangMs: 2000 });
  await expect.poll(() => pool.loadedWorkers.length).toBe(1);
  const run = vi.spyOn(Piscina.prototype, 'run');
  run.mockImplementationOnce(function (this: Piscina) {
    return new Promise((_, reject) => {
      this.once('workerDestroy', () => reject(new Error('the worker has ended')));
    });
  });
  const frame = frameOf(100);
  const answered = pool.answerFrame(frame);
  await expect.poll(() => pool.oldestS).toBeGreaterThanOrEqual(1);
  expect(Buffer.from(await answered).equals(answerFrame(kernel, frame))).toBe(true);
  expect([pool.oldestS, pool.figures.lostWorkers]).toEqual([0, 1]);
  run.mockRestore();
});
