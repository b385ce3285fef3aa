// Reads the positions of rows in columns, wherever encode finds them.

import { plainNumber } from '../../hexcodes/wire/rows/csv-numbers.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';
import type { TableColumn, TableRows } from '../formats/table.js';
import { codeTextOf, degreesOf } from '../formats/values/column-text.js';
import type { PositionColumns } from './position-columns.js';

/** Fills an array with lat and lng of each row, NaN where there is none. */
export type PositionReader = (rows: TableRows, latLngDeg: Float64Array) => void;

export function positionReader(columns: readonly TableColumn[], where: PositionColumns): PositionReader {
  return ({ rowCount, values }, latLngDeg) => {
    for (let row = 0; row < rowCount; row++) {
      const [latDeg, lngDeg] = positionIn(columns, where, (column) => values[column]?.[row]);
      latLngDeg[2 * row] = latDeg;
      latLngDeg[2 * row + 1] = lngDeg;
    }
  };
}

const NONE = [Number.NaN, Number.NaN] as const;

function positionIn(
  columns: readonly TableColumn[],
  where: PositionColumns,
  valueAt: (column: number) => unknown,
): readonly [latDeg: number, lngDeg: number] {
  if (where.kind === 'pair') {
    const { lat, lng } = where;
    return [degreesOf(columns[lat]!, valueAt(lat)), degreesOf(columns[lng]!, valueAt(lng))];
  }
  const text = codeTextOf(columns[where.column]!, valueAt(where.column));
  if (where.kind === 'text') {
    const position = parsePosition(text);
    return position === null ? NONE : [position.latDeg, position.lngDeg];
  }
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return NONE;
  }
  return [numberAt(object, where.lat), numberAt(object, where.lng)];
}

function numberAt(object: unknown, path: readonly string[]): number {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return Number.NaN;
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? degreesOf(TEXT, plainNumber(value)) : Number.NaN;
}

const TEXT: TableColumn = { name: '', kind: 'text' };
