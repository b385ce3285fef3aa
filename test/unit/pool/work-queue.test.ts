// Whose turn it is in the pool, and who gives way where it is full: by key, without threads.
import { expect, test } from 'vitest';
import { PoolFullError, type QueuedBlock, WorkQueue } from '#dist/pool/work-queue.js';

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
