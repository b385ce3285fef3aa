// Rows on the disk: read as they were written, and a disk that cannot be read is said in words.
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { SpillFolder } from '#dist/files/disk/spill-folder.js';

const folder = new SpillFolder('hexcodes-test', 'rows');
afterEach(() => folder.remove());

test('bytes are read from any place on, fewer at the end', () => {
  const descriptor = folder.create();
  folder.write(descriptor, new Uint8Array([1, 2, 3, 4, 5]));
  const bytes = new Uint8Array(3);
  expect([folder.read(descriptor, bytes, 1), [...bytes]]).toEqual([3, [2, 3, 4]]);
  expect([folder.read(descriptor, bytes, 4), bytes[0]]).toEqual([1, 5]);
  expect(folder.read(descriptor, bytes, 5)).toBe(0);
});

test('what cannot be read', () => {
  folder.create();
  const unreadable = openSync(tmpdir(), 'r');
  try {
    expect(() => folder.read(unreadable, new Uint8Array(3), 0)).toThrow(
      /^cannot read rows from .*hexcodes-test-\w+: it is a directory$/,
    );
  } finally {
    closeSync(unreadable);
  }
});
