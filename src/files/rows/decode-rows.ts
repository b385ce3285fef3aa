// Codes in rows of bytes to positions: the kernel decodes those of a window at once, and our columns are ranges after
// the columns of the source.

import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import {
  NO_RESOLUTION,
  positionResolutionAt,
  positionStatusAt,
  RECORD_BYTES,
  RECORD_TEXT_BYTES,
  recordAt,
  recordStatusAt,
} from '../../hexcodes/kernel/output-layout.js';
import { type TextMemory, textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import { NO_CODE, putCode } from '../../hexcodes/wire/rows/convert-rows.js';
import { countSlow } from '../../hexcodes/wire/rows/row-report.js';
import { plainAdder, textAdder } from './plain-values.js';
import { GrowingBytes, rangesOf, type TextRows, textAt, type ValueRanges } from './text-rows.js';

const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const INVALID_HEXCODES = ROW_STATUSES.indexOf('INVALID_HEXCODES');
const RESOLUTIONS = 16;
const MAX_ASCII = 127;
const [COMMA, POINT] = [44, 46] as const;

/** How codes are read, and what our columns become. */
interface DecodedShape {
  /** Index of the column of codes. */
  readonly code: number;
  /** Whether our columns become plain values instead of texts. */
  readonly isTyped: boolean;
  /** Whether the kernel has scanned the rows as CSV, and writes our columns. */
  readonly isWritten: boolean;
  /** Whether rows are counted that are slower than others. */
  readonly isCounted: boolean;
  /** Whether texts of numbers have a decimal comma. */
  readonly hasComma: boolean;
}

export class RowDecoder {
  readonly #memory: TextMemory;
  /** lat and lng, which are empty with types, resolution and status. */
  readonly #ours: readonly ValueRanges[];
  /** The texts of resolutions, followed by the words of statuses, with the offset of each. */
  readonly #words = new GrowingBytes(256);
  readonly #wordStarts: number[] = [0];

  constructor(
    private readonly kernel: Kernel,
    private readonly shape: DecodedShape,
    maxRows: number,
  ) {
    const { isTyped } = shape;
    this.#memory = textMemoryOf(kernel);
    const positions = isTyped ? 0 : maxRows;
    this.#ours = [positions, positions, maxRows, maxRows].map(rangesOf);
    const column = { name: '', kind: 'int' } as const;
    const add = isTyped ? plainAdder(column) : textAdder(column);
    for (let resolution = 0; resolution < RESOLUTIONS; resolution++) {
      add(this.#words, resolution);
      this.#wordStarts.push(this.#words.at);
    }
    for (const status of ROW_STATUSES) {
      this.#words.addText(status);
      this.#wordStarts.push(this.#words.at);
    }
  }

  /**
   * @param byStatus receives the counts of the rows
   * @param byAdmin receives the counts by province
   * @returns the rows with positions and our columns, and records whose last byte is the status; valid until the next
   * rows
   */
  decode(
    rows: TextRows,
    byStatus: Uint32Array,
    byAdmin: Uint32Array,
  ): { readonly rows: TextRows; readonly records: Uint8Array } {
    const { exports, inputBytes: records, output, outputFloats } = this.kernel;
    const { rowCount, latLngDeg, columns } = rows;
    this.#take(rows);
    exports.decodeBatch(rowCount);
    latLngDeg.set(outputFloats.subarray(0, 2 * rowCount));
    if (!this.shape.isWritten) this.#memory.openRows(rowCount, 0);
    this.#memory.adminCounts.fill(0);
    exports.countDecoded(rowCount);
    byAdmin.set(this.#memory.adminCounts);
    byStatus.fill(0);
    const statuses = positionStatusAt(rowCount, 0);
    for (let row = 0; row < rowCount; row++) {
      const at = recordStatusAt(row);
      if (records[at] === OK && output[statuses + row] !== OK) records[at] = INVALID_HEXCODES;
      byStatus[records[at]!]!++;
    }
    if (this.shape.isWritten) return { rows, records };
    this.#addWords(rows);
    if (!this.shape.isTyped) this.#print(rows);
    return { rows: { ...rows, columns: [...columns, ...this.#ours] }, records };
  }

  /** Copies codes as records to the kernel; the status of a row without one is set before. */
  #take(rows: TextRows): void {
    const { text, columns, rowCount, unread } = rows;
    const { inputBytes: records } = this.kernel;
    const memory = this.#memory;
    const { starts, ends } = columns[this.shape.code]!;
    // A scan has taken all codes but those that it left.
    const next = (row: number): number => (this.shape.isWritten ? memory.nextLeft(row, rowCount) : row);
    for (let row = next(0); row < rowCount; row = next(row + 1)) {
      if (!takeCode(text.bytes, starts[row]!, ends[row]!, records, row)) {
        putCode(this.kernel, row, textAt(rows, this.shape.code, row));
        records[recordStatusAt(row)] = OK;
        if (this.shape.isCounted) countSlow('file', 'code');
      }
      if (unread?.has(row) === true) refuse(records, row, INVALID_REQUEST);
      if (this.shape.isWritten) memory.setStatus(row, records[recordStatusAt(row)]!);
    }
  }

  #addWords({ text, rowCount }: TextRows): void {
    const { inputBytes: records, output } = this.kernel;
    const [resolution, status] = [this.#ours[2]!, this.#ours[3]!];
    const starts = this.#wordStarts;
    const base = text.at;
    text.add(this.#words.bytes.subarray(0, this.#words.at));
    const resolutions = positionResolutionAt(rowCount, 0);
    for (let row = 0; row < rowCount; row++) {
      const level = output[resolutions + row]!;
      resolution.starts[row] = level === NO_RESOLUTION ? -1 : base + starts[level]!;
      resolution.ends[row] = level === NO_RESOLUTION ? -1 : base + starts[level + 1]!;
      const word = RESOLUTIONS + records[recordStatusAt(row)]!;
      status.starts[row] = base + starts[word]!;
      status.ends[row] = base + starts[word + 1]!;
    }
  }

  /** Prints positions by the kernel. */
  #print({ text, rowCount, latLngDeg }: TextRows): void {
    const { exports } = this.kernel;
    const { textOut, textOutAt } = this.#memory;
    const base = text.at - textOutAt;
    let at = textOutAt;
    for (let row = 0; row < rowCount; row++)
      for (const half of [0, 1] as const) {
        const { starts, ends } = this.#ours[half]!;
        const degrees = latLngDeg[2 * row + half]!;
        if (Number.isNaN(degrees)) {
          starts[row] = -1;
          continue;
        }
        starts[row] = base + at;
        const from = at - textOutAt;
        at = exports.printNumber(degrees, at);
        if (at === 0) throw new RangeError('A decoded position is beyond the range of printing');
        ends[row] = base + at;
        if (this.shape.hasComma) writeComma(textOut.subarray(from, at - textOutAt));
      }
    text.add(textOut.subarray(0, at - textOutAt));
  }
}

function writeComma(number: Uint8Array): void {
  const point = number.indexOf(POINT);
  if (point >= 0) number[point] = COMMA;
}

/** Makes a record invalid. */
export function refuse(records: Uint8Array, row: number, status: number): void {
  records.fill(0, recordAt(row), recordStatusAt(row));
  records[recordAt(row)] = NO_CODE;
  records[recordStatusAt(row)] = status;
}

/** @returns whether the text was read: the host must read one that is too long, not ASCII or contains a NUL */
function takeCode(bytes: Uint8Array, start: number, end: number, records: Uint8Array, row: number): boolean {
  const at = RECORD_BYTES * row;
  const size = start < 0 ? 0 : end - start;
  records[at + RECORD_TEXT_BYTES] = OK;
  if (size === 0) refuse(records, row, INVALID_REQUEST);
  if (size > RECORD_TEXT_BYTES) return false;
  let isPlain = true;
  for (let i = 0; i < size; i++) {
    const byte = bytes[start + i]!;
    records[at + i] = byte;
    if (byte === 0 || byte > MAX_ASCII) isPlain = false;
  }
  if (size > 0) for (let i = size; i < RECORD_TEXT_BYTES; i++) records[at + i] = 0;
  return isPlain;
}
