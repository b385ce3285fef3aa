// Writes rows of bytes as Parquet in row groups of 65,536 rows, or of 64 MiB of text: texts and doubles as plain pages
// or dictionaries in Snappy, our columns from the kernel's records.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { OK } from '../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import type { Output } from '../disk/output.js';
import { adminOf, CodePages, dictionaryChunk } from '../formats/parquet/own-columns.js';
import {
  dataHead,
  dictionaryHead,
  indexesOf,
  levelsOf,
  NONE,
  type OwnChunk,
  ownChunkMetadata,
  ownElement,
  type PageKind,
  PLAIN,
  RLE,
  RLE_DICTIONARY,
  SNAPPY,
  statisticsOf,
} from '../formats/parquet/pages.js';
import { addSnappy } from '../formats/parquet/snappy.js';
import {
  BINARY,
  binary,
  I32,
  I64,
  LIST,
  STRUCT,
  type ThriftStruct,
  thrift,
  writtenThrift,
} from '../formats/parquet/thrift.js';
import { GrowingBytes, type TextRows } from './text-rows.js';
import { isWantedRow, type RowWriter, type Wanted, type WrittenColumns } from './write-text.js';

const MAGIC = binary('PAR1');
const GROUP_ROWS = 65_536;
const MOST_HELD_TEXT = 64 * 2 ** 20;
/** Plain bytes after which a page of texts ends. */
const PAGE_BYTES = 2 ** 20;
const LENGTH_BYTES = 4;
/** Different texts of a group that a dictionary takes. */
const MOST_ENTRIES = 8192;
const TABLE_BITS = 14;
const TABLE_MASK = (1 << TABLE_BITS) - 1;
/** Groups without a dictionary after one whose texts were too many. */
const REST_GROUPS = 15;
/** A longer text is no bound of a chunk. */
const MOST_BOUND = 64;
/** Packed pages that are larger than so much of the plain ones are written plain. */
const WORTH_PACKING = 0.95;

/** Pages of one chunk as they are made. */
class Pages {
  readonly parts: Uint8Array[] = [];
  sizeBytes = 0;
  plainBytes = 0;
  readonly #packed = new GrowingBytes(1 << 16);

  dictionary(plain: Uint8Array, end: number, entries: number): number {
    const packed = this.#pack(plain, 0, end);
    const head = dictionaryHead(entries, end, packed.length);
    this.#add([head, packed], head.length + end);
    return head.length + packed.length;
  }

  plain(
    levels: Uint8Array,
    rows: number,
    nulls: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const packed = this.#pack(bytes, start, end);
    const isPacked = packed.length < WORTH_PACKING * (end - start);
    const body = isPacked ? packed : bytes.slice(start, end);
    const head = dataHead(rows, nulls, PLAIN, levels.length, end - start, body.length, isPacked);
    this.#add([head, levels, body], head.length + levels.length + end - start);
  }

  indexes(levels: Uint8Array, rows: number, nulls: number, body: Uint8Array): void {
    const head = dataHead(rows, nulls, RLE_DICTIONARY, levels.length, body.length, body.length, false);
    this.#add([head, levels, body], head.length + levels.length + body.length);
  }

  #add(parts: readonly Uint8Array[], plainBytes: number): void {
    this.parts.push(...parts);
    for (const { length } of parts) this.sizeBytes += length;
    this.plainBytes += plainBytes;
  }

  #pack(bytes: Uint8Array, start: number, end: number): Uint8Array {
    this.#packed.at = 0;
    addSnappy(bytes, start, end, this.#packed);
    return this.#packed.bytes.slice(0, this.#packed.at);
  }

  /** The chunk, and begins the next. @param dictionaryBytes 0 for none */
  end(dictionaryBytes: number, statistics: ThriftStruct): OwnChunk {
    const { sizeBytes, plainBytes } = this;
    const chunk = {
      ...{ pages: this.parts.splice(0), sizeBytes, plainBytes, codec: SNAPPY, statistics },
      encodings: dictionaryBytes > 0 ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE],
      ...{ hasDictionary: dictionaryBytes > 0, dictionaryBytes },
    };
    this.sizeBytes = 0;
    this.plainBytes = 0;
    return chunk;
  }
}

interface ColumnBuilder {
  /** Bytes held. */
  readonly heldBytes: number;
  /** Adds rows of a window. @param wanted their numbers in it, from one to before another */
  add(rows: TextRows, wanted: Int32Array, from: number, to: number): void;
  /** Ends a group. */
  end(): OwnChunk;
}

