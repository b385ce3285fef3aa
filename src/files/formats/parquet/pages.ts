// The parts of pages and chunks that are written here: heads, levels, indexes, and the metadata of a chunk.

import type { SchemaElement } from 'hyparquet';
import { ConvertedTypes, FieldRepetitionTypes, ParquetTypes } from 'hyparquet/src/constants.js';
import { type Area, areaOf, type GrowingBytes } from '../../rows/text-rows.js';
import {
  BINARY,
  binary,
  FALSE,
  I32,
  I64,
  LIST,
  STRUCT,
  type ThriftStruct,
  TRUE,
  thrift,
  writtenThrift,
} from './thrift.js';

// Enumerations of the format.
const UNITS = { MILLIS: 1, MICROS: 2, NANOS: 3 } as const;
export const [PLAIN, RLE, RLE_DICTIONARY] = [0, 3, 8] as const;
export const [UNCOMPRESSED, SNAPPY] = [0, 1] as const;
const [DICTIONARY_PAGE, DATA_PAGE_V2] = [2, 3] as const;

/** Index of a null. */
export const NONE = 255;

/** Bytes of a column chunk, in order, and its metadata without offsets. */
export interface OwnChunk {
  readonly pages: readonly Uint8Array[];
  readonly sizeBytes: number;
  readonly plainBytes: number;
  readonly codec: number;
  readonly encodings: readonly number[];
  readonly hasDictionary: boolean;
  /** Size of the dictionary page with its head. */
  readonly dictionaryBytes: number;
  readonly statistics: ThriftStruct;
}

/** An element of a schema, as parquet-types.ts makes them. */
export function thriftElement(element: SchemaElement): ThriftStruct {
  const { name, type, type_length: length, repetition_type: repetition, converted_type: converted } = element;
  const annotation = element.logical_type?.type === 'JSON' ? 'JSON' : converted;
  return thrift(
    [1, I32, ParquetTypes.indexOf(type!)],
    [2, I32, length],
    [3, I32, FieldRepetitionTypes.indexOf(repetition!)],
    [4, BINARY, binary(name)],
    [6, I32, annotation === undefined ? undefined : ConvertedTypes.indexOf(annotation)],
    [7, I32, element.scale],
    [8, I32, element.precision],
    [10, STRUCT, logicalType(element)],
  );
}

/** A union: its one member gives the type. */
function logicalType({ logical_type: logical }: SchemaElement): ThriftStruct | undefined {
  switch (logical?.type) {
    case 'TIME':
    case 'TIMESTAMP': {
      const unit = thrift([UNITS[logical.unit], STRUCT, thrift()]);
      const isUtc = logical.isAdjustedToUTC;
      return thrift([
        logical.type === 'TIME' ? 7 : 8,
        STRUCT,
        thrift([1, isUtc ? TRUE : FALSE, isUtc], [2, STRUCT, unit]),
      ]);
    }
    case 'JSON':
      return thrift([12, STRUCT, thrift()]);
    case 'UUID':
      return thrift([14, STRUCT, thrift()]);
    default:
      return undefined;
  }
}

/** The metadata of a chunk at an offset of the file. */
export function ownChunkMetadata(
  chunk: OwnChunk,
  { name, type }: SchemaElement,
  rows: number,
  offset: number,
): ThriftStruct {
  const { sizeBytes, plainBytes, codec, encodings, hasDictionary, dictionaryBytes, statistics } = chunk;
  const metadata = thrift(
    [1, I32, ParquetTypes.indexOf(type!)],
    [2, LIST, { type: I32, values: encodings }],
    [3, LIST, { type: BINARY, values: [binary(name)] }],
    [4, I32, codec],
    [5, I64, BigInt(rows)],
    [6, I64, BigInt(plainBytes)],
    [7, I64, BigInt(sizeBytes)],
    [9, I64, BigInt(offset + dictionaryBytes)],
    [11, I64, hasDictionary ? BigInt(offset) : undefined],
    [12, STRUCT, statistics],
  );
  return thrift([2, I64, BigInt(offset)], [3, STRUCT, metadata]);
}

export function statisticsOf(
  least: Uint8Array | undefined,
  most: Uint8Array | undefined,
  nulls: number,
): ThriftStruct {
  return thrift([3, I64, BigInt(nulls)], [5, BINARY, most], [6, BINARY, least]);
}

