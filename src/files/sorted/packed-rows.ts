// Rows as bytes, in one piece of memory: a head with the code that they are sorted by, which columns have a value, and
// the values as Parquet's plain encoding has them.

import type { ValueRanges } from '../rows/text-rows.js';

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

/** Sources of stored columns that are not columns of rows; others are given by their index. */
export const [FROM_LAT, FROM_LNG, FROM_RESOLUTION] = [-1, -2, -3] as const;

/** Rows one after the other; their memory is kept when they are cleared. */
export class PackedRows {
  bytes: Buffer;
  words: Uint32Array;
  #view: DataView;
  /** The first free word. */
  end = 0;
  readonly #widths: readonly number[];
  readonly #fullBytes: number;
  // The row that has been begun.
  #latDeg = 0;
  #lngDeg = 0;
  #resolution = 0;

  /**
   * @param widths bytes of a value of each stored column; 0 for those that have their size before them
   * @param fullBytes bytes that are reserved at once when the first ones are not enough; the system commits them only
   *   as they are filled
   */
  constructor(widths: readonly number[], firstBytes: number, fullBytes: number) {
    this.#widths = widths;
    this.#fullBytes = fullBytes;
    const buffer = new ArrayBuffer(firstBytes);
    this.bytes = Buffer.from(buffer);
    this.words = new Uint32Array(buffer);
    this.#view = new DataView(buffer);
  }

  /** Makes room for `bytes` more bytes. */
  reserve(bytes: number): void {
    const needed = 4 * this.end + bytes;
    if (needed <= this.bytes.length) return;
    const size = needed <= this.#fullBytes ? this.#fullBytes : needed + (needed >>> 1);
    const buffer = new ArrayBuffer(8 * Math.ceil(size / 8));
    const grown = Buffer.from(buffer);
    this.bytes.copy(grown, 0, 0, 4 * this.end);
    this.bytes = grown;
    this.words = new Uint32Array(buffer);
    this.#view = new DataView(buffer);
  }

  /** Clears the rows, and frees their memory. */
  release(): void {
    const buffer = new ArrayBuffer(0);
    this.bytes = Buffer.from(buffer);
    this.words = new Uint32Array(buffer);
    this.#view = new DataView(buffer);
    this.end = 0;
  }

  /**
   * Begins a row: its code is in a record of the kernel, whose last byte is its status.
   * @param records of the kernel, and the index of one
   */
  begin(records: Uint8Array, record: number, latDeg: number, lngDeg: number, resolution: number): void {
    this.#latDeg = latDeg;
    this.#lngDeg = lngDeg;
    this.#resolution = resolution;
    this.reserve(4 * HEAD_WORDS + MAX_FIXED_BYTES * this.#widths.length);
    const { words, end: start } = this;
    const status = records[record + 4 * KEY_WORDS - 1]!;
    for (let word = 0, at = record; word < KEY_WORDS; word++, at += 4)
      words[start + 1 + word] =
        status === 0
          ? (records[at]! << 24) | (records[at + 1]! << 16) | (records[at + 2]! << 8) | records[at + 3]!
          : 0xffffffff;
    words[start + KEY_WORDS] = ((words[start + KEY_WORDS]! & ~255) | status) >>> 0;
  }

  /** Ends it with plain values. @param ranges of each stored column that is a column of rows */
  addRanges(sources: Int32Array, from: Uint8Array, ranges: readonly ValueRanges[], row: number): void {
    const widths = this.#widths;
    const bitmap = 4 * (this.end + HEAD_WORDS);
    let at = bitmap + ((sources.length + 7) >> 3);
    let sizeBytes = MAX_FIXED_BYTES * sources.length;
    for (let c = 0; c < sources.length; c++)
      if (sources[c]! >= 0 && ranges[c]!.starts[row]! >= 0)
        sizeBytes += ranges[c]!.ends[row]! - ranges[c]!.starts[row]!;
    this.#reserveAt(at, sizeBytes);
    const { bytes } = this;
    bytes.fill(0, bitmap, at);
    for (let c = 0; c < sources.length; c++) {
      const source = sources[c]!;
      if (source < 0) {
        at = this.#addOwn(source, bitmap, c, at);
        continue;
      }
      const start = ranges[c]!.starts[row]!;
      if (start < 0) continue;
      bytes[bitmap + (c >> 3)]! |= 1 << (c & 7);
      const size = ranges[c]!.ends[row]! - start;
      if (widths[c] === 0) {
        this.#view.setUint32(at, size, true);
        at += 4;
      }
      if (size <= SHORT) for (let i = 0; i < size; i++) bytes[at + i] = from[start + i]!;
      else bytes.set(from.subarray(start, start + size), at);
      at += size;
    }
    this.#finish(at);
  }

  #addOwn(source: number, bitmap: number, c: number, at: number): number {
    if (source === FROM_RESOLUTION) {
      this.bytes[bitmap + (c >> 3)]! |= 1 << (c & 7);
      this.#view.setInt32(at, this.#resolution, true);
      return at + 4;
    }
    const degrees = source === FROM_LAT ? this.#latDeg : this.#lngDeg;
    if (Number.isNaN(degrees)) return at;
    this.bytes[bitmap + (c >> 3)]! |= 1 << (c & 7);
    this.#view.setFloat64(at, degrees, true);
    return at + 8;
  }

  #finish(at: number): void {
    const start = this.end;
    this.end = (at + 3) >> 2;
    this.words[start] = this.end - start;
  }

  /** Makes room within the row that is added, which begins at `end`. */
  #reserveAt(at: number, bytes: number): void {
    if (at + bytes <= this.bytes.length) return;
    const { end } = this;
    // The filled part of the row is to be copied, too.
    this.end = (at + 3) >> 2;
    this.reserve(bytes);
    this.end = end;
  }
}

/** A longer value is copied by a call. */
const SHORT = 24;
