// Cuts a file into parts that are converted by themselves: CSV between two rows as the CSV scanner finds them, as a
// line break may be in quotes; NDJSON at line ends; Parquet between row groups. All other files stay whole, and so does
// every file whose parts could come to other columns than the whole.

import { closeSync, openSync, readSync } from 'node:fs';
import { encodingOf } from '../../../files/content/encoding.js';
import { packingOf } from '../../../files/content/kinds.js';
import { type FilePart, firstBytesOf, type Input, openInput, statOf } from '../../../files/disk/input.js';
import {
  type FileFormat,
  FORMATS,
  formatOf,
  formatOfBytes,
  formatOfName,
  readFormatOf,
} from '../../../files/format.js';
import { dialectOf, searchedBy } from '../../../files/formats/csv-dialect.js';
import { readHeader } from '../../../files/formats/csv-header.js';
import { BlockBuffers } from '../../../hexcodes/wire/bulk/block-buffers.js';
import { CsvSplitter } from '../../../hexcodes/wire/bulk/splitters.js';
import type { Conversion } from '../../conversion-options.js';

export interface SplitFile {
  readonly format: FileFormat;
  /** In their order; one undefined for a file that stays whole. */
  readonly parts: readonly (FilePart | undefined)[];
}

export interface Splitting {
  readonly conversion: Pick<Conversion, 'columns' | 'from' | 'csv' | 'input'>;
  /** Format of the output; null for that of the input. */
  readonly to: FileFormat | null;
  /** A part ends where it has reached this. */
  readonly partBytes: number;
  /** Whether a text is a hexcode. */
  readonly isCode: (text: string) => boolean;
}

const LF = 10;
const MAGIC_BYTES = 4096;
const LINE_SEARCH_BYTES = 64 * 1024;

/** A file that cannot be read stays whole: its conversion says why. */
export async function splitFile(path: string, splitting: Splitting): Promise<SplitFile> {
  const { from, input: options } = splitting.conversion;
  let input: Input;
  try {
    input = await openInput(path, options);
  } catch {
    return { format: readFormatOf(from ?? formatOfName(path).format ?? 'csv'), parts: [undefined] };
  }
  const format = formatOf(input, from);
  try {
    const bounds = await boundsOf(path, input, format, splitting);
    return { format, parts: bounds === null || bounds.length < 2 ? [undefined] : bounds };
  } catch {
    return { format, parts: [undefined] };
  } finally {
    input.close();
  }
}

/** null for a file that stays whole. */
async function boundsOf(
  path: string,
  input: Input,
  format: FileFormat,
  { conversion, to, partBytes, isCode }: Splitting,
): Promise<FilePart[] | null> {
  const { sizeBytes } = statOf(path);
  if (sizeBytes === null || sizeBytes <= partBytes) return null;
  if (format === 'parquet') return input.isPacked ? null : await rowParts(input, sizeBytes, partBytes);
  const head = firstBytesOf(path, MAGIC_BYTES);
  const { encoding = 'utf-8' } = conversion.input;
  const isPlain =
    packingOf(head) === null && FORMATS[formatOfBytes(head)].readAs === null && encodingOf(head) === null;
  if (!isPlain || encoding !== 'utf-8') return null;
  if (FORMATS[format].delimiter !== null) {
    const dialect = dialectOf(
      input.head,
      format,
      conversion.csv,
      isCode,
      searchedBy(conversion.columns, conversion.input),
    );
    const chunks = input.chunks()[Symbol.asyncIterator]();
    const { endOffset, rest } = await readHeader(input, chunks, dialect);
    const ends = await rowEnds(rest, chunks, dialect.delimiter.charCodeAt(0), endOffset, partBytes);
    return byteParts(ends, endOffset);
  }
  // Other targets have the columns of the first rows, and types of all.
  if (format === 'ndjson' && (to ?? format) === 'ndjson')
    return byteParts(lineEnds(path, sizeBytes, partBytes), 0);
  return null;
}

/** @param ends of all parts, ascending */
function byteParts(ends: readonly number[], headBytes: number): FilePart[] {
  return ends.map((end, i) => {
    const start = ends[i - 1] ?? headBytes;
    return { kind: 'bytes', number: i + 1, headBytes, start, end };
  });
}

/** Ends of rows of CSV, a fixed number of bytes apart or more, and the end of the content. */
async function rowEnds(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  delimiter: number,
  startOffset: number,
  partBytes: number,
): Promise<number[]> {
  const buffers = new BlockBuffers();
  const splitter = new CsvSplitter(delimiter, buffers);
  const ends: number[] = [];
  let [start, offset] = [startOffset, startOffset];
  const pass = (blocks: ReturnType<CsvSplitter['push']>): void => {
    for (const block of blocks) {
      if (offset - start >= partBytes) {
        ends.push(offset);
        start = offset;
      }
      offset += block.length;
      buffers.giveBack(block);
    }
  };
  for (let chunk: Uint8Array | null = first; chunk !== null; ) {
    pass(splitter.push(chunk));
    const next: IteratorResult<Uint8Array> = await chunks.next();
    chunk = next.done === true ? null : next.value;
  }
  pass(splitter.end());
  return [...ends, offset];
}

/** Line ends, a fixed number of bytes apart or a little more, and the end of the file. */
function lineEnds(path: string, sizeBytes: number, partBytes: number): number[] {
  const ends: number[] = [];
  const bytes = new Uint8Array(LINE_SEARCH_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let at = partBytes; at < sizeBytes; ) {
      const count = readSync(file, bytes, 0, bytes.length, at);
      if (count === 0) break;
      const feed = bytes.subarray(0, count).indexOf(LF);
      at += feed < 0 ? count : feed + 1;
      if (feed < 0 || at >= sizeBytes) continue;
      ends.push(at);
      at += partBytes;
    }
  } finally {
    closeSync(file);
  }
  return [...ends, sizeBytes];
}

async function rowParts(input: Input, sizeBytes: number, partBytes: number): Promise<FilePart[]> {
  const { rowGroupsOf } = await import('../../../files/formats/parquet/parquet-source.js');
  const groups = await rowGroupsOf(input);
  const rows = groups.reduce((sum, each) => sum + each, 0);
  const parts: FilePart[] = [];
  let [start, end] = [0, 0];
  for (const [i, groupRows] of groups.entries()) {
    end += groupRows;
    const isFull = ((end - start) / rows) * sizeBytes >= partBytes;
    if (end === start || (!isFull && i < groups.length - 1)) continue;
    parts.push({ kind: 'rows', number: parts.length + 1, start, end });
    start = end;
  }
  return parts;
}