export function lengthOf(text: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(text.length);
  return bytes;
}

/** Indexes in the fewest bits that hold them, after the number of bits. */
export function indexesOf(indexes: Uint8Array | Uint16Array, values: number): Uint8Array {
  if (indexes.length === 0) return Uint8Array.of(1);
  if (values === 1) return Buffer.concat([Uint8Array.of(1), varintOf(2 * indexes.length), Uint8Array.of(0)]);
  return bitPacked(indexes, 32 - Math.clz32(values - 1));
}

/** Indexes of some bits each, with the number of bits before them. */
export function bitPacked(indexes: Uint8Array | Uint16Array | Uint32Array, width: number): Uint8Array {
  const groups = Math.ceil(indexes.length / 8);
  const lead = varintOf(2 * groups + 1);
  const bytes = new Uint8Array(1 + lead.length + groups * width);
  bytes[0] = width;
  bytes.set(lead, 1);
  let at = 1 + lead.length;
  let [bits, held] = [0, 0];
  for (let i = 0; i < 8 * groups; i++) {
    bits |= (i < indexes.length ? indexes[i]! : 0) << held;
    held += width;
    while (held >= 8) {
      bytes[at++] = bits & 255;
      bits >>>= 8;
      held -= 8;
    }
  }
  return bytes;
}

/** Definition levels in runs: of one value, or of bits. */
function levelsOf(defined: Uint8Array, nulls: number): Uint8Array {
  const rows = defined.length;
  if (nulls === 0 || nulls === rows)
    return Buffer.concat([varintOf(2 * rows), Uint8Array.of(nulls === 0 ? 1 : 0)]);
  const groups = Math.ceil(rows / 8);
  const lead = varintOf(2 * groups + 1);
  const bytes = new Uint8Array(lead.length + groups);
  bytes.set(lead);
  for (let row = 0; row < rows; row++) bytes[lead.length + (row >> 3)]! |= defined[row]! << (row & 7);
  return bytes;
}

export function varintOf(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left & 127) | 128);
  bytes.push(left);
  return Uint8Array.from(bytes);
}

export function dictionaryHead(values: number, plainBytes: number, packedBytes: number): Uint8Array {
  return writtenThrift(
    thrift(
      [1, I32, DICTIONARY_PAGE],
      [2, I32, plainBytes],
      [3, I32, packedBytes],
      [7, STRUCT, thrift([1, I32, values], [2, I32, PLAIN])],
    ),
  );
}

/** A page of a chunk, and its packed and unpacked size. */
interface DataPage {
  readonly parts: readonly Uint8Array[];
  readonly sizeBytes: number;
  readonly plainBytes: number;
}

/**
 * A data page of the second version.
 * @param defined 1 for each of its rows that has a value
 * @param unpackedBytes of a body that is packed; null for one that is not
 */
export function dataPage(
  defined: Uint8Array,
  nulls: number,
  encoding: number,
  body: Uint8Array,
  unpackedBytes: number | null,
): DataPage {
  const rows = defined.length;
  const levels = levelsOf(defined, nulls);
  const isPacked = unpackedBytes !== null;
  const plainBytes = levels.length + (unpackedBytes ?? body.length);
  const page = thrift(
    [1, I32, rows],
    [2, I32, nulls],
    [3, I32, rows],
    [4, I32, encoding],
    [5, I32, levels.length],
    [6, I32, 0],
    [7, isPacked ? 1 : 2, isPacked],
  );
  const sizeBytes = levels.length + body.length;
  const head = writtenThrift(
    thrift([1, I32, DATA_PAGE_V2], [2, I32, plainBytes], [3, I32, sizeBytes], [8, STRUCT, page]),
  );
  return {
    parts: [head, levels, body],
    sizeBytes: head.length + sizeBytes,
    plainBytes: head.length + plainBytes,
  };
}

// Compresses pages with Snappy (format_description.txt of google/snappy): fragments of 64 KiB, each with its own
// table of offsets of the last occurrence of four bytes.

const FRAGMENT_BYTES = 65_536;
const TABLE_BITS = 14;
const SHIFT = 32 - TABLE_BITS;
const WORD = 4;
const MULTIPLIER = 0x1e35a7bd;
/** Bytes at the end of a fragment that are always literal: words of four bytes are read there. */
const MARGIN = 15;
/** Misses after which the search skips every second, third, … offset. */
const PATIENCE = 5;
const [MAX_SHORT_LITERAL, MAX_COPY] = [60, 64] as const;

