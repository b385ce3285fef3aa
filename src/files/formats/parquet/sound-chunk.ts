// Checks the pages of a Parquet column before hyparquet reads them: the sizes and counts in their heads are compared
// with the actual bytes, with the rows of the group and with the ceiling.

import type { RowGroup, SchemaTree } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel, isFlatColumn } from 'hyparquet/src/schema.js';
import type { UnpackedPages } from './codecs.js';
import { walkThrift } from './footer.js';

// Checks the runs of a Parquet page before hyparquet reads them: a run that declares 2^31 values would exhaust the
// memory.

/** Values of a bit-packed group. */
const GROUP = 8;
const MAX_PADDING = 511;
const MAX_BLOCK = 1 << 20;
const MAX_MINIBLOCKS = 4096;

export class PageBytes {
  readonly view: DataView;
  at = 0;

  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    if (this.left < 1) throw cutOff();
    return this.bytes[this.at++]!;
  }

  word(): number {
    if (this.left < 4) throw cutOff();
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  varint(): number {
    let value = 0;
    for (let i = 0, scale = 1; i < 10; i++, scale *= 128) {
      const part = this.byte();
      value += (part & 127) * scale;
      if (part < 128) return value;
    }
    throw new Error('a page with a number of more than 64 bits');
  }

  skip(count: number): void {
    if (!(count >= 0 && count <= this.left)) throw cutOff();
    this.at += count;
  }

  /** The next bytes as a page of their own. */
  part(count: number): PageBytes {
    const start = this.at;
    this.skip(count);
    return new PageBytes(this.bytes.subarray(start, start + count));
  }
}

function cutOff(): Error {
  return new Error('a page that is cut off');
}

/**
 * Reads runs of equal and of packed values.
 * @param width bits of a value
 * @param most values that the runs may have
 * @param isWhole whether they must have as many; otherwise they end with the page
 * @throws Error for runs that end early, or declare more than is left
 */
export function walkRuns(page: PageBytes, width: number, most: number, isWhole = true): void {
  if (width > 32) throw new Error(`values of ${width} bits`);
  // Values of zero bits are all equal, and nothing is read.
  if (width === 0) return;
  for (let seen = 0; seen < most && (isWhole || page.left > 0); ) {
    const header = page.varint();
    const left = most - seen;
    const isPacked = header % 2 === 1;
    const values = isPacked ? GROUP * Math.floor(header / 2) : header / 2;
    // Packed values come in groups of eight; the last run may be padded with more of them.
    if (values === 0 || values > left + (isPacked ? MAX_PADDING : 0))
      throw new Error(`a run of ${values} values where ${left} are left`);
    if (isPacked) {
      const whole = Math.ceil((width * values) / GROUP);
      // Its last bytes may be missing after the last value.
      page.skip(Math.min(whole, Math.max(page.left, Math.ceil((width * Math.min(values, left)) / GROUP))));
    } else page.skip((width + 7) >> 3);
    seen += values;
  }
}

/** Checks the head of delta-packed integers: a damaged one keeps the reader in a loop. */
function checkDeltaHead(bytes: Uint8Array): void {
  const page = new PageBytes(bytes);
  const [block, miniblocks] = [page.varint(), page.varint()];
  const isSound =
    block > 0 &&
    block <= MAX_BLOCK &&
    miniblocks > 0 &&
    miniblocks <= MAX_MINIBLOCKS &&
    block % miniblocks === 0;
  if (!isSound) throw new Error(`blocks of ${block} integers in ${miniblocks} parts`);
}

type PageHeader = ReturnType<typeof parquetHeader>;
type ColumnMetaData = NonNullable<RowGroup['columns'][number]['meta_data']>;

/** Approximate memory of a number, of a value with bytes of its own, and of each list around a value. */
const VALUE_BYTES = 16;
const TEXT_BYTES = 40;
const LIST_BYTES = 48;
/** Copies of a text's bytes: in the page, and in strings of up to two bytes a character. */
const TEXT_COPIES = 3;

