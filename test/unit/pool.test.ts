// The pool of threads: its queue, and how many threads it has.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { defaultThreads, usableCores } from '#dist/pool/usable-cores.js';
import { PoolFullError, type QueuedBlock, WorkQueue } from '#dist/pool/work-queue.js';
import { Pool, PoolLostError } from '#pool';
import { KERNEL_FILES, OPEN_INDEX, OPEN_REACH, openKernel, randomFrom } from '../support/open-world.js';
import { Wire } from '../support/wire.js';

// The pool: answers equal to the kernel's own, the bounds of its queue, and workers that die.
describe('threads', async () => {
  const wire = new Wire(openKernel());
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
    // Frames of the second round lie in memory of the first.
    for (const completed of [40, 80]) {
      const frames = Array.from({ length: 40 }, () => frameOf(Math.floor(random() * 20_000)));
      const due = frames.map((frame) => wire.frame(frame));
      const answers = frames.map((frame) => {
        const answer = pool.answerFrame(frame);
        frame.fill(255);
        return answer;
      });
      for (const [i, answer] of (await Promise.all(answers)).entries()) {
        if (!Buffer.from(answer).equals(due[i]!)) expect.fail(`seed ${seed}, frame ${i}`);
      }
      expect(pool.figures).toMatchObject({ blocks: 0, bytes: 0, completed, lostWorkers: 0 });
    }
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
    const due = wire.frame(frame);
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
    const due = wire.frame(frame);
    for (let round = 0; round < 3; round++) {
      const answers = Array.from({ length: 12 }, () => pool.answerFrame(frame));
      for (const answer of await Promise.all(answers)) expect(Buffer.from(answer).equals(due)).toBe(true);
      expect(pool.workers.length).toBeGreaterThan(0);
      expect(pool.workers.length).toBeLessThanOrEqual(3);
      while (pool.workers.length > 0) await sleep(5);
    }
    expect(pool.figures.lostWorkers).toBe(0);
  });

  test('where no thread starts, as without memory, blocks are given up, and close does not wait', async () => {
    pool = new Pool({ kernel: { ...source, index: new Uint8Array(8) }, threads: 2, threadIdleMs: 1000 });
    for (let round = 0; round < 2; round++) {
      const answers = Array.from({ length: 6 }, () => pool.answerFrame(frameOf(10)));
      for (const answer of await Promise.allSettled(answers))
        expect(answer).toMatchObject({ reason: { message: /^no thread of the pool starts: ./ } });
    }
    expect(pool.figures).toMatchObject({ blocks: 0, bytes: 0 });
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
    expect(Buffer.from(await answered).equals(wire.frame(frame))).toBe(true);
    expect([pool.oldestS, pool.figures.lostWorkers]).toEqual([0, 1]);
    run.mockRestore();
  });
});

