// Files of points as batches of rows, each with its position. Any format, any length: a batch is all that is held.

import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { ColumnChoice } from '../columns/columns.js';
import { findPosition } from '../columns/position-columns.js';
import { positionReader } from '../columns/position-reader.js';
import { sampled } from '../columns/sampled.js';
import { type InputOptions, openInput } from '../disk/input.js';
import { badInput } from '../file-faults.js';
import { type FileFormat, formatOfBytes, formatOfName } from '../format.js';
import { type CsvChoice, dialectOf } from '../formats/csv-dialect.js';
import { openSource } from '../formats/open.js';
import type { TableColumn, TableRows } from '../formats/table.js';

/** Files to be read, and how. */
export interface PointFiles {
  /** Paths; `-` is stdin. */
  readonly inputs: readonly string[];
  readonly from: FileFormat | null;
  readonly columns: ColumnChoice;
  readonly csv: CsvChoice;
  readonly input: InputOptions;
}

/** Rows of one file. */
export interface PointBatch {
  readonly columns: readonly TableColumn[];
  readonly rows: TableRows;
  /** lat, lng of each row in degrees; NaN where there is none. */
  readonly latLngDeg: Float64Array;
  /** Name of the file in messages. */
  readonly file: string;
  /** Number of the first row, from 1. */
  readonly firstRow: number;
  /** Bytes read from all files so far. */
  readonly readBytes: number;
}

/** @throws CliFailure for a file that cannot be read or has no position, also between batches */
export async function* pointBatches(hexcodes: Hexcodes, files: PointFiles): AsyncGenerator<PointBatch> {
  let earlierBytes = 0;
  for (const path of files.inputs) {
    const input = await openInput(path, files.input);
    try {
      const named = input.path === null ? null : formatOfName(input.path).format;
      const format = files.from ?? named ?? formatOfBytes(input.head);
      const dialect = dialectOf(input.head, format, files.csv, (text) => hexcodes.isValid(text));
      const { source, sample } = await sampled(await openSource(input, format, 'any', dialect));
      const { columns } = source;
      const hasHeader = (format !== 'csv' && format !== 'tsv') || dialect.hasHeader;
      const where = findPosition(sample, files.columns, input.name, hasHeader);
      for (const index of where.kind === 'pair' ? [where.lat, where.lng] : [where.column])
        refuseUnread(columns[index]!, input.name);
      const read = positionReader(columns, where);
      let firstRow = 1;
      for await (const rows of source.batches()) {
        const latLngDeg = new Float64Array(2 * rows.rowCount);
        read(rows, latLngDeg);
        const readBytes = earlierBytes + input.readBytes();
        yield { columns, rows, latLngDeg, file: input.name, firstRow, readBytes };
        firstRow += rows.rowCount;
      }
    } finally {
      earlierBytes += input.readBytes();
      input.close();
    }
  }
}

/** @throws CliFailure BAD_INPUT for a column whose values are not read */
export function refuseUnread({ name, unread }: TableColumn, file: string): void {
  if (unread !== undefined) throw badInput({ file, column: name }, unread);
}