/** A leaf of a row group's columns. */
export interface Chunk {
  readonly metadata: ColumnMetaData;
  /** Path from the root of the schema to the leaf. */
  readonly path: readonly SchemaTree[];
  readonly bytes: Uint8Array;
}

interface Page {
  readonly header: PageHeader;
  readonly body: Uint8Array;
}

/** Pages whose heads are valid, and the approximate memory that reading them takes. */
export interface SoundChunk {
  readonly chunk: Chunk;
  readonly pages: readonly Page[];
  readonly heldBytes: number;
}

/**
 * Reads the head of the page that begins at an offset.
 * @param left bytes from there to the end of the chunk
 * @throws Error for one that is cut off, or claims more bytes than are left
 */
export function pageHeadAt(
  view: DataView,
  at: number,
  left: number,
): { readonly header: PageHeader; readonly bodyAt: number; readonly count: number } {
  const { end: bodyAt } = walkThrift(view, at);
  const header = parquetHeader({ view, offset: at });
  const { compressed_page_size: packedBytes, uncompressed_page_size: plainBytes } = header;
  if (typeof packedBytes !== 'number' || typeof plainBytes !== 'number')
    throw new Error('a page without its sizes');
  const bodyBytes = left - (bodyAt - at);
  if (!(packedBytes >= 0 && packedBytes <= bodyBytes))
    throw new Error(`a page that claims ${packedBytes} bytes where ${bodyBytes} are left`);
  if (!(plainBytes >= 0)) throw new Error(`a page that claims to unpack to ${plainBytes} bytes`);
  const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header;
  const count = (v1 ?? v2 ?? dictionary)?.num_values ?? 0;
  if (typeof count !== 'number' || !(count >= 0))
    throw new Error(`a page that claims ${String(count)} values`);
  return { header, bodyAt, count };
}

/**
 * Reads the heads of a chunk's pages.
 * @throws Error for an incomplete page, or one with more values than rows are left
 */
