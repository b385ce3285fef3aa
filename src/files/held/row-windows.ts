// Rows of a column format in windows that hold a bounded amount of text: few bytes of a file can stand for gigabytes of
// values, as where a dictionary holds one long text and all rows name it.

import { badInput, brokenAt } from '../exit-codes.js';
import type { TableRows } from '../formats/table.js';

/** Rows of a window at most. */
const MAX_ROWS = 16_384;
/** Values of a window at most, if it has more than one row. */
const MAX_VALUES = 1 << 22;
const MIB = 2 ** 20;
/** Characters and bytes of a window at which it ends. */
const WINDOW_TEXT = 16 * MIB;
/** Characters and bytes of one row. As JSON with escapes six times as many must fit a string. */
export const MAX_ROW_TEXT = 64 * MIB;

/** A value of a column by the number of its row. */
export type ValueReader = (row: number) => unknown;

/** Where windows come from, for messages. */
export interface WindowSource {
  readonly file: string;
  /** Number of row 0, from 1. */
  readonly firstRow: number;
  readonly names: readonly string[];
}

/** Characters of a text, bytes of a binary value; 0 for all others. */
export function textSizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

/**
 * The rows from 0 to `rowCount` in windows.
 * @param readers of each column; an error that one throws becomes a fault of its row and column
 * @throws CliFailure BAD_INPUT for a row with more than 64 MiB of text
 */
export function* rowWindows(
  rowCount: number,
  readers: readonly ValueReader[],
  source: WindowSource,
): Generator<TableRows> {
  const most = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_VALUES / Math.max(1, readers.length))));
  for (let start = 0; start < rowCount; ) {
    let count = Math.min(most, rowCount - start);
    const sizes = new Float64Array(count);
    const values = readers.map((read, c) => {
      const column = new Array<unknown>(count);
      let total = 0;
      for (let i = 0; i < count; i++) {
        const value = readAt(read, start + i, source, c);
        const size = sizes[i]! + textSizeOf(value);
        total += size;
        if (i > 0 && total > WINDOW_TEXT) {
          count = i;
          break;
        }
        if (size > MAX_ROW_TEXT) throw longRow(source, start, c);
        sizes[i] = size;
        column[i] = value;
      }
      return column;
    });
    for (const column of values) column.length = count;
    yield { rowCount: count, values };
    start += count;
  }
}

function readAt(read: ValueReader, row: number, source: WindowSource, column: number): unknown {
  try {
    return read(row);
  } catch (error) {
    const { file, firstRow, names } = source;
    throw brokenAt({ file, row: firstRow + row, column: names[column] }, error);
  }
}

/** The failure for a row with too much text. */
export function longRow({ file, firstRow, names }: WindowSource, row: number, column: number): Error {
  return badInput(
    { file, row: firstRow + row, column: names[column] },
    `the row has more than ${MAX_ROW_TEXT / MIB} MiB of text, which is as much as one row may have`,
    'Drop the column with --drop, if it is not needed, or split the text before.',
  );
}
