// The header row of a CSV or TSV input, and the refusal of bytes that are not text; rows of another length.

import { isUtf8 } from 'node:buffer';
import { firstRowEnd } from '../../hexcodes/wire/bulk/splitters.js';
import { encodingHint } from '../content/encoding.js';
import type { Input } from '../disk/input.js';
import { badInput } from '../exit-codes.js';
import { type CsvDialect, headerStart, leadOf } from './csv-dialect.js';
import { eachRow, fieldsOf } from './csv-rows.js';
import type { TableRows } from './table.js';

const MAX_HEADER_BYTES = 1024 * 1024;

export interface CsvHeader {
  readonly names: string[];
  /** The row with its line end, without a byte order mark; nothing where there is no header. */
  readonly bytes: Uint8Array;
  /** The bytes before it: a byte order mark, a line `sep=`. */
  readonly lead: Uint8Array;
  /** Offset of the first row in the content. */
  readonly endOffset: number;
  /** Bytes read beyond the header row. */
  readonly rest: Uint8Array;
}

/**
 * Reads chunks up to the end of the header row. Without one the columns are called by their numbers from 1.
 * @throws CliFailure BAD_INPUT if there is none or it is not text
 */
export async function readHeader(
  input: Input,
  chunks: AsyncIterator<Uint8Array>,
  dialect: CsvDialect,
): Promise<CsvHeader> {
  const delimiter = dialect.delimiter.charCodeAt(0);
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
    throw badInput({ file: input.name }, 'the file is empty: a header row is needed');
  const row = bytes.subarray(leadBytes, endOffset);
  if (!isUtf8(row) || row.includes(0)) {
    throw badInput({ file: input.name }, 'the header row is not UTF-8 text', encodingHint(row));
  }
  const fields = fieldsOf(row, 0, row.length, delimiter);
  const lead = bytes.subarray(0, leadOf(bytes));
  if (dialect.hasHeader)
    return { names: fields, bytes: row, lead, endOffset, rest: bytes.subarray(endOffset) };
  const names = fields.map((_, i) => `${i + 1}`);
  return { names, bytes: row.subarray(0, 0), lead, endOffset: leadBytes, rest: bytes.subarray(leadBytes) };
}

/** The rows of a block before the first that holds bytes other than UTF-8 text; the block itself where none does. */
export function rowsOfText<Rows extends Uint8Array>(block: Rows, delimiter: number): Rows {
  if (isText(block)) return block;
  let end = -1;
  eachRow(block, delimiter, (start, stop) => {
    if (end < 0 && !isText(block.subarray(start, stop))) end = start;
  });
  return (end < 0 ? block : block.subarray(0, end)) as Rows;
}

function isText(bytes: Uint8Array): boolean {
  // Buffer searches for a byte many times as fast as Uint8Array.
  return !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(0) && isUtf8(bytes);
}

/**
 * Refuses a block that holds bytes other than UTF-8 text.
 * @param firstRow gives the number of the block's first row; called only for a block that is refused
 * @throws CliFailure BAD_INPUT that names row and column
 */
export function refuseNoText(
  block: Uint8Array,
  file: string,
  delimiter: number,
  names: readonly string[],
  firstRow: () => number,
): void {
  if (isText(block)) return;
  let row = firstRow();
  eachRow(block, delimiter, (start, end) => {
    const bytes = block.subarray(start, end);
    if (!isText(bytes)) {
      const column = fieldsOf(bytes, 0, bytes.length, delimiter).findIndex((text) => /[\0\ufffd]/.test(text));
      throw badInput(
        { file, row, column: names[column] },
        bytes.includes(0) ? 'a NUL byte' : 'not UTF-8',
        encodingHint(bytes),
      );
    }
    row++;
  });
}

/** The fault of a row that has more or fewer fields than the header. */
export const raggedFault = (fields: number, columns: number): string =>
  `${fields} fields, the header has ${columns}`;

/**
 * Refuses rows that are not read, where every row counts.
 * @param firstRow number of the first of the rows in the file
 * @throws CliFailure BAD_INPUT
 */
export function refuseUnreadRows({ unread }: TableRows, file: string, firstRow: number): void {
  for (const [row, reason] of unread ?? []) throw badInput({ file, row: firstRow + row }, reason);
}
