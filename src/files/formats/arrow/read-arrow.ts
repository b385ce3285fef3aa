// Rows of Arrow as ranges of bytes, one record batch at a time: texts and numbers are taken from its buffers, values
// of other types one by one. Types in which few bytes can stand for long texts are left to by-values.ts.

import { isAscii, isUtf8 } from 'node:buffer';
import { type Batch, Type } from '@uwdata/flechette';
import { brokenAt } from '../../exit-codes.js';
import {
  addPlain,
  type Degrees,
  type Group,
  GroupWindows,
  printNumbers,
  type Ranges,
  type Unfilled,
  type WantedRows,
} from '../../rows/group-windows.js';
import { addValue, type GrowingBytes, type TextRows } from '../../rows/text-rows.js';
import { elementOf } from '../parquet/parquet-types.js';
import { plainWidth } from '../parquet/plain-column.js';
import type { ColumnKind, TableColumn } from '../table.js';
import { type ArrowBatch, type ArrowFile, readerOf } from './arrow-source.js';

const CONTINUED = 0x80;
const VIEW_BYTES = 16;
/** Longest text that a view holds inline. */
const MAX_SHORT = 12;

/** Types whose texts take at most a multiple of the bytes of the values. */
const READ: ReadonlySet<number> = new Set([
  Type.Utf8,
  Type.LargeUtf8,
  Type.Utf8View,
  Type.Binary,
  Type.LargeBinary,
  Type.FixedSizeBinary,
  Type.Bool,
  Type.Int,
  Type.Float,
  Type.Decimal,
  Type.Date,
  Type.Timestamp,
  Type.Time,
  Type.Duration,
]);

type Field = ArrowFile['fields'][number];

/** @returns why a column is not read here; undefined for one that is */
export function reasonAgainst({ column, shape, type }: Field): string | undefined {
  if (shape === null || shape.is !== 'leaf' || column.kind === 'json') return `${column.name} is nested`;
  return READ.has(type.typeId) ? undefined : `${column.name} is of a type that is read value by value`;
}

/** Whether a column holds degrees as doubles or floats. */
export function holdsDegrees({ column: { kind }, type }: Field): boolean {
  return type.typeId === Type.Float && (kind === 'double' || kind === 'float');
}

/**
 * Windows of rows; the memory of one may be reused by the next.
 * @throws CliFailure BAD_INPUT
 */
export async function* arrowWindows(
  { fields, batches }: ArrowFile,
  file: string,
  wanted: WantedRows,
): AsyncGenerator<TextRows> {
  async function* groups(): AsyncGenerator<Group> {
    for await (const batch of batches())
      yield {
        what: 'a batch',
        wayOut: 'Write smaller record batches.',
        groupStart: batch.firstRow - 1,
        rows: batch.rowCount,
        degrees: (column) => degreesIn(batch.columns[column]!, batch.rowCount),
        read: (column) => readColumn(fields[column.index]!, batch, file, column, wanted.isTyped),
      };
  }
  const columns = fields.map(({ column }) => column);
  yield* new GroupWindows(file, columns, wanted).of(groups());
}

/** A byte for each row, 1 where it has a value; null where all rows have one. */
function definedIn({ nullCount, validity }: Batch<unknown>, rows: number): Uint8Array | null {
  if (nullCount === 0 || validity === undefined) return null;
  const defined = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) defined[row] = (validity[row >> 3]! >> (row & 7)) & 1;
  return defined;
}

function degreesIn(batch: Batch<unknown>, rows: number): Degrees {
  const defined = definedIn(batch, rows);
  const values = batch.values as unknown as Float32Array | Float64Array;
  const isHalf = !(values instanceof Float32Array || values instanceof Float64Array);
  const degrees = new Float64Array(rows);
  if (isHalf) for (let row = 0; row < rows; row++) degrees[row] = batch.value(row) as number;
  else degrees.set(values.subarray(0, rows));
  if (defined !== null)
    for (let row = 0; row < rows; row++) if (defined[row] === 0) degrees[row] = Number.NaN;
  return { degrees, defined };
}

/** Fills the ranges of a column. @throws CliFailure BAD_INPUT */
function readColumn(
  { column, shape }: Field,
  { columns, firstRow }: ArrowBatch,
  file: string,
  { index, text, ranges, add }: Unfilled,
  isTyped: boolean,
): void {
  const batch = columns[index]!;
  const at = text.at;
  if (new BatchValues(column, batch, text, ranges).fill(isTyped)) return;
  text.at = at;
  const read = readerOf(shape!, batch);
  const rows = ranges.starts.length;
  let row = 0;
  try {
    for (; row < rows; row++) addValue(text, ranges, row, read(row), add);
  } catch (error) {
    throw brokenAt({ file, row: firstRow + row, column: column.name }, error);
  }
}

/** The values of a column of one batch, and the ranges that they fill. */
class BatchValues {
  readonly #rows: number;
  readonly #defined: Uint8Array | null;

