// Rows as bytes, in one piece of memory: a head with the code that they are sorted by, which columns have a value, and
// the values as Parquet's plain encoding has them.

import { RECORD_BYTES } from '../../hexcodes/kernel/output-layout.js';
import { type RowCursor, sortedByDigit } from '../disk/spill-folder.js';
import type { TextRows } from '../rows/text-rows.js';

// A row in words of 32 bits, from its first one:
//
//    0      how many words it has
//    1 - 5  the record of its code, each word big-endian, so that words compare as texts do; all bits of a row without
//           a code are set but for its status
//    6 - …  bytes: a bit for each stored column that has a value, and the values
//
// The lowest byte of word 5 is the index of the row's status in ROW_STATUSES.

export const KEY_WORDS = 5;
export const HEAD_WORDS = 1 + KEY_WORDS;
/** Most bytes of a value besides those of texts. */
const MAX_FIXED_BYTES = 32;
const FIRST_BYTES = 1 << 20;
const FIRST_ROWS = 1024;
/** Limit beyond which runs go to disk, whatever memory there is: offsets are 32-bit numbers. */
const MAX_BYTES = 2 ** 31;
/** Approximate bytes of the batch that fills the memory. */
const SLACK_BYTES = 8 << 20;
/** Memory for sorting a row: its start, its offset twice, and a word of its code. */
const SORT_BYTES = 16;
/** Number of rows below which they are sorted by comparison. */
const FEW_ROWS = 2048;
/** A longer value is copied by a call. */
const SHORT = 24;

/** Sources of stored columns that are not columns of rows. */
export const [FROM_LAT, FROM_LNG, FROM_RESOLUTION] = [-1, -2, -3] as const;

interface StoredColumn {
  /** Bytes of a value; 0 for those that have their size before them. */
  readonly width: number;
  /** Its index among the columns of rows, or one of the other sources. */
  readonly source: number;
}

/** Compares the codes of two rows. */
export function compareKeys(wordsA: Uint32Array, a: number, wordsB: Uint32Array, b: number): number {
  for (let word = 1; word < KEY_WORDS; word++) {
    const difference = wordsA[a + word]! - wordsB[b + word]!;
    if (difference !== 0) return difference;
  }
  // The lowest byte is the status.
  return (wordsA[a + KEY_WORDS]! >>> 8) - (wordsB[b + KEY_WORDS]! >>> 8);
}

/** Rows in order of arrival; their memory is kept when they are cleared. */
export class PackedRows {
  #bytes = Buffer.alloc(0);
  #words = new Uint32Array(0);
  #view = new DataView(this.#words.buffer);
  /** The first free word. */
  #end = 0;
  #starts = new Uint32Array(FIRST_ROWS);
  #count = 0;
  /** Bytes that are reserved at once when the first ones are not enough; the system commits them as they are filled. */
  readonly #fullBytes: number;

  readonly #sources: Int32Array;
  readonly #widths: Int32Array;

