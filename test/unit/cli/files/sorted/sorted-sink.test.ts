// Rows handed on by a sorting sink, against a stable sort of them all: in memory, and from the disk in one level and in
// two.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TableRows, TableSink } from '#dist/files/formats/table.js';
import { SortedSink } from '#dist/files/sorted/sorted-runs.js';

const before = process.env.TMPDIR;
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-sorted-test-'));
beforeAll(() => {
  process.env.TMPDIR = folder;
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true });
});

/** Rows that reached it, and how many folders of runs were on the disk then. */
class Collected implements TableSink {
  readonly rows: unknown[][] = [];
  isClosed = false;
  folders = 0;
  async write({ rowCount, values }: TableRows): Promise<void> {
    this.folders = readdirSync(folder).length;
    for (let row = 0; row < rowCount; row++) this.rows.push(values.map((column) => column[row]));
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const value = fc.oneof(
  fc.constant(null),
  fc.string({ unit: 'grapheme' }),
  fc.double(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.boolean(),
  fc.uint8Array({ maxLength: 20 }),
);
const key = fc.oneof(fc.constant(null), fc.stringMatching(/^[A-C2-4-]{0,4}$/));

async function sortedBy(
  rows: readonly unknown[][],
  memoryBytes: number,
  batchRows: number,
): Promise<Collected> {
  const collected = new Collected();
  const sink = new SortedSink(collected, 1, memoryBytes, () => undefined);
  for (let from = 0; from < rows.length; from += batchRows) {
    const batch = rows.slice(from, from + batchRows);
    await sink.write({
      rowCount: batch.length,
      values: [0, 1, 2].map((c) => batch.map((row) => row[c])),
    });
  }
  await sink.close();
  sink.remove();
  expect(collected.isClosed).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
  return collected;
}

const rank = (text: unknown): string => (text === null ? '1' : `0${text}`);
const expected = (rows: readonly unknown[][]): unknown[][] =>
  rows.toSorted((a, b) => (rank(a[1]) < rank(b[1]) ? -1 : rank(a[1]) > rank(b[1]) ? 1 : 0));

test('rows of any values, in memory and from the disk', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(value, key, fc.nat()), { maxLength: 200 }),
      fc.constantFrom(1, 2000, 1e9),
      fc.integer({ min: 1, max: 50 }),
      async (rows, memoryBytes, batchRows) => {
        expect((await sortedBy(rows, memoryBytes, batchRows)).rows).toEqual(expected(rows));
      },
    ),
    { seed: 26, numRuns: 60 },
  );
});

test('more runs than are merged at a time, with rows larger than a block', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => [
    i % 97 === 0 ? 'long '.repeat(80_000) : i,
    `K${(i * 7919) % 1000}`,
    i,
  ]);
  const collected = await sortedBy(rows, 1, 2);
  expect(collected.folders).toBe(1);
  expect(collected.rows).toEqual(expected(rows));
});

test('no rows', async () => {
  expect((await sortedBy([], 1, 1)).rows).toEqual([]);
});

test('a run that is interrupted between two blocks leaves no file', async () => {
  let ticks = 0;
  const sink = new SortedSink(new Collected(), 0, 1, () => {
    if (++ticks === 2) throw new Error('interrupted');
  });
  await sink.write({ rowCount: 1, values: [['b']] });
  await expect(sink.write({ rowCount: 1, values: [['a']] })).rejects.toThrow('interrupted');
  expect(readdirSync(folder).length).toBe(1);
  sink.remove();
  expect(readdirSync(folder)).toEqual([]);
});
