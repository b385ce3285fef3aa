// Rows that a sorting sink writes as Parquet, against a stable sort of them all that hyparquet-writer writes, with
// cells of the library and boxes of cellBox: values and statistics; in memory, and from the disk in one level and in
// two.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { derivedColumns, encodeAdded } from '#dist/files/columns/encode-columns.js';
import { openInput } from '#dist/files/disk/input.js';
import { openParquet, readParquet } from '#dist/files/formats/parquet/parquet-source.js';
import type { SinkColumns, TableColumn } from '#dist/files/formats/table.js';
import { SortedSink } from '#dist/files/sorted/sorted-sink.js';
import { cellBox } from '#dist/hexcodes/geometry/geojson.js';
import { Hexcodes } from '#hexcodes';
import { encodeFile } from '../../../../support/files/convert.js';
import { referenceParquet } from '../../../../support/files/reference-parquet.js';

const before = process.env.TMPDIR;
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-sorted-test-'));
const files = mkdtempSync(join(tmpdir(), 'hexcodes-sorted-files-'));
let hexcodes: Hexcodes;
let codes: string[];
beforeAll(async () => {
  process.env.TMPDIR = folder;
  hexcodes = await Hexcodes.load();
  codes = Array.from({ length: 300 }, (_, i) => {
    const [lat, lng] = [[21.03, 105.8] as const, [10.78, 106.68] as const, [12.5, 108] as const][i % 3]!;
    return hexcodes.encode(lat + i / 9000, lng + (i % 17) / 700, [13, 13, 5, 15, 9][i % 5]!).hexcodes;
  });
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true });
  rmSync(files, { recursive: true });
});

const KEPT: readonly TableColumn[] = [
  { name: 'text', kind: 'text' },
  { name: 'double', kind: 'double' },
  { name: 'float', kind: 'float' },
  { name: 'int', kind: 'int' },
  { name: 'long', kind: 'long' },
  { name: 'ulong', kind: 'ulong' },
  { name: 'boolean', kind: 'boolean' },
  { name: 'binary', kind: 'binary' },
  { name: 'uuid', kind: 'uuid' },
  { name: 'decimal', kind: 'decimal', scale: 2, precision: 12 },
  { name: 'large', kind: 'decimal', scale: 0, precision: 38 },
  { name: 'json', kind: 'json' },
  { name: 'at', kind: 'timestamp', unit: 's', isUtc: true },
  { name: 'clock', kind: 'time', unit: 'ms' },
  { name: 'span', kind: 'duration', unit: 'ms' },
];
const SHAPE = { hasResolution: false, isFormer: false, hasCertainty: true, isSorted: true };
const ADDED = encodeAdded(SHAPE);
const COLUMNS: SinkColumns = {
  ...{ kept: KEPT, added: ADDED, isWhole: true },
  derived: derivedColumns(SHAPE, KEPT.length, KEPT.length + ADDED.length),
};

const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const few = fc.constantFrom('a', 'b', 'tên 😀', '');
/** The values of a row, the place of its code, -1 for none, and its status where it has none. */
const row = fc.tuple(
  fc.tuple(
    ...[
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), few),
      // hyparquet-writer's dictionaries have one zero.
      fc.oneof(fc.double(), fc.constantFrom(0, Number.NaN)).map((value) => value + 0),
      fc.float({ noNaN: true }).map((value) => value + 0),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      fc.oneof(long, fc.bigInt({ min: -3n, max: 3n })),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.boolean(),
      fc.uint8Array({ maxLength: 40 }),
      fc.uuid(),
      fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
      fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }),
      fc.json(),
      fc.bigInt({ min: -(10n ** 11n), max: 10n ** 11n }),
      fc.bigInt({ min: 0n, max: 86_399_999n }),
      fc.bigInt({ min: 0n, max: 10n ** 9n }),
    ].map((each: fc.Arbitrary<unknown>) => fc.option(each, { freq: 6 })),
  ),
  fc.integer({ min: -1, max: 40 }),
  fc.constantFrom('NOT_FOUND', 'INVALID_REQUEST'),
  fc.nat(5000),
);
type Row = [values: unknown[], code: number, failure: string, border: number];

