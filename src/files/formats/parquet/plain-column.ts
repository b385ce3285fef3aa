// A column chunk written from the bytes of Parquet's plain encoding: pages, a dictionary if it pays, and statistics,
// without a JavaScript value for each.

import type { SchemaElement } from 'hyparquet';
import { GrowingBytes, type ValueRanges } from '../../rows/text-rows.js';
import {
  addSnappy,
  bitPacked,
  dataPage,
  dictionaryHead,
  type OwnChunk,
  PLAIN,
  RLE,
  RLE_DICTIONARY,
  SNAPPY,
  statisticsOf,
} from './pages.js';
import { boundsOf, LENGTH_BYTES } from './plain-bounds.js';

/** Approximate bytes of a page. */
const PAGE_BYTES = 1 << 20;
/** Bytes of a new column: a table may have tens of thousands. */
const FIRST_BYTES = 1 << 10;
/** Values that decide whether a dictionary is made, and how many of them may differ. */
const SAMPLE = 1000;
const MAX_DIFFERENT = 0.9;
/** Largest ratio of packed to plain pages; beyond it pages are written plain. */
const WORTH_PACKING = 0.95;
/** Longest value that is copied byte by byte. */
const SHORT = 64;

/** Bytes of a plain value; 0 for those that have their size before them. Booleans have a byte each until a page. */
export function plainWidth({ type, type_length: length }: SchemaElement): number {
  switch (type) {
    case 'BOOLEAN':
      return 1;
    case 'INT32':
    case 'FLOAT':
      return 4;
    case 'INT64':
    case 'DOUBLE':
      return 8;
    case 'FIXED_LEN_BYTE_ARRAY':
      return length!;
    default:
      return 0;
  }
}

type Pages = Pick<OwnChunk, 'pages' | 'sizeBytes' | 'plainBytes' | 'dictionaryBytes'>;

export class PlainColumn {
  readonly #width: number;
  readonly #values = new GrowingBytes(FIRST_BYTES);
  #defined = new Uint8Array(1024);
  #rows = 0;
  #nulls = 0;
  readonly #packed = new GrowingBytes(FIRST_BYTES);

  constructor(readonly element: SchemaElement) {
    this.#width = plainWidth(element);
  }

  get sizeBytes(): number {
    return this.#values.at;
  }

  /**
   * Adds the value at an offset, with its size before it if it has one.
   * @returns the offset after it
   */
  take(from: Uint8Array, at: number): number {
    const size =
      this.#width > 0
        ? this.#width
        : LENGTH_BYTES + (from[at]! | (from[at + 1]! << 8) | (from[at + 2]! << 16) | (from[at + 3]! << 24));
    this.#define(1);
    const values = this.#values;
    values.reserve(size);
    const into = values.bytes;
    if (size <= SHORT) for (let i = 0; i < size; i++) into[values.at + i] = from[at + i]!;
    else into.set(from.subarray(at, at + size), values.at);
    values.at += size;
    return at + size;
  }

