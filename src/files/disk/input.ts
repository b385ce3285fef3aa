// Opens one input, a file or stdin, as chunks of bytes: packed content is unpacked, a workbook becomes CSV, text in
// other encodings UTF-8. Counts the bytes read from disk, for the progress line.

import { createReadStream, fstatSync, ReadStream, statSync } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import zlib, { type Gunzip } from 'node:zlib';
import type { PointChoice } from '../../tables/shapes/shapes.js';
import { shellWord } from '../../tables/table-error.js';
import type { Said } from '../content/brought.js';
import { encodingOf, inUtf8, packingOf, refuseUnreadable } from '../content/kinds.js';
import { badInput, badUsage, CliFailure, emptyName, reasonOf, unreadable } from '../exit-codes.js';
import { type FileFormat, FORMATS, formatOfBytes, formatOfName } from '../format.js';
import { ceilingBytes } from '../held/ceiling.js';
import { becameShorter, PlainFile } from './plain-file.js';

// Flush points of a pipe: moments at which the rows received so far must be converted, because the sender may wait
// for their answers before it sends more.

/** Longest time that a received row waits for more rows. */
const MAX_WAIT_MS = 100;
/** Longest wait before the first flush point: the first rows are read together, to infer their columns. */
const MAX_FIRST_WAIT_MS = 1000;

const FLUSH = new Uint8Array(0);

/** Whether a chunk marks a flush point: whole rows received so far are to be converted and written. */
export const isFlush = (chunk: Uint8Array): boolean => chunk.length === 0;

/** Adds an empty chunk where the input pauses, or where bytes have waited longer than a row may. */
async function* withFlushes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let maxWaitMs = MAX_FIRST_WAIT_MS;
  // Time of the first bytes after the last flush point; -1 if none have come.
  let heldSince = -1;
  let next = iterator.next();
  for (;;) {
    const now = performance.now();
    const waitMs = Math.min(MAX_WAIT_MS, heldSince + maxWaitMs - now);
    const result = heldSince < 0 ? await next : await within(next, Math.max(0, waitMs));
    if (result === null) {
      heldSince = -1;
      maxWaitMs = MAX_WAIT_MS;
      yield FLUSH;
      continue;
    }
    if (result.done === true) return;
    if (heldSince < 0) heldSince = performance.now();
    if (!isFlush(result.value)) yield result.value;
    next = iterator.next();
  }
}

/** The value of a promise; null if it takes longer. */
async function within<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, waitMs, null);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends of objects at line ends, and lines with a digit. */
const WHOLE_OBJECT = /[}\]],?[ \t\r]*\n/;
const ROW_OF_NUMBERS = /\d[^\n]*\n/;
const SECOND_LINE = /\n[^\n]+\n/;
/** Before each object of a sequence (RFC 8142). */
const RECORD_SEPARATOR = 0x1e;

/**
 * Whether the beginning of a text shows its first row; a header alone does not.
 * @param hasHeader of CSV
 */
function showsRow(head: Uint8Array, hasHeader: boolean): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString();
  if (head.includes(RECORD_SEPARATOR) || text.trimStart().startsWith('{')) return WHOLE_OBJECT.test(text);
  return hasHeader ? ROW_OF_NUMBERS.test(text) || SECOND_LINE.test(text) : text.includes('\n');
}

// Unpacks gzip and Zstandard while reading. Node has Zstandard from 22.15 and from 24 on.

