// Writes rows as a workbook of Excel.

import { TableError } from '../../tables/table-error.js';
import { type Cell, XlsxWriter } from '../../tables/xlsx/xlsx-writer.js';
import type { Output } from '../disk/output.js';
import { badOutput } from '../exit-codes.js';
import type { SinkColumns, TableColumn, TableRows, TableSink } from './table.js';
import { textOf } from './values/column-text.js';

function cellOf(column: TableColumn, value: unknown): Cell {
  if (value === null || value === undefined || column.kind === 'boolean') return value as Cell;
  // Numbers as numbers; those of 64 bits and decimals where Excel keeps all of their digits.
  if (typeof value === 'number' && column.kind !== 'date' && column.kind !== 'time') return value;
  return textOf(column, value);
}

export function xlsxSink(output: Output, columns: SinkColumns): TableSink {
  const all = [...columns.kept, ...columns.added];
  const writer = guarded(output, () => new XlsxWriter(all.map(({ name }) => name)));
  const emit = async (): Promise<void> => {
    for (const piece of writer.take()) await output.write(piece);
  };
  return {
    async write({ rowCount, values }: TableRows) {
      guarded(output, () => writer.add(rowCount, (row, c) => cellOf(all[c]!, values[c]?.[row])));
      await emit();
    },
    async close() {
      writer.end();
      await emit();
    },
  };
}

function guarded<T>({ name }: Output, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TableError) throw badOutput(name, error, error.hint);
    throw error;
  }
}
