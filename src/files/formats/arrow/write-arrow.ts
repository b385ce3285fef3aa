// Writes rows of bytes as Arrow in record batches of 65,536 rows, or of 64 MiB: plain values as the buffers of columns,
// our columns from the kernel's records.

import { Batch, Column, type DataType } from '@uwdata/flechette';
import { ADMIN_UNITS } from '../../../hexcodes/admin-units.js';
import { OK } from '../../../hexcodes/kernel/kernel.js';
import { codeBytes, RECORD_BYTES, RECORD_TEXT_BYTES } from '../../../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../../../hexcodes/wire/job.js';
import type { Output } from '../../disk/output.js';
import type { Wanted } from '../../driver.js';
import { plainAdder } from '../../rows/plain-values.js';
import {
  GrowingBytes,
  rangesOf,
  type TextRows,
  type ValueAdder,
  type ValueRanges,
} from '../../rows/text-rows.js';
import { type RowWriter, type WrittenColumns, wantedRows } from '../../rows/write-text.js';
import { adminOf } from '../parquet/own-columns.js';
import { elementOf } from '../parquet/parquet-types.js';
import { plainWidth } from '../parquet/plain-column.js';
import type { TableColumn } from '../table.js';
import { textOf } from '../values/column-text.js';
import { ArrowStream, arrowType } from './arrow-stream.js';

const BATCH_ROWS = 65_536;
/** Bytes after which a record batch ends. */
const MAX_HELD_BYTES = 64 * 2 ** 20;
/** Bytes of a new column: a table may have tens of thousands. */
const FIRST_BYTES = 1 << 10;
const SHORT = 64;
const SIGN = 128;
const DOUBLE_BYTES = 8;

/** The column type as Arrow stores it: with seconds and durations, which Parquet lacks, and without times of UTC. */
function storedColumn(column: TableColumn): TableColumn {
  const { name, kind, unit, isUtc } = column;
  if (kind === 'time' && isUtc === true) return { name, kind: 'text' };
  if (kind === 'duration' || (kind === 'timestamp' && unit === 's')) return { name, kind: 'long' };
  return kind === 'time' && unit === 's' ? { name, kind: 'int' } : column;
}

/** How the values of a column are added as Arrow holds them. */
export function arrowAdder(column: TableColumn): ValueAdder {
  const add = plainAdder(storedColumn(column));
  const isText = column.kind === 'time' && column.isUtc === true;
  return isText ? (into, value) => add(into, textOf(column, value)) : add;
}

/** Buffers of one column of a batch. */
class ArrowColumn {
  readonly #type: DataType;
  /** Bytes of a value; 0 for texts and bytes, which have offsets. */
  readonly #width: number;
  readonly #isDecimal: boolean;
  /** Decimals are big-endian in Parquet, and may have fewer bytes there. */
  readonly #isBigEndian: boolean;
  readonly #isBoolean: boolean;
  readonly #values = new GrowingBytes(FIRST_BYTES);
  #offsets = new Int32Array(1);
  #valid = new Uint8Array(1);
  #rows = 0;
  #nulls = 0;

  constructor(column: TableColumn) {
    this.#type = arrowType(column);
    const element = elementOf(storedColumn(column));
    this.#isDecimal = column.kind === 'decimal';
    this.#isBigEndian = element.type === 'FIXED_LEN_BYTE_ARRAY';
    this.#isBoolean = column.kind === 'boolean';
    const { bitWidth } = this.#type as { readonly bitWidth?: number };
    const isNumber = this.#isDecimal || column.kind === 'int' || column.kind === 'uint';
    this.#width = isNumber ? bitWidth! / 8 : plainWidth(element);
  }

  get sizeBytes(): number {
    return this.#values.at;
  }

