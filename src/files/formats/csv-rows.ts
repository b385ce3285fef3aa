// Reads and writes single rows of CSV and TSV: the rows of a block, the fields of a row, the quotes of a field. A block
// holds whole rows.

import { firstRowEnd } from '../../hexcodes/wire/bulk/splitters.js';
import { csvFields, quotedField } from '../../hexcodes/wire/rows/csv-fields.js';

const LF = 10;
const CR = 13;

/** Calls `visit` with the bounds of every row that is not blank; `end` is after the line end. */
export function eachRow(
  bytes: Uint8Array,
  delimiter: number,
  visit: (start: number, end: number) => void,
): void {
  for (let start = 0; start < bytes.length; ) {
    const size = firstRowEnd(bytes.subarray(start), delimiter);
    const end = size < 0 ? bytes.length : start + size;
    if (!isBlank(bytes, start, end)) visit(start, end);
    start = end;
  }
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start <= 2 && (bytes[start] === LF || (bytes[start] === CR && bytes[start + 1] === LF));
}

/** Where a row's text ends: before its line end. */
export function textEnd(bytes: Uint8Array, start: number, end: number): number {
  let last = end;
  if (last > start && bytes[last - 1] === LF) last--;
  if (last > start && bytes[last - 1] === CR) last--;
  return last;
}

/** The fields of one row, without their quotes. */
export function fieldsOf(bytes: Uint8Array, start: number, end: number, delimiter: number): string[] {
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + start,
    textEnd(bytes, start, end) - start,
  ).toString();
  // A quote that is open at the end is closed there.
  return csvFields(text, delimiter) ?? csvFields(`${text}"`, delimiter)!;
}

/** A field in quotes if CSV needs them; tables of commas and of tabs are read for each other. */
export function csvQuoted(text: string, delimiter = ','): string {
  const isOther = (delimiter === ',' && text.includes('\t')) || (delimiter === '\t' && text.includes(','));
  return isOther ? `"${text.replaceAll('"', '""')}"` : quotedField(text, delimiter);
}
