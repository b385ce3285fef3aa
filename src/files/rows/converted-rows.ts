// A batch of rows with what converting adds, and what its converters share.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Sample } from '../columns/columns.js';
import type { CellBox } from '../columns/encode-columns.js';
import type { Field } from '../failed-row.js';
import { badInput } from '../file-faults.js';
import type { PositionColumns } from '../formats/json/geojson-sink.js';
import type { SinkColumns, TableColumn, TableRows } from '../formats/table.js';
import { codeTextOf } from '../formats/values/column-text.js';
import type { RowFailure, Tally } from '../tally.js';

export type RowStatus = 'OK' | RowFailure;

const ADMIN_NUMBERS = new Map(ADMIN_UNITS.map(({ code }, admin) => [code, admin]));

/** Rows with our columns after those kept. */
export interface ConvertedRows extends TableRows {
  /** The status of each row. */
  readonly status: readonly RowStatus[];
  readonly failedRows: number;
  /** The fault of a failed row of the batch, in words. */
  faultOf(row: number): string;
}

export interface RowConverter {
  readonly columns: SinkColumns;
  /** Where a position is among the columns kept and added: for GeoJSON. */
  readonly position: PositionColumns;
  /** Converts a batch and counts its rows. */
  convert(rows: TableRows, tally: Tally): ConvertedRows;
}

/** The properties of source and target that a converter depends on. */
export interface RowsShape {
  readonly columns: readonly TableColumn[];
  readonly sample: Sample;
  /** Whether the names of columns are those of a header row. */
  readonly hasHeader: boolean;
  /** Name of the file in messages. */
  readonly file: string;
  /** Whether the target has numbers: positions that came as text are then written as numbers. */
  readonly isTyped: boolean;
  /** Whether the target needs a column of lat and one of lng, also where the position came in another form. */
  readonly needsPosition: boolean;
  /** Where rows are sorted by cell. */
  readonly boxOf: CellBox | null;
}

/** @throws CliFailure BAD_INPUT for a column whose values are not read */
export function refuseUnread(columns: readonly TableColumn[], file: string): void {
  for (const { name, unread } of columns) {
    if (unread !== undefined)
      throw badInput({ file, column: name }, unread, 'Leave the column out with --drop.');
  }
}

/** Whether documents can be passed on unchanged: nothing is left out, and the order is that of the source. */
export function isWhole(keptIndexes: readonly number[], columns: readonly TableColumn[]): boolean {
  return keptIndexes.length === columns.length && keptIndexes.every((index, i) => index === i);
}

/** A value of a row, for the words of its fault. */
export function fieldOf(
  columns: readonly TableColumn[],
  { values }: TableRows,
  at: number,
  row: number,
): Field {
  const column = columns[at]!;
  return { name: column.name, text: codeTextOf(column, values[at]?.[row]) };
}

export function countAdmin(tally: Tally, adminCode: string): void {
  const admin = ADMIN_NUMBERS.get(adminCode);
  if (admin !== undefined) tally.byAdmin[admin]!++;
}

export function countStatus(tally: Tally, status: readonly RowStatus[]): void {
  tally.rows += status.length;
  for (const word of status) if (word !== 'OK') tally.fail(word);
}

/** The rows whose status is wanted. */
export function rowsWhere(rows: ConvertedRows, isWanted: (status: RowStatus) => boolean): TableRows {
  const wanted: number[] = [];
  rows.status.forEach((word, row) => {
    if (isWanted(word)) wanted.push(row);
  });
  const { documents } = rows;
  return {
    rowCount: wanted.length,
    values: rows.values.map((column) => wanted.map((row) => column[row])),
    ...(documents === undefined ? {} : { documents: wanted.map((row) => documents[row]!) }),
  };
}
