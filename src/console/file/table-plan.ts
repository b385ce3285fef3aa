// The columns of a table are told by its beginning, with the header row by which the readers of the service
// take the columns that a visitor has chosen instead.

import { BLOCK_BYTES } from '../../hexcodes/wire/job.js';
import { parseAngle } from '../../hexcodes/wire/rows/angle-text.js';
import { codeColumns, pairColumns } from '../../hexcodes/wire/rows/column-names.js';
import { csvFields } from '../../hexcodes/wire/rows/csv-fields.js';
import {
  degreesInText,
  type FirstRows,
  holdsAngles,
  nestedIn,
  positionInText,
  wholePosition,
} from '../../tables/positions.js';

// Tables as people have them: lines pasted from a sheet, files without a header row, lists of codes, columns with names
// of their own, and encodings of old programs. Each becomes a table that the readers of the service take.

/** Degrees of positions in Viet Nam and its sea, as the command looks for them. */
const [LATITUDES, LONGITUDES] = [[5, 25] as const, [99, 120] as const];
const NUMBER = /^-?\d{1,3}(?:[.,]\d+)?$/;
const DELIMITERS = ['\t', ';', '|', ','];
/** The first of them that is in a row, but for its quoted fields; a comma where there is none. */
const delimiterIn = (row: string): string => {
  const bare = row.replace(/"[^"]*"/g, '');
  return DELIMITERS.find((each) => bare.includes(each)) ?? ',';
};
/** Headings of codes, without accents. */
const CODE_HEADINGS = ['ma', 'ma vi tri', 'ma o', 'hexcode', 'code', 'location code'];
const CODE = /^[a-zđ]{2,3}[-\u2013\s]?[0-9a-z]{2,5}(?:[-\u2013\s]?[0-9a-z]{1,5})?$/i;
const BOM = '\ufeff';

/**
 * The text as a file with a header row. Where the first line holds two numbers that can be a position of Viet Nam, or a
 * code alone, a header row is put before it; a column of codes under a heading of its own gets the name `hexcodes`.
 */
export function withHeader(text: string): string {
  const begun = text.startsWith(BOM) ? text.slice(1) : text;
  const rest = begun.trimStart();
  const [line = ''] = new RowCutter().push(`${rest.slice(0, BLOCK_BYTES)}\n`);
  if (line.startsWith('{') || line.startsWith('[')) return text;
  const delimiter = delimiterIn(line);
  const written = fieldsOf(line, delimiter);
  const fields = written.map((field) => field.trim());
  const { lat, lng } = pairColumns(fields);
  if (lat.length > 0 || lng.length > 0) return text;
  const headings = fields.map(plain);
  const codesAt = headings.findIndex((heading) => CODE_HEADINGS.includes(heading));
  if (codesAt >= 0 && !headings.includes('hexcodes')) {
    const names = written.map((name, i) => (i === codesAt ? 'hexcodes' : quoted(name, delimiter)));
    return names.join(delimiter) + rest.slice(line.length);
  }
  const degrees = fields.map((field) => (NUMBER.test(field) ? Number(field.replace(',', '.')) : Number.NaN));
  const within = (least: number, most: number): number[] =>
    degrees.flatMap((value, i) => (value >= least && value <= most && !Number.isInteger(value) ? [i] : []));
  const [lats, lngs] = [within(...LATITUDES), within(...LONGITUDES)];
  const listAt = fields.findIndex((field) => CODE.test(field) && /\d/.test(field));
  // The visitor chooses among several that may be one, as a price of 10.5 may.
  const isOne = lats.length === 1 && lngs.length === 1;
  if (lats.length > 0 && lngs.length > 0)
    return `${named(fields, isOne ? { [lats[0]!]: 'lat', [lngs[0]!]: 'lng' } : {}).join(delimiter)}\n${rest}`;
  const angleAt = fields.findIndex(
    (field, i) => parseAngle(field, 'lat') !== null && parseAngle(fields[i + 1] ?? '', 'lng') !== null,
  );
  if (angleAt >= 0)
    return `${named(fields, { [angleAt]: 'lat', [angleAt + 1]: 'lng' }).join(delimiter)}\n${rest}`;
  if (listAt >= 0) return `${named(fields, { [listAt]: 'hexcodes' }).join(delimiter)}\n${rest}`;
  return text;
}

const named = (fields: readonly string[], names: Readonly<Record<number, string>>): string[] =>
  fields.map((_, column) => names[column] ?? `column_${column + 1}`);

const plain = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[Đđ]/g, 'd').toLowerCase().trim();

