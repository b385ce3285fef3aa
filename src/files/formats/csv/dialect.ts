// The dialect of a CSV: delimiter, decimal sign, byte order mark, header row. Options give it, otherwise the first
// bytes show it.

import {
  DELIMITER_WORDS,
  delimiterOf,
  HeaderCollector,
  sepLineOf,
} from '../../../hexcodes/wire/bulk/csv-header.js';
import { firstRowEnd } from '../../../hexcodes/wire/bulk/splitters.js';
import type { Delimiter } from '../../../hexcodes/wire/job.js';
import { csvFields, quotedField, TORN_QUOTE } from '../../../hexcodes/wire/rows/csv-fields.js';
import { belowTitles, isHeader, isPosition, SEARCHED_ROWS } from '../../../tables/positions.js';
import type { ColumnChoice, Sample } from '../../columns/columns.js';
import { HEAD_BYTES, type Input } from '../../disk/input.js';
import { badUsage } from '../../exit-codes.js';
import { type FileFormat, FORMATS } from '../../format.js';

// Reads and writes single rows of CSV and TSV: the rows of a block, the fields of a row, the quotes of a field. A block
// holds whole rows.

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

/** The end of a row's text, before its line end. */
export function textEnd(bytes: Uint8Array, start: number, end: number): number {
  let last = end;
  if (last > start && bytes[last - 1] === LF) last--;
  if (last > start && bytes[last - 1] === CR) last--;
  return last;
}

/** The fields of one row, without their quotes. */
export function fieldsOf(bytes: Uint8Array, start: number, end: number, delimiter: number): string[] {
  const text = rowText(bytes, start, end);
  // A quote still open at the end is closed there.
  return csvFields(text, delimiter, true) ?? csvFields(`${text}"`, delimiter, true)!;
}

function rowText(bytes: Uint8Array, start: number, end: number): string {
  const { buffer, byteOffset } = bytes;
  return Buffer.from(buffer, byteOffset + start, textEnd(bytes, start, end) - start).toString();
}

/** Why a row is not read, whatever its values; undefined where it has as many fields as the header. */
export function rowFault(
  bytes: Uint8Array,
  start: number,
  end: number,
  delimiter: number,
  columns: number,
): string | undefined {
  const text = rowText(bytes, start, end);
  const fields = csvFields(text, delimiter);
  if (fields === undefined) return TORN_FAULT;
  return fields.length === columns ? undefined : raggedFault(fields.length, columns);
}

/** The fault of a row that has more or fewer fields than the header. */
export const raggedFault = (fields: number, columns: number): string =>
  `${fields} fields, the header has ${columns}`;

/** The fault of a row whose quotes are those of several rows. */
export const TORN_FAULT = `${TORN_QUOTE} (quotes in a field are doubled, without backslashes)`;

/** A field in quotes if CSV needs them; tables of commas and of tabs are read for each other. */
export function csvQuoted(text: string, delimiter = ','): string {
  const isOther = (delimiter === ',' && text.includes('\t')) || (delimiter === '\t' && text.includes(','));
  return isOther ? `"${text.replaceAll('"', '""')}"` : quotedField(text, delimiter);
}

export const COMMA = 44;
/** Number of rows from which columns are inferred. */
export const SAMPLE_ROWS = 100;

/** The options about CSV of the command line. */
export interface CsvChoice {
  readonly delimiter: Delimiter | null;
  /** Decimal sign of the numbers that we write. */
  readonly decimal: '.' | ',';
  readonly hasHeader: boolean;
}

export interface CsvDialect {
  readonly delimiter: Delimiter;
  readonly decimal: '.' | ',';
  readonly hasMark: boolean;
  readonly hasHeader: boolean;
  /** Rows above the header that are skipped: titles. */
  readonly titleRows: number;
}

/** @throws CliFailure USAGE for any other word */
export function requireDelimiter(text: string): Delimiter {
  const delimiter = DELIMITER_WORDS.get(text === '\\t' ? 'tab' : text);
  if (delimiter !== undefined) return delimiter;
  throw badUsage(`--delimiter ${text}: must be comma, semicolon, tab or pipe, or the character`);
}

/** @throws CliFailure USAGE for any other word */
export function requireDecimal(text: string): '.' | ',' {
  if (text === ',' || text === 'comma') return ',';
  if (text === '.' || text === 'point') return '.';
  throw badUsage(`--decimal ${text}: must be point or comma`);
}

/**
 * The dialect of an input.
 * @param isCode whether a text is a hexcode: a first row with a hexcode is not a header
 * @param columns named by the user; null where rows above the header are not searched
 * @param formats `to` where the output may be CSV of any dialect
 * @throws CliFailure USAGE for an option that does not apply to the formats
 */
export function dialectOf(
  input: Input,
  { from: format, to = null }: { readonly from: FileFormat; readonly to?: FileFormat | null },
  choice: CsvChoice,
  isCode: (text: string) => boolean,
  columns: ColumnChoice | null = null,
): CsvDialect {
  refuseIdle(input, format, choice, to);
  const { head } = input;
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  const sep = sepLineOf(head);
  const collector = new HeaderCollector();
  collector.push(head.subarray(sep?.sizeBytes ?? 0));
  const row = collector.row;
  const own = FORMATS[format].delimiter;
  const usual = own?.isFixed === true ? own.usual : (sep?.delimiter ?? delimiterOf(row));
  const delimiter = (input.origin === null ? choice.delimiter : null) ?? usual;
  const start = hasMark && sep === undefined ? 3 : 0;
  const fields = fieldsOf(row, start, row.length, delimiter.charCodeAt(0));
  const hasHeader = choice.hasHeader && !isData(fields, isCode);
  const dialect = { delimiter, decimal: choice.decimal, hasMark, hasHeader, titleRows: 0 };
  const isSearched = columns !== null && input.headerRow === undefined;
  if (!hasHeader || !isSearched || FORMATS[format].delimiter === null) return dialect;
  if (isHeader(fields, columns)) return dialect;
  const isGiven = choice.delimiter !== null || own?.isFixed === true || sep !== undefined;
  return { ...dialect, ...titlesIn(head, columns, isGiven ? delimiter : null) };
}