/** All values of a row, those made of its code only where `isWhole`. */
function valuesOf([values, place, failure, border]: Row, isWhole: boolean): unknown[] {
  const code = place < 0 ? null : codes[place]!;
  const cell = code === null || !isWhole ? null : hexcodes.read(code)!.cell;
  const box = cell === null ? [null, null, null, null] : cellBox(cell.toString(16));
  const ours = [13, code?.slice(0, code.indexOf('-')) ?? null, border, border / 5000];
  return [...values, code, cell, ...ours, ...box, code === null ? failure : 'OK'];
}

function outputTo(path: string) {
  const parts: Uint8Array[] = [];
  return {
    ...{ name: path, holdsBytes: true, abandon: () => undefined },
    async write(bytes: Uint8Array): Promise<void> {
      parts.push(bytes);
    },
    async finish(): Promise<void> {
      writeFileSync(path, Buffer.concat(parts));
    },
  };
}

const columnsOf = (rows: readonly unknown[][]): unknown[][] =>
  [...KEPT, ...ADDED].map((_, c) => rows.map((values) => values[c]));

async function sortedBytes(rows: readonly Row[], memoryBytes: number, batchRows: number): Promise<Buffer> {
  const path = join(files, 'sorted.parquet');
  const output = outputTo(path);
  const sink = new SortedSink(hexcodes, output, COLUMNS, memoryBytes, () => undefined);
  for (let from = 0; from < rows.length; from += batchRows) {
    const batch = rows.slice(from, from + batchRows).map((each) => valuesOf(each, false));
    await sink.write({ rowCount: batch.length, values: columnsOf(batch) });
  }
  await sink.close();
  sink.remove();
  await output.finish();
  expect(readdirSync(folder)).toEqual([]);
  return readFileSync(path);
}

/** A stable sort, texts by their bytes, rows without a code last. */
function expectedBytes(rows: readonly Row[]): Uint8Array {
  const rank = ([, place]: Row): string => (place < 0 ? '~' : codes[place]!);
  const sorted = rows.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
  return referenceParquet([...KEPT, ...ADDED], columnsOf(sorted.map((each) => valuesOf(each, true))));
}

/** All that a file says: columns, values, statistics. @param isOurs whether the bounds of texts are to be whole */
async function contentOf(bytes: Uint8Array, isOurs: boolean, sorting: unknown[] = []): Promise<unknown> {
  const path = join(files, 'read.parquet');
  writeFileSync(path, bytes);
  const { metadata } = await readParquet(await openInput(path));
  const input = await openInput(path);
  const source = await openParquet(input);
  const values: unknown[][] = [];
  for await (const batch of source.batches())
    for (let at = 0; at < batch.rowCount; at++) values.push(batch.values.map((column) => column[at]));
  input.close();
  sorting.push(...metadata.row_groups.map(({ sorting_columns }) => sorting_columns));
  let first = 0;
  const groups = metadata.row_groups.map(({ num_rows, columns }) => {
    const ofGroup = values.slice(first, first + Number(num_rows));
    first += ofGroup.length;
    const each = columns.map(({ meta_data: meta }, c) => {
      const { path_in_schema: name, type, num_values: count, statistics: all = {} } = meta!;
      const { null_count: nulls, min_value: least, max_value: most } = all;
      if (type !== 'BYTE_ARRAY') return [name, type, count, nulls, least, most];
      // Bounds of texts by hyparquet-writer are their first units of UTF-16, in the order of these.
      if (isOurs) {
        const found = ofGroup.flatMap((row) => (row[c] === null ? [] : [Buffer.from(row[c] as string)]));
        found.sort(Buffer.compare);
        const isLong = [found[0], found.at(-1)].some((bound) => (bound?.length ?? 0) > 4096);
        const bounds = found.length === 0 || isLong ? [] : [`${found[0]!}`, `${found.at(-1)!}`];
        const written = [least, most].flatMap((bound) => (bound === undefined ? [] : [`${bound}`]));
        expect(written).toEqual(bounds);
      }
      return [name, type, count, nulls];
    });
    return [num_rows, each];
  });
  return [source.columns, values, groups];
}

