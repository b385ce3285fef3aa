// Writes rows of bytes as Arrow in record batches of 65,536 rows, or of 64 MiB: plain values as the buffers of columns,
// our columns from the kernel's records.

import { Batch, Column, type DataType } from '@uwdata/flechette';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { OK } from '../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, RECORD_TEXT_BYTES, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import type { Output } from '../disk/output.js';
import { ArrowStream, arrowType, BATCH_ROWS, MOST_HELD_TEXT } from '../formats/arrow/arrow-sink.js';
import { adminOf } from '../formats/parquet/own-columns.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import { plainWidth } from '../formats/parquet/plain-column.js';
import type { TableColumn } from '../formats/table.js';
import { GrowingBytes, type TextRows } from './text-rows.js';
import { isWantedRow, type RowWriter, type Wanted, type WrittenColumns } from './write-text.js';

const FIRST_BYTES = 1 << 16;
const SHORT = 64;
const SIGN = 128;

/** Buffers of one column of a batch. */
class ArrowColumn {
  readonly #type: DataType;
  /** Bytes of a value; 0 for texts and bytes, which have offsets. */
  readonly #width: number;
  readonly #isDecimal: boolean;
  /** Decimals in bytes are of the other end in Parquet, and may have fewer of them. */
  readonly #isBigEndian: boolean;
  readonly #isBoolean: boolean;
  readonly #values = new GrowingBytes(FIRST_BYTES);
  readonly #offsets = new Int32Array(BATCH_ROWS + 1);
  readonly #valid = new Uint8Array(BATCH_ROWS / 8);
  #rows = 0;
  #nulls = 0;

