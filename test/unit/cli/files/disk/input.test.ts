// Files that cannot be converted are not left open: a worker meets thousands of them.
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { openInput } from '#dist/files/disk/input.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-input-'));
afterAll(() => rmSync(folder, { recursive: true }));
const OPEN = '/proc/self/fd';

/** How many descriptors of this process lead to a file. */
function openOnes(path: string): number {
  const linkOf = (name: string): string => {
    try {
      return readlinkSync(join(OPEN, name));
    } catch {
      // The descriptor of the list itself.
      return '';
    }
  };
  return readdirSync(OPEN).filter((name) => linkOf(name) === path).length;
}

/** Larger than what is read of a file at first. */
function fileOf(name: string, ...head: readonly Uint8Array[]): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat([...head, Buffer.alloc(1 << 20, 'x')]));
  return path;
}

test.skipIf(!existsSync(OPEN)).each([
  ['a.zip', Buffer.from('PK\u0003\u0004'), /ZIP/],
  ['b.csv.gz', gzipSync('lat,lng\n').subarray(0, 12), /gzip/],
  ['c.pdf', Buffer.from('%PDF-1.7\n'), /PDF/],
])('%s', async (name, head, reason) => {
  const path = fileOf(name, head);
  await expect(openInput(path)).rejects.toThrow(reason);
  await expect.poll(() => openOnes(path)).toBe(0);
});
