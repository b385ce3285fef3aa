// The token bucket: its rate, its capacity, work larger than it, and clocks that move.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '#dist/server/ledger/token-bucket.js';

test('a full bucket gives its capacity at once, and then its rate', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect(bucket.waitMs(20, 0)).toBe(0);
  bucket.take(20);
  expect(bucket.waitMs(1, 0)).toBe(100);
  expect(bucket.waitMs(1, 99)).toBeGreaterThan(0);
  expect(bucket.waitMs(1, 100)).toBe(0);
  expect(bucket.left(100_000)).toBe(20);
});

test('work larger than the bucket is let in when it is full, and is owed', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect(bucket.waitMs(100, 0)).toBe(0);
  bucket.take(100);
  expect(bucket.left(0)).toBe(-80);
  expect(bucket.waitMs(1, 0)).toBe(8100);
  expect(bucket.waitMs(100, 0)).toBe(10_000);
});

test('tokens that are given back do not pass the capacity', () => {
  const bucket = new TokenBucket(10, 20, 0);
  bucket.take(5);
  bucket.take(-50);
  expect(bucket.left(0)).toBe(20);
});

test('a clock that goes back brings and takes no tokens, and the rate goes on from there', () => {
  const bucket = new TokenBucket(10, 20, 1e9);
  bucket.take(20);
  expect(bucket.left(1e9 - 3_600_000)).toBe(0);
  expect(bucket.left(1e9 - 3_600_000 + 1000)).toBe(10);
});

test('whatever comes when, no more is let in than the capacity and the rate allow, and one piece of work', () => {
  const calls = fc.array(fc.record({ afterMs: fc.nat(5000), count: fc.integer({ min: 1, max: 50 }) }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(calls, (all) => {
      const bucket = new TokenBucket(7, 20, 0);
      let nowMs = 0;
      let taken = 0;
      for (const { afterMs, count } of all) {
        nowMs += afterMs;
        if (bucket.waitMs(count, nowMs) > 0) continue;
        bucket.take(count);
        taken += count;
      }
      expect(taken).toBeLessThanOrEqual(20 + (7 * nowMs) / 1000 + 30 + 0.001);
    }),
  );
});