export function walkPages(chunk: Chunk, groupRows: number): SoundChunk {
  const { bytes, path } = chunk;
  const isFlat = isFlatColumn(path as SchemaTree[]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isBytes = /BYTE_ARRAY|INT96/.test(chunk.metadata.type);
  const perValue =
    (isBytes ? TEXT_BYTES : VALUE_BYTES) +
    (isFlat ? 0 : LIST_BYTES * getMaxDefinitionLevel(path as SchemaTree[]));
  const pages: Page[] = [];
  let values = 0;
  let heldBytes = 2 * bytes.length;
  for (let at = 0; at < bytes.length - 1 && !(isFlat && values >= groupRows); ) {
    const { header, bodyAt, count } = pageHeadAt(view, at, bytes.length - at);
    heldBytes += (isBytes ? TEXT_COPIES : 1) * header.uncompressed_page_size + count * perValue;
    if (header.type !== 'DICTIONARY_PAGE') values += count;
    if (isFlat && values > groupRows)
      throw new Error(`pages that claim ${values} values of ${groupRows} rows`);
    at = bodyAt + header.compressed_page_size;
    pages.push({ header, body: bytes.subarray(bodyAt, at) });
  }
  return { chunk, pages, heldBytes };
}

/**
 * Unpacks the pages of a chunk and checks their content.
 * @param maxBytes limit of the bytes of values that are built from earlier values
 * @throws Error for runs that declare more than the page has
 */
export function checkPages(
  { chunk: { metadata, path }, pages }: SoundChunk,
  unpacked: UnpackedPages,
  maxBytes: number,
): void {
  const content = {
    repetition: getMaxRepetitionLevel(path as SchemaTree[]),
    definition: getMaxDefinitionLevel(path as SchemaTree[]),
    codec: metadata.codec,
    type: metadata.type,
    typeBytes: path.at(-1)?.element.type_length ?? 0,
    maxBytes,
  };
  for (const { header, body } of pages) {
    if (header.data_page_header_v2 !== undefined && header.type === 'DATA_PAGE_V2') {
      checkPageV2(header, body, content, unpacked);
      continue;
    }
    const page = new PageBytes(unpacked.unpack(content.codec, body, header.uncompressed_page_size));
    if (header.type === 'DICTIONARY_PAGE') {
      const count = header.dictionary_page_header?.num_values ?? 0;
      if (count > page.left) throw new Error(`a dictionary of ${count} values in ${page.left} bytes`);
      continue;
    }
    const v1 = header.data_page_header;
    if (v1 === undefined) continue;
    for (const level of [content.repetition, content.definition])
      if (level > 0) walkRuns(page.part(page.word()), bitsOf(level), v1.num_values);
    checkValues(page, v1.encoding, v1.num_values, content);
  }
}

/** Properties that all pages of a chunk share. */
interface Content {
  /** Highest levels. */
  readonly repetition: number;
  readonly definition: number;
  readonly codec: string;
  readonly type: string;
  readonly typeBytes: number;
  readonly maxBytes: number;
}

function checkPageV2(header: PageHeader, body: Uint8Array, content: Content, unpacked: UnpackedPages): void {
  const v2 = header.data_page_header_v2!;
  const { num_values: count, num_nulls: nulls } = v2;
  if (!(nulls >= 0 && nulls <= count)) throw new Error(`a page of ${count} values with ${nulls} nulls`);
  const page = new PageBytes(body);
  const repetition = page.part(v2.repetition_levels_byte_length);
  const definition = page.part(v2.definition_levels_byte_length);
  if (content.repetition > 0) walkRuns(repetition, bitsOf(content.repetition), count);
  if (content.definition > 0) walkRuns(definition, bitsOf(content.definition), count);
  const sizeBytes = header.uncompressed_page_size - page.at;
  if (sizeBytes < 0) throw new Error('a page whose levels are longer than itself');
  const rest = body.subarray(page.at);
  const plain = v2.is_compressed === false ? rest : unpacked.unpack(content.codec, rest, sizeBytes);
  checkValues(new PageBytes(plain), v2.encoding, count, content);
}

/** @param most values of the page; it counts nulls, which have no bytes in the page */
function checkValues(
  page: PageBytes,
  encoding: string,
  most: number,
  { type, typeBytes, maxBytes }: Content,
): void {
  if (page.left === 0) return;
  switch (encoding) {
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      walkRuns(page, page.byte(), most, false);
      return;
    case 'RLE':
      if (type === 'BOOLEAN') walkRuns(page.part(page.word()), 1, most, false);
      else walkRuns(page, page.byte(), most, false);
      return;
    case 'BYTE_STREAM_SPLIT':
      if (Math.max(8, typeBytes) * most > maxBytes) throw new Error(`${most} values of ${typeBytes} bytes`);
      return;
    case 'DELTA_BINARY_PACKED':
    case 'DELTA_LENGTH_BYTE_ARRAY':
      checkDeltaHead(page.bytes.subarray(page.at));
      return;
    case 'DELTA_BYTE_ARRAY':
      checkPrefixes(page, most, maxBytes);
      return;
  }
}

/** Texts with a prefix shared with the previous one: a few bytes can stand for a long text. */
function checkPrefixes(page: PageBytes, most: number, maxBytes: number): void {
  const reader = { view: page.view, offset: page.at };
  const lengths = [0, 1].map(() => {
    const rest = page.bytes.subarray(reader.offset);
    checkDeltaHead(rest);
    const head = new PageBytes(rest);
    head.varint();
    head.varint();
    const count = head.varint();
    if (count > most) throw new Error(`${count} texts where ${most} are left`);
    const into = new Int32Array(count);
    if (count > 0) deltaBinaryUnpack(reader, count, into);
    return into;
  });
  let total = 0;
  for (const each of lengths) for (const length of each) total += length;
  if (!(total <= maxBytes)) throw new Error(`texts of ${total} bytes, made of those before them`);
}

function bitsOf(most: number): number {
  return 32 - Math.clz32(most);
}

// The unpacked pages of a flat column of a row group: which rows have a value, and the offset of the values.

/** A page of plain values, or of indexes of values in the dictionary. */
export interface PlainPage {
  readonly isDictionary: boolean;
  /** Indexes of its values in the dictionary; null where they are plain, or in an encoding that is not read here. */
  readonly indexes: Uint32Array | null;
  readonly isPlain: boolean;
  /** Positioned at its first value. */
  readonly page: PageBytes;
  /** Its first row; rows, or entries of a dictionary, and how many of them have a value. */
  readonly row: number;
  readonly count: number;
  readonly present: number;
  /** 1 for each row that has a value; null where all have one. */
  readonly levels: Uint8Array | null;
}

/**
 * @param unpacked holds the checked pages of the chunk
 * @param rows of the column
 * @throws Error for other values than rows, or an index beyond the dictionary
 */
export function* plainPages(
  { chunk: { metadata, path }, pages }: SoundChunk,
  unpacked: UnpackedPages,
  rows: number,
): Generator<PlainPage> {
  const { codec } = metadata;
  const isOptional = path.at(-1)?.element.repetition_type === 'OPTIONAL';
  let entries = -1;
  let row = 0;
  for (const { header, body } of pages) {
    const v2 = header.type === 'DATA_PAGE_V2' ? header.data_page_header_v2 : undefined;
    let page: PageBytes;
    let levels: PageBytes | null = null;
    if (v2 === undefined) {
      page = new PageBytes(unpacked.again(codec, body, header.uncompressed_page_size));
      if (header.type === 'DICTIONARY_PAGE') {
        entries = header.dictionary_page_header?.num_values ?? 0;
        const all = { row: 0, count: entries, present: entries, levels: null };
        yield { isDictionary: true, indexes: null, isPlain: true, page, ...all };
        continue;
      }
      if (header.type !== 'DATA_PAGE') continue;
      if (isOptional) levels = page.part(page.word());
    } else {
      const head = new PageBytes(body);
      head.skip(v2.repetition_levels_byte_length);
      levels = head.part(v2.definition_levels_byte_length);
      if (!isOptional) levels = null;
      const rest = body.subarray(head.at);
      const plainBytes = header.uncompressed_page_size - head.at;
      page = new PageBytes(v2.is_compressed === false ? rest : unpacked.again(codec, rest, plainBytes));
    }
    const count = (v2 ?? header.data_page_header)?.num_values ?? 0;
    const encoding = (v2 ?? header.data_page_header)?.encoding;
    let each: Uint8Array | null = null;
    if (levels !== null && !isAllDefined(levels, count)) {
      each = new Uint8Array(count);
      if (levels.left > 0)
        readRleBitPackedHybrid({ view: levels.view, offset: levels.at }, 1, each, levels.left);
    }
    if (row + count > rows) throw new Error(`pages of ${row + count} values where ${rows} are due`);
    let present = each === null ? count : 0;
    for (const one of each ?? []) present += one;
    const isIndexed = encoding === 'RLE_DICTIONARY' || encoding === 'PLAIN_DICTIONARY';
    const indexes = isIndexed ? indexesIn(page, present, entries) : null;
    yield {
      isDictionary: false,
      indexes,
      isPlain: encoding === 'PLAIN',
      page,
      row,
      count,
      present,
      levels: each,
    };
    row += count;
  }
  if (row !== rows) throw new Error(`${row} values where ${rows} are due`);
}

/** Whether levels are one run of ones. */
function isAllDefined(levels: PageBytes, count: number): boolean {
  const look = new PageBytes(levels.bytes.subarray(levels.at));
  if (look.left === 0) return false;
  const header = look.varint();
  return header % 2 === 0 && header / 2 >= count && look.left > 0 && look.byte() === 1;
}

/** The indexes of a page's values in a dictionary. @param entries of it, -1 where there is none */
function indexesIn(page: PageBytes, count: number, entries: number): Uint32Array {
  const indexes = new Uint32Array(count);
  if (count === 0) return indexes;
  if (entries < 0) throw new Error('a page that names a dictionary, and there is none');
  const width = page.byte();
  if (width > 0) readRleBitPackedHybrid({ view: page.view, offset: page.at }, width, indexes, page.left);
  for (let i = 0; i < count; i++)
    if (indexes[i]! >= entries) throw new Error(`value ${indexes[i]} of a dictionary of ${entries}`);
  return indexes;
}
