// Values of columns as numbers, whatever the format of their file.

import { columnCalled } from '../../hexcodes/wire/rows/column-names.js';
import { plainNumber } from '../../hexcodes/wire/rows/csv-fields.js';
import { noColumn } from '../columns/columns.js';
import { badInput } from '../exit-codes.js';
import type { ColumnKind, TableColumn, TableRows } from '../formats/table.js';
import { codeTextOf, textOf } from '../formats/values/column-text.js';

const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d+$/;
/** Digits of integers that are all exact as doubles. */
const SAFE_DIGITS = 15;

/** Kinds whose numbers count days or units of time: even as texts they are not numbers. */
const MOMENTS: ReadonlySet<ColumnKind> = new Set(['timestamp', 'date', 'time', 'duration']);

/**
 * A value as a number, an integer beyond 2^53 as a bigint; null if missing, undefined if it is not a finite number.
 */
export function numberOf(column: TableColumn, value: unknown): number | bigint | null | undefined {
  if (value === null || value === undefined) return null;
  if (MOMENTS.has(column.kind)) return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint') {
    if (column.kind === 'decimal' && (column.scale ?? 0) !== 0) return Number(textOf(column, value));
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (typeof value !== 'string') return undefined;
  const text = plainNumber(codeTextOf(column, value));
  if (text === '') return null;
  if (!NUMBER.test(text)) return undefined;
  if (text.length <= SAFE_DIGITS || !INTEGER.test(text)) {
    const number = Number(text);
    return Number.isFinite(number) ? number : undefined;
  }
  const integer = BigInt(text);
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** The index of a column that an option names. @throws CliFailure BAD_INPUT if it is not there or not read */
export function columnNamed(columns: readonly TableColumn[], name: string, file: string): number {
  const names = columns.map((column) => column.name);
  const at = columnCalled(names, name);
  if (at < 0) throw noColumn(names, name, file);
  refuseUnread(columns[at]!, file);
  return at;
}

// The columns whose values a command reads besides the position.

/** Names of columns, as options give them. */
export interface WantedNames {
  /** Columns whose numbers can replace their texts. */
  readonly numbers: readonly string[];
  readonly others: readonly string[];
}

/** Wanted columns by index. */
export interface WantedColumns {
  readonly numbers: readonly number[];
  readonly others: readonly number[];
}

export interface PointRows {
  readonly rows: TableRows;
  /** lat, lng of each row in degrees; NaN where there is none. */
  readonly latLngDeg: Float64Array;
}

/** Names that are not a column are reported by the reader of their values. */
export function indexesOf(columns: readonly TableColumn[], { numbers, others }: WantedNames): WantedColumns {
  const names = columns.map(({ name }) => name);
  const found = (wanted: readonly string[]): number[] =>
    [...new Set(wanted.map((name) => columnCalled(names, name)))].filter((index) => index >= 0);
  return { numbers: found(numbers), others: found(others) };
}

/** @throws CliFailure BAD_INPUT for a column whose values are not read */
export function refuseUnread({ name, unread }: TableColumn, file: string): void {
  if (unread !== undefined) throw badInput({ file, column: name }, unread);
}
