// Values as the bytes of Parquet's plain encoding: texts without their size, booleans in a byte each. And as the texts
// of CSV.

import { elementOf } from '../formats/parquet/parquet-types.js';
import type { RowBytes, TableColumn, TableRows, TableSink } from '../formats/table.js';
import { oneLine, textOf, uuidBytes } from '../formats/values/column-text.js';
import {
  addValue,
  GrowingBytes,
  rangesOf,
  type TextRows,
  textAt,
  type ValueAdder,
  type ValueRanges,
} from './text-rows.js';
import type { RowWriter } from './write-text.js';

export function plainAdder(column: TableColumn): ValueAdder {
  const add = adderOf(column);
  const stored = storedBy(column);
  return stored === null ? add : (into, value) => add(into, stored(value));
}

/**
 * An adder of texts for a column.
 * @param isJson for writers of JSON: lists and objects stay unchanged, in one line
 */
export function textAdder(column: TableColumn, isJson = false): ValueAdder {
  if (isJson && column.kind === 'json') return (into, value) => into.addText(oneLine(value as string));
  if (column.kind === 'text')
    return isJson
      ? (into, value) => into.addUnits(String(value))
      : (into, value) => into.addText(String(value));
  const isNumber = column.kind === 'double' || column.kind === 'float';
  return (into, value) => {
    if (isNumber && typeof value === 'number') into.addNumber(value);
    else into.addText(textOf(column, value));
  };
}

/** As `textAdder`, with a decimal comma in numbers. */
export function commaAdder(column: TableColumn): ValueAdder {
  if (column.kind !== 'double') return textAdder(column);
  return (into, value) => into.addText(textOf(column, value).replace('.', ','));
}

/** The value that the element of a column holds for one of its own; null where it is the same. */
function storedBy(column: TableColumn): ((value: unknown) => unknown) | null {
  if (column.kind === 'duration') return (value) => textOf(column, value);
  // Parquet has no seconds: they are written as milliseconds.
  if (column.unit === 's')
    return (value) => (column.kind === 'time' ? Number(value) * 1000 : 1000n * (value as bigint));
  if (column.kind === 'time' && column.unit === 'ms') return Number;
  return null;
}

/** Bytes of the number that is added. */
const NUMBER = new DataView(new ArrayBuffer(8));
const NUMBER_BYTES = new Uint8Array(NUMBER.buffer);

function addNumber(into: GrowingBytes, width: 4 | 8): void {
  into.reserve(width);
  const { bytes } = into;
  for (let i = 0; i < width; i++) bytes[into.at++] = NUMBER_BYTES[i]!;
}

function adderOf(column: TableColumn): ValueAdder {
  const { type, type_length: length, converted_type: converted } = elementOf(column);
  switch (type) {
    case 'DOUBLE':
      return (into, value) => {
        NUMBER.setFloat64(0, numberOf(value), true);
        addNumber(into, 8);
      };
    case 'FLOAT':
      return (into, value) => {
        NUMBER.setFloat32(0, numberOf(value), true);
        addNumber(into, 4);
      };
    case 'INT32':
      return (into, value) => {
        NUMBER.setInt32(0, int32Of(value, converted === 'UINT_32'), true);
        addNumber(into, 4);
      };
    case 'INT64':
      return (into, value) => {
        NUMBER.setBigInt64(0, int64Of(value, converted === 'UINT_64'), true);
        addNumber(into, 8);
      };
    case 'BOOLEAN':
      return (into, value) => {
        into.reserve(1);
        into.bytes[into.at++] = value === true ? 1 : 0;
      };
    case 'FIXED_LEN_BYTE_ARRAY':
      return (into, value) => into.add(fixedOf(value, length!));
    default:
      return (into, value) => {
        if (typeof value === 'string') into.addText(value);
        else if (value instanceof Uint8Array) into.add(value);
        else throw new Error(`parquet expected Uint8Array value, got ${typeof value}`);
      };
  }
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new Error(`parquet expected number value, got ${String(value)}`);
  return value;
}

/** @param value a number, or the bigint of a decimal */
function int32Of(value: unknown, isUnsigned: boolean): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw new Error(`parquet expected integer value, got ${String(value)}`);
  const stored = isUnsigned ? (number as number) >>> 0 : (number as number) | 0;
  if (stored !== number)
    throw new Error(`parquet expected ${isUnsigned ? 'uint32' : 'int32'} value, got ${String(value)}`);
  return stored | 0;
}

function int64Of(value: unknown, isUnsigned: boolean): bigint {
  if (typeof value !== 'bigint') throw new Error(`parquet expected bigint value, got ${String(value)}`);
  const fits = isUnsigned ? BigInt.asUintN(64, value) === value : BigInt.asIntN(64, value) === value;
  if (!fits) throw new RangeError(`parquet INT64 value out of range: ${value}`);
  return value;
}

/** A UUID, or the integer of a decimal in two's complement, big-endian. */
function fixedOf(value: unknown, width: number): Uint8Array {
  if (typeof value === 'string') return uuidBytes(value);
  const bytes = new Uint8Array(width);
  let left = value as bigint;
  for (let at = width - 1; at >= 0; at--) {
    bytes[at] = Number(left & 255n);
    left >>= 8n;
  }
  return bytes;
}

