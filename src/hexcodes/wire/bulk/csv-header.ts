// The header row of a CSV body: the indexes of the columns that a conversion reads, and the header row of the answer.

import { extraColumns, extrasOf } from '../../extras.js';
import { BulkInputError, type BulkRequest, type CsvShape, type Delimiter } from '../job.js';
import { hemisphereFault } from '../params/names.js';
import { codeColumns, columnChosen, columnsNamed, isKnownName, pairColumns } from '../rows/column-names.js';
import { csvFields, quotedField, TORN_QUOTE, withoutAround } from '../rows/csv-fields.js';

// Finds the delimiter of a CSV text in its header row: the one that gives the most fields with known names, then the
// most fields. A first line `sep=;`, which Excel writes and reads, names it.
const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

const SEP_LINE = /^(?:\ufeff)?("?)sep=([,;\t|])\1\r?\n/i;

/** The delimiter that a first line `sep=` names, and the size of this line; undefined if there is none. */
export function sepLineOf(bytes: Uint8Array): { delimiter: Delimiter; sizeBytes: number } | undefined {
  const match = SEP_LINE.exec(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, 16)));
  if (match === null) return undefined;
  return { delimiter: match[2] as Delimiter, sizeBytes: Buffer.byteLength(match[0]) };
}

/** Names of delimiters in parameters and options: the characters, and words for those that are awkward in a URL. */
export const DELIMITER_WORDS: ReadonlyMap<string, Delimiter> = new Map([
  ...DELIMITERS.map((each) => [each, each] as const),
  ['comma', ','],
  ['semicolon', ';'],
  ['tab', '\t'],
  ['pipe', '|'],
]);

const QUOTED_FIELD = /(?<=^\ufeff?|[,;\t|] *)"(?:[^"]|"")*"/g;
const DECIMAL_COMMA = /^\s*[-+]?\d+,\d+\s*$/;

/**
 * The delimiter of the first row; a comma where it shows none. Delimiters within quotes do not count, and neither do
 * commas that are all decimal: `21,0288;105,8525`.
 * @param header whole, or its beginning
 */
export function delimiterOf(header: Uint8Array): Delimiter {
  const row = new TextDecoder().decode(header).replace(QUOTED_FIELD, (text) => text.replace(/[,;\t|]/g, ' '));
  let best: Delimiter = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const names = row.split(delimiter);
    if (names.length === 1) continue;
    const known = names.filter((name) => isKnownName(withoutAround(name, isBlankOrQuote)));
    const numbers = names.filter((name) => name.includes(','));
    const isDecimal = numbers.length > 0 && numbers.every((name) => DECIMAL_COMMA.test(name));
    const score = 1e6 * known.length + (isDecimal ? 1e5 : 0) + names.length;
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
const QUOTE = 34;
/** Byte order mark. */
const MARK = [0xef, 0xbb, 0xbf];
const DELIMITER_BYTES = DELIMITERS.map((delimiter) => delimiter.charCodeAt(0));

const NO_BYTES = new Uint8Array(0);

/** Collects the beginning of a text until its first row that is not blank is complete, whatever its delimiter. */
export class HeaderCollector {
  #bytes: Uint8Array = NO_BYTES;
  #size = 0;
  /** Offset at which reading continues, and offset of the row. */
  #at = 0;
  #rowStart = 0;
  #isBlank = true;
  #isFieldStart = true;
  #isQuoted = false;

  /** All bytes pushed so far; if the first chunk held the row, that chunk. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** The row as far as received. */
  get row(): Uint8Array {
    return this.#bytes.subarray(this.#rowStart, this.#at);
  }

  /** Adds a chunk; returns whether the row is complete. Only a chunk without the end of the row is copied. */
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

  /** Reads one byte; returns whether the row ends with it. A quote opens a field after any of the delimiters. */
  #take(byte: number): boolean {
    if (this.#isQuoted) {
      // The second of two quotes reopens the field.
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

export interface CsvOpening {
  readonly shape: CsvShape;
  /** The header of a CSV answer, with its line end. */
  readonly head: Uint8Array;
}

/**
 * Reads a header row.
 * @param header with its line end and byte order mark, if present
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
  if (names === undefined) throw new BulkInputError(`The header row has ${TORN_QUOTE}`);
  if (/[^"]\r[^\n]/.test(text) && !text.includes('"'))
    throw new BulkInputError('Lines end in CR alone, not in LF');

  const { columns = {} } = request;
  const chosen = (wanted: 'lat' | 'lng' | 'hexcodes', found: readonly number[]): number => {
    const name = columns[wanted];
    if (name === undefined) return column(wanted, found);
    const index = typeof name === 'number' ? name : columnChosen(names, name);
    if (index < 0) throw noColumn(JSON.stringify(name), names);
    return index;
  };
  const column = (wanted: string, found: readonly number[], isNeeded = true): number => {
    if (found.length > 1) {
      const twice = listed(found.map((i) => JSON.stringify(names[i])));
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

/** Most names in a message. */
const MAX_NAMES = 20;

/** The first names of a list, and the number of the others. */
export function listed(names: readonly string[], between = ', '): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${names.slice(0, MAX_NAMES).join(between)}${more}`;
}

function noColumn(wanted: string, names: readonly string[]): BulkInputError {
  const there = listed(names.map((name) => JSON.stringify(name)));
  return new BulkInputError(`There is no column ${wanted}; the header row has ${there}`);
}

export function headerTooLong(): BulkInputError {
  return new BulkInputError(`The header row is longer than ${MAX_HEADER_BYTES} bytes`);
}

/** The line end of a header row; LF where it has none. */
export function lineEndOf(header: Uint8Array): '\n' | '\r\n' {
  return header.at(-2) === 13 && header.at(-1) === 10 ? '\r\n' : '\n';
}

/** A header row with added fields; `bare` is the original row without its line end. */
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