// Whose turn it is in the pool, and who gives way where it is full: by key, without threads.
describe('the queue', () => {
  const LIMITS = { running: 1, blocks: 6, bytes: 1000, bodyBlocks: 2 };

  /** A queue whose turns and refusals are noted by name. */
  class Noted {
    readonly queue = new WorkQueue(LIMITS);
    readonly started: string[] = [];
    readonly refused: string[] = [];
    readonly #running: QueuedBlock[] = [];

    enter(key: string, name: string, sizeBytes = 1, isOfBody = false): void {
      const block = this.queue.enter(key, sizeBytes, isOfBody);
      block.turn.then(
        () => {
          this.started.push(name);
          this.#running.push(block);
        },
        (error: unknown) => {
          expect(error).toBeInstanceOf(PoolFullError);
          this.refused.push(name);
          this.queue.leave(block);
        },
      );
    }

    /** Ends the oldest block that a worker has. */
    async end(): Promise<void> {
      await settled();
      this.queue.leave(this.#running.shift()!);
      await settled();
    }
  }

  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('the keys take turns, however many blocks each of them has waiting', async () => {
    const noted = new Noted();
    for (const n of [1, 2, 3]) noted.enter('a', `a${n}`);
    noted.enter('b', 'b1');
    noted.enter('c', 'c1');
    noted.enter('b', 'b2');
    for (let i = 0; i < 6; i++) await noted.end();
    expect(noted.started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
    expect([noted.queue.blocks, noted.queue.bytes, noted.queue.waitingBlocks]).toEqual([0, 0, 0]);
  });

  test('a full queue refuses the key that filled it, and takes from it for others', async () => {
    const noted = new Noted();
    for (const n of [1, 2, 3, 4, 5, 6]) noted.enter('a', `a${n}`);
    expect([noted.queue.mayEnter('a'), noted.queue.mayEnter('b')]).toEqual([false, true]);
    expect(() => noted.enter('a', 'a7')).toThrow(PoolFullError);
    noted.enter('b', 'b1');
    noted.enter('c', 'c1');
    noted.enter('b', 'b2');
    await settled();
    // The newest of a's go. With three each of a, b and c together, nobody has more to give.
    expect(noted.refused).toEqual(['a6', 'a5', 'a4']);
    expect(noted.queue.mayEnter('b')).toBe(false);
    expect(noted.queue.mayEnter('c')).toBe(true);
    for (let i = 0; i < 6; i++) await noted.end();
    expect(noted.started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('bytes are shared as blocks are', async () => {
    const noted = new Noted();
    noted.enter('a', 'a1', 400);
    noted.enter('a', 'a2', 400);
    noted.enter('a', 'a3', 400);
    expect(noted.queue.mayEnter('a')).toBe(false);
    noted.enter('b', 'b1', 300);
    await settled();
    expect([noted.refused, noted.queue.bytes]).toEqual([['a3'], 1100]);
    noted.enter('c', 'c1', 1);
    await settled();
    expect([noted.refused, noted.queue.bytes]).toEqual([['a3', 'a2'], 701]);
  });

  test('blocks of bodies and blocks that a worker has are never given up', async () => {
    const noted = new Noted();
    for (const n of [1, 2]) noted.enter('a', `body${n}`, 1, true);
    for (const n of [1, 2, 3, 4]) noted.enter('a', `a${n}`);
    expect([noted.queue.mayEnterOfBody('a'), noted.queue.mayEnterOfBody('b')]).toEqual([false, false]);
    for (const n of [1, 2, 3]) noted.enter('b', `b${n}`);
    await settled();
    expect(noted.refused).toEqual(['a4', 'a3', 'a2']);
    for (const n of [1, 2]) noted.enter('c', `c${n}`);
    await settled();
    expect(noted.refused).toEqual(['a4', 'a3', 'a2', 'a1', 'b3']);
    for (let i = 0; i < 6; i++) await noted.end();
    expect(noted.started).toEqual(['body1', 'body2', 'b1', 'c1', 'b2', 'c2']);
  });

  test('bodies that wait are called in the turns of their keys', async () => {
    const { queue } = new Noted();
    const called: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) {
      void queue.waitForBody(name[0]!).then(() => called.push(name));
    }
    for (let i = 0; i < 4; i++) queue.callBodies(false);
    await settled();
    expect([called, queue.waitingBodies]).toEqual([['a1', 'b1', 'c1', 'a2'], 2]);
    queue.callBodies(true);
    await settled();
    expect(called).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });
});

// Cores that a process may use: a bound of its control group or of one above it counts, of both versions.
describe('cores', () => {
  const V1 = '3:cpuset:/\n2:cpu,cpuacct:/docker/a\n1:memory:/docker/a\n0::/\n';

  test.each<[string, Record<string, string>, number]>([
    ['no groups', {}, 128],
    ['v2, no bound', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 128],
    ['v2, 2.5 cores', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '250000 100000\n' }, 3],
    ['v2, half a core', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
    [
      'v2, the group above has the bound',
      {
        '/proc/self/cgroup': '0::/pods/one\n',
        '/sys/fs/cgroup/pods/one/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/pods/cpu.max': '600000 100000\n',
      },
      6,
    ],
    [
      'v1',
      {
        '/proc/self/cgroup': V1,
        '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us': '400000\n',
        '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us': '100000\n',
      },
      4,
    ],
    [
      'v1 inside a container, which sees its group as the root; no bound is -1',
      {
        '/proc/self/cgroup': V1,
        '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
      },
      128,
    ],
  ])('%s', (_, files, cores) => {
    const read = (path: string): string => {
      const text = files[path];
      if (text === undefined) throw new Error('ENOENT');
      return text;
    };
    expect(usableCores(128, read)).toBe(cores);
  });

  test('a pool has a thread for each core of its process, up to four', () => {
    expect([1, 2, 3, 4, 16, 128].map((cores) => defaultThreads(1, cores))).toEqual([1, 2, 3, 4, 4, 4]);
    expect([1, 2, 8, 64].map((cores) => defaultThreads(8, cores))).toEqual([1, 1, 1, 4]);
  });
});
