// The columns of a table, its delimiter, titles above it, and whether the first row has names are inferred from its
// beginning.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { BLOCK_BYTES, type BulkRequest, type Delimiter } from '../../hexcodes/wire/job.js';
import { parseAngle } from '../../hexcodes/wire/rows/angle-text.js';
import { codeColumns, pairColumns } from '../../hexcodes/wire/rows/column-names.js';
import { csvFields, plainNumber } from '../../hexcodes/wire/rows/csv-fields.js';
import {
  belowTitles,
  degreesInText,
  type FirstRows,
  holdsAngles,
  isHeader,
  positionInText,
  wholePosition,
} from '../../tables/positions.js';

// Tables in practice: lines pasted from a sheet, files without a header row, lists of codes, columns with unusual
// names, and encodings of old programs.

/** Degrees of positions in Viet Nam and its sea, as the command looks for them. */
const [LATITUDES, LONGITUDES] = [[5, 25] as const, [99, 120] as const];
const NUMBER = /^-?\d{1,3}[.,]\d+$/;
/** Delimiters in order of precedence: the first that gives columns is used. */
const DELIMITERS: readonly Delimiter[] = ['\t', ';', '|', ','];
/** Largest difference of two spellings of one position. */
const SAME_DEG = 0.001;
const TAB: readonly Delimiter[] = ['\t'];
/** Headings of codes, without accents. */
const CODE_HEADINGS = ['ma', 'ma vi tri', 'ma o', 'hexcode', 'code', 'location code'];
const CODE = new RegExp(
  `^(?:${ADMIN_UNITS.map(({ code }) => code).join('|')})[-\u2013\\s]?[0-9a-z]{2,5}(?:[-\u2013\\s]?[0-9a-z]{1,5})?$`,
  'i',
);
const BOM = '\ufeff';

const plain = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[Đđ]/g, 'd').toLowerCase().trim();

const within = (value: number, [least, most]: readonly [number, number]): boolean =>
  value >= least && value <= most;

/** Columns of a first row that are decimal degrees within bounds. */
const degreesWithin = (fields: readonly string[], bounds: readonly [number, number]): number[] =>
  fields.flatMap((field, column) => {
    const text = plainNumber(field);
    return NUMBER.test(text) && within(Number(text), bounds) ? [column] : [];
  });

/**
 * The columns of a first row without names, by its position or code; null where the visitor must choose among several
 * candidates, such as a price of 10.5. Undefined for a row that may hold names.
 */
function columnsOfData(fields: readonly string[]): Columns | null | undefined {
  const [lats, lngs] = [degreesWithin(fields, LATITUDES), degreesWithin(fields, LONGITUDES)];
  const isPair = lats.length > 0 && lngs.length > 0;
  const angle = fields.findIndex(
    (field, i) => parseAngle(field, 'lat') !== null && parseAngle(fields[i + 1] ?? '', 'lng') !== null,
  );
  const whole = fields.flatMap((_, column) => wholeAt(fields, column) ?? []);
  // A link next to its position repeats it.
  const isSame = whole.every(({ at }) => Math.abs(at[0] - numberAt(fields, lats[0])) < SAME_DEG);
  const others = isPair && isSame ? 0 : whole.length;
  if (Number(isPair) + Number(angle >= 0) + others > 1 || lats.length * lngs.length > 1) return null;
  if (isPair) return { kind: 'positions', lat: lats[0]!, lng: lngs[0]! };
  if (angle >= 0) return { kind: 'positions', lat: angle, lng: angle + 1 };
  if (whole.length > 0) return { kind: 'position', column: whole[0]!.column };
  const code = fields.findIndex((field) => CODE.test(field.trim()) && /\d/.test(field));
  return code >= 0 ? { kind: 'codes', column: code } : undefined;
}

const numberAt = (fields: readonly string[], column = -1): number =>
  Number(plainNumber(fields[column] ?? ''));

/** A whole position in a field. */
function wholeAt(fields: readonly string[], column: number) {
  const text = fields[column]!.trim();
  const at = positionInText(text, { kind: 'text', column });
  // Bare numbers may be anything.
  const isLikely = /[^-+\d.,;\s]/.test(text) || (within(at[0], LATITUDES) && within(at[1], LONGITUDES));
  return Number.isNaN(at[0]) || !isLikely || NUMBER.test(text) ? undefined : { column, at };
}

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
    // The end may lie within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(beginning, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1258';
  }
}