  /**
   * @param resolution of all rows, for the column that is FROM_RESOLUTION
   * @param memoryBytes that they are to take
   */
  constructor(
    stored: readonly StoredColumn[],
    private readonly resolution: number,
    memoryBytes: number,
  ) {
    this.#sources = Int32Array.from(stored, ({ source }) => source);
    this.#widths = Int32Array.from(stored, ({ width }) => width);
    this.#fullBytes = Math.min(memoryBytes, MAX_BYTES) + SLACK_BYTES;
    this.#resize(FIRST_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  /** Memory of the rows, and of sorting them. */
  get heldBytes(): number {
    return 4 * this.#end + SORT_BYTES * this.#count;
  }

  /** Adds a row. @param record of its code and status, by its offset */
  add({ text, columns, latLngDeg }: TextRows, row: number, records: Uint8Array, record: number): void {
    const [sources, widths] = [this.#sources, this.#widths];
    const count = sources.length;
    let sizeBytes = 4 * HEAD_WORDS + (MAX_FIXED_BYTES + 1) * count;
    for (let c = 0; c < count; c++) {
      if (sources[c]! < 0) continue;
      const { starts, ends } = columns[sources[c]!]!;
      if (starts[row]! >= 0) sizeBytes += ends[row]! - starts[row]!;
    }
    this.#begin(sizeBytes, records, record);
    const [bytes, view, from] = [this.#bytes, this.#view, text.bytes];
    const bitmap = 4 * (this.#end + HEAD_WORDS);
    let at = bitmap + ((count + 7) >> 3);
    bytes.fill(0, bitmap, at);
    for (let c = 0; c < count; c++) {
      const source = sources[c]!;
      if (source === FROM_RESOLUTION) {
        view.setInt32(at, this.resolution, true);
        at += 4;
      } else if (source < 0) {
        const degrees = latLngDeg[source === FROM_LAT ? 2 * row : 2 * row + 1]!;
        if (Number.isNaN(degrees)) continue;
        view.setFloat64(at, degrees, true);
        at += 8;
      } else {
        const { starts, ends } = columns[source]!;
        const start = starts[row]!;
        if (start < 0) continue;
        const size = ends[row]! - start;
        if (widths[c] === 0) {
          view.setUint32(at, size, true);
          at += 4;
        }
        if (size <= SHORT) for (let i = 0; i < size; i++) bytes[at + i] = from[start + i]!;
        else bytes.set(from.subarray(start, start + size), at);
        at += size;
      }
      bytes[bitmap + (c >> 3)]! |= 1 << (c & 7);
    }
    const end = (at + 3) >> 2;
    this.#words[this.#end] = end - this.#end;
    this.#end = end;
  }

  /** The rows by their codes, those of one code in order of arrival. */
  sorted(): RowCursor {
    const starts = this.#sortedStarts();
    let row = -1;
    return {
      words: this.#words,
      bytes: this.#bytes,
      get at() {
        return starts[row]!;
      },
      next: () => ++row < starts.length,
    };
  }

  clear(): void {
    this.#end = 0;
    this.#count = 0;
  }

  /** Clears the rows, and frees their memory. */
  release(): void {
    this.clear();
    this.#resize(0);
    this.#starts = new Uint32Array(FIRST_ROWS);
  }

  /** Begins a row with its code and status, and makes room for its bytes. */
  #begin(sizeBytes: number, records: Uint8Array, record: number): void {
    const needed = 4 * this.#end + sizeBytes;
    if (needed > this.#bytes.length)
      this.#resize(needed <= this.#fullBytes ? this.#fullBytes : needed + (needed >>> 1));
    if (this.#count === this.#starts.length) {
      const grown = new Uint32Array(2 * this.#count);
      grown.set(this.#starts);
      this.#starts = grown;
    }
    this.#starts[this.#count++] = this.#end;
    const words = this.#words;
    const start = this.#end + 1;
    const status = records[record + RECORD_BYTES - 1]!;
    for (let word = 0, at = record; word < KEY_WORDS; word++, at += 4)
      words[start + word] =
        status === 0
          ? (records[at]! << 24) | (records[at + 1]! << 16) | (records[at + 2]! << 8) | records[at + 3]!
          : 0xffffffff;
    const last = start + KEY_WORDS - 1;
    words[last] = ((words[last]! & ~255) | status) >>> 0;
  }

  #resize(sizeBytes: number): void {
    const buffer = new ArrayBuffer(8 * Math.ceil(sizeBytes / 8));
    const bytes = Buffer.from(buffer);
    this.#bytes.copy(bytes, 0, 0, 4 * this.#end);
    this.#bytes = bytes;
    this.#words = new Uint32Array(buffer);
    this.#view = new DataView(buffer);
  }

  #sortedStarts(): Uint32Array {
    const count = this.#count;
    const starts = this.#starts.subarray(0, count);
    const words = this.#words;
    if (count < FEW_ROWS) return starts.slice().sort((a, b) => compareKeys(words, a, words, b) || a - b);
    let order = Uint32Array.from({ length: count }, (_, row) => row);
    const keys = new Uint32Array(count);
    for (let word = KEY_WORDS; word > 0; word--) {
      const isLast = word === KEY_WORDS;
      for (let row = 0; row < count; row++) {
        const key = words[starts[row]! + word]!;
        keys[row] = isLast ? key >>> 8 : key;
      }
      for (const shift of [0, 16]) order = sortedByDigit(order, keys, shift);
    }
    for (let row = 0; row < count; row++) order[row] = starts[order[row]!]!;
    return order;
  }
}
