// A column of geometries: each line or area in well-known text or binary becomes the chosen point of it.

import { positionColumns } from '../../hexcodes/wire/rows/column-names.js';
import { isLineOrArea, shapeInText } from '../../tables/shapes/shape-text.js';
import { lonePoint, type PointChoice, pointsOf } from '../../tables/shapes/shapes.js';
import type { TableColumn, TableRows, TableSource } from './table.js';
import { codeTextOf } from './values/column-text.js';

/** Most rows that are made from one row: each corner of an area may become a row. */
const MAX_ROWS = 8192;

/** A source whose lines and areas are points: for `each`, a row for each of their points. */
export function atPoints(source: TableSource, choice: PointChoice): TableSource {
  return {
    ...source,
    async *batches() {
      let index = -1;
      for await (const rows of source.batches()) {
        if (index < 0) index = shapeColumnIn(source, rows);
        if (index < 0) yield rows;
        else yield* pointRows(rows, index, source.columns[index]!, choice);
      }
    },
  };
}

/** The column with lines or areas; -1 where the rows have none. */
function shapeColumnIn({ columns, geometries }: TableSource, { rowCount, values }: TableRows): number {
  const names = columns.map(({ name }) => name);
  const known = names.indexOf(geometries?.primary ?? '');
  const order = new Set([...(known < 0 ? [] : [known]), ...positionColumns(names), ...names.keys()]);
  const holdsShapes = (index: number): boolean => {
    for (let row = 0; row < rowCount; row++) {
      const shape = shapeInText(codeTextOf(columns[index]!, values[index]?.[row]));
      if (shape !== null && isLineOrArea(shape)) return true;
    }
    return false;
  };
  return [...order].find(holdsShapes) ?? -1;
}

/** The unread rows among rows made from others. @param from for each row, the row it was made from */
function unreadOf({ unread }: TableRows, from: readonly number[]): Pick<TableRows, 'unread'> {
  if (unread === undefined) return {};
  return {
    unread: new Map(from.flatMap((row, i) => (unread.has(row) ? [[i, unread.get(row)!] as const] : []))),
  };
}

function* pointRows(
  rows: TableRows,
  index: number,
  column: TableColumn,
  choice: PointChoice,
): Generator<TableRows> {
  const write = column.kind === 'binary' ? pointInWkb : pointInWkt;
  let from: number[] = [];
  let made: unknown[] = [];
  const taken = (): TableRows => {
    const values = rows.values.map((each, c) => (c === index ? made : from.map((row) => each[row])));
    const documents =
      rows.documents === undefined ? {} : { documents: from.map((row) => rows.documents![row]!) };
    const batch = { ...rows, rowCount: from.length, values, ...documents, ...unreadOf(rows, from) };
    from = [];
    made = [];
    return batch;
  };
  for (let row = 0; row < rows.rowCount; row++) {
    const value = rows.values[index]?.[row];
    const shape = shapeInText(codeTextOf(column, value));
    const points = shape === null || lonePoint(shape) !== null ? [] : pointsOf(shape, choice);
    for (const each of points.length === 0 ? [value] : points.map(([lng, lat]) => write(lng, lat))) {
      from.push(row);
      made.push(each);
      if (from.length >= MAX_ROWS) yield taken();
    }
  }
  if (from.length > 0) yield taken();
}

const pointInWkt = (lng: number, lat: number): string => `POINT (${lng} ${lat})`;

function pointInWkb(lng: number, lat: number): Uint8Array {
  const bytes = new Uint8Array(21);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, 1, true);
  view.setFloat64(5, lng, true);
  view.setFloat64(13, lat, true);
  return bytes;
}
