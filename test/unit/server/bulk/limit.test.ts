// A bulk body that waits for points of its key, by an entry that the test answers for.
import { expect, test } from 'vitest';
import { BulkLimit } from '#dist/server/bulk/limit.js';
import { WAIT } from '#dist/server/ledger/rates.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const BLOCK = new TextEncoder().encode('1,2\n3,4\n');
const JOB = { input: 'csv' } as never;

function waiting() {
  const given: number[] = [];
  let answer: (refusal: undefined) => void = () => {};
  let turns = 0;
  const entry = {
    isFree: false,
    key: { hasQuota: true, rates: { now: () => Number.POSITIVE_INFINITY } },
    period: undefined,
    admit: () => WAIT,
    whenAdmitted: () => new Promise<undefined>((resolve) => (answer = resolve)),
    done: (ok: number, failed: number, reserved: number) => given.push(reserved - ok - failed),
  };
  const limit = new BulkLimit(entry as never, () => turns++);
  expect(limit.admit(JOB, BLOCK as never, true)).toBeUndefined();
  expect(limit.isWaiting).toBe(true);
  return { limit, given, turns: () => turns, answer: () => answer(undefined) };
}

test('goes on once its points have come, and uses them', async () => {
  const { limit, given, turns, answer } = waiting();
  answer();
  await new Promise(setImmediate);
  expect([turns(), limit.isWaiting]).toEqual([1, false]);
  expect(limit.admit(JOB, BLOCK as never, true)).toMatchObject({ reserved: 2, rows: undefined });
  expect(given).toEqual([]);
});

test('gives its points back where it is gone when they come, and where it goes before it has used them', async () => {
  const first = waiting();
  first.limit.close();
  first.answer();
  await new Promise(setImmediate);
  expect([first.given, first.turns()]).toEqual([[2], 0]);
  const second = waiting();
  second.answer();
  await new Promise(setImmediate);
  second.limit.close();
  expect(second.given).toEqual([2]);
});

test('points of a block of frames are those that its frames announce, and one for bytes that are no frame', () => {
  const frames = [3, 0, 5].map((count) => encodeFrame(0, new Float64Array(2 * count)));
  const block = Buffer.concat([...frames, Buffer.alloc(20, 255)]);
  const asked: number[] = [];
  const entry = {
    isFree: false,
    key: { hasQuota: true, rates: { now: () => Number.POSITIVE_INFINITY } },
    period: undefined,
    admit: (points: number) => void asked.push(points),
  };
  const limit = new BulkLimit(entry as never, () => {});
  expect(limit.admit({ input: 'frames' } as never, block as never, true)).toMatchObject({ reserved: 10 });
  expect(asked).toEqual([10]);
});