/** Columns in use, counted from 0. */
export type Columns =
  | { readonly kind: 'positions'; readonly lat: number; readonly lng: number }
  /** Latitude and longitude in one field. */
  | { readonly kind: 'position'; readonly column: number }
  | { readonly kind: 'codes'; readonly column: number };

/** The plan of a table, from its beginning. */
export interface TablePlan {
  readonly delimiter: Delimiter;
  readonly names: readonly string[];
  /** Whether the first row below titles has the names. */
  readonly hasHeader: boolean;
  /** Rows above the table that are skipped: titles, dates, and anything else above it in a workbook. */
  readonly titleRows: number;
  readonly rows: readonly (readonly string[])[];
  /** Undefined if unknown. */
  readonly columns: Columns | undefined;
}

const SHOWN_ROWS = 10;
/** Number of rows from which columns are inferred. */
const SAMPLE_ROWS = 100;
/** Length to which shown fields are cut. */
const MAX_SHOWN_UNITS = 40;

/** Joins lines to rows: a row with an open quote continues in the next line. */
export class RowCutter {
  #rest = '';
  readonly #delimiter: string | undefined;

  /** @param delimiter undefined while unknown */
  constructor(delimiter?: string) {
    this.#delimiter = delimiter;
  }

  /** @returns the complete rows, without their line ends */
  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    const rows: string[] = [];
    let open = '';
    for (const line of lines) {
      const row = open + line;
      // A line without a quote ends no field, and the readers reject a longer row.
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

/** Whether no quoted field is open at the end. A quote inside an unquoted field, as for inches, opens none. */
export const isWhole = (row: string, delimiter?: string): boolean =>
  (delimiter === undefined ? DELIMITERS : [delimiter]).every(
    (each) => csvFields(row, each.charCodeAt(0), true) !== undefined,
  );

export const fieldsOf = (row: string, delimiter: string): string[] =>
  csvFields(row, delimiter.charCodeAt(0)) ?? row.split(delimiter);

interface PlanOfTable extends TablePlan {
  readonly sample: FirstRows;
  /** Whether the first row itself shows names or data; otherwise it may be a title. */
  readonly isKnown: boolean;
}

/**
 * The plan of a table by the beginning of its text, whose last row may be cut off.
 * @param given the delimiter, if known
 * @param isTabs whether its name says that it is separated by tabs; then it may have one column, whose texts contain
 * other delimiters
 */
export function planOf(text: string, isAll: boolean, given?: Delimiter, isTabs = false): PlanOfTable {
  const [first = ''] = rowsOf(text, isAll, given);
  const bare = first.replace(/"[^"]*"/g, '');
  const present = DELIMITERS.filter((each) => bare.includes(each));
  // Links contain commas: if the parts between commas mean nothing, lines may be one column.
  const candidates =
    given === undefined ? new Set<Delimiter>([...(isTabs ? TAB : []), ...present, ',', ...TAB]) : [given];
  const plans = [...candidates].map((delimiter) => planWith(rowsOf(text, isAll, delimiter), delimiter));
  const known =
    plans.find(({ isKnown, columns }) => isKnown && columns !== undefined) ??
    plans.find(({ hasHeader }) => !hasHeader);
  if (known !== undefined) return known;
  const titled =
    belowTitles(rowsOf(text, isAll, given), {}, given ?? null) ??
    belowTitles(rowsOf(text, isAll, '\t'), {}, '\t');
  if (titled === undefined) return plans.find(({ columns }) => columns !== undefined) ?? plans[0]!;
  const { titleRows, delimiter } = titled;
  return { ...planWith(rowsOf(text, isAll, delimiter).slice(titleRows), delimiter), titleRows };
}

/** Rows with text. */
function rowsOf(text: string, isAll: boolean, delimiter: string | undefined): string[] {
  const cutter = new RowCutter(delimiter);
  const whole = cutter.push(text.startsWith(BOM) ? text.slice(1) : text);
  return [...whole, ...(isAll || whole.length === 0 ? cutter.end() : [])].filter((row) => row.trim() !== '');
}

function planWith(rows: readonly string[], delimiter: Delimiter): PlanOfTable {
  const [first = [], ...others] = rows.slice(0, SAMPLE_ROWS + 1).map((row) => fieldsOf(row, delimiter));
  const isNamed = isHeader(first, {}, others[0] ?? []) || columnsHeaded(first).length > 0;
  const shown = isNamed ? undefined : columnsOfData(first);
  const hasHeader = shown === undefined;
  const sample = {
    names: hasHeader ? first : first.map((_, column) => nameOf(column, shown)),
    rows: hasHeader ? others : [first, ...others].slice(0, SAMPLE_ROWS),
  };
  return {
    delimiter,
    names: sample.names.map((name) => name.trim()),
    hasHeader,
    titleRows: 0,
    rows: sample.rows.slice(0, SHOWN_ROWS).map((row) => row.map((field) => cut(field.trim()))),
    columns: hasHeader ? columnsNamed(sample) : (shown ?? undefined),
    sample,
    isKnown: isNamed || !hasHeader || isHeader(first, {}),
  };
}

/** The name of a column in the header added above rows without one. */
function nameOf(column: number, columns: Columns | null): string {
  if (columns?.kind === 'positions' && column === columns.lat) return 'lat';
  if (columns?.kind === 'positions' && column === columns.lng) return 'lng';
  return columns?.kind === 'codes' && column === columns.column ? 'hexcodes' : `column_${column + 1}`;
}

const cut = (text: string): string =>
  text.length > MAX_SHOWN_UNITS ? `${text.slice(0, MAX_SHOWN_UNITS - 1)}…` : text;

/** Columns found by name, with the values below them. */
function columnsNamed(sample: FirstRows): Columns | undefined {
  const { names } = sample;
  const { lat, lng } = pairColumns(names);
  if (lat.length === 1 && lng.length === 1) return { kind: 'positions', lat: lat[0]!, lng: lng[0]! };
  const whole = wholePosition(sample, true);
  if (whole !== null) return { kind: 'position', column: whole.column };
  const codes = codeColumns(names);
  const headed = codes.length > 0 ? codes : columnsHeaded(names);
  return headed.length === 1 ? { kind: 'codes', column: headed[0]! } : undefined;
}

const columnsHeaded = (names: readonly string[]): number[] =>
  names.flatMap((name, column) => (CODE_HEADINGS.includes(plain(name)) ? [column] : [])).slice(0, 1);

type PositionOf = (fields: readonly string[]) => readonly [latDeg: number, lngDeg: number, isView?: boolean];

/** Reads the position of a row that the readers of the service cannot read; undefined if they can. */
export function positionReader(sample: FirstRows, columns: Columns): PositionOf | undefined {
  if (columns.kind === 'codes') return undefined;
  if (columns.kind === 'position') {
    const { column } = columns;
    return (fields) => positionInText((fields[column] ?? '').trim(), { kind: 'text', column });
  }
  const { lat, lng } = columns;
  if (!holdsAngles(sample, lat, 'lat') && !holdsAngles(sample, lng, 'lng')) return undefined;
  return (fields) => [degreesInText(fields[lat] ?? '', 'lat'), degreesInText(fields[lng] ?? '', 'lng')];
}

/** Names of the two columns that are added for a position. */
export function addedNames({ names }: TablePlan): readonly [lat: string, lng: string] {
  const isTaken = names.some((name) => /^(?:lat|lng)$/i.test(name.trim()));
  return isTaken ? ['lat_deg', 'lng_deg'] : ['lat', 'lng'];
}

/**
 * The request for chosen columns.
 * @param isBeside whether two fields with the position are appended to each row
 */
export function requestOf(
  { names, delimiter }: TablePlan,
  columns: Columns,
  isBeside: boolean,
): Pick<BulkRequest, 'operation' | 'delimiter' | 'columns'> {
  if (columns.kind === 'codes')
    return { operation: 'decode', delimiter, columns: { hexcodes: columns.column } };
  const pair =
    columns.kind === 'positions' && !isBeside
      ? { lat: columns.lat, lng: columns.lng }
      : { lat: names.length, lng: names.length + 1 };
  return { operation: 'encode', delimiter, columns: pair };
}

/** A row with its position in two added fields, empty if it has none. */
export function withPosition(row: string, { delimiter }: TablePlan, positionOf: PositionOf): string {
  const [lat, lng] = positionOf(fieldsOf(row, delimiter)).map((deg) => (Number.isNaN(deg) ? '' : `${deg}`));
  return `${row}${delimiter}${lat}${delimiter}${lng}`;
}

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

// The rows of an answer as lines for people, read from its Blob on demand.

const MAX_ROW_UNITS = 160;

/**
 * @param blocks pairs: the first row of each block of the answer, and its byte offset
 * @param delimiter of a table; undefined for lines of JSON
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