  /** Adds values of rows by their ranges, those before 0 as none. */
  addRanges(bytes: Uint8Array, ranges: ValueRanges, rows: Int32Array): void {
    const { starts, ends, numbersAt = -1, isWhole = false } = ranges;
    const values = this.#values;
    const width = this.#width;
    const count = rows.length;
    this.#reserveRows(count);
    if (width === DOUBLE_BYTES && numbersAt >= 0 && isWhole && areAdjacent(rows)) {
      const at = numbersAt + DOUBLE_BYTES * rows[0]!;
      values.add(bytes.subarray(at, at + DOUBLE_BYTES * count));
      setAll(this.#valid, this.#rows, this.#rows + count);
      this.#rows += count;
      return;
    }
    const nulls = countNone(starts, rows);
    if (nulls === 0) setAll(this.#valid, this.#rows, this.#rows + count);
    else setSome(this.#valid, this.#rows, starts, rows);
    if (width === 0) this.#addTexts(bytes, ranges, rows);
    else if (!this.#isDecimal) this.#addValues(bytes, starts, rows);
    else {
      values.reserve(width * count);
      for (const row of rows) {
        if (starts[row]! >= 0) this.#addDecimal(bytes, starts[row]!, ends[row]!);
        else this.#addZeros();
      }
    }
    this.#nulls += nulls;
    this.#rows += count;
  }

  #reserveRows(count: number): void {
    const rows = this.#rows + count;
    if (rows > 8 * this.#valid.length) {
      const larger = new Uint8Array(rows >> 2 || 1);
      larger.set(this.#valid);
      this.#valid = larger;
    }
    if (this.#width > 0 || rows < this.#offsets.length) return;
    const larger = new Int32Array(2 * rows + 1);
    larger.set(this.#offsets);
    this.#offsets = larger;
  }

  #addTexts(bytes: Uint8Array, { starts, ends }: ValueRanges, rows: Int32Array): void {
    const values = this.#values;
    values.reserve(sizeOf(starts, ends, rows));
    const into = values.bytes;
    const offsets = this.#offsets;
    let end = values.at;
    for (let i = 0, next = this.#rows + 1; i < rows.length; i++, next++) {
      const row = rows[i]!;
      const start = starts[row]!;
      if (start >= 0) {
        const stop = ends[row]!;
        if (stop - start <= SHORT) for (let p = start; p < stop; p++) into[end++] = bytes[p]!;
        else {
          into.set(bytes.subarray(start, stop), end);
          end += stop - start;
        }
      }
      offsets[next] = end;
    }
    values.at = end;
  }

  /** Adds values of a width; small integers have four bytes in Parquet, the lowest first. */
  #addValues(bytes: Uint8Array, starts: Int32Array, rows: Int32Array): void {
    const values = this.#values;
    const width = this.#width;
    values.reserve(width * rows.length);
    const into = values.bytes;
    let end = values.at;
    for (let i = 0; i < rows.length; i++, end += width) {
      const start = starts[rows[i]!]!;
      if (start < 0) into.fill(0, end, end + width);
      else for (let p = 0; p < width; p++) into[end + p] = bytes[start + p]!;
    }
    values.at = end;
  }

  /** Adds one of every two doubles, NaN as null. */
  addDegrees(latLngDeg: Float64Array, half: 0 | 1, rows: Int32Array): void {
    const values = this.#values;
    this.#reserveRows(rows.length);
    const bits = this.#valid;
    const size = DOUBLE_BYTES * rows.length;
    values.reserve(size);
    const into = new Float64Array(values.bytes.buffer, values.bytes.byteOffset + values.at, rows.length);
    let nulls = 0;
    for (let i = 0, row = this.#rows; i < rows.length; i++, row++) {
      const value = latLngDeg[2 * rows[i]! + half]!;
      if (Number.isNaN(value)) {
        nulls++;
        into[i] = 0;
      } else {
        into[i] = value;
        bits[row >> 3]! |= 1 << (row & 7);
      }
    }
    this.#nulls += nulls;
    values.at += size;
    this.#rows += rows.length;
  }

  /** Adds an integer of four bytes for some rows. */
  addInteger(value: number, count: number): void {
    const values = this.#values;
    values.reserve(4 * count);
    new Int32Array(values.bytes.buffer, values.bytes.byteOffset + values.at, count).fill(value);
    values.at += 4 * count;
    this.#reserveRows(count);
    setAll(this.#valid, this.#rows, this.#rows + count);
    this.#rows += count;
  }

  #addDecimal(from: Uint8Array, start: number, end: number): void {
    const values = this.#values;
    const size = end - start;
    const isBig = this.#isBigEndian;
    const high = from[isBig ? start : end - 1]!;
    for (let i = 0; i < this.#width; i++) {
      const byte = from[isBig ? end - 1 - i : start + i]!;
      values.bytes[values.at++] = i < size ? byte : high >= SIGN ? 255 : 0;
    }
  }

  #addZeros(): void {
    const values = this.#values;
    values.bytes.fill(0, values.at, values.at + this.#width);
    values.at += this.#width;
  }

  /** The rows so far; valid until another is added. */
  batch(): Column<unknown> {
    const length = this.#rows;
    if (length === 0) return new Column([], this.#type);
    const values = this.#values.bytes.subarray(0, this.#values.at);
    const batch = new Batch({
      length,
      nullCount: this.#nulls,
      type: this.#type,
      validity: this.#nulls > 0 ? this.#valid.subarray(0, (length + 7) >> 3) : new Uint8Array(0),
      values: this.#isBoolean ? bitsOf(values) : values,
      ...(this.#width === 0 ? { offsets: this.#offsets.subarray(0, length + 1) } : {}),
    });
    return new Column([batch], this.#type);
  }

  clear(): void {
    this.#values.at = 0;
    this.#valid.fill(0);
    this.#rows = 0;
    this.#nulls = 0;
  }
}

// Loops over rows; rows whose start is below 0 have no value.

function areAdjacent(rows: Int32Array): boolean {
  return rows[rows.length - 1]! - rows[0]! === rows.length - 1;
}

function countNone(starts: Int32Array, rows: Int32Array): number {
  let count = 0;
  for (let i = 0; i < rows.length; i++) count += starts[rows[i]!]! >>> 31;
  return count;
}

/** Sets the bits of rows from `at` to before `end`. */
function setAll(bits: Uint8Array, at: number, end: number): void {
  let row = at;
  for (; row < end && (row & 7) !== 0; row++) bits[row >> 3]! |= 1 << (row & 7);
  if (row < end) bits.fill(255, row >> 3, end >> 3);
  for (row = Math.max(row, end & ~7); row < end; row++) bits[row >> 3]! |= 1 << (row & 7);
}

/** Sets the bits of rows that have a value. @param at of the first row */
function setSome(bits: Uint8Array, at: number, starts: Int32Array, rows: Int32Array): void {
  for (let i = 0, row = at; i < rows.length; i++, row++)
    bits[row >> 3]! |= ((starts[rows[i]!]! >>> 31) ^ 1) << (row & 7);
}

/** Bytes of all values. */
function sizeOf(starts: Int32Array, ends: Int32Array, rows: Int32Array): number {
  let size = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if (starts[row]! >= 0) size += ends[row]! - starts[row]!;
  }
  return size;
}

function bitsOf(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array((bytes.length + 7) >> 3);
  for (let i = 0; i < bytes.length; i++) bits[i >> 3]! |= bytes[i]! << (i & 7);
  return bits;
}

/** Admin codes, and after them the words of statuses. */
const ALL_WORDS = [...ADMIN_UNITS.map(({ code }) => code), ...ROW_STATUSES];
const WORDS = Buffer.from(ALL_WORDS.join(''));
const WORD_STARTS = new Int32Array(ALL_WORDS.length + 1);
for (const [n, word] of ALL_WORDS.entries()) WORD_STARTS[n + 1] = WORD_STARTS[n]! + word.length;

/** Ranges of our columns: codes in the kernel's records, the others in WORDS. */
class OwnRanges {
  codes: ValueRanges = rangesOf(0);
  admins: ValueRanges = rangesOf(0);
  statuses: ValueRanges = rangesOf(0);

  fill(records: Uint8Array, count: number): void {
    if (this.codes.starts.length < count) {
      this.codes = rangesOf(count);
      this.admins = rangesOf(count);
      this.statuses = rangesOf(count);
    }
    const { starts: codeStarts, ends: codeEnds } = this.codes;
    const { starts: adminStarts, ends: adminEnds } = this.admins;
    const { starts: statusStarts, ends: statusEnds } = this.statuses;
    let size = 0;
    for (let row = 0, at = 0; row < count; row++, at += RECORD_BYTES) {
      const status = records[at + RECORD_TEXT_BYTES]!;
      const word = ADMIN_UNITS.length + status;
      statusStarts[row] = WORD_STARTS[word]!;
      statusEnds[row] = WORD_STARTS[word + 1]!;
      if (status !== OK) {
        codeStarts[row] = -1;
        adminStarts[row] = -1;
        continue;
      }
      size = codeBytes(records, at, size);
      codeStarts[row] = at;
      codeEnds[row] = at + size;
      const admin = adminOf(records, at);
      adminStarts[row] = WORD_STARTS[admin]!;
      adminEnds[row] = WORD_STARTS[admin + 1]!;
    }
  }
}

export class ArrowRowWriter implements RowWriter {
  readonly #stream: ArrowStream;
  readonly #all: readonly ArrowColumn[];
  readonly #hasRecords: boolean;
  readonly #own = new OwnRanges();
  #wanted = new Int32Array(0);
  #rows = 0;

  /** @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values */
  constructor(
    output: Output,
    private readonly columns: WrittenColumns,
    private readonly halves: readonly (0 | 1 | null)[],
    hasFooter: boolean,
  ) {
    const { kept, added } = columns;
    this.#stream = new ArrowStream(output, [...kept, ...added], hasFooter);
    this.#all = [...kept, ...added].map((column) => new ArrowColumn(column));
    this.#hasRecords = added.some(({ index }) => index < 0);
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    if (this.#wanted.length < rows.rowCount) this.#wanted = new Int32Array(rows.rowCount);
    const count = wantedRows(records, rows.rowCount, wanted, this.#wanted);
    if (this.#hasRecords) this.#own.fill(records, rows.rowCount);
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + BATCH_ROWS - this.#rows);
      this.#add(rows, records, this.#wanted.subarray(from, to));
      from = to;
      const held = this.#all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (this.#rows === BATCH_ROWS || held >= MAX_HELD_BYTES) await this.#flush();
    }
  }

  #add({ text, columns, latLngDeg }: TextRows, records: Uint8Array, rows: Int32Array): void {
    const { kept, added, values, resolution } = this.columns;
    for (const [c, { index }] of [...kept, ...added].entries()) {
      const column = this.#all[c]!;
      const half = this.halves[c] ?? null;
      const is = values[c - kept.length];
      if (half !== null) column.addDegrees(latLngDeg, half, rows);
      else if (index >= 0) column.addRanges(text.bytes, columns[index]!, rows);
      else if (is === 'code') column.addRanges(records, this.#own.codes, rows);
      else if (is === 'resolution') column.addInteger(resolution, rows.length);
      else column.addRanges(WORDS, is === 'admin' ? this.#own.admins : this.#own.statuses, rows);
    }
    this.#rows += rows.length;
  }

  async #flush(): Promise<void> {
    await this.#stream.writeBatch(this.#all.map((column) => column.batch()));
    for (const column of this.#all) column.clear();
    this.#rows = 0;
  }

  async close(): Promise<void> {
    if (this.#rows > 0 || this.#stream.isEmpty) await this.#flush();
    await this.#stream.end();
  }
}