/** Lines of JSON, or a table. */
export const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/**
 * The encoding of a table by its beginning, as TextDecoder names it: UTF-16 by its mark or by its zeros, Windows-1258
 * of older Vietnamese programs where the bytes are not UTF-8.
 */
export function encodingOf(beginning: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1258' {
  const [first, second] = beginning;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const some = beginning.subarray(0, 512);
  some.forEach((byte, i) => {
    if (byte === 0) zeros[i % 2]!++;
  });
  if (zeros[1]! > some.length / 4) return 'utf-16le';
  if (zeros[0]! > some.length / 4) return 'utf-16be';
  try {
    // The end may lie inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(beginning, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1258';
  }
}

/** Columns that are taken of a table. Columns count from 0. */
export type Columns =
  | { readonly kind: 'positions'; readonly lat: number; readonly lng: number }
  /** Latitude and longitude in one field. */
  | { readonly kind: 'position'; readonly column: number }
  | { readonly kind: 'codes'; readonly column: number };

/** The beginning of a table, to be looked at. */
export interface TablePlan {
  readonly delimiter: string;
  readonly names: readonly string[];
  /** Whether the first row of the file has the names. */
  readonly hasHeader: boolean;
  readonly rows: readonly (readonly string[])[];
  /** Undefined where nothing tells. */
  readonly columns: Columns | undefined;
}

const SHOWN_ROWS = 10;
/** Rows by which columns are judged. */
const SAMPLE_ROWS = 100;
/** Longer fields are cut where they are shown. */
const MAX_SHOWN_UNITS = 40;

/** Whole rows out of lines: one with an open quote goes on in the next. */
export class RowCutter {
  #rest = '';
  readonly #delimiter: string | undefined;

  /** @param delimiter undefined where it is not known yet */
  constructor(delimiter?: string) {
    this.#delimiter = delimiter;
  }

  /** @returns the rows that are whole, without their line ends */
  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    const rows: string[] = [];
    let open = '';
    for (const line of lines) {
      const row = open + line;
      // A line without a quote ends no field, and the readers refuse a longer row.
      const isCut = open === '' || line.includes('"') ? isWhole(row, this.#delimiter) : false;
      if (isCut || row.length > BLOCK_BYTES) {
        rows.push(row.endsWith('\r') ? row.slice(0, -1) : row);
        open = '';
      } else open = `${row}\n`;
    }
    this.#rest = open + this.#rest;
    return rows;
  }

  end(): string[] {
    const row = this.#rest.replace(/\r$/, '');
    this.#rest = '';
    return row === '' ? [] : [row];
  }
}

/** Whether no quoted field is open at the end. A quote inside of another field, as of inches, opens none. */
export const isWhole = (row: string, delimiter?: string): boolean =>
  (delimiter === undefined ? DELIMITERS : [delimiter]).every(
    (each) => csvFields(row, each.charCodeAt(0)) !== undefined,
  );

export const fieldsOf = (row: string, delimiter: string): string[] =>
  csvFields(row, delimiter.charCodeAt(0)) ?? row.split(delimiter);

/** The plan of a table by the beginning of its text, of which a last row may be cut off; and what it was made by. */
export function planOf(beginning: string, isAll: boolean): TablePlan & { readonly sample: FirstRows } {
  const text = beginning.startsWith(BOM) ? beginning.slice(1) : beginning;
  const cutter = new RowCutter();
  const whole = cutter.push(text);
  const rows = [...whole, ...(isAll || whole.length === 0 ? cutter.end() : [])].filter(
    (row) => row.trim() !== '',
  );
  if (/^sep=.$/i.test(rows[0] ?? '')) rows.shift();
  const headed = withHeader(`${rows[0] ?? ''}\n`);
  // Where the first row is data, a row of names is put before it.
  const hasHeader = !headed.endsWith(`\n${(rows[0] ?? '').trimStart()}\n`);
  const [first = ''] = new RowCutter().push(headed);
  const delimiter = delimiterIn(first);
  const names = fieldsOf(hasHeader ? (rows[0] ?? '') : first, delimiter).map((name) => name.trim());
  const judged = rows.slice(hasHeader ? 1 : 0, SAMPLE_ROWS + (hasHeader ? 1 : 0));
  const sample = {
    names: fieldsOf(first, delimiter),
    rows: judged.map((row) => fieldsOf(row, delimiter)),
  };
  return {
    delimiter,
    names,
    hasHeader,
    rows: sample.rows.slice(0, SHOWN_ROWS).map((row) => row.map((field) => cut(field.trim()))),
    columns: columnsOf(sample, hasHeader),
    sample,
  };
}

const cut = (text: string): string =>
  text.length > MAX_SHOWN_UNITS ? `${text.slice(0, MAX_SHOWN_UNITS - 1)}…` : text;

