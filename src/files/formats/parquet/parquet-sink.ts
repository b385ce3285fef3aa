// Writes Parquet by hyparquet-writer in row groups of 65,536 rows, or of 64 MiB of text.

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Output } from '../../disk/output.js';
import { textSizeOf } from '../../held/row-windows.js';
import type { SinkColumns, TableColumn, TableRows, TableSink } from '../table.js';
import { textOf } from '../values/column-text.js';
import { keyValuesOf } from './key-values.js';
import { elementOf } from './parquet-types.js';

const ROW_GROUP_ROWS = 65_536;
/** Characters and bytes at which a row group ends before. */
const MAX_HELD_TEXT = 64 * 1024 * 1024;

/** The value that the writer takes for a column's element; null where it takes the column's own. */
export function storedBy(column: TableColumn): ((value: unknown) => unknown) | null {
  if (column.kind === 'duration') return (value) => textOf(column, value);
  // Parquet has no seconds: they are written as milliseconds.
  if (column.unit === 's')
    return (value) => (column.kind === 'time' ? Number(value) * 1000 : 1000n * (value as bigint));
  if (column.kind === 'time' && column.unit === 'ms') return Number;
  return null;
}

export function parquetSink(output: Output, columns: SinkColumns): TableSink {
  const all = [...columns.kept, ...columns.added];
  const elements = all.map(elementOf);
  const stored = all.map(storedBy);
  const writer = new ByteWriter(1 << 20);
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: all.length }, ...elements],
    createdBy: 'hexcodes',
  });
  let held: unknown[][] = all.map(() => []);
  let heldRows = 0;
  let heldText = 0;
  const emit = async (): Promise<void> => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    if (bytes.length > 0) await output.write(bytes);
  };
  const flush = async (): Promise<void> => {
    if (heldRows === 0) return;
    parquet.write({
      columnData: all.map(({ name }, c) => ({ name, data: held[c]! })),
      rowGroupSize: ROW_GROUP_ROWS,
    });
    held = all.map(() => []);
    heldRows = 0;
    heldText = 0;
    await emit();
  };
  return {
    async write({ rowCount, values }: TableRows) {
      all.forEach((_, c) => {
        const target = held[c]!;
        const store = stored[c]!;
        for (let row = 0; row < rowCount; row++) {
          const value = values[c]?.[row] ?? null;
          heldText += textSizeOf(value);
          target.push(store === null || value === null ? value : store(value));
        }
      });
      heldRows += rowCount;
      if (heldRows >= ROW_GROUP_ROWS || heldText >= MAX_HELD_TEXT) await flush();
    },
    async close() {
      await flush();
      all.forEach(({ kind }, c) => {
        // Not before: the writer itself serializes the values of a column that is JSON, with doubles for integers.
        if (kind === 'json') elements[c]!.converted_type = 'JSON';
      });
      parquet.kvMetadata = await keyValuesOf(all);
      parquet.finish();
      await emit();
    },
  };
}
