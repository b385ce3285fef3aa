// Memory of frames that wait: copies are right, memory is used again, and not too much of it is kept.
import { expect, test } from 'vitest';
import { WaitingFrames } from '#dist/server/stream/waiting-frames.js';

const KIB = 1024;
const frameOf = (sizeBytes: number, fill: number) => new Uint8Array(sizeBytes).fill(fill);

test('a copy stays what it is while its frame and other copies change', () => {
  const frames = new WaitingFrames();
  const given = [frameOf(20 * KIB, 1), frameOf(20 * KIB, 2), frameOf(100, 3)];
  const copies = given.map((frame) => frames.copyOf(frame));
  for (const frame of given) frame.fill(9);
  expect(copies).toEqual([frameOf(20 * KIB, 1), frameOf(20 * KIB, 2), frameOf(100, 3)]);
});

test('memory that is given back holds a later frame of another length', () => {
  const frames = new WaitingFrames();
  const first = frames.copyOf(frameOf(30 * KIB, 1));
  frames.giveBack(first);
  expect(frames.freeBytes).toBe(32 * KIB);
  const second = frames.copyOf(frameOf(17 * KIB, 2));
  expect(second.buffer).toBe(first.buffer);
  expect(second).toEqual(frameOf(17 * KIB, 2));
  expect(frames.freeBytes).toBe(0);
  expect(frames.copyOf(frameOf(30 * KIB, 3)).buffer).not.toBe(first.buffer);
});

test('small frames are not kept, and no more than 8 MiB of large ones', () => {
  const frames = new WaitingFrames();
  frames.giveBack(frames.copyOf(frameOf(100, 1)));
  expect(frames.freeBytes).toBe(0);
  const copies = Array.from({ length: 10 }, () => frames.copyOf(frameOf(1024 * KIB + 16, 1)));
  for (const copy of copies) frames.giveBack(copy);
  expect(frames.freeBytes).toBe(8 * 1024 * KIB);
});
