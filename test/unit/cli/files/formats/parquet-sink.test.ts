// Metadata of a written Parquet file: by which column its rows are sorted, and where those without a value come; and
// that a row group ends at as many rows or as much text as it may have.
import { parquetMetadata } from 'hyparquet';
import { expect, test } from 'vitest';
import { parquetSink } from '#dist/files/formats/parquet/parquet-sink.js';
import type { SinkColumns } from '#dist/files/formats/table.js';

async function metadataOf(columns: SinkColumns, batches: unknown[][][]) {
  const pieces: Uint8Array[] = [];
  const output = { name: 'x.parquet', write: async (bytes: Uint8Array) => void pieces.push(bytes.slice()) };
  const sink = parquetSink(output as never, columns);
  for (const values of batches) await sink.write({ rowCount: values[0]!.length, values });
  await sink.close();
  const whole = Buffer.concat(pieces);
  return parquetMetadata(new Uint8Array(whole).buffer);
}

const columns = {
  kept: [],
  added: [
    { name: 'id', kind: 'int' },
    { name: 'code', kind: 'text' },
  ],
  isWhole: true,
} as const;
const rows = [
  [1, 2, 3],
  ['A', 'B', null],
];

test('a file in any order says nothing of an order', async () => {
  const { row_groups: groups } = await metadataOf(columns, [rows]);
  expect(groups.map((group) => group.sorting_columns)).toEqual([undefined]);
});

test('a row group ends at 65,536 rows, and at 64 MiB of text', async () => {
  const many = [Array.from({ length: 40_000 }, () => 1), Array.from({ length: 40_000 }, () => 'A')];
  const byRows = await metadataOf(columns, [many, many]);
  expect(byRows.row_groups.map((group) => Number(group.num_rows))).toEqual([65_536, 14_464]);
  const long = 'x'.repeat(2 ** 20);
  const texts = [Array.from({ length: 40 }, () => 1), Array.from({ length: 40 }, () => long)];
  const byText = await metadataOf(columns, [texts, texts, texts]);
  expect(byText.row_groups.map((group) => Number(group.num_rows))).toEqual([80, 40]);
});
