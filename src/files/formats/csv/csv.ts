// CSV and TSV inputs as text: the header row, and blocks of whole rows after it. Bytes that are not text are refused.

import type { Kernel } from '../../../hexcodes/kernel/kernel.js';
import { lineEndOf } from '../../../hexcodes/wire/bulk/csv-header.js';
import { BlockBuffers, CsvSplitter, firstRowEnd, isText } from '../../../hexcodes/wire/bulk/splitters.js';
import { BulkInputError } from '../../../hexcodes/wire/job.js';
import { encodingHint } from '../../content/kinds.js';
import { type Input, isFlush } from '../../disk/input.js';
import { badInput, type CliFailure } from '../../exit-codes.js';
import { BATCH_BYTES, BATCH_ROWS, type TableRows, type TableSource } from '../table.js';
import {
  COMMA,
  type CsvDialect,
  eachRow,
  fieldsOf,
  headerStart,
  leadOf,
  raggedFault,
  rowFault,
} from './dialect.js';

const MAX_HEADER_BYTES = 1024 * 1024;

/** The columns of an input, and the rows after its header. */
export interface CsvText {
  readonly names: string[];
  /** The header row with its line end, without a byte order mark; empty if there is none. */
  readonly bytes: Uint8Array;
  /** The bytes before it: a byte order mark, a line `sep=`. */
  readonly lead: Uint8Array;
  /** Line end of the first row. */
  readonly lineEnd: '\n' | '\r\n';
  /** Offset of the first row in the content. */
  readonly endOffset: number;
  /**
   * Blocks of whole rows from an offset on, which is the start of a row; an empty block at a flush point. A block
   * holds until the next is requested. May be called once; on a plain file repeatedly.
   * @param nextRow number of the first row not yet returned, for messages
   * @throws CliFailure BAD_INPUT for a quote that is not closed, a row that is too long, and, after the rows before
   * them, for bytes that are not text
   */
  blocks(from: number, nextRow: () => number): AsyncGenerator<Uint8Array>;
}

/**
 * Reads an input up to the end of its header row. Without one the columns are called by their numbers from 1.
 * @param kernel finds the ends of rows with quotes sooner
 * @throws CliFailure BAD_INPUT if there is none or it is not text
 */
export async function openText(input: Input, dialect: CsvDialect, kernel?: Kernel): Promise<CsvText> {
  const delimiter = dialect.delimiter.charCodeAt(0);
  const chunks = input.chunks()[Symbol.asyncIterator]();
  let bytes: Uint8Array = new Uint8Array(0);
  let endOffset = -1;
  let leadBytes = 0;
  while (endOffset < 0) {
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    leadBytes = headerStart(bytes, dialect);
    const rowEnd = leadBytes < 0 ? -1 : firstRowEnd(bytes.subarray(leadBytes), delimiter);
    endOffset = rowEnd < 0 ? -1 : leadBytes + rowEnd;
    if (endOffset < 0 && bytes.length > MAX_HEADER_BYTES) {
      throw badInput({ file: input.name }, 'the header row is longer than 1 MiB');
    }
  }
  if (endOffset < 0) endOffset = bytes.length;
  leadBytes = Math.max(0, leadBytes);
  if (leadBytes === endOffset)
    throw badInput(
      { file: input.name },
      input.headerRow === undefined
        ? 'the file is empty: a header row is needed'
        : `it ends before row ${input.headerRow}, which --header-row names`,
    );
  const row = bytes.subarray(leadBytes, endOffset);
  if (!isText(row))
    throw badInput({ file: input.name }, 'the header row is not UTF-8 text', encodingHint(row));
  const fields = fieldsOf(row, 0, row.length, delimiter);
  const names = dialect.hasHeader ? fields : fields.map((_, i) => `${i + 1}`);
  const first = dialect.hasHeader ? endOffset : leadBytes;
  const content = (from: number): AsyncIterable<Uint8Array> =>
    input.plain?.chunksFrom(from) ?? after(bytes.subarray(first), chunks, from - first);
  return {
    names,
    bytes: dialect.hasHeader ? row : row.subarray(0, 0),
    lead: bytes.subarray(0, leadOf(bytes)),
    lineEnd: lineEndOf(row),
    endOffset: first,
    blocks: (from, nextRow) =>
      rowBlocks(content(from), { delimiter, names, row, file: input.name, kernel }, nextRow),
  };
}

/** Bytes and those of later chunks, without the first of them. */
async function* after(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  skipBytes: number,
): AsyncGenerator<Uint8Array> {
  let toSkip = skipBytes;
  for (let chunk = first; ; ) {
    const skipped = Math.min(toSkip, chunk.length);
    toSkip -= skipped;
    if (skipped === 0 || skipped < chunk.length) yield chunk.subarray(skipped);
    const next: IteratorResult<Uint8Array> = await chunks.next();
    if (next.done === true) return;
    chunk = next.value;
  }
}

