// The fields of one CSV row as texts, for header rows and for the rows whose answers need them. Without quotes a row is
// split; a quote begins a quoted field only as the field's first character.

import { extraColumns, extrasOf } from '../../extras.js';
import { BulkInputError, type BulkRequest, type CsvShape, type Delimiter } from '../job.js';
import { hemisphereFault } from '../params/names.js';
import { codeColumns, columnChosen, columnsNamed, isKnownName, pairColumns } from './column-names.js';

// Texts of numbers as tables hold them: with blanks around them, or with a decimal comma. The same rules as the
// kernel's (assembly/text/scan/scan-csv.ts).
/** Without the spaces, tabs, no-break spaces and characters of no width around a text. */
export function withoutBlanks(text: string): string {
  return withoutAround(text, isBlank);
}

function isBlank(unit: string): boolean {
  if (unit === ' ' || unit === '\t' || unit === '\u00a0') return true;
  // Marks of direction and joiners, which copied numbers have around them.
  return unit > '\u200a' && (unit <= '\u200f' || unit === '\u2060' || unit === '\ufeff' || isEmbedding(unit));
}

const isEmbedding = (unit: string): boolean =>
  (unit >= '\u202a' && unit <= '\u202e') || (unit >= '\u2066' && unit <= '\u2069');

/**
 * Without the UTF-16 units around a text that `isDropped` names. An expression like /[ ]+$/ would try every blank
 * inside the text again: 250 KB of blanks took a minute.
 */
