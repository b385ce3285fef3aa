// Parquet as hyparquet-writer writes it, from the same values: what our own writers are compared with.
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { elementOf } from '#dist/files/formats/parquet/parquet-types.js';
import type { TableColumn } from '#dist/files/formats/table.js';
import { textOf } from '#dist/files/formats/values/column-text.js';

/** A value as an element of Parquet holds it, which knows no seconds and no durations. */
function storedOf(column: TableColumn, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (column.kind === 'duration') return textOf(column, value);
  if (column.kind === 'time' && column.unit === 'ms') return Number(value);
  return column.unit === 's' ? 1000n * (value as bigint) : value;
}

/** One file of one batch. @param values of each column */
export function referenceParquet(
  columns: readonly TableColumn[],
  values: readonly (readonly unknown[])[],
): Uint8Array {
  const elements = columns.map(elementOf);
  const writer = new ByteWriter(1 << 20);
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: columns.length }, ...elements],
  });
  const data = columns.map((column, c) => values[c]!.map((value) => storedOf(column, value)));
  if ((data[0]?.length ?? 0) > 0)
    parquet.write({
      columnData: columns.map(({ name }, c) => ({ name, data: data[c]! })),
      rowGroupSize: 65_536,
    });
  for (const [c, { kind }] of columns.entries()) if (kind === 'json') elements[c]!.converted_type = 'JSON';
  parquet.finish();
  return writer.getBytes().slice();
}