  constructor(
    private readonly column: TableColumn,
    private readonly batch: Batch<unknown>,
    private readonly text: GrowingBytes,
    private readonly ranges: Ranges,
  ) {
    this.#rows = ranges.starts.length;
    this.#defined = definedIn(batch, this.#rows);
  }

  /** @returns false for values that are read one by one */
  fill(isTyped: boolean): boolean {
    const isDone =
      this.column.kind === 'text'
        ? this.#addTexts() || this.#addViews()
        : isTyped
          ? this.#addNumbers()
          : this.#printNumbers();
    const defined = this.#defined;
    const { starts } = this.ranges;
    if (isDone && defined !== null)
      for (let row = 0; row < starts.length; row++) if (defined[row] === 0) starts[row] = -1;
    return isDone;
  }

  /** @returns false for other values, and for texts that are not UTF-8 */
  #addTexts(): boolean {
    const { offsets } = this.batch;
    const rows = this.#rows;
    if (offsets === undefined || rows === 0) return false;
    const bytes = this.batch.values as unknown as Uint8Array;
    const first = Number(offsets[0]);
    const used = bytes.subarray(first, Number(offsets[rows]));
    if (!isUtf8(used)) return false;
    const { starts, ends } = this.ranges;
    const shift = this.text.at - first;
    this.text.add(used);
    let start = first;
    for (let row = 0; row < rows; row++) {
      const end = Number(offsets[row + 1]);
      // A text that begins within a character is invalid, though the texts together may be valid.
      if (end > start && (bytes[start]! & 0xc0) === CONTINUED) return false;
      starts[row] = start + shift;
      ends[row] = end + shift;
      start = end;
    }
    return true;
  }

  /**
   * Adds the buffers of views once if several rows may have the same range. A view: u32 size, then up to 12 bytes of
   * text; or the first four of them, u32 buffer and u32 offset of a longer text.
   */
  #addViews(): boolean {
    const [batch, text, rows] = [this.batch, this.text, this.#rows];
    const { data } = batch as { readonly data?: readonly Uint8Array[] };
    if (data === undefined) return false;
    const views = batch.values as unknown as Uint8Array;
    const view = new DataView(views.buffer, views.byteOffset, VIEW_BYTES * rows);
    const viewsAt = text.at;
    text.add(views.subarray(0, VIEW_BYTES * rows));
    const bases = data.map((buffer) => {
      const at = text.at;
      text.add(buffer);
      return at;
    });
    const areAscii = data.every((buffer) => isAscii(buffer));
    const { bytes } = text;
    const { starts, ends } = this.ranges;
    const defined = this.#defined;
    for (let row = 0; row < rows; row++) {
      if (defined !== null && defined[row] === 0) continue;
      const at = VIEW_BYTES * row;
      const size = view.getUint32(at, true);
      const isShort = size <= MAX_SHORT;
      const start = isShort
        ? viewsAt + at + 4
        : bases[view.getUint32(at + 8, true)]! + view.getUint32(at + 12, true);
      let all = isShort || areAscii ? 0 : 128;
      if (isShort) for (let p = start; p < start + size; p++) all |= bytes[p]!;
      if (all > 127 && !isUtf8(bytes.subarray(start, start + size))) return false;
      starts[row] = start;
      ends[row] = start + size;
    }
    return true;
  }

  /**
   * Adds plain values unchanged from the buffer.
   * @returns false for values of another width
   */
  #addNumbers(): boolean {
    const { values } = this.batch;
    if (!isOfKind(this.column, values)) return false;
    const width = plainWidth(elementOf(this.column));
    const numbers = values as unknown as Float64Array;
    if (numbers.BYTES_PER_ELEMENT !== width) return false;
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, width * this.#rows);
    const base = addPlain(bytes, width, this.text, this.ranges);
    if (this.#defined === null && width === 8) this.ranges.numbersAt = base;
    return true;
  }

  /** Prints numbers. @returns false for other values */
  #printNumbers(): boolean {
    const { values } = this.batch;
    if (!isOfKind(this.column, values)) return false;
    const { kind } = this.column;
    const { buffer, byteOffset } = values as unknown as BigInt64Array;
    const isLong = kind === 'long';
    const numbers = isLong ? new Uint32Array(buffer, byteOffset, 2 * this.#rows) : values;
    printNumbers(kind, numbers as unknown as Float64Array, this.text, this.ranges);
    return true;
  }
}

/** The arrays of the numbers that a column of each kind has. */
const ARRAYS: Readonly<Partial<Record<ColumnKind, readonly (abstract new () => unknown)[]>>> = {
  double: [Float64Array],
  float: [Float32Array],
  int: [Int8Array, Int16Array, Int32Array],
  uint: [Uint8Array, Uint16Array, Uint32Array],
  long: [BigInt64Array],
};

const isOfKind = ({ kind }: TableColumn, values: unknown): boolean =>
  ARRAYS[kind]?.some((array) => values instanceof array) === true;