/** Texts: plain as they come, and as indexes of a dictionary as long as few of them differ. */
class TextBuilder implements ColumnBuilder {
  readonly #column: number;
  readonly #pages = new Pages();
  readonly #plain = new GrowingBytes(1 << 20);
  readonly #defined = new Uint8Array(GROUP_ROWS);
  #rows = 0;
  #nulls = 0;
  /** Where pages end: rows, nulls and bytes before them. */
  #cuts: { readonly row: number; readonly nulls: number; readonly at: number }[] = [];
  #nextCut = PAGE_BYTES;
  /** Entries of the dictionary by their hash, from 1; where each begins. */
  readonly #table = new Uint16Array(1 << TABLE_BITS);
  readonly #entries = new Int32Array(MOST_ENTRIES);
  readonly #indexes = new Uint16Array(GROUP_ROWS);
  #entryCount = 0;
  #hasDictionary = true;
  #restGroups = 0;
  /** Where the least and the most text begin; -1 for none. */
  #least = -1;
  #most = -1;

  constructor(column: number) {
    this.#column = column;
  }

  get heldBytes(): number {
    return this.#plain.at;
  }

  add({ text, columns }: TextRows, wanted: Int32Array, from: number, to: number): void {
    const { starts, ends } = columns[this.#column]!;
    const { bytes } = text;
    const plain = this.#plain;
    for (let i = from; i < to; i++) {
      const row = wanted[i]!;
      const start = starts[row]!;
      if (start < 0) {
        this.#defined[this.#rows++] = 0;
        this.#nulls++;
        continue;
      }
      const length = ends[row]! - start;
      plain.reserve(LENGTH_BYTES + length);
      const into = plain.bytes;
      const entry = plain.at;
      into[entry] = length;
      into[entry + 1] = length >> 8;
      into[entry + 2] = length >> 16;
      into[entry + 3] = length >> 24;
      let at = entry + LENGTH_BYTES;
      let hash = length;
      for (let p = start; p < start + length; p++) {
        const byte = bytes[p]!;
        into[at++] = byte;
        hash = Math.imul(hash ^ byte, 0x01000193);
      }
      plain.at = at;
      this.#defined[this.#rows] = 1;
      if (this.#hasDictionary) this.#index(into, entry, length, hash);
      else this.#bound(into, entry);
      this.#rows++;
      if (at >= this.#nextCut) {
        this.#cuts.push({ row: this.#rows, nulls: this.#nulls, at });
        this.#nextCut = at + PAGE_BYTES;
      }
    }
  }

  #index(plain: Uint8Array, entry: number, length: number, hash: number): void {
    const table = this.#table;
    const size = LENGTH_BYTES + length;
    for (let key = (hash ^ (hash >>> 15)) & TABLE_MASK; ; key = (key + 1) & TABLE_MASK) {
      const number = table[key]!;
      if (number === 0) {
        if (this.#entryCount === MOST_ENTRIES) break;
        this.#entries[this.#entryCount++] = entry;
        table[key] = this.#entryCount;
        this.#indexes[this.#rows - this.#nulls] = this.#entryCount - 1;
        this.#bound(plain, entry);
        return;
      }
      const other = this.#entries[number - 1]!;
      let same = 0;
      while (same < size && plain[other + same] === plain[entry + same]) same++;
      if (same === size) {
        this.#indexes[this.#rows - this.#nulls] = number - 1;
        return;
      }
    }
    this.#hasDictionary = false;
    this.#restGroups = REST_GROUPS;
    this.#bound(plain, entry);
  }

  #bound(plain: Uint8Array, entry: number): void {
    if (this.#least < 0 || isBefore(plain, entry, this.#least)) this.#least = entry;
    if (this.#most < 0 || isBefore(plain, this.#most, entry)) this.#most = entry;
  }

  end(): OwnChunk {
    const { bytes, at } = this.#plain;
    const rows = this.#rows;
    const nulls = this.#nulls;
    const pages = this.#pages;
    const present = rows - nulls;
    const isIndexed = this.#hasDictionary && this.#entryCount > 0 && 2 * this.#entryCount <= present;
    let dictionaryBytes = 0;
    if (isIndexed) {
      const dictionary = new GrowingBytes(1 << 16);
      for (let i = 0; i < this.#entryCount; i++) {
        const entry = this.#entries[i]!;
        dictionary.add(bytes.subarray(entry, entry + LENGTH_BYTES + lengthAt(bytes, entry)));
      }
      dictionaryBytes = pages.dictionary(dictionary.bytes, dictionary.at, this.#entryCount);
      const indexes = indexesOf(this.#indexes.subarray(0, present), this.#entryCount);
      pages.indexes(levelsOf(this.#defined, rows, nulls), rows, nulls, indexes);
    } else {
      let before = { row: 0, nulls: 0, at: 0 };
      for (const cut of [...this.#cuts, { row: rows, nulls, at }]) {
        const count = cut.row - before.row;
        if (count === 0) continue;
        const none = cut.nulls - before.nulls;
        const levels = levelsOf(this.#defined.subarray(before.row, cut.row), count, none);
        pages.plain(levels, count, none, bytes, before.at, cut.at);
        before = cut;
      }
    }
    const bound = (entry: number): Uint8Array | undefined => {
      const start = entry + LENGTH_BYTES;
      return bytes.slice(start, start + lengthAt(bytes, entry));
    };
    const isShort = (entry: number): boolean => entry >= 0 && lengthAt(bytes, entry) <= MOST_BOUND;
    const hasBounds = isShort(this.#least) && isShort(this.#most);
    const statistics = statisticsOf(
      hasBounds ? bound(this.#least) : undefined,
      hasBounds ? bound(this.#most) : undefined,
      nulls,
    );
    this.#plain.at = 0;
    this.#rows = 0;
    this.#nulls = 0;
    this.#cuts = [];
    this.#nextCut = PAGE_BYTES;
    this.#table.fill(0);
    this.#entryCount = 0;
    this.#hasDictionary = this.#restGroups === 0;
    if (this.#restGroups > 0) this.#restGroups--;
    this.#least = -1;
    this.#most = -1;
    return pages.end(dictionaryBytes, statistics);
  }
}

function lengthAt(plain: Uint8Array, entry: number): number {
  return plain[entry]! | (plain[entry + 1]! << 8) | (plain[entry + 2]! << 16) | (plain[entry + 3]! << 24);
}

/** Whether one entry is less than another, byte by byte. */
function isBefore(plain: Uint8Array, one: number, other: number): boolean {
  const oneLength = lengthAt(plain, one);
  const otherLength = lengthAt(plain, other);
  const both = Math.min(oneLength, otherLength);
  for (let i = LENGTH_BYTES; i < LENGTH_BYTES + both; i++) {
    const difference = plain[one + i]! - plain[other + i]!;
    if (difference !== 0) return difference < 0;
  }
  return oneLength < otherLength;
}

/** Positions: one half of each. */
class DegreesBuilder implements ColumnBuilder {
  readonly #half: 0 | 1;
  readonly #pages = new Pages();
  readonly #values = new Float64Array(GROUP_ROWS);
  readonly #bytes = new Uint8Array(this.#values.buffer);
  readonly #defined = new Uint8Array(GROUP_ROWS);
  #rows = 0;
  #nulls = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;
  readonly heldBytes = 0;

  constructor(half: 0 | 1) {
    this.#half = half;
  }

  add({ latLngDeg }: TextRows, wanted: Int32Array, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = latLngDeg[2 * wanted[i]! + this.#half]!;
      if (Number.isNaN(value)) {
        this.#defined[this.#rows++] = 0;
        this.#nulls++;
        continue;
      }
      this.#values[this.#rows - this.#nulls] = value;
      this.#defined[this.#rows++] = 1;
      if (value < this.#least) this.#least = value;
      if (value > this.#most) this.#most = value;
    }
  }

  end(): OwnChunk {
    const rows = this.#rows;
    const nulls = this.#nulls;
    const levels = levelsOf(this.#defined, rows, nulls);
    this.#pages.plain(levels, rows, nulls, this.#bytes, 0, 8 * (rows - nulls));
    const bound = (value: number): Uint8Array | undefined =>
      nulls === rows ? undefined : new Uint8Array(Float64Array.of(value).buffer);
    // The two zeros are alike: the bounds take in both.
    const statistics = statisticsOf(
      bound(this.#least === 0 ? -0 : this.#least),
      bound(this.#most === 0 ? 0 : this.#most),
      nulls,
    );
    this.#rows = 0;
    this.#nulls = 0;
    this.#least = Number.POSITIVE_INFINITY;
    this.#most = Number.NEGATIVE_INFINITY;
    return this.#pages.end(0, statistics);
  }
}

export class ParquetRowWriter implements RowWriter {
  readonly #output: Output;
  readonly #columns: WrittenColumns;
  readonly #builders: readonly ColumnBuilder[];
  readonly #codeParts: Uint8Array[] = [];
  readonly #codes = new CodePages((part) => this.#codeParts.push(part));
  readonly #admins = new Uint8Array(GROUP_ROWS);
  readonly #statuses = new Uint8Array(GROUP_ROWS);
  readonly #groups: ThriftStruct[] = [];
  #wanted = new Int32Array(0);
  #records = new Uint8Array(0);
  #rows = 0;
  #allRows = 0;
  #offset = 0;

  /** @param halves 0 or 1 for the kept columns that are latitudes and longitudes as numbers; all others are texts */
  constructor(output: Output, columns: WrittenColumns, halves: readonly (0 | 1 | null)[]) {
    this.#output = output;
    this.#columns = columns;
    this.#builders = columns.kept.map(({ index }, c) => {
      const half = halves[c] ?? null;
      return half === null ? new TextBuilder(index) : new DegreesBuilder(half);
    });
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    if (this.#wanted.length < rows.rowCount) {
      this.#wanted = new Int32Array(rows.rowCount);
      this.#records = new Uint8Array(RECORD_BYTES * rows.rowCount);
    }
    let count = 0;
    for (let row = 0; row < rows.rowCount; row++)
      if (isWantedRow(records, row, wanted)) this.#wanted[count++] = row;
    const own = wanted === 'all' ? records : this.#gathered(records, count);
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + GROUP_ROWS - this.#rows);
      for (const builder of this.#builders) builder.add(rows, this.#wanted, from, to);
      this.#addOwn(own, from, to);
      from = to;
      const held = this.#builders.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
      if (this.#rows === GROUP_ROWS || held >= MOST_HELD_TEXT) await this.#endGroup();
    }
  }

  #gathered(records: Uint8Array, count: number): Uint8Array {
    for (let i = 0; i < count; i++) {
      const start = RECORD_BYTES * this.#wanted[i]!;
      this.#records.set(records.subarray(start, start + RECORD_BYTES), RECORD_BYTES * i);
    }
    return this.#records;
  }

  #addOwn(records: Uint8Array, from: number, to: number): void {
    this.#codes.add(from === 0 ? records : records.subarray(RECORD_BYTES * from), to - from);
    for (let row = from; row < to; row++) {
      const status = records[recordStatusAt(row)]!;
      this.#admins[this.#rows] = status === OK ? adminOf(records, RECORD_BYTES * row) : NONE;
      this.#statuses[this.#rows++] = status;
    }
  }

  async #put(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      this.#offset += part.length;
      await this.#output.write(part);
    }
  }

  async #endGroup(): Promise<void> {
    const rows = this.#rows;
    if (rows === 0) return;
    if (this.#offset === 0) await this.#put([MAGIC]);
    const { kept, added, resolution } = this.#columns;
    const written: ThriftStruct[] = [];
    const put = async (chunk: OwnChunk, name: string, kind: PageKind): Promise<void> => {
      written.push(ownChunkMetadata(chunk, name, kind, rows, this.#offset));
      await this.#put(chunk.pages);
    };
    for (const [c, builder] of this.#builders.entries())
      await put(builder.end(), kept[c]!.name, kept[c]!.kind as PageKind);
    const codes = this.#codes.end();
    const four = Buffer.alloc(4);
    four.writeUInt32LE(resolution);
    const chunks: readonly OwnChunk[] = [
      { ...codes, pages: this.#codeParts.splice(0) },
      dictionaryChunk('int', [four], new Uint8Array(rows)),
      dictionaryChunk(
        'text',
        ADMIN_UNITS.map(({ code }) => binary(code)),
        this.#admins.subarray(0, rows),
      ),
      dictionaryChunk('text', ROW_STATUSES.map(binary), this.#statuses.subarray(0, rows)),
    ];
    for (const [i, chunk] of chunks.entries()) await put(chunk, added[i]!.name, added[i]!.kind as PageKind);
    const sizes = written.map((chunk) => chunk.get(3)!.value as ThriftStruct);
    const total = (id: number): bigint =>
      sizes.reduce((sum, meta) => sum + BigInt(meta.get(id)!.value as bigint), 0n);
    this.#groups.push(
      thrift(
        [1, LIST, { type: STRUCT, values: written }],
        [2, I64, total(6)],
        [3, I64, BigInt(rows)],
        [6, I64, total(7)],
      ),
    );
    this.#allRows += rows;
    this.#rows = 0;
  }

  async close(): Promise<void> {
    await this.#endGroup();
    if (this.#offset === 0) await this.#put([MAGIC]);
    const { kept, added } = this.#columns;
    const leaves = [...kept, ...added].map(({ name, kind }) => ownElement(name, kind as PageKind));
    const root = thrift([4, BINARY, binary('root')], [5, I32, leaves.length]);
    const order = thrift([1, STRUCT, thrift()]);
    const footer = writtenThrift(
      thrift(
        [1, I32, 2],
        [2, LIST, { type: STRUCT, values: [root, ...leaves] }],
        [3, I64, BigInt(this.#allRows)],
        [4, LIST, { type: STRUCT, values: this.#groups }],
        [6, BINARY, binary('hexcodes')],
        [7, LIST, { type: STRUCT, values: leaves.map(() => order) }],
      ),
    );
    const size = Buffer.alloc(4);
    size.writeUInt32LE(footer.length);
    await this.#put([footer, size, MAGIC]);
  }
}
