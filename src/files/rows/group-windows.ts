// Rows of a group that is in memory as a whole, in windows: their values are ranges of one text, positions are
// doubles.

import { type Coordinates, interleave } from '../formats/parquet/parquet-source.js';
import type { ColumnKind, TableColumn } from '../formats/table.js';
import { longRow, MAX_ROW_TEXT, requireBelowCeiling, type WindowSource } from '../held/ceiling.js';
import { GrowingBytes, rangesOf, type TextRows, type ValueAdder, type ValueRanges } from './text-rows.js';

/** Bytes that a value takes besides its text. */
const RANGE_BYTES = 16;
/** Bytes after which a window ends. */
const WINDOW_TEXT = 16 * 2 ** 20;
const NUMBER_BYTES = 8;

/** The requested rows of a file, and their columns. */
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
  /** Adders for values that are read one by one. */
  adderOf(column: TableColumn): ValueAdder;
}

/** Ranges whose eight-byte numbers are contiguous if all rows have one. */
export interface Ranges extends ValueRanges {
  numbersAt: number;
  isWhole: boolean;
}

/** Ranges of a column in the memory of the previous group. */
function rangesIn(memories: Int32Array[], index: number, rows: number): Ranges {
  if ((memories[index]?.length ?? 0) < 2 * rows) memories[index] = new Int32Array(2 * rows);
  const memory = memories[index]!;
  const [starts, ends] = [memory.subarray(0, rows), memory.subarray(rows, 2 * rows)];
  return { starts, ends, numbersAt: -1, isWhole: true };
}

const NO_RANGES: Ranges = { ...rangesOf(0), numbersAt: -1, isWhole: false };

/** A column whose ranges are to be filled. */
export interface Unfilled {
  readonly index: number;
  readonly text: GrowingBytes;
  readonly ranges: Ranges;
  readonly add: ValueAdder;
}

/** Degrees of a group; NaN where there is none. */
export type Degrees = Pick<Coordinates, 'degrees' | 'defined'>;

/** Rows of a file that are in memory together. */
export interface Group {
  /** Its name in messages, and the remedy for one that is too large. */
  readonly what: string;
  readonly wayOut: string;
  /** Rows of the file before it. */
  readonly groupStart: number;
  readonly rows: number;
  /** The degrees of a column of latitudes, or of longitudes. */
  degrees(column: number, half: 0 | 1): Degrees | Promise<Degrees>;
  /** Fills the ranges of a column that holds no position. */
  read(column: Unfilled): void | Promise<void>;
}

/** Rows of one group after another, in reused memory. */
export class GroupWindows {
  readonly #text = new GrowingBytes(1 << 20);
  readonly #latLngDeg: Float64Array;
  readonly #memories: Int32Array[] = [];

  constructor(
    private readonly file: string,
    private readonly columns: readonly TableColumn[],
    private readonly wanted: WantedRows,
  ) {
    this.#latLngDeg = new Float64Array(2 * wanted.most);
  }

  /**
   * The wanted rows of groups in windows; the memory of one may be reused by the next.
   * @throws CliFailure BAD_INPUT for a group beyond the ceiling, and for a row with too much text
   */
  async *of(groups: AsyncIterable<Group>): AsyncGenerator<TextRows> {
    const { lat, lng, kept, skippedRows } = this.wanted;
    for await (const group of groups) {
      const { rows, groupStart, what, wayOut } = group;
      const from = Math.max(0, skippedRows - groupStart);
      if (from >= rows) continue;
      const words = `${what} of ${rows} rows and ${kept.length} columns`;
      const location = { file: this.file, row: groupStart + 1 };
      requireBelowCeiling(location, RANGE_BYTES * rows * (kept.length + 2), words, wayOut);
      const lats = lat < 0 ? null : await group.degrees(lat, 0);
      const lngs = lng < 0 ? null : await group.degrees(lng, 1);
      yield* this.#windows(group, from, lats, lngs);
    }
  }

  async *#windows(
    { rows, groupStart, read }: Group,
    from: number,
    lats: Degrees | null,
    lngs: Degrees | null,
  ): AsyncGenerator<TextRows> {
    const { lat, lng, kept, isTyped, adderOf } = this.wanted;
    const names = this.columns.map(({ name }) => name);
    const source = { file: this.file, firstRow: groupStart + 1, names };
    const text = this.#text;
    text.at = 0;
    const ranges: Ranges[] = this.columns.map(() => NO_RANGES);
    for (const index of kept) {
      const column = this.columns[index]!;
      ranges[index] = rangesIn(this.#memories, index, rows);
      const known = index === lat ? lats : index === lng ? lngs : null;
      if (known === null) await read({ index, text, ranges: ranges[index], add: adderOf(column) });
      else if (isTyped) addDegrees(known, column, text, ranges[index]);
      else printDegrees(known, text, ranges[index]);
    }
    const most = this.#latLngDeg.length / 2;
    const isLong = kept.some((index) => hasLong(ranges[index]!, most * kept.length));
    for (let start = from; start < rows; ) {
      let rowCount = Math.min(most, rows - start);
      if (isLong) rowCount = rowsWithin(ranges, kept, start, rowCount, source);
      const end = start + rowCount;
      if (lats !== null && lngs !== null)
        interleave(this.#latLngDeg, lats.degrees, lngs.degrees, start, rowCount);
      const columns = ranges.map(({ starts, ends, numbersAt, isWhole }) => ({
        starts: starts.subarray(start, end),
        ends: ends.subarray(start, end),
        numbersAt: numbersAt < 0 ? -1 : numbersAt + NUMBER_BYTES * start,
        isWhole,
      }));
      const defined = [lats, lngs].map((each) => each?.defined?.subarray(start, end) ?? null);
      yield { text, rowCount, columns, latLngDeg: this.#latLngDeg, defined };
      start = end;
    }
  }
}

/** Whether a column has a text that could make a window of values too large. */
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

// Loops over rows are separate functions: code that awaits in between is compiled repeatedly.

function printDegrees(
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

function addDegrees(
  { degrees, defined }: Degrees,
  { kind }: TableColumn,
  text: GrowingBytes,
  ranges: Ranges,
): void {
  const { starts, ends } = ranges;
  const width = kind === 'double' ? NUMBER_BYTES : 4;
  if (width === NUMBER_BYTES && defined === null) ranges.numbersAt = text.at;
  text.reserve(width * starts.length);
  const { view } = text;
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

/** Adds plain values of one width. @returns their offset in the text */
export function addPlain(bytes: Uint8Array, width: number, text: GrowingBytes, into: ValueRanges): number {
  const { starts, ends } = into;
  const base = text.at;
  for (let row = 0; row < starts.length; row++) {
    starts[row] = base + width * row;
    ends[row] = base + width * (row + 1);
  }
  text.add(bytes);
  return base;
}

/** Prints the numbers of a column. @param values of longs two words each, the lower first */
export function printNumbers(
  kind: ColumnKind,
  values: ArrayLike<number>,
  text: GrowingBytes,
  { starts, ends }: ValueRanges,
): void {
  for (let row = 0; row < starts.length; row++) {
    starts[row] = text.at;
    if (kind === 'long') text.addLong(values[2 * row]!, values[2 * row + 1]! | 0);
    else if (kind === 'int' || kind === 'uint') text.addInteger(values[row]!);
    else text.addNumber(values[row]!);
    ends[row] = text.at;
  }
}