const table = new Uint16Array(1 << TABLE_BITS);

/** Adds the packed form of some bytes, its size before it. */
export function addSnappy(bytes: Uint8Array, packed: GrowingBytes): void {
  const size = bytes.length;
  packed.reserve(Math.ceil(size * 1.2) + 64);
  packed.add(varintOf(size));
  const out = areaOf(packed.bytes);
  const source = areaOf(bytes);
  for (let at = 0; at < size; at += FRAGMENT_BYTES)
    packed.at = fragmentAt(out, packed.at, source, at, Math.min(size, at + FRAGMENT_BYTES));
}

/**
 * Compresses up to 64 KiB.
 * @returns the offset after the last byte written
 */
function fragmentAt(out: Area, outAt: number, source: Area, start: number, end: number): number {
  const { bytes, view } = source;
  table.fill(0);
  let at = outAt;
  let written = start;
  const limit = end - MARGIN;
  for (let from = start + 1; from < limit; ) {
    let misses = 1 << PATIENCE;
    let word = 0;
    let other = 0;
    for (let next = from; ; ) {
      from = next;
      next = from + (misses++ >> PATIENCE);
      if (next > limit) return literalAt(out, at, source, written, end);
      word = view.getInt32(from, true);
      const key = Math.imul(word, MULTIPLIER) >>> SHIFT;
      other = start + table[key]!;
      table[key] = from - start;
      if (view.getInt32(other, true) === word) break;
    }
    at = literalAt(out, at, source, written, from);
    do {
      const distance = from - other;
      let same = 4;
      while (from + same < limit && view.getInt32(from + same, true) === view.getInt32(other + same, true))
        same += 4;
      while (from + same < end && bytes[from + same] === bytes[other + same]) same++;
      from += same;
      at = copyAt(out.bytes, at, distance, same);
      written = from;
      if (from >= limit) break;
      const before = view.getInt32(from - 1, true);
      table[Math.imul(before, MULTIPLIER) >>> SHIFT] = from - 1 - start;
      word = view.getInt32(from, true);
      const key = Math.imul(word, MULTIPLIER) >>> SHIFT;
      other = start + table[key]!;
      table[key] = from - start;
    } while (view.getInt32(other, true) === word);
    from++;
  }
  return literalAt(out, at, source, written, end);
}

function literalAt(
  { bytes: out, view: outView }: Area,
  outAt: number,
  { bytes, view }: Area,
  start: number,
  end: number,
): number {
  const size = end - start;
  if (size === 0) return outAt;
  let at = outAt;
  if (size <= MAX_SHORT_LITERAL) {
    out[at++] = (size - 1) << 2;
    if (end + WORD <= bytes.length)
      for (let p = start, to = at; p < end; p += WORD, to += WORD)
        outView.setInt32(to, view.getInt32(p, true), true);
    else for (let p = start, to = at; p < end; p++, to++) out[to] = bytes[p]!;
    return at + size;
  }
  if (size <= 256) out[at++] = 60 << 2;
  else out[at++] = 61 << 2;
  out[at++] = size - 1;
  if (size > 256) out[at++] = (size - 1) >> 8;
  out.set(bytes.subarray(start, end), at);
  return at + size;
}

function copyAt(out: Uint8Array, outAt: number, distance: number, size: number): number {
  let at = outAt;
  let left = size;
  for (; left >= MAX_COPY + 4; left -= MAX_COPY) {
    out[at++] = 2 | ((MAX_COPY - 1) << 2);
    out[at++] = distance;
    out[at++] = distance >> 8;
  }
  if (left > MAX_COPY) {
    out[at++] = 2 | ((MAX_SHORT_LITERAL - 1) << 2);
    out[at++] = distance;
    out[at++] = distance >> 8;
    left -= MAX_SHORT_LITERAL;
  }
  if (left < 12 && distance < 2048) {
    out[at++] = 1 | ((left - 4) << 2) | ((distance >> 8) << 5);
    out[at++] = distance;
    return at;
  }
  out[at++] = 2 | ((left - 1) << 2);
  out[at++] = distance;
  out[at++] = distance >> 8;
  return at;
}