function refuseIdle(
  { origin, sheet, headerRow }: Input,
  format: FileFormat,
  { delimiter, decimal, hasHeader }: CsvChoice,
  target: FileFormat | null,
): void {
  const from = origin ?? format;
  const isCsv = FORMATS[from].delimiter !== null;
  const hasRows = isCsv || from === 'xlsx';
  const isCsvWritten = target !== null && FORMATS[target].delimiter !== null;
  const idle = (
    [
      ['--sheet is for workbooks and GeoPackage', sheet !== undefined && from !== 'xlsx' && from !== 'gpkg'],
      ['--header-row is for CSV and workbooks', headerRow !== undefined && !hasRows],
      ['--no-header is for CSV and workbooks', !hasHeader && !hasRows],
      ['--delimiter is for CSV', delimiter !== null && !isCsv && !isCsvWritten],
      ['--decimal is for CSV that is written', decimal === ',' && !isCsvWritten],
    ] as const
  ).find(([, isIdle]) => isIdle);
  if (idle !== undefined) throw badUsage(`${idle[0]}, not for ${FORMATS[from].title}`);
}

/** The header row below titles, if there is one. */
function titlesIn(
  head: Uint8Array,
  columns: ColumnChoice,
  given: Delimiter | null,
): Pick<CsvDialect, 'titleRows' | 'delimiter'> | undefined {
  const lead = leadOf(head);
  const rows: string[] = [];
  // Quotes in titles are read as between commas: another delimiter changes only rows that are not a header.
  eachRow(head.subarray(lead), COMMA, (start, end) => {
    const last = textEnd(head, lead + start, lead + end);
    if (rows.length <= SEARCHED_ROWS) rows.push(Buffer.from(head.subarray(lead + start, last)).toString());
  });
  return belowTitles(rows, columns, given);
}

/** Whether a first row holds data: a code, or a position in one field of a list or in the first two. */
function isData(fields: readonly string[], isCode: (text: string) => boolean): boolean {
  if (fields.some((field) => field.length >= 5 && /\d/.test(field) && isCode(field))) return true;
  if (fields.some(isPosition)) return true;
  return fields.some((field, i) => i > 0 && isPosition(`${fields[i - 1]};${field}`));
}

/** Names and first rows that are complete in the first bytes of a content; null where no row is. */
export function sampleOf(head: Uint8Array, dialect: CsvDialect): Sample | null {
  const delimiter = dialect.delimiter.charCodeAt(0);
  const lead = headerStart(head, dialect);
  if (lead < 0) return null;
  const rows: string[][] = [];
  eachRow(head.subarray(lead), delimiter, (start, end) => {
    if (head[lead + end - 1] === LF || head.length < HEAD_BYTES) {
      rows.push(fieldsOf(head, lead + start, lead + end, delimiter));
    }
  });
  // Bytes that are not text are rejected later by the reader, which names their offset.
  if (rows.length === 0 || rows[0]!.some((field) => /[\0\ufffd]/.test(field))) return null;
  const names = dialect.hasHeader ? (rows.shift() ?? []) : (rows[0] ?? []).map((_, i) => `${i + 1}`);
  return { names, rows: rows.slice(0, SAMPLE_ROWS) };
}

/** Size of the byte order mark and the line `sep=` at the start of a content. */
export function leadOf(bytes: Uint8Array): number {
  const sep = sepLineOf(bytes);
  if (sep !== undefined) return sep.sizeBytes;
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/**
 * Where the header row starts, after blank lines, or the first row where there is none; -1 where the bytes end before
 * it.
 */
export function headerStart(bytes: Uint8Array, { titleRows, delimiter }: CsvDialect): number {
  let lead = leadOf(bytes);
  if (titleRows === 0) {
    while (bytes[lead] === LF || (bytes[lead] === CR && bytes[lead + 1] === LF))
      lead += bytes[lead] === LF ? 1 : 2;
    return lead;
  }
  let found = -1;
  let rows = 0;
  eachRow(bytes.subarray(lead), delimiter.charCodeAt(0), (start) => {
    if (rows++ === titleRows) found = lead + start;
  });
  return found;
}

/** The dialect of an output: that of the input where both are CSV. */
export function targetDialect(
  source: CsvDialect,
  sourceFormat: FileFormat,
  targetFormat: FileFormat,
  choice: CsvChoice,
): CsvDialect {
  const isPassedOn = sourceFormat === targetFormat;
  const usual = FORMATS[targetFormat].delimiter?.usual ?? ',';
  const wasText = FORMATS[sourceFormat].delimiter !== null;
  return {
    delimiter: isPassedOn
      ? source.delimiter
      : FORMATS[targetFormat].delimiter?.isFixed === false
        ? (choice.delimiter ?? usual)
        : usual,
    decimal: choice.decimal,
    hasMark: wasText && source.hasMark,
    hasHeader: !wasText || source.hasHeader,
    titleRows: 0,
  };
}
