// The columns whose values a command reads besides the position, and the rows that hold no others.

import { columnCalled } from '../../hexcodes/wire/rows/column-names.js';
import type { TableColumn, TableRows } from '../formats/table.js';

/** Names of columns, as options give them. */
export interface WantedNames {
  /** Columns whose numbers are as good as their texts. */
  readonly numbers: readonly string[];
  readonly others: readonly string[];
}

/** Wanted columns by index. */
export interface WantedColumns {
  readonly numbers: readonly number[];
  readonly others: readonly number[];
}

/** Rows with their positions. */
export interface PointRows {
  readonly rows: TableRows;
  /** lat, lng of each row in degrees; NaN where there is none. */
  readonly latLngDeg: Float64Array;
}

/** Names that are not a column are left to those who read its values. */
export function indexesOf(columns: readonly TableColumn[], { numbers, others }: WantedNames): WantedColumns {
  const names = columns.map(({ name }) => name);
  const found = (wanted: readonly string[]): number[] =>
    [...new Set(wanted.map((name) => columnCalled(names, name)))].filter((index) => index >= 0);
  return { numbers: found(numbers), others: found(others) };
}