async function* rowBlocks(
  chunks: AsyncIterable<Uint8Array>,
  of: {
    readonly delimiter: number;
    readonly names: readonly string[];
    /** The first row, a header or not. */
    readonly row: Uint8Array;
    readonly file: string;
    readonly kernel: Kernel | undefined;
  },
  nextRow: () => number,
): AsyncGenerator<Uint8Array> {
  const { delimiter, names, row, file, kernel } = of;
  const buffers = new BlockBuffers();
  const splitter = new CsvSplitter(delimiter, buffers, kernel);
  const ofTable = latin1(row).startsWith(TABLE) ? rowsOfTable(latin1(row)) : (block: Uint8Array) => block;
  function* texts(blocks: Iterable<Uint8Array<ArrayBuffer>>): Generator<Uint8Array> {
    for (const block of blocks) {
      // A failed row before the one that is not a text ends a run that stops at failed rows.
      const table = ofTable(block);
      const rows = rowsOfText(table, delimiter);
      if (rows.length > 0) yield rows;
      if (rows.length < table.length)
        throw notText(block.subarray(rows.length), file, delimiter, names, nextRow());
      if (rows.length < block.length)
        throw badInput({ file, row: nextRow() }, 'a table with other columns begins', SPLIT);
      buffers.giveBack(block);
    }
  }
  try {
    for await (const chunk of chunks) {
      yield* texts(isFlush(chunk) ? splitter.flush() : splitter.push(chunk));
      if (isFlush(chunk)) yield chunk;
    }
    yield* texts(splitter.endClosed());
  } catch (error) {
    if (error instanceof BulkInputError) throw badInput({ file, row: nextRow() }, error.message);
    throw error;
  }
}

/** The beginning of each header of InfluxDB's annotated CSV, which has several tables, one below the other. */
const TABLE = ',result,table,';
const SPLIT = `Split it at its blank lines: tr -d '\\r' < FILE | awk -v RS= '{ print > ("table" NR ".csv") }'`;
const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').trimEnd();

/** The rows of a block before a header that is not the first one. */
function rowsOfTable(header: string): (block: Uint8Array) => Uint8Array {
  return (block) => {
    let end = block.length;
    if (Buffer.from(block.buffer, block.byteOffset, block.length).includes(TABLE))
      eachRow(block, COMMA, (start, stop) => {
        const row = latin1(block.subarray(start, stop));
        if (end === block.length && row.startsWith(TABLE) && row !== header) end = start;
      });
    return block.subarray(0, end);
  };
}

/** The rows of a block before the first that is not UTF-8 text; the block itself if all rows are. */
function rowsOfText(block: Uint8Array, delimiter: number): Uint8Array {
  if (isText(block)) return block;
  let end = -1;
  eachRow(block, delimiter, (start, stop) => {
    if (end < 0 && !isText(block.subarray(start, stop))) end = start;
  });
  return end < 0 ? block : block.subarray(0, end);
}

/**
 * The failure for a row that is not UTF-8 text.
 * @param rows begin with this row
 * @param number of this row
 */
function notText(
  rows: Uint8Array,
  file: string,
  delimiter: number,
  names: readonly string[],
  number: number,
): CliFailure {
  const end = firstRowEnd(rows, delimiter);
  const row = end < 0 ? rows : rows.subarray(0, end);
  const column = fieldsOf(row, 0, row.length, delimiter).findIndex((text) => /[\0\ufffd]/.test(text));
  const fault = row.includes(0) ? 'a NUL byte' : 'not UTF-8';
  return badInput({ file, row: number, column: names[column] }, fault, encodingHint(row));
}

/**
 * Rejects unread rows, where every row counts.
 * @param firstRow number of the first of the rows in the file
 * @throws CliFailure BAD_INPUT
 */
export function refuseUnreadRows({ unread }: TableRows, file: string, firstRow: number): void {
  for (const [row, reason] of unread ?? []) throw badInput({ file, row: firstRow + row }, reason);
}

// CSV and TSV as rows in columns, for conversions that change the format or the columns. Every value is text.

const QUOTE = 34;
/** Bytes that a field takes besides its text. */
const FIELD_BYTES = 32;

export async function openCsv(input: Input, dialect: CsvDialect): Promise<TableSource> {
  const { delimiter } = dialect;
  const text = await openText(input, dialect);
  const { names } = text;
  return {
    columns: names.map((name) => ({ name, kind: 'text' })),
    async *batches() {
      let values: string[][] = names.map(() => []);
      let rows = 0;
      let held = 0;
      let bytes = 0;
      let unread = new Map<number, string>();
      const batch = (): TableRows => {
        const full = { rowCount: held, values, ...(unread.size > 0 ? { unread } : {}) };
        unread = new Map();
        values = names.map(() => []);
        held = 0;
        bytes = 0;
        return full;
      };
      for await (const block of text.blocks(text.endOffset, () => rows + 1)) {
        for (const [fields, fault] of rowsOf(block, delimiter, names.length)) {
          rows++;
          if (fault !== undefined) unread.set(held, fault);
          for (let c = 0; c < names.length; c++) {
            const field = fields[c] ?? '';
            values[c]!.push(field);
            bytes += FIELD_BYTES + field.length;
          }
          held++;
          if (held >= BATCH_ROWS || bytes >= BATCH_BYTES) yield batch();
        }
        if (isFlush(block) && held > 0) yield batch();
      }
      if (held > 0) yield batch();
    },
  };
}

/** The fields of rows, with the fault of a row that is not read. */
function* rowsOf(
  block: Uint8Array,
  delimiter: string,
  columns: number,
): Generator<readonly [string[], string | undefined]> {
  if (!block.includes(QUOTE)) {
    for (const line of Buffer.from(block.buffer, block.byteOffset, block.length).toString().split('\n')) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (text === '') continue;
      const fields = text.split(delimiter);
      yield [fields, fields.length === columns ? undefined : raggedFault(fields.length, columns)];
    }
    return;
  }
  const rows: [string[], string | undefined][] = [];
  const separator = delimiter.charCodeAt(0);
  eachRow(block, separator, (start, end) => {
    rows.push([fieldsOf(block, start, end, separator), rowFault(block, start, end, separator, columns)]);
  });
  yield* rows;
}