test('rows of any values, in memory and from the disk', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 150 }),
      fc.constantFrom(1, 20_000, 1e9),
      fc.integer({ min: 1, max: 50 }),
      async (rows, memoryBytes, batchRows) => {
        const sorted = await sortedBytes(rows as Row[], memoryBytes, batchRows);
        expect(await contentOf(sorted, true)).toEqual(await contentOf(expectedBytes(rows as Row[]), false));
      },
    ),
    { seed: 26, numRuns: 40 },
  );
});

const none = KEPT.map(() => null);

test('more rows than are sorted by comparing, all row groups full, the same bytes from the disk', async () => {
  const rows = Array.from({ length: 70_000 }, (_, i): Row => {
    const values = [...none.slice(0, 4), BigInt(i), ...none.slice(5)];
    return [values, i % 11 === 0 ? -1 : (i * 7919) % 300, 'NOT_FOUND', 0];
  });
  const held = await sortedBytes(rows, 1e9, 8192);
  const sorting: unknown[] = [];
  const [, values, groups] = (await contentOf(held, true, sorting)) as [unknown, unknown[][], unknown[][]];
  const byCode = [{ column_idx: KEPT.length, descending: false, nulls_first: false }];
  expect(sorting).toEqual([byCode, byCode]);
  expect(groups.map(([count]) => count)).toEqual([65_536n, 4464n]);
  const rank = (i: number): string => (i % 11 === 0 ? '~' : codes[(i * 7919) % 300]!);
  const order = rows
    .map((_, i) => i)
    .sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : a - b));
  expect(values.map((each) => Number(each[4]))).toEqual(order);
  expect((await sortedBytes(rows, 1e6, 8192)).equals(held)).toBe(true);
});

test('more runs than are merged at a time, with rows larger than a block', async () => {
  const rows = Array.from(
    { length: 400 },
    (_, i): Row => [
      [i % 97 === 0 ? 'long '.repeat(80_000) : `${i}`, ...none.slice(1)],
      (i * 79) % 40,
      'NOT_FOUND',
      i,
    ],
  );
  const sorted = await sortedBytes(rows, 1, 2);
  expect(await contentOf(sorted, true)).toEqual(await contentOf(expectedBytes(rows), false));
});

test('both zeros stay', async () => {
  const rows = [-0, 0, -0].map((zero): Row => [[null, zero, ...none.slice(2)], 1, 'NOT_FOUND', 0]);
  const [, values] = (await contentOf(await sortedBytes(rows, 1e9, 9), true)) as [unknown, unknown[][]];
  expect(values.map((each) => each[1])).toEqual([-0, 0, -0]);
});

test('no rows', async () => {
  expect(await contentOf(await sortedBytes([], 1, 1), true)).toEqual(
    await contentOf(expectedBytes([]), false),
  );
});

test('a run that is interrupted between two blocks leaves no file', async () => {
  let ticks = 0;
  const sink = new SortedSink(hexcodes, outputTo(join(files, 'none')), COLUMNS, 1, () => {
    if (++ticks === 2) throw new Error('interrupted');
  });
  const batch = { rowCount: 1, values: columnsOf([valuesOf([none, 1, '', 0], false)]) };
  await sink.write(batch);
  await expect(sink.write(batch)).rejects.toThrow('interrupted');
  expect(readdirSync(folder).length).toBe(1);
  sink.remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('a number that the type of its column does not hold ends the run', async () => {
  const sink = new SortedSink(hexcodes, outputTo(join(files, 'none')), COLUMNS, 1e9, () => undefined);
  const values = [...none.slice(0, 4), 2n ** 63n, ...none.slice(5)];
  const batch = { rowCount: 1, values: columnsOf([valuesOf([values, 1, '', 0], false)]) };
  await expect(sink.write(batch)).rejects.toThrow('INT64 value out of range');
});

test('decoded rows have no order to be sorted by', async () => {
  const [input, output] = [join(files, 'codes.csv'), join(files, 'codes.parquet')];
  writeFileSync(input, `hexcodes\n${codes[0]}\n`);
  const sort = { memoryBytes: 2 ** 26 };
  await expect(encodeFile(hexcodes, input, output, { operation: 'decode', sort })).rejects.toThrow(
    '--sort is for encode',
  );
});
