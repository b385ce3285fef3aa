// Rows with shapes as rows with positions: points as they are, of lines and areas the point that is meant.

import type { Shape } from '../../hexcodes/wire/rows/well-known-binary.js';
import { TableError } from '../table-error.js';
import { lonePoint, POINT_CHOICES, type PointChoice, pointsOf, typeName } from './shapes.js';

export interface ShapeRow<Value> {
  /** In the order of the columns. */
  readonly fields: readonly Value[];
  /** null where there is none. */
  readonly shape: Shape | null;
  /** Why a shape that is there cannot be read. */
  readonly fault?: string | undefined;
}

export interface PlacedRow<Value> {
  readonly fields: readonly Value[];
  /** null of a row without a shape, or with an empty one. */
  readonly point: readonly [lng: number, lat: number] | null;
  readonly fault?: string | undefined;
}

/** The remedy for lines and areas without an option for the point that is meant. */
export const POINT_HINT = `Say which point of them is meant: --point ${POINT_CHOICES.join(', or ')}.`;

/**
 * @param choice null where no lines and areas are expected @param passed is told which share of the rows is passed
 * @returns a row for each, and for `each` a row for each of their points
 * @throws TableError for lines and areas where none are expected, with their number
 */
export function placedRows<Value>(
  rows: readonly ShapeRow<Value>[],
  choice: PointChoice | null,
  passed: (share: number) => void = () => undefined,
): Iterable<PlacedRow<Value>> {
  if (choice === null) refuseOthers(rows.map(({ shape }) => shape));
  return (function* () {
    for (const [index, { fields, shape, fault }] of rows.entries()) {
      passed(index / rows.length);
      const points = shape === null ? [] : pointsOf(shape, choice ?? 'first');
      if (points.length === 0) yield { fields, point: null, fault };
      for (const point of points) yield { fields, point };
    }
    passed(1);
  })();
}

/** @throws TableError for lines and areas, with their number */
export function refuseOthers(shapes: Iterable<Shape | null>): void {
  const counts = new Map<string, number>();
  for (const shape of shapes) {
    if (shape === null || lonePoint(shape) !== null || pointsOf(shape, 'first').length === 0) continue;
    const type = typeName(shape);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  const listed = [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
  throw new TableError(`it holds lines or areas: ${listed}`, POINT_HINT);
}
