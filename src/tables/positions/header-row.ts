// The header row of a table that has titles above it: the first row whose names are known. For the command and for the
// page.

import { delimiterOf } from '../../hexcodes/wire/bulk/csv-header.js';
import type { Delimiter } from '../../hexcodes/wire/job.js';
import {
  codeColumns,
  columnCalled,
  pairColumns,
  positionColumns,
} from '../../hexcodes/wire/rows/column-names.js';
import { csvFields } from '../../hexcodes/wire/rows/csv-fields.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';
import type { Sheet } from '../xlsx/workbook.js';

/** Columns that a caller names. */
interface NamedColumns {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
  readonly position?: string | undefined;
  readonly code?: string | undefined;
}

/** Rows that are searched for a header. */
export const SEARCHED_ROWS = 20;

/**
 * The first row with known names, or those that the caller gives; undefined where there is none.
 * @param rows those at the beginning that are not blank, without line ends
 * @param given the delimiter, where it is known
 */
export function belowTitles(
  rows: readonly string[],
  columns: NamedColumns,
  given: Delimiter | null,
): { titleRows: number; delimiter: Delimiter } | undefined {
  for (let i = 1; i < Math.min(rows.length, SEARCHED_ROWS); i++) {
    const row = rows[i]!;
    const delimiter = given ?? delimiterOf(new TextEncoder().encode(row));
    const next = rows[i + 1];
    const below = next === undefined ? [] : fieldsIn(next, delimiter);
    if (isHeader(fieldsIn(row, delimiter), columns, below)) return { titleRows: i, delimiter };
  }
  return undefined;
}

const fieldsIn = (row: string, delimiter: Delimiter): readonly string[] =>
  csvFields(row, delimiter.charCodeAt(0)) ?? row.split(delimiter);

/**
 * Whether fields are names of columns that are read.
 * @param below the next row: a name that is an everyday word must have a position below it
 */
export function isHeader(
  fields: readonly string[],
  { lat, lng, position, code }: NamedColumns,
  below: readonly string[] | null = null,
): boolean {
  const chosen = [lat, lng, position, code].filter((name) => name !== undefined);
  if (chosen.length > 0) return chosen.every((name) => columnCalled(fields, name) >= 0);
  if (hasKnownNames(fields)) return true;
  return positionColumns(fields).some((column) => below === null || isPosition(below[column] ?? ''));
}

/** Whether names of a pair of coordinates or of codes are among them. */
export function hasKnownNames(fields: readonly string[]): boolean {
  const { lat, lng } = pairColumns(fields);
  return (lat.length > 0 && lng.length > 0) || codeColumns(fields).length > 0;
}

/** Whether a text is a whole position in degrees that can be. */
export function isPosition(text: string): boolean {
  const position = parsePosition(text);
  return position !== null && Math.abs(position.latDeg) <= 180 && Math.abs(position.lngDeg) <= 180;
}

/** The first sheet of a workbook with a row of known names; undefined where there is none. */
export function likelySheet(sheets: readonly Sheet[]): Sheet | undefined {
  return sheets.find((sheet) => sheet.firstRows(SEARCHED_ROWS).some(hasKnownNames));
}
