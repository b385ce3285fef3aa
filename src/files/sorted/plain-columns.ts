// Columns of a row group of Parquet whose values come as the bytes of its plain encoding: pages, dictionaries where
// they pay, and statistics, without a value of JavaScript for each.

import type { SchemaElement } from 'hyparquet';
import {
  bitPacked,
  dataHead,
  dictionaryHead,
  levelsOf,
  PLAIN,
  RLE_DICTIONARY,
} from '../formats/parquet/pages.js';
import { addSnappy } from '../formats/parquet/snappy.js';
import { GrowingBytes } from '../rows/text-rows.js';

/** Bytes of a page, about. */
const PAGE_BYTES = 1 << 20;
const FIRST_BYTES = 1 << 16;
/** Values by which a dictionary is judged before it is made, and how many of them may differ. */
const SAMPLE = 1000;
const MOST_DIFFERENT = 0.9;

/** Bytes of a column chunk in their order, and what its metadata say. */
export interface PlainChunk {
  readonly pages: readonly Uint8Array[];
  readonly sizeBytes: number;
  readonly plainBytes: number;
  /** Size of the dictionary page with its head; 0 where there is none. */
  readonly dictionaryBytes: number;
  readonly statistics: {
    readonly min_value: Bound | undefined;
    readonly max_value: Bound | undefined;
    readonly null_count: bigint;
  };
}

type Bound = number | bigint | boolean | Uint8Array;

export class PlainColumn {
  readonly element: SchemaElement;
  /** Bytes of a value; 0 for those that have their size before them. */
  readonly #width: number;
  #bytes = Buffer.from(new ArrayBuffer(FIRST_BYTES));
  #view = new DataView(this.#bytes.buffer);
  #size = 0;
  #defined = new Uint8Array(1024);
  #rows = 0;
  #nulls = 0;

  constructor(element: SchemaElement, width: number) {
    this.element = element;
    this.#width = width;
  }

  /** Bytes of the values so far. */
  get sizeBytes(): number {
    return this.#size;
  }

  /** Adds the value at a place. @returns where it ends */
  take(from: Uint8Array, at: number): number {
    const size =
      this.#width > 0
        ? this.#width
        : 4 + (from[at]! | (from[at + 1]! << 8) | (from[at + 2]! << 16) | (from[at + 3]! << 24));
    this.#define(1);
    this.#reserve(size);
    const into = this.#bytes;
    const start = this.#size;
    if (size <= 32) for (let i = 0; i < size; i++) into[start + i] = from[at + i]!;
    else into.set(from.subarray(at, at + size), start);
    this.#size += size;
    return at + size;
  }

  addDouble(value: number): void {
    this.#define(1);
    this.#reserve(8);
    this.#view.setFloat64(this.#size, value, true);
    this.#size += 8;
  }

  /** Adds an integer of 64 bits. */
  addWords(low: number, high: number): void {
    this.#define(1);
    this.#reserve(8);
    this.#view.setUint32(this.#size, low, true);
    this.#view.setUint32(this.#size + 4, high, true);
    this.#size += 8;
  }

  addNull(): void {
    this.#define(0);
    this.#nulls++;
  }

