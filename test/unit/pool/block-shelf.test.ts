// Copies in shared memory: whole, of any length, in buffers that are used again.
import { expect, test } from 'vitest';
import { BlockShelf } from '#dist/pool/block-shelf.js';

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 31 + 7) % 251);

test.each([0, 1, 2, 7, 8, 9, 65_535, 65_536, 65_537, 300_001])('a copy of %i bytes is whole', (length) => {
  const bytes = bytesOf(length);
  const copy = new BlockShelf().copyOf(bytes);
  expect(copy.length).toBe(length);
  expect(Buffer.compare(Buffer.from(copy), bytes)).toBe(0);
});

test('a buffer that was given back holds the next copy, and nothing of the last', () => {
  const shelf = new BlockShelf();
  const first = shelf.copyOf(bytesOf(5000));
  const { buffer } = first;
  shelf.giveBack(first);
  const second = shelf.copyOf(bytesOf(33));
  expect(second.buffer).toBe(buffer);
  expect(second.length).toBe(33);
  expect(shelf.copyOf(bytesOf(33)).buffer).not.toBe(buffer);
});
