// Rows of a group that is in memory as a whole, in windows: their values are ranges of one text, positions are
// doubles.

import { type Coordinates, interleave } from '../formats/parquet/coordinates.js';
import type { TableColumn } from '../formats/table.js';
import { longRow, MAX_ROW_TEXT, type WindowSource } from '../held/row-windows.js';
import type { ValueAdder } from './plain-values.js';
import type { GrowingBytes, TextRows, ValueRanges } from './text-rows.js';

/** Bytes that a value takes besides its text. */
export const RANGE_BYTES = 16;
/** Bytes of a window at which it ends. */
const WINDOW_TEXT = 16 * 2 ** 20;
export const NUMBER_BYTES = 8;

/** Which rows of a file are wanted, and what of them. */
export interface WantedRows {
  /** Columns of positions; -1 where rows are read for their codes. */
  readonly lat: number;
  readonly lng: number;
  /** Columns whose values are read. */
  readonly kept: readonly number[];
  /** Rows of a window at most. */
  readonly most: number;
  /** Rows that an earlier run has converted. */
  readonly skippedRows: number;
  /** Whether ranges are plain values, as columns of types have them, instead of texts. */
  readonly isTyped: boolean;
  /** How values are added that are read one by one. */
  adderOf(column: TableColumn): ValueAdder;
}

/** Numbers of eight bytes of a group stand one behind the other where all rows have one. */
export interface Ranges extends ValueRanges {
  numbersAt: number;
  readonly isWhole: boolean;
}

/** Ranges of a column in the memory that those of the group before had. */
export function rangesIn(memories: Int32Array[], index: number, rows: number): Ranges {
  if ((memories[index]?.length ?? 0) < 2 * rows) memories[index] = new Int32Array(2 * rows);
  const memory = memories[index]!;
  const [starts, ends] = [memory.subarray(0, rows), memory.subarray(rows, 2 * rows)];
  return { starts, ends, numbersAt: -1, isWhole: true };
}

export const NO_RANGES: Ranges = {
  starts: new Int32Array(0),
  ends: new Int32Array(0),
  numbersAt: -1,
  isWhole: false,
};

/** Degrees of a group; NaN where there is none. */
export type Degrees = Pick<Coordinates, 'degrees' | 'defined'>;

interface Group {
  readonly text: GrowingBytes;
  readonly rows: number;
  readonly columns: readonly Ranges[];
  readonly kept: readonly number[];
  /** null where no positions are read. */
  readonly lats: Degrees | null;
  readonly lngs: Degrees | null;
}

/**
 * The rows from one on in windows.
 * @param latLngDeg has room for the positions of a window
 * @throws CliFailure BAD_INPUT for a row with too much text
 */
export function* windowsOf(
  { text, rows, columns, kept, lats, lngs }: Group,
  from: number,
  latLngDeg: Float64Array,
  source: WindowSource,
): Generator<TextRows> {
  const most = latLngDeg.length / 2;
  const isLong = kept.some((index) => hasLong(columns[index]!, most * kept.length));
  for (let start = from; start < rows; ) {
    let count = Math.min(most, rows - start);
    if (isLong) count = rowsWithin(columns, kept, start, count, source);
    if (lats !== null && lngs !== null) interleave(latLngDeg, lats.degrees, lngs.degrees, start, count);
    const window = columns.map(({ starts, ends, numbersAt, isWhole }) => ({
      starts: starts.subarray(start, start + count),
      ends: ends.subarray(start, start + count),
      numbersAt: numbersAt < 0 ? -1 : numbersAt + NUMBER_BYTES * start,
      isWhole,
    }));
    const defined = [lats, lngs].map((each) => each?.defined?.subarray(start, start + count) ?? null);
    yield { text, rowCount: count, columns: window, latLngDeg, defined };
    start += count;
  }
}

/** Whether a column has a text of which a window of values could be too large. */
function hasLong({ starts, ends }: ValueRanges, values: number): boolean {
  const most = WINDOW_TEXT / Math.max(1, values);
  for (let row = 0; row < starts.length; row++)
    if (starts[row]! >= 0 && ends[row]! - starts[row]! > most) return true;
  return false;
}

/**
 * Rows of a window: few bytes of a file can stand for gigabytes of text.
 * @throws CliFailure BAD_INPUT for a long row
 */
function rowsWithin(
  columns: readonly ValueRanges[],
  kept: readonly number[],
  start: number,
  most: number,
  source: WindowSource,
): number {
  let total = 0;
  for (let i = 0; i < most; i++) {
    let size = 0;
    for (const index of kept) {
      const { starts, ends } = columns[index]!;
      if (starts[start + i]! >= 0) size += ends[start + i]! - starts[start + i]!;
      if (size <= MAX_ROW_TEXT) continue;
      if (i > 0) return i;
      throw longRow(source, start, index);
    }
    total += size;
    if (i > 0 && total > WINDOW_TEXT) return i;
  }
  return most;
}

// Loops over rows are functions of their own: code that awaits between them is compiled again and again.

export function printDegrees(
  { degrees, defined }: Degrees,
  text: GrowingBytes,
  { starts, ends }: ValueRanges,
): void {
  for (let row = 0; row < starts.length; row++) {
    if (defined !== null && defined[row] === 0) {
      starts[row] = -1;
      continue;
    }
    starts[row] = text.at;
    text.addNumber(degrees[row]!);
    ends[row] = text.at;
  }
}

export function addDegrees(
  { degrees, defined }: Degrees,
  { kind }: TableColumn,
  text: GrowingBytes,
  ranges: Ranges,
): void {
  const { starts, ends } = ranges;
  const width = kind === 'double' ? NUMBER_BYTES : 4;
  if (width === NUMBER_BYTES && defined === null) ranges.numbersAt = text.at;
  text.reserve(width * starts.length);
  const view = new DataView(text.bytes.buffer);
  for (let row = 0; row < starts.length; row++) {
    if (defined !== null && defined[row] === 0) {
      starts[row] = -1;
      continue;
    }
    starts[row] = text.at;
    if (width === NUMBER_BYTES) view.setFloat64(text.at, degrees[row]!, true);
    else view.setFloat32(text.at, degrees[row]!, true);
    text.at += width;
    ends[row] = text.at;
  }
}
