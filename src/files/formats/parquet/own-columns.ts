// The columns that encode adds, as the bytes of Parquet: pages are written from the kernel's records, without a
// JavaScript value for each row.

import { ADMIN_UNITS } from '../../../hexcodes/admin-units.js';
import { OK } from '../../../hexcodes/kernel/kernel.js';
import {
  codeBytes,
  RECORD_BYTES,
  RECORD_TEXT_BYTES,
  recordAt,
  recordStatusAt,
} from '../../../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../../../hexcodes/wire/job.js';
import type { Failure } from '../../driver.js';
import {
  dataPage,
  dictionaryHead,
  indexesOf,
  lengthOf,
  NONE,
  type OwnChunk,
  PLAIN,
  RLE,
  RLE_DICTIONARY,
  SNAPPY,
  statisticsOf,
  UNCOMPRESSED,
  varintOf,
} from './pages.js';
import { binary } from './thrift.js';

/** Rows of a page of codes. */
const PAGE_ROWS = 32_768;
/** Most bytes of an entry: its length in four bytes and the text. */
const ENTRY_BYTES = 4 + RECORD_TEXT_BYTES;
/** Most bytes of a compressed entry in Snappy: a copy, the tag of a literal and the entry. */
const PACKED_BYTES = ENTRY_BYTES + 4;
/** Bytes after an entry that a copy of it can reach. */
const FARTHEST = 65_536;
/** Before a page: the varint of its size. */
const LEAD_BYTES = 5;
const RECORD_WORDS = RECORD_BYTES / 4;
const DASH = 45;
const LETTERS = 27;
const LETTER_A = 65;
/** The admin number of a record by the letters before its dash. */
const ADMIN_BY_LETTERS = new Uint8Array(LETTERS ** 3).fill(NONE);
for (const [admin, { code }] of ADMIN_UNITS.entries())
  ADMIN_BY_LETTERS[
    keyOf(code.charCodeAt(0), code.charCodeAt(1), code.length > 2 ? code.charCodeAt(2) : DASH)
  ] = admin;

function keyOf(first: number, second: number, third: number): number {
  const last = third === DASH ? 0 : third - LETTER_A + 1;
  return ((first - LETTER_A) * LETTERS + (second - LETTER_A)) * LETTERS + last;
}

/** The admin number of the OK record at an offset. */
export function adminOf(records: Uint8Array, at: number): number {
  return ADMIN_BY_LETTERS[keyOf(records[at]!, records[at + 1]!, records[at + 2]!)]!;
}

/**
 * Codes of records as pages of plain values in Snappy: the prefix shared with the previous entry is a copy, the rest
 * a literal.
 */
export class CodePages {
  readonly #packed = new Uint8Array(LEAD_BYTES + PAGE_ROWS * PACKED_BYTES);
  #at = LEAD_BYTES;
  readonly #defined = new Uint8Array(PAGE_ROWS);
  #rows = 0;
  #nulls = 0;
  #plainBytes = 0;
  /** The last code of each province in the page, its length, and the offset of its entry in the plain page. */
  readonly #last = new Uint32Array(256 * RECORD_WORDS);
  readonly #lengths = new Uint8Array(256);
  readonly #offsets = new Int32Array(256);
  readonly #least = new Uint8Array(RECORD_BYTES).fill(255);
  readonly #most = new Uint8Array(RECORD_BYTES);
  #totals = { nulls: 0, sizeBytes: 0, plainBytes: 0 };

  /** @param taken gets the parts of each page, which it may keep */
  constructor(private readonly taken: (page: Uint8Array) => void) {}

  /** Adds the codes of records; a row whose status is not OK has none. */
  add(records: Uint8Array, count: number): void {
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + PAGE_ROWS - this.#rows);
      this.#addRows(records, from, to);
      from = to;
      if (this.#rows === PAGE_ROWS) this.#flush();
    }
  }