  constructor(column: TableColumn) {
    this.#type = arrowType(column).type;
    const element = elementOf(column);
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

  add(from: Uint8Array, start: number, end: number): void {
    const row = this.#rows++;
    this.#valid[row >> 3]! |= 1 << (row & 7);
    const values = this.#values;
    // Small integers have four bytes in Parquet, the lowest first.
    const size = this.#width > 0 ? this.#width : end - start;
    values.reserve(size);
    const into = values.bytes;
    const { at } = values;
    if (this.#isDecimal) {
      this.#addDecimal(from, start, end);
      return;
    }
    if (size <= SHORT) for (let i = 0; i < size; i++) into[at + i] = from[start + i]!;
    else into.set(from.subarray(start, start + size), at);
    values.at = at + size;
    this.#offsets[this.#rows] = values.at;
  }

  /** Adds values of eight bytes that stand one behind the other. */
  addNumbers(from: Uint8Array, start: number, count: number): void {
    const values = this.#values;
    values.reserve(8 * count);
    values.bytes.set(from.subarray(start, start + 8 * count), values.at);
    values.at += 8 * count;
    let row = this.#rows;
    const end = row + count;
    for (; row < end && (row & 7) !== 0; row++) this.#valid[row >> 3]! |= 1 << (row & 7);
    this.#valid.fill(255, row >> 3, end >> 3);
    for (row = Math.max(row, end & ~7); row < end; row++) this.#valid[row >> 3]! |= 1 << (row & 7);
    this.#rows = end;
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

  addDouble(value: number): void {
    const values = this.#values;
    values.reserve(8);
    new DataView(values.bytes.buffer).setFloat64(values.at, value, true);
    values.at += 8;
    const row = this.#rows++;
    this.#valid[row >> 3]! |= 1 << (row & 7);
  }

  addNull(): void {
    this.#nulls++;
    const values = this.#values;
    values.reserve(this.#width);
    values.bytes.fill(0, values.at, values.at + this.#width);
    values.at += this.#width;
    this.#offsets[++this.#rows] = values.at;
  }

  /** The rows so far, and forgets them. */
  end(): Column<unknown> {
    const length = this.#rows;
    if (length === 0) return new Column([], this.#type);
    const bytes = this.#values.bytes.slice(0, this.#values.at);
    const batch = new Batch({
      ...{ length, nullCount: this.#nulls, type: this.#type },
      validity: this.#nulls > 0 ? this.#valid.slice(0, (length + 7) >> 3) : new Uint8Array(0),
      values: this.#isBoolean ? bitsOf(bytes) : bytes,
      ...(this.#width === 0 ? { offsets: this.#offsets.slice(0, length + 1) } : {}),
    });
    this.#values.at = 0;
    this.#valid.fill(0);
    this.#rows = 0;
    this.#nulls = 0;
    return new Column([batch], this.#type);
  }
}

function bitsOf(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array((bytes.length + 7) >> 3);
  for (let i = 0; i < bytes.length; i++) bits[i >> 3]! |= bytes[i]! << (i & 7);
  return bits;
}

const ADMINS = ADMIN_UNITS.map(({ code }) => Buffer.from(code));
const STATUSES = ROW_STATUSES.map((word) => Buffer.from(word));

export class ArrowRowWriter implements RowWriter {
  readonly #columns: WrittenColumns;
  readonly #stream: ArrowStream;
  readonly #kept: readonly ArrowColumn[];
  readonly #added: readonly ArrowColumn[];
  readonly #halves: readonly (0 | 1 | null)[];
  readonly #resolution = Buffer.alloc(4);
  #rows = 0;

  /** @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values */
  constructor(
    output: Output,
    columns: WrittenColumns,
    halves: readonly (0 | 1 | null)[],
    hasFooter: boolean,
  ) {
    const { kept, added, resolution } = columns;
    this.#columns = columns;
    this.#stream = new ArrowStream(output, [...kept, ...added], hasFooter);
    this.#kept = kept.map((column) => new ArrowColumn(column));
    this.#added = added.map((column) => new ArrowColumn(column));
    this.#halves = halves;
    this.#resolution.writeInt32LE(resolution);
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    for (let from = 0; from < rows.rowCount; ) {
      let to = from;
      let count = 0;
      for (; to < rows.rowCount && this.#rows + count < BATCH_ROWS; to++)
        if (isWantedRow(records, to, wanted)) count++;
      for (const [c, { index }] of this.#columns.kept.entries())
        this.#addKept(this.#kept[c]!, rows, index, this.#halves[c] ?? null, records, wanted, from, to);
      this.#addOwn(records, wanted, from, to);
      this.#rows += count;
      from = to;
      const held = this.#kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (this.#rows === BATCH_ROWS || held >= MOST_HELD_TEXT) await this.#flush();
    }
  }

  #addKept(
    column: ArrowColumn,
    { text: { bytes }, columns, latLngDeg }: TextRows,
    index: number,
    half: 0 | 1 | null,
    records: Uint8Array,
    wanted: Wanted,
    from: number,
    to: number,
  ): void {
    const { starts, ends, numbersAt = -1, isWhole = false } = columns[index]!;
    if (numbersAt >= 0 && isWhole && half === null && wanted === 'all') {
      column.addNumbers(bytes, numbersAt + 8 * from, to - from);
      return;
    }
    for (let row = from; row < to; row++) {
      if (!isWantedRow(records, row, wanted)) continue;
      if (half !== null) {
        const value = latLngDeg[2 * row + half]!;
        if (Number.isNaN(value)) column.addNull();
        else column.addDouble(value);
      } else if (starts[row]! < 0) column.addNull();
      else column.add(bytes, starts[row]!, ends[row]!);
    }
  }

  #addOwn(records: Uint8Array, wanted: Wanted, from: number, to: number): void {
    const [codes, resolutions, admins, statuses] = this.#added;
    for (let row = from; row < to; row++) {
      if (!isWantedRow(records, row, wanted)) continue;
      const status = records[recordStatusAt(row)]!;
      resolutions!.add(this.#resolution, 0, 4);
      const word = STATUSES[status]!;
      statuses!.add(word, 0, word.length);
      if (status !== OK) {
        codes!.addNull();
        admins!.addNull();
        continue;
      }
      const start = RECORD_BYTES * row;
      let end = start;
      while (end < start + RECORD_TEXT_BYTES && records[end] !== 0) end++;
      codes!.add(records, start, end);
      const admin = ADMINS[adminOf(records, start)]!;
      admins!.add(admin, 0, admin.length);
    }
  }

  async #flush(): Promise<void> {
    await this.#stream.writeBatch([...this.#kept, ...this.#added].map((column) => column.end()));
    this.#rows = 0;
  }

  async close(): Promise<void> {
    if (this.#rows > 0 || this.#stream.isEmpty) await this.#flush();
    await this.#stream.end();
  }
}