/** @throws CliFailure BAD_INPUT for data that is broken or cut off, and where this Node has no Zstandard */
async function* unpacked(
  source: AsyncIterable<Uint8Array>,
  packing: 'gzip' | 'zstd',
  name: string,
): AsyncGenerator<Uint8Array> {
  const what = packing === 'gzip' ? 'gzip' : 'Zstandard';
  let contentBytes = 0;
  try {
    for await (const chunk of packing === 'gzip' ? ofGzip(source) : ofZstd(source, name)) {
      contentBytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const fault =
      code === CUT_OFF ? `the ${what} data is cut off` : `broken ${what} data (${reasonOf(error)})`;
    throw badInput({ file: name }, `${fault} after ${contentBytes} bytes of content`);
  }
}

const CUT_OFF = 'Z_BUF_ERROR';

const ofGzip = (source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  through(zlib.createGunzip({ chunkSize: CHUNK_BYTES }), source);

async function* ofZstd(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  // Node 20 has no Zstandard, and its types do not declare it.
  const { createZstdDecompress } = zlib as unknown as {
    createZstdDecompress?: (options: { chunkSize: number }) => Gunzip;
  };
  if (createZstdDecompress === undefined) {
    throw badInput(
      { file: name },
      `packed with Zstandard, which Node ${process.versions.node} does not read`,
      `Use Node 22.15 or later, or unpack it first: zstd -dc ${shellWord(name)} | hexcodes …`,
    );
  }
  const { ZstdFrames } = await import('../formats/values/zstd.js');
  const frames = new ZstdFrames(source);
  while (await frames.next())
    yield* through(createZstdDecompress({ chunkSize: CHUNK_BYTES }), frames.bytes());
  if (frames.isCut) throw Object.assign(new Error(), { code: CUT_OFF });
}

/** Errors go to the reader of the stream. */
const through = (stream: Gunzip, source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  pipeline(source, stream, () => undefined);

const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 10;
const QUOTE = 34;
/** Bytes that may precede a field: a line end or any delimiter. */
const FIELD_STARTS = Buffer.from('\n,;\t|');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
/** Bytes that suffice to tell formats apart, and ways of packing. */
export const HEAD_BYTES = 16 * 1024;
const PACKING_BYTES = 4;
const STDIN_NAME = '(stdin)';
/** The name of an input in messages. */
export const nameOf = (path: string): string => (path === '-' ? STDIN_NAME : path);

export interface Input {
  /** Name for messages: the path as given, or `(stdin)`. */
  readonly name: string;
  /** The path, or null for stdin. */
  readonly path: string | null;
  /** Size on disk; null where it is unknown. */
  readonly sizeBytes: number | null;
  /** First bytes of the content, as `chunks` gives it; up to HEAD_BYTES. */
  readonly head: Uint8Array;
  /** The format of a file whose rows are read as CSV: a workbook, GPX or KML; null for any other. */
  readonly origin: FileFormat | null;
  /** Which point of lines and areas is meant, where the user has said it. */
  readonly point?: PointChoice | undefined;
  /** Layer of a GeoPackage, where the user has named it. */
  readonly sheet?: string | undefined;
  /** Row of the header, where the user has named it. */
  readonly headerRow?: number | undefined;
  /**
   * Bytes read from disk or pipe so far, before unpacking.
   * @param rows that have been converted, from which the progress in a file of column chunks is estimated
   */
  readBytes(rows?: number): number;
  /** Sets the number of rows of a file of column chunks. */
  hasRows(count: number): void;
  /** Reports the share of a buffered content that has been passed on as rows. */
  readonly passed: (share: number) => void;
  /**
   * The content from its first byte, unpacked, text in UTF-8, with flush points where they are requested. Can be read
   * once.
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** The file itself, which may be read at any offset; null for a pipe and for packed content. */
  readonly file: PlainFile | null;
  /** The file where its bytes are the content as `chunks` gives it; otherwise null. */
  readonly plain: PlainFile | null;
  close(): void;
}

/** How the content of an input is to be read, where its bytes do not say it. */
export interface InputOptions {
  /** Encoding of text, by its name in the Encoding Standard. */
  readonly encoding?: string | undefined;
  /** Sheet of a workbook, by name or by number from 1. */
  readonly sheet?: string | undefined;
  /** Which point of lines and areas is meant. */
  readonly point?: PointChoice | undefined;
  /** Whether rows of a pipe are converted without waiting for more. */
  readonly hasFlushes?: boolean | undefined;
  /** Whether the first line of CSV is a header; true by default. */
  readonly hasHeader?: boolean | undefined;
  /** Row of the header, from 1; rows above it are skipped. */
  readonly headerRow?: number | undefined;
}

export interface FileStat {
  /** null for a pipe or a device. */
  readonly sizeBytes: number | null;
  /** Modification time in milliseconds; null for a pipe or a device. */
  readonly modifiedMs: number | null;
}

const UNKNOWN: FileStat = { sizeBytes: null, modifiedMs: null };

/** Size and time of a file; `-` is stdin. @throws CliFailure BAD_INPUT if it cannot be read */
export function statOf(path: string): FileStat {
  if (path === '') throw emptyName();
  try {
    // Node gives a folder as an empty stdin.
    const stat = path === '-' ? fstatSync(0) : statSync(path);
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    return path !== '-' && stat.isFile() ? { sizeBytes: stat.size, modifiedMs: stat.mtimeMs } : UNKNOWN;
  } catch (error) {
    throw unreadable(nameOf(path), error);
  }
}

/**
 * Opens a file, or stdin for `-`.
 * @throws CliFailure BAD_INPUT that names the file if it cannot be read; also from `chunks()`
 */
export async function openInput(path: string, options: InputOptions = {}): Promise<Input> {
  // A wrong setting is refused in any format.
  ceilingBytes();
  const { sizeBytes } = statOf(path);
  const raw = path === '-' ? process.stdin : openStream(path);
  try {
    return await ofStream(raw, path, sizeBytes, options);
  } catch (error) {
    raw.destroy();
    throw error;
  }
}

/** Most bytes of a packed file that may be empty: an empty one of gzip has 20 and its name. */
const MAX_EMPTY_BYTES = 64;

/**
 * Omits empty files other than NDJSON, such as parts that Spark writes without rows: they have no columns to compare.
 * If all are empty, the first stays.
 */
export async function withoutEmpty(
  paths: readonly string[],
  from: FileFormat | null,
  options: InputOptions,
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const path of paths)
    if (!(await isEmptyNdjson(path, from ?? formatOfName(path).format, options))) kept.push(path);
  return kept.length === 0 ? paths.slice(0, 1) : kept;
}

async function isEmptyNdjson(
  path: string,
  format: FileFormat | null,
  options: InputOptions,
): Promise<boolean> {
  const { sizeBytes } = statOf(path);
  if (format !== 'ndjson' || sizeBytes === null || sizeBytes > MAX_EMPTY_BYTES) return false;
  const input = await openInput(path, options);
  input.close();
  return input.head.every((byte) => byte <= 32);
}

export function inputOf(bytes: Uint8Array, name: string): Input {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return {
    name,
    path: null,
    sizeBytes: null,
    head: bytes,
    origin: null,
    file: null,
    plain: null,
    chunks,
    readBytes: () => bytes.length,
    hasRows: () => undefined,
    passed: () => undefined,
    close: () => undefined,
  };
}

/** A stream whose file stays open after its end, until it is destroyed. */
function openStream(path: string): ReadStream {
  return createReadStream(path, { highWaterMark: CHUNK_BYTES, autoClose: false });
}

async function ofStream(
  raw: Readable,
  path: string,
  sizeBytes: number | null,
  options: InputOptions,
): Promise<Input> {
  const name = nameOf(path);
  let streamBytes = 0;
  const counted = counting(raw, name, sizeBytes ?? 0, (bytes) => {
    streamBytes = bytes;
  });
  const packed = await opened(counted, PACKING_BYTES);
  const packing = packingOf(packed.head);
  const plain = packing === null ? packed.chunks : unpacked(packed.chunks, packing, name);
  const flushed = sizeBytes === null && options.hasFlushes === true ? withFlushes(plain) : plain;
  const file =
    packing === null && sizeBytes !== null && raw instanceof ReadStream
      ? new PlainFile(raw, path, sizeBytes)
      : null;
  let share: number | null = null;
  const passed = (of: number): void => {
    share = of;
  };
  const { content, origin, isVerbatim } = await readable(flushed, { ...options, plain: file, passed }, name);
  const { head, chunks } = await opened(content, HEAD_BYTES, options.hasHeader);
  let rowCount = 0;
  return {
    name,
    path: path === '-' ? null : path,
    sizeBytes,
    head: head.subarray(0, HEAD_BYTES),
    origin,
    point: options.point,
    sheet: options.sheet,
    headerRow: options.headerRow,
    readBytes(rows = 0) {
      if (sizeBytes !== null && rowCount > 0) return sizeBytes * Math.min(1, rows / rowCount);
      if (sizeBytes !== null && share !== null) return sizeBytes * share;
      return Math.max(streamBytes, file?.readBytes ?? 0);
    },
    passed,
    hasRows(count) {
      rowCount = count;
    },
    chunks: () => chunks,
    file,
    plain: isVerbatim ? file : null,
    close: () => void raw.destroy(),
  };
}

/**
 * The content converted to a form that is read by rows: CSV of other programs' files, UTF-8 of text in other
 * encodings.
 * @returns `isVerbatim`: whether the form is the content itself
 */
async function readable(
  content: AsyncIterable<Uint8Array>,
  options: InputOptions & Pick<Said, 'plain' | 'passed'>,
  name: string,
): Promise<{ content: AsyncIterable<Uint8Array>; isVerbatim: boolean; origin: FileFormat | null }> {
  const { head, chunks: whole } = await opened(content, HEAD_BYTES, options.hasHeader);
  const format = formatOfBytes(head);
  const { isText, readAs, title } = FORMATS[format];
  if (options.encoding !== undefined && (!isText || readAs !== null))
    throw badUsage(`--encoding is for text, not for ${title}`);
  const origin = readAs === null ? null : format;
  if (origin !== null) {
    const { broughtAsCsv } = await import('../content/brought.js');
    const rows = await broughtAsCsv(origin, whole, options, name);
    return { content: rows, origin, isVerbatim: false };
  }
  refuseUnreadable(head, name);
  const found = encodingOf(head) ?? options.encoding ?? 'utf-8';
  const isUtf8 = found === 'utf-8';
  const text = isUtf8 ? whole : inUtf8(whole, found, name);
  if (options.headerRow !== undefined)
    return { content: withoutRows(text, options.headerRow - 1), origin, isVerbatim: false };
  return { content: text, origin, isVerbatim: isUtf8 };
}

/**
 * Text without its first lines. A line end inside quotes does not count; a quote inside an unquoted field is a
 * letter.
 */
async function* withoutRows(content: AsyncIterable<Uint8Array>, rows: number): AsyncGenerator<Uint8Array> {
  let left = rows;
  let isQuoted = false;
  /** Whether a quote would open a field, or be an escaped quote after one that seemed to close it. */
  let isOpening = true;
  for await (const chunk of content) {
    let at = 0;
    for (; left > 0 && at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte === QUOTE && (isQuoted || isOpening)) {
        isQuoted = !isQuoted;
        isOpening = true;
      } else if (!isQuoted) {
        if (byte === LINE_FEED) left--;
        isOpening = FIELD_STARTS.includes(byte) || (isOpening && BYTE_ORDER_MARK.includes(byte));
      }
    }
    if (at < chunk.length || isFlush(chunk)) yield chunk.subarray(at);
  }
}

/** The bytes of a stream. @param sizeBytes that are there at least @param read is told of all bytes so far */
async function* counting(
  raw: Readable,
  name: string,
  sizeBytes: number,
  read: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const iterator = raw[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let bytes = 0;
  for (;;) {
    let next: IteratorResult<Uint8Array>;
    try {
      next = await iterator.next();
    } catch (error) {
      throw unreadable(name, error);
    }
    if (next.done === true && bytes < sizeBytes) throw becameShorter(name);
    if (next.done === true) return;
    bytes += next.value.length;
    read(bytes);
    yield next.value;
  }
}

/**
 * Reads the first chunks of a content: `least` bytes or more, fewer if the content is shorter or pauses after a row.
 * @returns the bytes of these chunks, and all chunks
 */
async function opened(
  content: AsyncIterable<Uint8Array>,
  least: number,
  hasHeader = true,
): Promise<{ head: Buffer; chunks: AsyncIterable<Uint8Array> }> {
  const iterator = content[Symbol.asyncIterator]();
  const opening: Uint8Array[] = [];
  for (let openingBytes = 0; openingBytes < least; ) {
    const next = await iterator.next();
    if (next.done === true) break;
    opening.push(next.value);
    openingBytes += next.value.length;
    if (isFlush(next.value) && showsRow(Buffer.concat(opening), hasHeader)) break;
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const chunk of opening.splice(0)) yield chunk;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  }
  return { head: Buffer.concat(opening), chunks: chunks() };
}
