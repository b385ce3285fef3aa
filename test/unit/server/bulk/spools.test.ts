// Shares of the keys in the files of answers that wait on disk.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Spool, SpoolFullError, Spools } from '#dist/server/bulk/spool.js';
import { filesBeside } from '#dist/server/transport/system-limits.js';

test('a key opens three quarters of the files at most, and they are free again when they are closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-spools-'));
  const spools = new Spools(folder, { requestBytes: 100, totalBytes: 1000, files: 8 });
  const open: Spool[] = [];
  const fill = (key: string): number => {
    const before = open.length;
    try {
      for (;;) open.push(spools.open(key));
    } catch (error) {
      expect(error).toBeInstanceOf(SpoolFullError);
    }
    return open.length - before;
  };
  expect([fill('a'), fill('b'), fill('c')]).toEqual([6, 2, 0]);
  await Promise.all(open.map((spool) => spool.append(Buffer.alloc(10))));
  expect(spools.totalBytes).toBe(80);
  for (const spool of open.splice(0)) spool.close();
  expect(spools.totalBytes).toBe(0);
  expect(fill('a')).toBe(6);
  for (const spool of open) await spool.written.then(() => spool.close());
  rmSync(folder, { recursive: true });
});

test.each([
  [50_000, 1_048_576, 998_512],
  [50_000, 1024, 64],
  [500, 1024, 460],
  [50_000, 192, 64],
  [50_000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
])('%s connections of %s files leave %s files to answers on disk', (wanted, limit, files) => {
  expect(filesBeside(wanted, limit)).toBe(files);
});