  /** The rows so far as a column chunk, and forgets them. */
  end(): PlainChunk {
    const present = this.#rows - this.#nulls;
    const starts = this.#width === 0 ? this.#startsOf(present) : null;
    const statistics = { ...this.#bounds(present, starts), null_count: BigInt(this.#nulls) };
    const chunk = this.#dictionaryPages(present, starts) ?? this.#plainPages(starts);
    this.#size = 0;
    this.#rows = 0;
    this.#nulls = 0;
    return { ...chunk, statistics };
  }

  #define(isDefined: 0 | 1): void {
    if (this.#rows === this.#defined.length) {
      const grown = new Uint8Array(2 * this.#rows);
      grown.set(this.#defined);
      this.#defined = grown;
    }
    this.#defined[this.#rows++] = isDefined;
  }

  #reserve(bytes: number): void {
    if (this.#size + bytes <= this.#bytes.length) return;
    let length = 2 * this.#bytes.length;
    while (length < this.#size + bytes) length *= 2;
    const grown = Buffer.from(new ArrayBuffer(length));
    this.#bytes.copy(grown, 0, 0, this.#size);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** Where the texts begin, behind their sizes; and where another would. */
  #startsOf(present: number): Uint32Array {
    const starts = new Uint32Array(present + 1);
    let at = 0;
    for (let i = 0; i < present; i++) {
      starts[i] = at + 4;
      at += 4 + this.#view.getUint32(at, true);
    }
    starts[present] = at + 4;
    return starts;
  }

  // Statistics.

  #bounds(
    present: number,
    starts: Uint32Array | null,
  ): { min_value: Bound | undefined; max_value: Bound | undefined } {
    if (present === 0) return { min_value: undefined, max_value: undefined };
    const { buffer } = this.#bytes;
    switch (this.element.type) {
      case 'DOUBLE':
        return boundsOfFloats(new Float64Array(buffer, 0, present));
      case 'FLOAT':
        return boundsOfFloats(new Float32Array(buffer, 0, present));
      case 'INT32':
        return boundsOfIntegers(new Int32Array(buffer, 0, present));
      case 'INT64':
        return boundsOfWords(
          new Uint32Array(buffer, 0, 2 * present),
          this.element.converted_type === 'UINT_64',
        );
      case 'BOOLEAN': {
        const values = this.#bytes.subarray(0, present);
        return { min_value: !values.includes(0), max_value: values.includes(1) };
      }
      default:
        return this.#boundsOfBytes(present, starts);
    }
  }

  #boundsOfBytes(present: number, starts: Uint32Array | null): { min_value: Bound; max_value: Bound } {
    const isSigned = this.element.converted_type === 'DECIMAL';
    const flip = isSigned ? 128 : 0;
    const bytes = this.#bytes;
    const width = this.#width;
    const startOf = (index: number): number => (starts === null ? index * width : starts[index]!);
    const endOf = (index: number): number => (starts === null ? (index + 1) * width : starts[index + 1]! - 4);
    const compare = (a: number, b: number): number => {
      const [aStart, bStart] = [startOf(a), startOf(b)];
      const [aEnd, bEnd] = [endOf(a), endOf(b)];
      const shared = Math.min(aEnd - aStart, bEnd - bStart);
      for (let i = 0; i < shared; i++) {
        const difference =
          i === 0
            ? (bytes[aStart]! ^ flip) - (bytes[bStart]! ^ flip)
            : bytes[aStart + i]! - bytes[bStart + i]!;
        if (difference !== 0) return difference;
      }
      return aEnd - aStart - (bEnd - bStart);
    };
    let least = 0;
    let most = 0;
    for (let i = 1; i < present; i++) {
      if (compare(i, least) < 0) least = i;
      else if (compare(i, most) > 0) most = i;
    }
    const boundAt = (index: number): Bound => {
      const value = Uint8Array.from(bytes.subarray(startOf(index), endOf(index)));
      if (!isSigned) return value;
      const whole = BigInt(`0x${Buffer.from(value).toString('hex')}`);
      return BigInt.asIntN(8 * value.length, whole);
    };
    return { min_value: boundAt(least), max_value: boundAt(most) };
  }

  // Pages.

  /** A dictionary and indexes, where they have half of the plain bytes at most; null otherwise. */
  #dictionaryPages(present: number, starts: Uint32Array | null): Omit<PlainChunk, 'statistics'> | null {
    if (present === 0 || this.element.type === 'BOOLEAN') return null;
    const width = this.#width;
    const bytes = this.#bytes;
    const startOf = (index: number): number => (starts === null ? index * width : starts[index]! - 4);
    const sizeOf = (index: number): number => (starts === null ? width : starts[index + 1]! - starts[index]!);
    const hashOf = (index: number): number => {
      const start = startOf(index);
      const end = start + sizeOf(index);
      let hash = 0x811c9dc5;
      for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
      return (hash ^ (hash >>> 15)) >>> 0;
    };
    const samples = Math.min(present, SAMPLE);
    const seen = new Set<number>();
    for (let i = 0; i < samples; i++) seen.add(hashOf(Math.floor((i * present) / samples)));
    if (seen.size > MOST_DIFFERENT * samples) return null;
    const table = new Int32Array(1 << Math.ceil(Math.log2(2 * present + 1)));
    const mask = table.length - 1;
    const indexes = new Uint32Array(present);
    const firsts: number[] = [];
    let dictionaryBytes = 0;
    for (let i = 0; i < present; i++) {
      const size = sizeOf(i);
      const start = startOf(i);
      for (let at = hashOf(i) & mask; ; at = (at + 1) & mask) {
        const entry = table[at]! - 1;
        if (entry < 0) {
          dictionaryBytes += size;
          if (2 * dictionaryBytes > this.#size) return null;
          table[at] = firsts.length + 1;
          indexes[i] = firsts.length;
          firsts.push(i);
          break;
        }
        const other = firsts[entry]!;
        if (sizeOf(other) !== size) continue;
        const otherStart = startOf(other);
        let same = 0;
        while (same < size && bytes[start + same] === bytes[otherStart + same]) same++;
        if (same < size) continue;
        indexes[i] = entry;
        break;
      }
    }
    const bits = firsts.length === 1 ? 1 : 32 - Math.clz32(firsts.length - 1);
    if (2 * (dictionaryBytes + (present * bits) / 8) > this.#size) return null;
    const dictionary = Buffer.concat(firsts.map((i) => bytes.subarray(startOf(i), startOf(i) + sizeOf(i))));
    const packed = packedPart(dictionary, 0, dictionary.length);
    const head = dictionaryHead(firsts.length, dictionary.length, packed.length);
    const body = bitPacked(indexes, bits);
    const page = this.#page(body, 0, body.length, 0, this.#rows, RLE_DICTIONARY);
    return {
      pages: [head, packed, ...page.parts],
      sizeBytes: head.length + packed.length + page.sizeBytes,
      plainBytes: head.length + dictionary.length + page.plainBytes,
      dictionaryBytes: head.length + packed.length,
    };
  }

  #plainPages(starts: Uint32Array | null): Omit<PlainChunk, 'statistics'> {
    const pages: Uint8Array[] = [];
    let sizeBytes = 0;
    let plainBytes = 0;
    const isBits = this.element.type === 'BOOLEAN';
    let value = 0;
    for (let row = 0; row < this.#rows; ) {
      const firstRow = row;
      const firstValue = value;
      const startOf = (index: number): number => (starts === null ? index * this.#width : starts[index]! - 4);
      const start = startOf(value);
      for (; row < this.#rows; row++) {
        if (this.#defined[row] === 0) continue;
        if (value > firstValue && startOf(value + 1) - start > PAGE_BYTES) break;
        value++;
      }
      const page = isBits
        ? this.#bitPage(firstValue, value, firstRow, row)
        : this.#page(this.#bytes, start, startOf(value), firstRow, row, PLAIN);
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
      bits[at >> 3]! |= this.#bytes[i]! << (at & 7);
    }
    return this.#page(bits, 0, bits.length, firstRow, endRow, PLAIN);
  }

  /** A data page of the second version. */
  #page(body: Uint8Array, start: number, end: number, firstRow: number, endRow: number, encoding: number) {
    const defined = this.#defined.subarray(firstRow, endRow);
    const rows = endRow - firstRow;
    let nulls = 0;
    if (this.#nulls > 0) for (const each of defined) nulls += 1 - each;
    const levels = levelsOf(defined, rows, nulls);
    const packed = end === start ? new Uint8Array(0) : packedPart(body, start, end);
    const isPacked = packed.length > 0 && packed.length < end - start;
    const written = isPacked ? packed : Uint8Array.from(body.subarray(start, end));
    const head = dataHead(rows, nulls, encoding, levels.length, end - start, written.length, isPacked);
    return {
      parts: [head, levels, written],
      sizeBytes: head.length + levels.length + written.length,
      plainBytes: head.length + levels.length + end - start,
    };
  }
}

const scratch = new GrowingBytes(1 << 16);

function packedPart(bytes: Uint8Array, start: number, end: number): Uint8Array {
  scratch.at = 0;
  addSnappy(bytes, start, end, scratch);
  return scratch.bytes.slice(0, scratch.at);
}

function boundsOfFloats(values: Float64Array | Float32Array) {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let isMet = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    isMet = true;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  // Both zeros are equal: readers are told so.
  return {
    min_value: isMet ? (least === 0 ? -0 : least) : undefined,
    max_value: isMet ? (most === 0 ? 0 : most) : undefined,
  };
}

function boundsOfIntegers(values: Int32Array) {
  let least = values[0]!;
  let most = least;
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { min_value: least, max_value: most };
}

/** @param words low and high halves of integers of 64 bits */
function boundsOfWords(words: Uint32Array, isUnsigned: boolean) {
  const flip = isUnsigned ? 0 : 0x8000_0000;
  const isLess = (a: number, b: number): boolean => {
    const [highA, highB] = [(words[a + 1]! ^ flip) >>> 0, (words[b + 1]! ^ flip) >>> 0];
    return highA === highB ? words[a]! < words[b]! : highA < highB;
  };
  let least = 0;
  let most = 0;
  for (let at = 2; at < words.length; at += 2) {
    if (isLess(at, least)) least = at;
    else if (isLess(most, at)) most = at;
  }
  const boundAt = (at: number): bigint => {
    const whole = (BigInt(words[at + 1]!) << 32n) | BigInt(words[at]!);
    return isUnsigned ? whole : BigInt.asIntN(64, whole);
  };
  return { min_value: boundAt(least), max_value: boundAt(most) };
}