  /**
   * Adds values of rows by their ranges, negative ones as null.
   * @param rows bounds of the rows
   */
  addRanges(
    bytes: Uint8Array,
    { starts, ends, numbersAt = -1, isWhole = false }: ValueRanges,
    rows: Int32Array,
    from: number,
    to: number,
  ): void {
    if (numbersAt >= 0 && isWhole && rows[to - 1]! - rows[from]! === to - from - 1) {
      this.#addNumbers(bytes, numbersAt + 8 * rows[from]!, to - from);
      return;
    }
    let sizeBytes = 0;
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      if (starts[row]! >= 0) sizeBytes += LENGTH_BYTES + ends[row]! - starts[row]!;
    }
    const values = this.#values;
    values.reserve(sizeBytes);
    this.#reserveRows(to - from);
    const into = values.bytes;
    const defined = this.#defined;
    const hasSizes = this.#width === 0;
    let { at } = values;
    let nulls = 0;
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      const start = starts[row]!;
      defined[this.#rows++] = start < 0 ? 0 : 1;
      if (start < 0) {
        nulls++;
        continue;
      }
      const size = ends[row]! - start;
      if (hasSizes) {
        into[at] = size;
        into[at + 1] = size >> 8;
        into[at + 2] = size >> 16;
        into[at + 3] = size >> 24;
        at += LENGTH_BYTES;
      }
      if (size <= SHORT) for (let p = 0; p < size; p++) into[at + p] = bytes[start + p]!;
      else into.set(bytes.subarray(start, start + size), at);
      at += size;
    }
    values.at = at;
    this.#nulls += nulls;
  }

  /** Adds values of eight bytes that stand one after the other. */
  #addNumbers(bytes: Uint8Array, at: number, count: number): void {
    this.#values.add(bytes.subarray(at, at + 8 * count));
    this.#reserveRows(count);
    this.#defined.fill(1, this.#rows, this.#rows + count);
    this.#rows += count;
  }

  addDouble(value: number): void {
    this.#define(1);
    const values = this.#values;
    values.reserve(8);
    values.view.setFloat64(values.at, value, true);
    values.at += 8;
  }

  /** Adds an integer of 64 bits. */
  addWords(low: number, high: number): void {
    this.#define(1);
    const values = this.#values;
    values.reserve(8);
    values.view.setUint32(values.at, low, true);
    values.view.setUint32(values.at + 4, high, true);
    values.at += 8;
  }

  addNull(): void {
    this.#define(0);
    this.#nulls++;
  }

  /** The rows so far as a column chunk, whose bytes are valid until rows are added again; clears the rows. */
  end(): OwnChunk {
    this.#packed.at = 0;
    const present = this.#rows - this.#nulls;
    const starts = this.#width === 0 ? this.#startsOf(present) : null;
    const different = this.#differentOf(present, starts);
    const sources = { starts, present, firsts: different?.firsts ?? null };
    const bounds = present === 0 ? null : boundsOf(this.element, this.#values.bytes, this.#width, sources);
    const pages = different === null ? this.#plainPages(starts) : this.#dictionaryPages(different, starts);
    const statistics = statisticsOf(bounds?.[0], bounds?.[1], this.#nulls);
    this.#values.at = 0;
    this.#rows = 0;
    this.#nulls = 0;
    const hasDictionary = pages.dictionaryBytes > 0;
    const encodings = hasDictionary ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE];
    return { ...pages, codec: SNAPPY, encodings, hasDictionary, statistics };
  }

  #define(isDefined: 0 | 1): void {
    if (this.#rows === this.#defined.length) this.#reserveRows(1);
    this.#defined[this.#rows++] = isDefined;
  }

  #reserveRows(rows: number): void {
    if (this.#rows + rows <= this.#defined.length) return;
    const grown = new Uint8Array(2 * (this.#rows + rows));
    grown.set(this.#defined);
    this.#defined = grown;
  }

  /** Offsets of the texts after their sizes, with an end. */
  #startsOf(present: number): Uint32Array {
    if (allStarts.length <= present) allStarts = new Uint32Array(2 * present + 1);
    const starts = allStarts;
    const { view } = this.#values;
    let at = 0;
    for (let i = 0; i < present; i++) {
      starts[i] = at + LENGTH_BYTES;
      at += LENGTH_BYTES + view.getUint32(at, true);
    }
    starts[present] = at + LENGTH_BYTES;
    return starts;
  }

  /** The distinct values, if they and their indexes take at most half of the plain bytes; null otherwise. */
  #differentOf(present: number, starts: Uint32Array | null): Different | null {
    if (present === 0 || this.element.type === 'BOOLEAN') return null;
    const width = this.#width;
    const { bytes } = this.#values;
    const samples = Math.min(present, SAMPLE);
    const seen = new Set<number>();
    for (let i = 0; i < samples; i++) {
      const index = Math.floor((i * present) / samples);
      const start = starts === null ? index * width : starts[index]!;
      seen.add(hashOf(bytes, start, starts === null ? start + width : starts[index + 1]! - LENGTH_BYTES));
    }
    if (seen.size > MAX_DIFFERENT * samples) return null;
    const maxEntries = 1 << Math.ceil(Math.log2(2 * present + 1));
    if (table.length < maxEntries) table = new Int32Array(maxEntries);
    else table.fill(0, 0, maxEntries);
    const mask = maxEntries - 1;
    if (allIndexes.length < present) allIndexes = new Uint32Array(2 * present);
    const indexes = allIndexes.subarray(0, present);
    const firsts: number[] = [];
    let dictionaryBytes = 0;
    for (let i = 0; i < present; i++) {
      const start = starts === null ? i * width : starts[i]!;
      const size = starts === null ? width : starts[i + 1]! - LENGTH_BYTES - start;
      for (let at = hashOf(bytes, start, start + size) & mask; ; at = (at + 1) & mask) {
        const entry = table[at]! - 1;
        if (entry < 0) {
          dictionaryBytes += starts === null ? size : LENGTH_BYTES + size;
          if (2 * dictionaryBytes > this.#values.at) return null;
          table[at] = firsts.length + 1;
          indexes[i] = firsts.length;
          firsts.push(i);
          break;
        }
        const other = firsts[entry]!;
        const otherStart = starts === null ? other * width : starts[other]!;
        if (starts !== null && starts[other + 1]! - LENGTH_BYTES - otherStart !== size) continue;
        let same = 0;
        while (same < size && bytes[start + same] === bytes[otherStart + same]) same++;
        if (same < size) continue;
        indexes[i] = entry;
        break;
      }
    }
    const bits = firsts.length === 1 ? 1 : 32 - Math.clz32(firsts.length - 1);
    if (2 * (dictionaryBytes + (present * bits) / 8) > this.#values.at) return null;
    return { firsts, indexes, bits };
  }

  #dictionaryPages({ firsts, indexes, bits }: Different, starts: Uint32Array | null): Pages {
    const { bytes } = this.#values;
    const width = this.#width;
    const values = firsts.map((i) =>
      starts === null
        ? bytes.subarray(i * width, (i + 1) * width)
        : bytes.subarray(starts[i]! - LENGTH_BYTES, starts[i + 1]! - LENGTH_BYTES),
    );
    const dictionary = Buffer.concat(values);
    const packed = this.#pack(dictionary);
    const head = dictionaryHead(firsts.length, dictionary.length, packed.length);
    const body = bitPacked(indexes, bits);
    const page = this.#page(body, 0, this.#rows, RLE_DICTIONARY);
    return {
      pages: [head, packed, ...page.parts],
      sizeBytes: head.length + packed.length + page.sizeBytes,
      plainBytes: head.length + dictionary.length + page.plainBytes,
      dictionaryBytes: head.length + packed.length,
    };
  }

  #plainPages(starts: Uint32Array | null): Pages {
    const pages: Uint8Array[] = [];
    let sizeBytes = 0;
    let plainBytes = 0;
    const width = this.#width;
    const isBits = this.element.type === 'BOOLEAN';
    const defined = this.#defined;
    const rows = this.#rows;
    const startOf = (index: number): number =>
      starts === null ? index * width : starts[index]! - LENGTH_BYTES;
    let value = 0;
    for (let row = 0; row < rows; ) {
      const firstRow = row;
      const firstValue = value;
      const start = startOf(value);
      if (row === 0 && this.#values.at <= PAGE_BYTES) {
        row = rows;
        value = rows - this.#nulls;
      }
      for (; row < rows; row++) {
        if (defined[row] === 0) continue;
        if (value > firstValue && startOf(value + 1) - start > PAGE_BYTES) break;
        value++;
      }
      const page = isBits
        ? this.#bitPage(firstValue, value, firstRow, row)
        : this.#page(this.#values.bytes.subarray(start, startOf(value)), firstRow, row, PLAIN);
      pages.push(...page.parts);
      sizeBytes += page.sizeBytes;
      plainBytes += page.plainBytes;
    }
    return { pages, sizeBytes, plainBytes, dictionaryBytes: 0 };
  }

  #bitPage(firstValue: number, endValue: number, firstRow: number, endRow: number) {
    const bits = new Uint8Array(Math.ceil((endValue - firstValue) / 8));
    for (let i = firstValue; i < endValue; i++) {
      const at = i - firstValue;
      bits[at >> 3]! |= this.#values.bytes[i]! << (at & 7);
    }
    return this.#page(bits, firstRow, endRow, PLAIN);
  }

  #pack(bytes: Uint8Array): Uint8Array {
    const packed = this.#packed;
    const from = packed.at;
    addSnappy(bytes, packed);
    return packed.bytes.subarray(from, packed.at);
  }

  #page(body: Uint8Array, firstRow: number, endRow: number, encoding: number) {
    const defined = this.#defined.subarray(firstRow, endRow);
    let nulls = 0;
    if (this.#nulls > 0) for (const each of defined) nulls += 1 - each;
    const packed = body.length === 0 ? NO_BYTES : this.#pack(body);
    const isPacked = packed.length > 0 && packed.length < WORTH_PACKING * body.length;
    return isPacked
      ? dataPage(defined, nulls, encoding, packed, body.length)
      : dataPage(defined, nulls, encoding, body, null);
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

interface Different {
  /** First row of each of them. */
  readonly firsts: readonly number[];
  /** Index in the dictionary of each value. */
  readonly indexes: Uint32Array;
  readonly bits: number;
}

const NO_BYTES = new Uint8Array(0);

// Memory of one finished column, reused by the next.

/** Where texts begin. */
let allStarts = new Uint32Array(0);
/** Entries of a dictionary by values. */
let allIndexes = new Uint32Array(0);
/** Entries of a dictionary by their hash, from 1. */
let table = new Int32Array(0);
