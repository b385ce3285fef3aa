// Blocks of one body in the pool: answers in the order of the body, and bounds on what one body may have there.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { BulkJob, ConvertedBlock } from '#dist/hexcodes/wire/job.js';
import type { Pool } from '#dist/pool/pool.js';
import { PooledBlocks } from '#dist/server/bulk/pooled-blocks.js';
import type { Exchange } from '#dist/server/exchange.js';
import { Guarded } from '#dist/server/transport/guarded.js';

class Errors extends Guarded {
  readonly errors: unknown[] = [];
  protected thrown(error: unknown): void {
    this.errors.push(error);
  }
}

/** A pool whose answers the test gives. */
class HeldPool {
  isOpen = true;
  mayTakeBodyBlock = (): boolean => this.isOpen;
  readonly answer: ((sizeBytes: number) => void)[] = [];
  readonly reject: ((error: Error) => void)[] = [];
  letContinue: () => void = () => {};

  convert(): Promise<ConvertedBlock> {
    return new Promise((resolve, reject) => {
      this.answer.push((sizeBytes) =>
        resolve({ bytes: new Uint8Array(sizeBytes), rows: sizeBytes, failed: 0 } as ConvertedBlock),
      );
      this.reject.push(reject);
    });
  }

  whenBodyMayContinue(): Promise<void> {
    return new Promise((resolve) => {
      this.letContinue = resolve;
    });
  }
}

const JOB = {} as BulkJob;
const BLOCK = new Uint8Array(256 * 1024);

function blocksIn(pool: HeldPool): { blocks: PooledBlocks; x: Errors; progress: () => number } {
  const x = new Errors();
  let calls = 0;
  const onProgress = (): void => {
    calls++;
  };
  const blocks = new PooledBlocks(x as unknown as Exchange, pool as unknown as Pool, onProgress);
  return { blocks, x, progress: () => calls };
}

/** Hands a block to the pool, if it may take it now. */
function converted(
  blocks: PooledBlocks,
  block: Uint8Array,
  settle: (rows: number) => void = () => {},
): boolean {
  const may = blocks.mayConvert(block);
  if (may) blocks.convert(JOB, block, ({ rows }) => settle(rows));
  return may;
}

test('answers are taken in the order of the body', async () => {
  const pool = new HeldPool();
  const { blocks, progress } = blocksIn(pool);
  for (let n = 0; n < 3; n++) expect(converted(blocks, BLOCK)).toBe(true);
  pool.answer[2]!(3);
  pool.answer[1]!(2);
  await turn();
  expect([blocks.shift(), blocks.answeredBytes, blocks.isWorking]).toEqual([undefined, undefined, true]);
  pool.answer[0]!(1);
  await turn();
  expect([blocks.answeredBytes, blocks.isWorking, progress()]).toEqual([6, false, 3]);
  expect([1, 2, 3].map(() => blocks.shift()!.bytes.length)).toEqual([1, 2, 3]);
  expect([blocks.shift(), blocks.isEmpty]).toEqual([undefined, true]);
});

test('a body has a megabyte in the pool at most, but always one block', async () => {
  const pool = new HeldPool();
  const { blocks } = blocksIn(pool);
  expect(converted(blocks, new Uint8Array(1_310_736))).toBe(true);
  expect(converted(blocks, BLOCK)).toBe(false);
  pool.answer[0]!(1);
  await turn();
  // Answers that wait for their reader count, too.
  expect(converted(blocks, BLOCK)).toBe(false);
  blocks.shift();
  expect([1, 2, 3, 4, 5].map(() => converted(blocks, BLOCK))).toEqual([true, true, true, true, false]);
});

test('while the pool takes no blocks the body waits, and is told when it does', async () => {
  const pool = new HeldPool();
  const { blocks, progress } = blocksIn(pool);
  pool.isOpen = false;
  expect([converted(blocks, BLOCK), blocks.isEmpty, blocks.isWorking]).toEqual([false, true, true]);
  pool.isOpen = true;
  expect(converted(blocks, BLOCK)).toBe(false);
  pool.letContinue();
  await turn();
  expect([progress(), blocks.isWorking, converted(blocks, BLOCK)]).toEqual([1, false, true]);
});

test('rows are settled whether or not they are converted, also after the body has been left', async () => {
  const pool = new HeldPool();
  const { blocks } = blocksIn(pool);
  const settled: number[] = [];
  for (let n = 0; n < 2; n++) converted(blocks, BLOCK, (rows) => settled.push(rows));
  blocks.clear();
  pool.reject[0]!(new Error('lost'));
  pool.answer[1]!(7);
  await turn();
  expect(settled).toEqual([0, 7]);
});

test('an error of the pool is an error of the exchange', async () => {
  const pool = new HeldPool();
  const { blocks, x, progress } = blocksIn(pool);
  converted(blocks, BLOCK);
  const error = new Error('lost');
  pool.reject[0]!(error);
  await turn();
  expect([x.errors, progress()]).toEqual([[error], 0]);
});
