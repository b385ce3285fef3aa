// Rows with shapes as CSV: lat and lng after the other columns, of points as they are, of lines and areas as is said.

import type { Shape } from '../../hexcodes/wire/rows/well-known-binary.js';
import { CsvLines } from '../rows-as-csv.js';
import { TableError } from '../table-error.js';
import { lonePoint, POINT_CHOICES, type PointChoice, pointsOf, typeName } from './shapes.js';

export interface ShapeRow {
  /** In the order of the columns. */
  readonly fields: readonly (string | undefined)[];
  /** null where there is none. */
  readonly shape: Shape | null;
}

/** The way out for lines and areas of which nobody has said which point is meant. */
export const POINT_HINT = `Say which point of them is meant: --point ${POINT_CHOICES.join(', or ')}.`;

/**
 * @param names of columns; `lat` and `lng` among them are left out
 * @param choice null where no lines and areas are expected
 * @throws TableError for lines and areas then, with their number
 */
export function* shapesAsCsv(
  names: readonly string[],
  rows: readonly ShapeRow[],
  choice: PointChoice | null,
): Generator<Uint8Array> {
  if (choice === null) refuseOthers(rows);
  const kept = names.flatMap((name, i) => (/^(?:lat|lng)$/i.test(name) ? [] : [i]));
  const lines = new CsvLines();
  lines.add([...kept.map((i) => names[i]), 'lat', 'lng']);
  for (const { fields, shape } of rows) {
    const own = kept.map((i) => fields[i]);
    const points = shape === null ? [] : pointsOf(shape, choice ?? 'first');
    if (points.length === 0) lines.add([...own, '', '']);
    for (const [lng, lat] of points) if (lines.add([...own, `${lat}`, `${lng}`])) yield lines.take();
  }
  yield lines.take();
}

function refuseOthers(rows: readonly ShapeRow[]): void {
  const counts = new Map<string, number>();
  for (const { shape } of rows) {
    if (shape === null || lonePoint(shape) !== null || pointsOf(shape, 'first').length === 0) continue;
    const type = typeName(shape);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  const listed = [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
  throw new TableError(`it holds lines or areas: ${listed}`, POINT_HINT);
}
