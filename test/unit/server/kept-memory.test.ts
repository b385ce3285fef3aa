// Memory that is used again: copies are right, and not too much of it is kept.
import { expect, test } from 'vitest';
import { KeptMemory } from '#dist/server/kept-memory.js';

const KIB = 1024;
const frameOf = (sizeBytes: number, fill: number) => new Uint8Array(sizeBytes).fill(fill);

test('a copy stays what it is while its frame and other copies change', () => {
  const memory = new KeptMemory();
  const given = [frameOf(20 * KIB, 1), frameOf(20 * KIB, 2), frameOf(100, 3)];
  const copies = given.map((frame) => memory.copyOf(frame));
  for (const frame of given) frame.fill(9);
  expect(copies).toEqual([frameOf(20 * KIB, 1), frameOf(20 * KIB, 2), frameOf(100, 3)]);
});

test('memory that is given back holds a later frame of another length', () => {
  const memory = new KeptMemory();
  const first = memory.copyOf(frameOf(30 * KIB, 1));
  memory.giveBack(first);
  expect(memory.freeBytes).toBe(32 * KIB);
  const second = memory.copyOf(frameOf(17 * KIB, 2));
  expect(second.buffer).toBe(first.buffer);
  expect(second).toEqual(frameOf(17 * KIB, 2));
  expect(memory.freeBytes).toBe(0);
  expect(memory.copyOf(frameOf(30 * KIB, 3)).buffer).not.toBe(first.buffer);
});

test('small frames are not kept, and no more than 8 MiB of large ones', () => {
  const memory = new KeptMemory();
  memory.giveBack(memory.copyOf(frameOf(100, 1)));
  expect(memory.freeBytes).toBe(0);
  const copies = Array.from({ length: 10 }, () => memory.copyOf(frameOf(1024 * KIB + 16, 1)));
  for (const copy of copies) memory.giveBack(copy);
  expect(memory.freeBytes).toBe(8 * 1024 * KIB);
});
