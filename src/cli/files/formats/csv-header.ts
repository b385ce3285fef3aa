// What both ways through CSV and TSV begin with: the header row of an input, and the refusal of bytes that are no text.

import { isUtf8 } from 'node:buffer';
import { firstRowEnd } from '../../../wire/bulk/splitters.js';
import { badInput } from '../../file-faults.js';
import type { Input } from '../disk/input.js';
import { eachRow, fieldsOf } from './csv-rows.js';

const MAX_HEADER_BYTES = 1024 * 1024;

export interface CsvHeader {
  readonly names: string[];
  /** The row as it stands, its line end included, a byte order mark not. */
  readonly bytes: Uint8Array;
  /** Where the rows begin in the content. */
  readonly endOffset: number;
  /** What was read beyond it. */
  readonly rest: Uint8Array;
}

/** Reads chunks up to the end of the header row. @throws CliFailure if there is none */
export async function readHeader(
  input: Input,
  chunks: AsyncIterator<Uint8Array>,
  delimiter: number,
): Promise<CsvHeader> {
  let bytes: Uint8Array = new Uint8Array(0);
  let endOffset = -1;
  while (endOffset < 0) {
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    endOffset = firstRowEnd(bytes, delimiter);
    if (endOffset < 0 && bytes.length > MAX_HEADER_BYTES) {
      throw badInput({ file: input.name }, 'the header row is longer than 1 MiB');
    }
  }
  if (bytes.length === 0) throw badInput({ file: input.name }, 'the file is empty: a header row is needed');
  if (endOffset < 0) endOffset = bytes.length;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const row = bytes.subarray(hasMark ? 3 : 0, endOffset);
  if (!isUtf8(row) || row.includes(0))
    throw badInput({ file: input.name }, 'the header row is not UTF-8 text');
  const names = fieldsOf(row, 0, row.length, delimiter);
  return { names, bytes: row, endOffset, rest: bytes.subarray(endOffset) };
}

/**
 * Refuses a block that is no text, by row and column.
 * @param firstRow number of its first row; asked for only if there is something to refuse
 */
export function refuseNoText(
  block: Uint8Array,
  file: string,
  delimiter: number,
  names: readonly string[],
  firstRow: () => number,
): void {
  if (!block.includes(0) && isUtf8(block)) return;
  let row = firstRow();
  eachRow(block, delimiter, (start, end) => {
    const bytes = block.subarray(start, end);
    if (bytes.includes(0) || !isUtf8(bytes)) {
      const place = fieldsOf(bytes, 0, bytes.length, delimiter).findIndex((text) => /[\0\ufffd]/.test(text));
      const what = bytes.includes(0) ? 'a NUL byte' : 'not UTF-8';
      throw badInput({ file, row, column: names[place] }, what);
    }
    row++;
  });
}

/** The failure for a row that has not as many fields as the header. */
export function ragged(file: string, row: number, fields: number, names: readonly string[]): Error {
  const column = fields < names.length ? names[fields] : undefined;
  return badInput({ file, row, column }, `${fields} fields, the header has ${names.length}`);
}
