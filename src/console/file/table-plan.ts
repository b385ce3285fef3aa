// The columns of a table are told by its beginning, with the header row by which the readers of the service
// take the columns that a visitor has chosen instead.

import { codeColumns, pairColumns, positionColumns } from '../../hexcodes/wire/rows/column-names.js';
import { csvFields } from '../../hexcodes/wire/rows/csv-fields.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';
import { withHeader } from './pasted.js';

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

const DELIMITERS = ['\t', ';', '|', ','];
const SHOWN_ROWS = 10;
/** Longer fields are cut where they are shown. */
const MOST_SHOWN_UNITS = 40;
const BOM = '\ufeff';

/** Whole rows out of lines: one with an open quote goes on in the next. */
export class RowCutter {
  #rest = '';

  /** @returns the rows that are whole, without their line ends */
  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    const rows: string[] = [];
    let open = '';
    for (const line of lines) {
      const row = open + line;
      if (isWhole(row)) {
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

/** Whether every quote is closed. */
export const isWhole = (row: string): boolean => !row.includes('"') || (row.match(/"/g)!.length & 1) === 0;

export const fieldsOf = (row: string, delimiter: string): string[] =>
  csvFields(row, delimiter.charCodeAt(0)) ?? row.split(delimiter);

/** The plan of a table by the beginning of its text, of which a last row may be cut off. */
export function planOf(beginning: string, isAll: boolean): TablePlan {
  const text = beginning.startsWith(BOM) ? beginning.slice(1) : beginning;
  const cutter = new RowCutter();
  const whole = cutter.push(text);
  const rows = [...whole, ...(isAll || whole.length === 0 ? cutter.end() : [])].filter(
    (row) => row.trim() !== '',
  );
  if (/^sep=.$/i.test(rows[0] ?? '')) rows.shift();
  const headed = withHeader(`${rows[0] ?? ''}\n`);
  // Where the first row is data, a row of names is put before it.
  const hasHeader = headed.split('\n').length <= 2;
  const first = headed.split('\n', 1)[0] ?? '';
  const delimiter = DELIMITERS.find((each) => first.includes(each)) ?? ',';
  const names = fieldsOf(hasHeader ? (rows[0] ?? '') : first, delimiter).map((name) => name.trim());
  const shown = rows.slice(hasHeader ? 1 : 0, SHOWN_ROWS + (hasHeader ? 1 : 0));
  const fields = shown.map((row) => fieldsOf(row, delimiter));
  return {
    delimiter,
    names,
    hasHeader,
    rows: fields.map((row) => row.map((field) => cut(field.trim()))),
    columns: columnsOf(fieldsOf(first, delimiter), fields),
  };
}

const cut = (text: string): string =>
  text.length > MOST_SHOWN_UNITS ? `${text.slice(0, MOST_SHOWN_UNITS - 1)}…` : text;

function columnsOf(names: readonly string[], rows: readonly (readonly string[])[]): Columns | undefined {
  const { lat, lng } = pairColumns(names);
  if (lat.length === 1 && lng.length === 1) return { kind: 'positions', lat: lat[0]!, lng: lng[0]! };
  const whole = positionColumns(names).filter((column) => holdsPositions(rows, column));
  if (whole.length > 0) return { kind: 'position', column: whole[0]! };
  const codes = codeColumns(names);
  if (codes.length === 1) return { kind: 'codes', column: codes[0]! };
  return undefined;
}

/** Whether fields of a column read as positions: names of such columns also stand over addresses. */
function holdsPositions(rows: readonly (readonly string[])[], column: number): boolean {
  const fields = rows.map((row) => row[column] ?? '').filter((field) => field.trim() !== '');
  return fields.length > 0 && fields.some((field) => parsePosition(field) !== null);
}

/**
 * The header row that the readers take for chosen columns. Other names are made harmless where they would be taken for
 * one of these too.
 */
export function headerFor({ names, delimiter }: TablePlan, columns: Columns): string {
  const chosen = new Map<number, string>(
    columns.kind === 'positions'
      ? [
          [columns.lat, 'lat'],
          [columns.lng, 'lng'],
        ]
      : columns.kind === 'codes'
        ? [[columns.column, 'hexcodes']]
        : [],
  );
  const header = names.map((name, i) => {
    const other =
      pairColumns([name]).lat.length + pairColumns([name]).lng.length + codeColumns([name]).length;
    return chosen.get(i) ?? (other > 0 || /^[xy]$/i.test(name.trim()) ? `column_${i + 1}` : name);
  });
  return header.map((name) => quoted(name, delimiter)).join(delimiter);
}

/** A row with its position in two more fields, empty ones where there is none. */
export function withPosition(row: string, { delimiter }: TablePlan, column: number): string {
  const position = parsePosition((fieldsOf(row, delimiter)[column] ?? '').trim());
  const [lat, lng] = position === null ? ['', ''] : [`${position.latDeg}`, `${position.lngDeg}`];
  return `${row}${delimiter}${lat}${delimiter}${lng}`;
}

export const quoted = (text: string, delimiter: string): string =>
  text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
