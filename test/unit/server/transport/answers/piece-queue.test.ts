// The queue of streamed answers against a plain list of bytes, and which bytes it copies.
import { expect, test } from 'vitest';
import { PACKED_BYTES, PieceQueue } from '#dist/server/transport/answers/piece-queue.js';
import { randomFrom } from '../../../../support/open-world.js';

test.each([1, 2, 3])('all bytes are taken in order, whatever the sizes (%i)', (seed) => {
  const random = randomFrom(seed);
  const below = (limit: number) => 1 + Math.floor(random() ** 3 * limit);
  const queue = new PieceQueue();
  const pushed: number[] = [];
  const taken: number[] = [];
  let pieces = 0;
  let sent = 0;
  for (let round = 0; round < 300; round++) {
    if (random() < 0.6) {
      const bytes = Uint8Array.from({ length: below(40_000) }, () => random() * 256);
      pushed.push(...bytes);
      pieces++;
      queue.push(bytes, () => sent++);
    } else if (queue.sizeBytes > 0) {
      const maxBytes = below(60_000);
      const part = queue.take(maxBytes);
      expect(part.length).toBeGreaterThan(0);
      expect(part.length).toBeLessThanOrEqual(maxBytes);
      taken.push(...part);
      queue.callSent();
    }
    expect(queue.sizeBytes).toBe(pushed.length - taken.length);
  }
  while (queue.sizeBytes > 0) taken.push(...queue.take(1_000_000));
  expect(Buffer.from(taken).equals(Buffer.from(pushed))).toBe(true);
  queue.callSent();
  expect(sent).toBe(pieces);
});

test('a large piece is taken where it lies, small ones are put together', () => {
  const queue = new PieceQueue();
  const large = new Uint8Array(PACKED_BYTES + 1);
  queue.push(large);
  expect(queue.take(1_000_000).buffer).toBe(large.buffer);
  for (const value of [1, 2]) queue.push(new Uint8Array(10).fill(value));
  const part = queue.take(1_000_000);
  expect([part.length, part[9], part[10]]).toEqual([20, 1, 2]);
});

test('withdraw removes the rest of the last piece only', () => {
  const queue = new PieceQueue();
  const bytes = new Uint8Array(100);
  queue.push(bytes);
  queue.skip(30);
  expect(queue.withdraw(bytes)).toBe(30);
  expect(queue.sizeBytes).toBe(0);
  queue.push(new Uint8Array(7));
  queue.push(bytes);
  expect([queue.withdraw(bytes), queue.sizeBytes]).toEqual([0, 7]);
  queue.push(bytes);
  while (queue.sizeBytes > 0) queue.take(1000);
  expect(queue.withdraw(bytes)).toBe(100);
});
