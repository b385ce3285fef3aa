// The least and the greatest of the values of a column chunk, from their plain bytes.

import type { SchemaElement } from 'hyparquet';

/** Bytes of the size before a text. */
export const LENGTH_BYTES = 4;
/** Longest text that is a bound of a chunk. */
const MAX_BOUND = 4096;
/** Bytes by which values are compared first; a double holds them exactly. */
const KEY_BYTES = 6;
const HALF_KEY = 2 ** 24;

/** Plain bytes of both bounds; null for a chunk without values. */
type Bounds = readonly [least: Uint8Array, most: Uint8Array] | null;

interface Sources {
  /** Offsets of texts after their sizes, with an end; null for values of one width. */
  readonly starts: Uint32Array | null;
  readonly present: number;
  /** Index of one row for each distinct value; null for all. */
  readonly firsts: readonly number[] | null;
}

/** @param bytes from the start of their buffer on @param width of a value; 0 for texts */
export function boundsOf(
  { type, converted_type: converted }: SchemaElement,
  bytes: Uint8Array,
  width: number,
  sources: Sources,
): Bounds {
  const { buffer } = bytes;
  const { present } = sources;
  switch (type) {
    case 'DOUBLE':
      return boundsOfFloats(new Float64Array(buffer, 0, present));
    case 'FLOAT':
      return boundsOfFloats(new Float32Array(buffer, 0, present));
    case 'INT32':
      return boundsOfIntegers(
        converted === 'UINT_32' ? new Uint32Array(buffer, 0, present) : new Int32Array(buffer, 0, present),
      );
    case 'INT64':
      return boundsOfWords(new Uint32Array(buffer, 0, 2 * present), converted === 'UINT_64');
    case 'BOOLEAN': {
      const values = bytes.subarray(0, present);
      return [Uint8Array.of(values.includes(0) ? 0 : 1), Uint8Array.of(values.includes(1) ? 1 : 0)];
    }
    default:
      // Decimals have a sign.
      return boundsOfBytes(bytes, width, sources, converted === 'DECIMAL' ? 128 : 0);
  }
}

function boundsOfBytes(
  bytes: Uint8Array,
  width: number,
  { starts, present, firsts }: Sources,
  flip: number,
): Bounds {
  const count = firsts?.length ?? present;
  const order = new RangeOrder(bytes, flip);
  let [least, minEnd, most, maxEnd] = [-1, -1, -1, -1];
  let [minKey, maxKey] = [Number.POSITIVE_INFINITY, -1];
  for (let i = 0; i < count; i++) {
    const index = firsts === null ? i : firsts[i]!;
    const start = starts === null ? index * width : starts[index]!;
    const end = starts === null ? start + width : starts[index + 1]! - LENGTH_BYTES;
    // The first bytes distinguish most values.
    const key = order.keyOf(start, end);
    if (key > minKey && key < maxKey) continue;
    if (least < 0 || order.isBefore(start, end, least, minEnd)) [least, minEnd, minKey] = [start, end, key];
    if (most < 0 || order.isBefore(most, maxEnd, start, end)) [most, maxEnd, maxKey] = [start, end, key];
  }
  if (minEnd - least > MAX_BOUND || maxEnd - most > MAX_BOUND) return null;
  return [Uint8Array.from(bytes.subarray(least, minEnd)), Uint8Array.from(bytes.subarray(most, maxEnd))];
}

/** The order of ranges of bytes. */
class RangeOrder {
  constructor(
    private readonly bytes: Uint8Array,
    /** Sign bits of the first byte. */
    private readonly flip: number,
  ) {}

  /** The first six bytes of a range, padded with zeros: less than another's only if the range comes before it. */
  keyOf(start: number, end: number): number {
    const [bytes, flip] = [this.bytes, this.flip];
    const size = end - start;
    if (size >= KEY_BYTES)
      return (
        HALF_KEY * (((bytes[start]! ^ flip) << 16) | (bytes[start + 1]! << 8) | bytes[start + 2]!) +
        ((bytes[start + 3]! << 16) | (bytes[start + 4]! << 8) | bytes[start + 5]!)
      );
    let key = 0;
    for (let i = 0; i < KEY_BYTES; i++)
      key = 256 * key + (i < size ? bytes[start + i]! ^ (i === 0 ? flip : 0) : 0);
    return key;
  }

  /** Whether one range comes before another. */
  isBefore(start: number, end: number, otherStart: number, otherEnd: number): boolean {
    const [bytes, flip] = [this.bytes, this.flip];
    const size = end - start;
    const otherSize = otherEnd - otherStart;
    const both = Math.min(size, otherSize);
    if (both > 0) {
      const difference = (bytes[start]! ^ flip) - (bytes[otherStart]! ^ flip);
      if (difference !== 0) return difference < 0;
    }
    for (let i = 1; i < both; i++) {
      const difference = bytes[start + i]! - bytes[otherStart + i]!;
      if (difference !== 0) return difference < 0;
    }
    return size < otherSize;
  }
}

function bytesOf(values: Float64Array | Float32Array | Int32Array | Uint32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function boundsOfFloats(values: Float64Array | Float32Array): Bounds {
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
  if (!isMet) return null;
  const stored = (value: number): Uint8Array =>
    bytesOf(values instanceof Float64Array ? Float64Array.of(value) : Float32Array.of(value));
  // Both zeros are equal, so bounds include -0.
  return [stored(least === 0 ? -0 : least), stored(most === 0 ? 0 : most)];
}

function boundsOfIntegers(values: Int32Array | Uint32Array): Bounds {
  let least = values[0]!;
  let most = least;
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [bytesOf(Int32Array.of(least)), bytesOf(Int32Array.of(most))];
}

/** @param words low and high halves of integers of 64 bits */
function boundsOfWords(words: Uint32Array, isUnsigned: boolean): Bounds {
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
  return [bytesOf(words.slice(least, least + 2)), bytesOf(words.slice(most, most + 2))];
}