  #addRows(records: Uint8Array, from: number, to: number): void {
    // Words of four bytes are compared, the lowest byte of which comes first.
    const words = new Uint32Array(records.buffer, records.byteOffset, RECORD_WORDS * to);
    const packed = this.#packed;
    const defined = this.#defined;
    const last = this.#last;
    const least = this.#least;
    const most = this.#most;
    let at = this.#at;
    let rows = this.#rows;
    const lengths = this.#lengths;
    const offsets = this.#offsets;
    let plainBytes = this.#plainBytes;
    let [minKey, maxKey] = [keyAt(least, 0), keyAt(most, 0)];
    for (let row = from; row < to; row++) {
      const start = recordAt(row);
      if (records[recordStatusAt(row)] !== 0) {
        defined[rows++] = 0;
        this.#nulls++;
        continue;
      }
      defined[rows++] = 1;
      // Codes of one province share a prefix.
      const admin = adminOf(records, start);
      const word = RECORD_WORDS * row;
      const other = RECORD_WORDS * admin;
      const length = codeBytes(records, start, lengths[admin]);
      const distance = plainBytes - offsets[admin]!;
      let same = 0;
      if (length === lengths[admin] && distance < FARTHEST) {
        let w = 0;
        while (w < RECORD_WORDS && last[other + w] === words[word + w]) w++;
        same = length;
        if (w < RECORD_WORDS) {
          const differs = last[other + w]! ^ words[word + w]!;
          same = 4 * w + ((31 - Math.clz32(differs & -differs)) >> 3);
        }
        for (; w < RECORD_WORDS; w++) last[other + w] = words[word + w]!;
        const copied = 4 + same;
        if (copied < 12 && distance < 2048) {
          packed[at++] = 1 | ((copied - 4) << 2) | ((distance >> 8) << 5);
          packed[at++] = distance;
        } else {
          packed[at++] = 2 | ((copied - 1) << 2);
          packed[at++] = distance;
          packed[at++] = distance >> 8;
        }
        if (same < length) packed[at++] = (length - same - 1) << 2;
      } else {
        packed[at++] = (4 + length - 1) << 2;
        packed[at++] = length;
        packed[at++] = 0;
        packed[at++] = 0;
        packed[at++] = 0;
        lengths[admin] = length;
        for (let w = 0; w < RECORD_WORDS; w++) last[other + w] = words[word + w]!;
      }
      for (let i = same; i < length; i++) packed[at++] = records[start + i]!;
      offsets[admin] = plainBytes;
      plainBytes += 4 + length;
      const key = keyAt(records, start);
      if (key <= minKey && isLess(records, start, least)) {
        copyRecord(records, start, length, least);
        minKey = key;
      }
      if (key >= maxKey && !isLess(records, start, most)) {
        copyRecord(records, start, length, most);
        maxKey = key;
      }
    }
    this.#at = at;
    this.#rows = rows;
    this.#plainBytes = plainBytes;
  }

  #flush(): void {
    if (this.#rows === 0) return;
    const hasValues = this.#nulls < this.#rows;
    let start = LEAD_BYTES;
    if (hasValues) {
      const lead = varintOf(this.#plainBytes);
      start -= lead.length;
      this.#packed.set(lead, start);
    }
    const body = this.#packed.subarray(start, hasValues ? this.#at : start);
    const defined = this.#defined.subarray(0, this.#rows);
    const unpackedBytes = hasValues ? this.#plainBytes : null;
    const page = dataPage(defined, this.#nulls, PLAIN, body.slice(), unpackedBytes);
    for (const part of page.parts) this.taken(part);
    this.#totals.sizeBytes += page.sizeBytes;
    this.#totals.plainBytes += page.plainBytes;
    this.#totals.nulls += this.#nulls;
    this.#at = LEAD_BYTES;
    this.#rows = 0;
    this.#nulls = 0;
    this.#plainBytes = 0;
    // Pages are unpacked independently.
    this.#lengths.fill(0);
  }

  /** Writes the last page, and begins the next chunk. */
  end(): OwnChunk {
    this.#flush();
    const isEmpty = this.#most[0] === 0;
    const text = (record: Uint8Array): Uint8Array | undefined =>
      isEmpty ? undefined : record.slice(0, codeBytes(record, 0));
    const statistics = statisticsOf(text(this.#least), text(this.#most), this.#totals.nulls);
    const { sizeBytes, plainBytes } = this.#totals;
    this.#totals = { nulls: 0, sizeBytes: 0, plainBytes: 0 };
    this.#least.fill(255);
    this.#most.fill(0);
    return {
      pages: [],
      sizeBytes,
      plainBytes,
      codec: SNAPPY,
      encodings: [PLAIN, RLE],
      hasDictionary: false,
      dictionaryBytes: 0,
      statistics,
    };
  }
}

function keyAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

function isLess(records: Uint8Array, start: number, other: Uint8Array): boolean {
  for (let i = 0; i < RECORD_TEXT_BYTES; i++) {
    const difference = records[start + i]! - other[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function copyRecord(records: Uint8Array, start: number, length: number, into: Uint8Array): void {
  into.fill(0);
  for (let i = 0; i < length; i++) into[i] = records[start + i]!;
}

/**
 * A column of few values: a dictionary, and the index of each row's value in few bits.
 * @param values plain bytes of the values, in any order; texts without their length
 * @param indexes of the rows' values among them, NONE for null
 */
function dictionaryChunk(kind: 'text' | 'int', values: readonly Uint8Array[], indexes: Uint8Array): OwnChunk {
  const rows = indexes.length;
  const packed = new Uint8Array(rows);
  const defined = new Uint8Array(rows);
  const order = new Uint8Array(256);
  const [count, different] = numberedAnew(indexes, packed, defined, order);
  const used = [...order.subarray(0, different)];
  const nulls = rows - count;
  const dictionary = Buffer.concat(
    used.flatMap((index) => (kind === 'int' ? [values[index]!] : [lengthOf(values[index]!), values[index]!])),
  );
  const lead = dictionaryHead(used.length, dictionary.length, dictionary.length);
  const body = indexesOf(packed.subarray(0, count), used.length);
  const pages = [lead, dictionary, ...dataPage(defined, nulls, RLE_DICTIONARY, body, null).parts];
  const sizeBytes = pages.reduce((sum, page) => sum + page.length, 0);
  // Numbers are ordered only where there is one of them.
  const sorted = used.map((index) => values[index]!).sort(Buffer.compare);
  return {
    pages,
    sizeBytes,
    plainBytes: sizeBytes,
    codec: UNCOMPRESSED,
    encodings: [PLAIN, RLE, RLE_DICTIONARY],
    hasDictionary: true,
    dictionaryBytes: lead.length + dictionary.length,
    statistics: statisticsOf(sorted[0], sorted.at(-1), nulls),
  };
}

/**
 * Renumbers indexes in order of first appearance.
 * @param packed gets the numbers of rows that have a value
 * @param order gets the indexes by their numbers
 */
function numberedAnew(
  indexes: Uint8Array,
  packed: Uint8Array,
  defined: Uint8Array,
  order: Uint8Array,
): readonly [count: number, different: number] {
  const numbers = new Uint8Array(256).fill(NONE);
  const rows = indexes.length;
  let count = 0;
  let different = 0;
  for (let row = 0; row < rows; row++) {
    const index = indexes[row]!;
    if (index === NONE) continue;
    defined[row] = 1;
    if (numbers[index] === NONE) {
      order[different] = index;
      numbers[index] = different++;
    }
    packed[count++] = numbers[index]!;
  }
  return [count, different];
}

const ADMIN_CODES = ADMIN_UNITS.map(({ code }) => binary(code));
const STATUS_WORDS = ROW_STATUSES.map(binary);

/** Provinces by their admin numbers, NONE for null. */
export const adminChunk = (admins: Uint8Array): OwnChunk => dictionaryChunk('text', ADMIN_CODES, admins);
/** Statuses by their index in ROW_STATUSES. */
export const statusChunk = (statuses: Uint8Array): OwnChunk =>
  dictionaryChunk('text', STATUS_WORDS, statuses);

/** One resolution for all rows. */
export function resolutionChunk(resolution: number, rows: number): OwnChunk {
  const four = Buffer.alloc(4);
  four.writeUInt32LE(resolution);
  return dictionaryChunk('int', [four], new Uint8Array(rows));
}

// Counts over the kernel's records of a batch, and its failed rows.

/** Counts rows by status, and those that are OK by province. */
export function countRows(
  records: Uint8Array,
  rowCount: number,
  byStatus: Uint32Array,
  byAdmin: Uint32Array,
): void {
  byStatus.fill(0);
  byAdmin.fill(0);
  for (let row = 0; row < rowCount; row++) {
    const status = records[recordStatusAt(row)]!;
    byStatus[status]!++;
    if (status === OK) byAdmin[adminOf(records, RECORD_BYTES * row)]!++;
  }
}

export function* failuresIn(records: Uint8Array, rowCount: number): Generator<Failure> {
  for (let row = 0; row < rowCount; row++) {
    const status = records[recordStatusAt(row)]!;
    if (status !== OK) yield { row, status: ROW_STATUSES[status]! };
  }
}