function integerAt(view: DataView, sizeBytes: number, isSigned: boolean): number {
  if (sizeBytes === 1) return isSigned ? view.getInt8(0) : view.getUint8(0);
  if (sizeBytes === 2) return isSigned ? view.getInt16(0, true) : view.getUint16(0, true);
  return isSigned ? view.getInt32(0, true) : view.getUint32(0, true);
}

/** A plain value of a row as a text; of texts, numbers and integers. */
export function plainTextAt(
  rows: TextRows,
  columns: readonly TableColumn[],
  index: number,
  row: number,
): string {
  const column = columns[index]!;
  const start = rows.columns[index]!.starts[row]!;
  if (start < 0) return '';
  const { bytes } = rows.text;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start);
  if (column.kind === 'double') return textOf(column, view.getFloat64(0, true));
  if (column.kind === 'float') return textOf(column, view.getFloat32(0, true));
  if (column.kind === 'int' || column.kind === 'uint')
    return String(integerAt(view, rows.columns[index]!.ends[row]! - start, column.kind === 'int'));
  return column.kind === 'long' ? view.getBigInt64(0, true).toString() : textAt(rows, index, row);
}

// Rows whose values are ranges of bytes, for the writers of rows: sources that read value by value, and commands that
// make their own rows, write through these.

/** Rows and values of a window at most, and bytes at which it ends. */
const MAX_ROWS = 4096;
const MAX_VALUES = 1 << 20;
const WINDOW_BYTES = 1 << 20;
/** Rows whose columns are all values have no records. */
const NO_RECORDS = new Uint8Array(0);
const NO_DEGREES = new Float64Array(0);
const NOTHING: ReadonlyMap<number, string> = new Map();

export class ValueRows {
  readonly #columns: readonly ValueRanges[];
  readonly #maxRows: number;
  readonly #text = new GrowingBytes(1 << 16);

  /** @param adders of the columns, in order; null for unread columns */
  constructor(private readonly adders: readonly (ValueAdder | null)[]) {
    this.#maxRows = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_VALUES / Math.max(1, adders.length))));
    this.#columns = adders.map((add) => rangesOf(add === null ? 0 : this.#maxRows));
  }

  /**
   * Windows of rows; the memory of one is reused by the next.
   * @param latLngDeg of the rows, where positions are read
   * @param add adds all values of a row, or none
   * @throws Error for a value that a column does not hold
   */
  *windows(
    { rowCount, values, unread = NOTHING }: Pick<TableRows, 'rowCount' | 'values' | 'unread'>,
    latLngDeg = NO_DEGREES,
    add: RowBytes['add'] = () => false,
  ): Generator<TextRows> {
    const text = this.#text;
    for (let first = 0; first < rowCount; ) {
      text.empty();
      const most = Math.min(this.#maxRows, rowCount - first);
      let count = 0;
      for (; count < most && text.at < WINDOW_BYTES; count++)
        if (!add(first + count, text, this.#columns, count)) this.#add(values, first + count, count);
      yield {
        text,
        rowCount: count,
        columns: this.#columns,
        latLngDeg: latLngDeg.subarray(2 * first),
        unread: within(unread, first, count),
      };
      first += count;
    }
  }

  /**
   * Some rows of a window; the others have no values.
   * @param values of rows, of which `first` is that of the window
   */
  some(
    values: TableRows['values'],
    { first, rowCount }: { readonly first: number; readonly rowCount: number },
    wanted: Iterable<number>,
    add: RowBytes['add'] = () => false,
  ): Pick<TextRows, 'text' | 'columns'> {
    const text = this.#text;
    text.empty();
    const columns = this.adders.map((each) => rangesOf(each === null ? 0 : rowCount));
    for (const { starts } of columns) starts.fill(-1);
    for (const row of wanted)
      if (!add(first + row, text, columns, row)) this.#add(values, first + row, row, columns);
    return { text, columns };
  }

  #add(values: TableRows['values'], from: number, row: number, columns = this.#columns): void {
    const text = this.#text;
    const adders = this.adders;
    for (let c = 0; c < adders.length; c++) {
      const add = adders[c]!;
      if (add !== null) addValue(text, columns[c]!, row, values[c]?.[from], add);
    }
  }
}

/** Words of the rows of a window, by their numbers in it. */
function within(
  words: ReadonlyMap<number, string>,
  first: number,
  count: number,
): ReadonlyMap<number, string> {
  if (words.size === 0) return words;
  const own = Array.from(words, ([row, word]) => [row - first, word] as const);
  return new Map(own.filter(([row]) => row >= 0 && row < count));
}

/** A sink of rows whose columns are all those of a writer that makes none of its own. */
export function valueSink(writer: RowWriter, adders: readonly ValueAdder[]): TableSink {
  const rows = new ValueRows(adders);
  return {
    async write(table) {
      for (const window of rows.windows(table, NO_DEGREES)) await writer.write(window, NO_RECORDS, 'all');
    },
    close: () => writer.close(),
  };
}
