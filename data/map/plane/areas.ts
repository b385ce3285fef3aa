// Areas in square kilometres on the WGS84 ellipsoid, summed over lines in an equal-area cylindrical projection, in
// which a line counts as straight.
import { arrange } from './arrangement.js';
import { findFaces, pointsInside } from './faces.js';
import { type Ring, STEPS_PER_DEGREE } from './grid.js';
import { joined, type LabelledLines, label, OUTSIDE, taggedLinesOfMap } from './labelled-lines.js';
import { LineField } from './line-field.js';
import { linesOf } from './tagged-lines.js';

/** WGS84: semi-major axis, and eccentricity, of which the square is 2f - f² with f = 1 / 298.257223563. */
const SEMI_MAJOR_KM = 6378.137;
const ECCENTRICITY = 0.081819190842622;

/** Kilometres from the equator to a latitude, in steps, in that projection (Snyder 1987, equations 3-12 and 10-15). */
function equalAreaHeight(y: number): number {
  const s = Math.sin((y / STEPS_PER_DEGREE) * (Math.PI / 180));
  const e = ECCENTRICITY;
  const q = s / (1 - e * e * s * s) - Math.log((1 - e * s) / (1 + e * s)) / (2 * e);
  return (SEMI_MAJOR_KM * (1 - e * e) * q) / 2;
}

/** Kilometres from the prime meridian to a longitude, in steps. */
const equalAreaWidth = (x: number) => SEMI_MAJOR_KM * (x / STEPS_PER_DEGREE) * (Math.PI / 180);

/** Half the sum of this over a closed run of lines is the area on its left. */
function swept(lines: Int32Array, i: number): number {
  const width = equalAreaWidth(lines[i + 2]!) - equalAreaWidth(lines[i]!);
  return -width * (equalAreaHeight(lines[i + 1]!) + equalAreaHeight(lines[i + 3]!));
}

/** Area of each unit of a map. */
export function areasOfUnits({ lines, left, right }: LabelledLines, unitCount: number): Float64Array {
  const areas = new Float64Array(unitCount);
  for (let i = 0; i < left.length; i++) {
    const twice = swept(lines, i * 4);
    if (left[i] !== OUTSIDE) areas[left[i]!]! += twice / 2;
    if (right[i] !== OUTSIDE) areas[right[i]!]! -= twice / 2;
  }
  return areas;
}

/** Area inside an open ring. */
export function areaOfRing(ring: Ring): number {
  const lines = linesOf([ring]);
  let twice = 0;
  for (let i = 0; i < lines.length; i += 4) twice += swept(lines, i);
  return Math.abs(twice) / 2;
}

/** Area of each unit where every face between the lines has the unit of a point inside it. */
export function overlayAreas(
  lines: Int32Array,
  unitCount: number,
  unitAt: (x: number, y: number) => number,
): Float64Array {
  return areasOfUnits(label(arrange(lines), unitAt), unitCount);
}

/**
 * Lays one map on another: for each pair of units, -1 for outside, the area that has the first before and the second
 * after.
 */
export function pairAreas(
  before: LabelledLines,
  after: LabelledLines,
): { from: number; to: number; km2: number }[] {
  const fields = [before, after].map((map) => {
    const { lines, tags } = taggedLinesOfMap(map);
    return new LineField(lines, tags);
  }) as [LineField, LineField];
  const arrangement = arrange(joined(before.lines, after.lines));
  const faces = findFaces(arrangement);
  const { xs, ys, edges } = arrangement;
  const lines = Int32Array.from([...edges].flatMap((vertex) => [xs[vertex]!, ys[vertex]!]));
  const areas = new Float64Array(faces.count);
  for (let e = 0; e < edges.length / 2; e++) {
    areas[faces.faceOf[2 * e]!]! += swept(lines, e * 4) / 2;
    areas[faces.faceOf[2 * e + 1]!]! -= swept(lines, e * 4) / 2;
  }
  const pairs = new Map<number, { from: number; to: number; km2: number }>();
  pointsInside(arrangement, faces).forEach((point, face) => {
    if (!point) return;
    const [from, to] = fields.map((field) => field.holderOf(point.x, point.y)) as [number, number];
    const pair = pairs.get(from * 100 + to) ?? { from, to, km2: 0 };
    pair.km2 += areas[face]!;
    pairs.set(from * 100 + to, pair);
  });
  return [...pairs.values()];
}