function columnsOf(sample: FirstRows, hasHeader: boolean): Columns | undefined {
  const { names } = sample;
  const { lat, lng } = pairColumns(names);
  if (lat.length === 1 && lng.length === 1) return { kind: 'positions', lat: lat[0]!, lng: lng[0]! };
  const whole = wholePosition(sample, hasHeader);
  if (whole !== null) return { kind: 'position', column: whole.column };
  const codes = codeColumns(names);
  if (codes.length === 1) return { kind: 'codes', column: codes[0]! };
  return undefined;
}

type PositionOf = (fields: readonly string[]) => readonly [latDeg: number, lngDeg: number, isView?: boolean];

/**
 * How the position of a row is read where the readers of the service do not read it by themselves; undefined where they
 * do.
 */
export function positionReader(sample: FirstRows, columns: Columns): PositionOf | undefined {
  if (columns.kind === 'codes') return undefined;
  if (columns.kind === 'position') {
    const { column } = columns;
    const where = nestedIn(sample, column) ?? { kind: 'text', column };
    return (fields) => positionInText((fields[column] ?? '').trim(), where);
  }
  const { lat, lng } = columns;
  if (!holdsAngles(sample, lat, 'lat') && !holdsAngles(sample, lng, 'lng')) return undefined;
  return (fields) => [degreesInText(fields[lat] ?? '', 'lat'), degreesInText(fields[lng] ?? '', 'lng')];
}

/** Names of the two columns that are put beside a position. */
export function addedNames({ names }: TablePlan): readonly [lat: string, lng: string] {
  const isTaken = names.some((name) => /^(?:lat|lng)$/i.test(name.trim()));
  return isTaken ? ['lat_deg', 'lng_deg'] : ['lat', 'lng'];
}

/**
 * The header row that the readers take for chosen columns. Other names are made harmless where they would be taken for
 * one of these too.
 * @param isBeside whether two fields with the position are put after those of each row
 */
export function headerFor({ names, delimiter }: TablePlan, columns: Columns, isBeside = false): string {
  const chosen = new Map<number, string>(
    isBeside || columns.kind === 'position'
      ? []
      : columns.kind === 'positions'
        ? [
            [columns.lat, 'lat'],
            [columns.lng, 'lng'],
          ]
        : [[columns.column, 'hexcodes']],
  );
  const header = names.map((name, i) => {
    const other =
      pairColumns([name]).lat.length + pairColumns([name]).lng.length + codeColumns([name]).length;
    return chosen.get(i) ?? (other > 0 || /^[xy]$/i.test(name.trim()) ? `column_${i + 1}` : name);
  });
  return [...header, ...(isBeside ? ['lat', 'lng'] : [])]
    .map((name) => quoted(name, delimiter))
    .join(delimiter);
}

/** A row with its position in two more fields, empty ones where there is none. */
export function withPosition(row: string, { delimiter }: TablePlan, positionOf: PositionOf): string {
  const [lat, lng] = positionOf(fieldsOf(row, delimiter)).map((deg) => (Number.isNaN(deg) ? '' : `${deg}`));
  return `${row}${delimiter}${lat}${delimiter}${lng}`;
}

export const quoted = (text: string, delimiter: string): string =>
  text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Parts one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// The rows of an answer as lines for people, read out of its Blob when somebody asks for them.

const MAX_ROW_UNITS = 160;

/**
 * @param blocks the first row of each block of the answer, and the byte at which it begins: pairs
 * @param delimiter of a table; undefined of lines of JSON
 */
export async function rowTexts(
  answer: Blob,
  blocks: readonly number[],
  delimiter: string | undefined,
  rows: readonly number[],
): Promise<string[]> {
  const read = new Map<number, readonly string[]>();
  const texts: string[] = [];
  for (const row of rows) {
    let at = 0;
    while (at + 2 < blocks.length && blocks[at + 2]! <= row) at += 2;
    let lines = read.get(at);
    if (lines === undefined) {
      const text = await answer.slice(blocks[at + 1]!, blocks[at + 3] ?? answer.size).text();
      const cutter = new RowCutter(delimiter);
      lines = delimiter === undefined ? text.split('\n') : [...cutter.push(text), ...cutter.end()];
      read.set(at, lines);
    }
    const line = lines[row - blocks[at]!] ?? '';
    const shown =
      delimiter === undefined
        ? line
        : fieldsOf(line, delimiter)
            .filter((field) => field !== '')
            .join(' · ');
    texts.push(shown.length > MAX_ROW_UNITS ? `${shown.slice(0, MAX_ROW_UNITS)}…` : shown);
  }
  return texts;
}