function withoutAround(text: string, isDropped: (unit: string) => boolean): string {
  let start = 0;
  let end = text.length;
  while (start < end && isDropped(text[start]!)) start++;
  while (end > start && isDropped(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/**
 * The code in a value of a row: spaces around it, as columns of a fixed width have them, do not count for its length,
 * by the kernel (assembly/text/scan/input.ts) neither.
 */
export const codeIn = (text: string): string => withoutAround(text, (unit) => unit === ' ');

/** The text of a number without blanks, and with a point where it has one comma and no point. */
export function plainNumber(text: string): string {
  const bare = withoutBlanks(text);
  return /^[^,.]+,[^,.]*$/.test(bare) ? bare.replace(',', '.') : bare;
}

/** A field in quotes if it needs them. */
export function quotedField(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const QUOTE = 34;

/**
 * The fields of a row without its line end; undefined where a quoted field has no end. Where text follows a closing
 * quote, both quotes belong to the field.
 */
export function csvFields(text: string, delimiter: number): string[] | undefined {
  const separator = String.fromCharCode(delimiter);
  if (!text.includes('"')) return text.split(separator);
  const fields: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const isQuoted = text.charCodeAt(at) === QUOTE;
    const close = isQuoted ? closingQuote(text, at + 1) : at - 1;
    if (close < at - 1) return undefined;
    const found = text.indexOf(separator, close + 1);
    const end = found < 0 ? text.length : found;
    const rest = text.slice(close + 1, end);
    fields.push(isQuoted ? unquoted(text.slice(at + 1, close), rest) : rest);
    at = end + 1;
  }
  return fields;
}

/** The offset of the quote that ends a quoted field, whose text begins at `from`; -2 where there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text.charCodeAt(at + 1) !== QUOTE) return at;
  }
  return -2;
}

/** @param rest text between the closing quote and the end of the field */
function unquoted(inside: string, rest: string): string {
  const text = inside.replaceAll('""', '"');
  // A NUL ends the quotes as the end of the row does.
  return rest === '' || rest.startsWith('\0') ? text + rest : `"${text}"${rest}`;
}

// The header row of a CSV body: the indexes of the columns that a conversion reads, and the header row of the answer.

// The delimiter of a CSV text, found in its header row: the one that gives the most fields with names that are known,
// then the most fields. A first line `sep=;`, which Excel writes and reads, names it.
const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

const SEP_LINE = /^(?:\ufeff)?("?)sep=([,;\t|])\1\r?\n/i;

/** The delimiter that a first line `sep=` names, and the size of this line; undefined if there is none. */
export function sepLineOf(bytes: Uint8Array): { delimiter: Delimiter; sizeBytes: number } | undefined {
  const match = SEP_LINE.exec(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, 16)));
  if (match === null) return undefined;
  return { delimiter: match[2] as Delimiter, sizeBytes: Buffer.byteLength(match[0]) };
}

/** Words that a parameter or option has for a delimiter: the characters, and words for what is awkward in a URL. */
export const DELIMITER_WORDS: ReadonlyMap<string, Delimiter> = new Map([
  ...DELIMITERS.map((each) => [each, each] as const),
  ['comma', ','],
  ['semicolon', ';'],
  ['tab', '\t'],
  ['pipe', '|'],
]);

/** The delimiter of a header row; a comma where there is none. @param header whole, or its beginning */
export function delimiterOf(header: Uint8Array): Delimiter {
  const row = new TextDecoder().decode(header);
  let best: Delimiter = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const names = row.split(delimiter);
    if (names.length === 1) continue;
    const known = names.filter((name) => isKnownName(withoutAround(name, isBlankOrQuote)));
    const score = 1e6 * known.length + names.length;
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

function isBlankOrQuote(unit: string): boolean {
  return unit === '"' || unit.trim() === '';
}

const FIRST_BYTES = 4096;
const LF = 10;
const CR = 13;
/** Byte order mark. */
const MARK = [0xef, 0xbb, 0xbf];
const DELIMITER_BYTES = DELIMITERS.map((delimiter) => delimiter.charCodeAt(0));

const NO_BYTES = new Uint8Array(0);

/** Collects the beginning of a text until its first row that is not blank is whole, whatever its delimiter. */
export class HeaderCollector {
  #bytes: Uint8Array = NO_BYTES;
  #size = 0;
  /** Where reading goes on, and where the row begins. */
  #at = 0;
  #rowStart = 0;
  #isBlank = true;
  #isFieldStart = true;
  #isQuoted = false;

  /** All bytes that were pushed; where the first chunk held the row, that chunk. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** The row, as far as it has come. */
  get row(): Uint8Array {
    return this.#bytes.subarray(this.#rowStart, this.#at);
  }

  /** Adds a chunk; whether the row is whole now. Only a chunk without the end of the row is copied. */
  push(chunk: Uint8Array): boolean {
    if (this.#size === 0) {
      this.#bytes = chunk;
      this.#size = chunk.length;
      if (this.#takeAll()) return true;
      this.#bytes = new Uint8Array(Math.max(FIRST_BYTES, 2 * chunk.length));
      this.#bytes.set(chunk);
      return false;
    }
    if (this.#size + chunk.length > this.#bytes.length) {
      const grown = new Uint8Array(2 * (this.#size + chunk.length));
      grown.set(this.bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#size);
    this.#size += chunk.length;
    return this.#takeAll();
  }

  #takeAll(): boolean {
    while (this.#at < this.#size) if (this.#take(this.#bytes[this.#at++]!)) return true;
    return false;
  }

  /** Reads one byte; whether the row ends with it. A quote opens a field after any of the delimiters. */
  #take(byte: number): boolean {
    if (this.#isQuoted) {
      // The second of two quotes opens the field again.
      this.#isQuoted = byte !== QUOTE;
      this.#isFieldStart = !this.#isQuoted;
      return false;
    }
    if (this.#at <= MARK.length && byte === MARK[this.#at - 1]) return false;
    if (byte === LF && !this.#isBlank) return true;
    if (byte === LF) this.#rowStart = this.#at;
    else if (byte !== CR) this.#isBlank = false;
    this.#isQuoted = byte === QUOTE && this.#isFieldStart;
    this.#isFieldStart = byte === LF || DELIMITER_BYTES.includes(byte);
    return false;
  }
}

/** Usual column names, for messages; column-names.ts has all that are known. */
const USUAL_NAMES: Readonly<Record<string, string>> = {
  lat: 'lat or latitude',
  lng: 'lng or lon or longitude',
};
/** Largest header row with its line end (docs/http.md). A longer one would cost more than a block of rows. */
export const MAX_HEADER_BYTES = 65_536;

const BOM = '\ufeff';

interface CsvOpening {
  readonly shape: CsvShape;
  /** The header of a CSV answer, with its line end. */
  readonly head: Uint8Array;
}

/**
 * Reads a header row.
 * @param header with its line end and byte order mark, where it has them
 * @throws BulkInputError that names the column that is missing, is there twice, or has the name of an added one
 */
export function openCsv(header: Uint8Array, request: BulkRequest, delimiter: Delimiter): CsvOpening {
  if (header.length > MAX_HEADER_BYTES) throw headerTooLong();
  const lineEnd = lineEndOf(header);
  if (header.at(-3) === 13 && lineEnd === '\r\n')
    throw new BulkInputError('Lines end in CR CR LF, not in CR LF');
  const bareSize = header.length - (header.at(-1) === 10 ? lineEnd.length : 0);
  const bare = header.subarray(0, bareSize);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bare);
  const names = csvFields(text.startsWith(BOM) ? text.slice(1) : text, delimiter.charCodeAt(0));
  if (names === undefined) throw new BulkInputError('The header row has a quote that is not closed');
  if (/[^"]\r[^\n]/.test(text) && !text.includes('"'))
    throw new BulkInputError('Lines end in CR alone, not in LF');

  const { columns = {} } = request;
  const chosen = (wanted: 'lat' | 'lng' | 'hexcodes', found: readonly number[]): number => {
    const name = columns[wanted];
    if (name === undefined) return column(wanted, found);
    const index = columnChosen(names, name);
    if (index < 0) throw noColumn(JSON.stringify(name), names);
    return index;
  };
  const column = (wanted: string, found: readonly number[], isNeeded = true): number => {
    if (found.length > 1) {
      const twice = found.map((i) => JSON.stringify(names[i])).join(', ');
      throw new BulkInputError(`More than one column could be ${wanted}: ${twice}`);
    }
    if (found.length === 0 && isNeeded) throw noColumn(USUAL_NAMES[wanted] ?? wanted, names);
    return found[0] ?? -1;
  };
  const isEncode = request.operation === 'encode';
  const side = isEncode ? hemisphereFault(names) : undefined;
  if (side !== undefined) throw new BulkInputError(`${JSON.stringify(side.parameter)} ${side.message}`);
  const pair = pairColumns(names);
  const shape: CsvShape = {
    columns: names.length,
    lat: isEncode ? chosen('lat', pair.lat) : -1,
    lng: isEncode ? chosen('lng', pair.lng) : -1,
    resolution: isEncode ? column('resolution', columnsNamed(names, ['resolution']), false) : -1,
    hexcodes: isEncode ? -1 : chosen('hexcodes', codeColumns(names)),
    lineEnd,
  };
  if (isEncode && shape.lat === shape.lng)
    throw new BulkInputError(`lat and lng are the same column: ${JSON.stringify(names[shape.lat])}`);
  const added = addedColumns(request, shape.resolution >= 0);
  const clash = added.filter((name) => names.includes(name));
  if (clash.length > 0 && request.output === 'csv') {
    const columns = clash.map((name) => JSON.stringify(name)).join(', ');
    throw new BulkInputError(
      `The input has columns that the answer adds: ${columns}. A prefix renames those of the answer`,
    );
  }
  const fields = added.map((name) => quotedField(name, delimiter));
  return { shape, head: extendedHeader(bare, fields, delimiter, lineEnd) };
}

function noColumn(wanted: string, names: readonly string[]): BulkInputError {
  const there = names.map((name) => JSON.stringify(name)).join(', ');
  return new BulkInputError(`There is no column ${wanted}; the header row has ${there}`);
}

export function headerTooLong(): BulkInputError {
  return new BulkInputError(`The header row is longer than ${MAX_HEADER_BYTES} bytes`);
}

/** The line end of a header row; LF where it has none. */
export function lineEndOf(header: Uint8Array): '\n' | '\r\n' {
  return header.at(-2) === 13 && header.at(-1) === 10 ? '\r\n' : '\n';
}

/** A header row with more fields: `bare` is the row as it came, without its line end. */
export function extendedHeader(
  bare: Uint8Array,
  fields: readonly string[],
  delimiter: string,
  lineEnd: string,
): Uint8Array {
  const rest = new TextEncoder().encode(fields.map((field) => delimiter + field).join('') + lineEnd);
  const head = new Uint8Array(bare.length + rest.length);
  head.set(bare);
  head.set(rest, bare.length);
  return head;
}

/** The header row of a CSV answer to NDJSON or frames. */
export function headWithoutInput(request: BulkRequest): Uint8Array {
  const delimiter = request.delimiter ?? ',';
  const echoed = request.operation === 'encode' ? ['lat', 'lng'] : ['hexcodes'];
  const id = request.input === 'ndjson' ? ['id'] : [];
  const names = [...id, ...echoed, ...addedColumns(request, false)];
  return new TextEncoder().encode(`${names.map((name) => quotedField(name, delimiter)).join(delimiter)}\n`);
}

function addedColumns(request: BulkRequest, hasOwnResolution: boolean): string[] {
  const names =
    request.operation === 'encode'
      ? [
          'hexcodes',
          ...(hasOwnResolution ? [] : ['resolution']),
          'admin_code',
          ...extraColumns(extrasOf(request)),
          'status',
        ]
      : ['lat', 'lng', 'resolution', 'status'];
  return names.map((name) => request.prefix + name);
}
