// Lines with what lies on either side of them: a map without rings. They are made from an arrangement by giving each of
// its faces a unit and keeping the lines between different units.
import { type Arrangement, arrange, type Faces, findFaces, pointsInside } from './arrangement.js';
import { type Ring, STEPS_PER_DEGREE } from './grid.js';
import { LineField, linesOf, type TaggedLines } from './line-field.js';

/** The unit of everything that no unit claims. */
export const OUTSIDE = 63;

export interface LabelledLines {
  /** x0, y0, x1, y1 of each line in steps. */
  readonly lines: Int32Array;
  /** Unit on the left of each line, seen from (x0, y0) to (x1, y1) with north up; OUTSIDE where there is none. */
  readonly left: Uint8Array;
  /** Unit on the right; OUTSIDE where there is none. */
  readonly right: Uint8Array;
}

/** Gives each face the unit of a point inside it and keeps the lines between different units. */
export function label(arrangement: Arrangement, unitAt: (x: number, y: number) => number): LabelledLines {
  const faces = findFaces(arrangement);
  const units = pointsInside(arrangement, faces).map((point) => (point ? unitAt(point.x, point.y) : OUTSIDE));
  return borders(arrangement, faces, units);
}

/** The lines between faces of different units; runs of edges in one direction become one line. */
export function borders(
  { xs, ys, edges }: Arrangement,
  { faceOf }: Faces,
  units: readonly number[],
): LabelledLines {
  const unitOf = (half: number) => units[faceOf[half]!]!;
  const kept: number[] = [];
  /** How many kept edges meet at each vertex, and the half-edges of the first two of them, which start there. */
  const degree = new Int32Array(xs.length);
  const spokes = new Int32Array(xs.length * 2);
  for (let half = 0; half < edges.length; half++) {
    if (unitOf(half) === unitOf(half ^ 1)) continue;
    if (half % 2 === 0) kept.push(half);
    const vertex = edges[half]!;
    if (degree[vertex]! < 2) spokes[vertex * 2 + degree[vertex]!] = half;
    degree[vertex]!++;
  }
  /** The half-edge that continues this one beyond its end in the same direction, or -1. */
  const onward = (half: number): number => {
    const vertex = edges[half ^ 1]!;
    if (degree[vertex] !== 2) return -1;
    const other = spokes[vertex * 2] === (half ^ 1) ? spokes[vertex * 2 + 1]! : spokes[vertex * 2]!;
    const from = edges[half]!;
    const to = edges[other ^ 1]!;
    const dx = xs[vertex]! - xs[from]!;
    const dy = ys[vertex]! - ys[from]!;
    const ex = xs[to]! - xs[vertex]!;
    const ey = ys[to]! - ys[vertex]!;
    return dx * ey === dy * ex && dx * ex + dy * ey > 0 ? other : -1;
  };
  const lines: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  const done = new Uint8Array(edges.length / 2);
  /** The last vertex of the straight run that a half-edge begins; its edges are done then. */
  const endOfRun = (first: number): number => {
    let last = first;
    for (let half = first; half >= 0; half = onward(half)) {
      last = half;
      done[half >> 1] = 1;
    }
    return edges[last ^ 1]!;
  };
  for (const half of kept) {
    if (done[half >> 1]) continue;
    const from = endOfRun(half ^ 1);
    const to = endOfRun(half);
    lines.push(xs[from]!, ys[from]!, xs[to]!, ys[to]!);
    left.push(unitOf(half));
    right.push(unitOf(half ^ 1));
  }
  return { lines: Int32Array.from(lines), left: Uint8Array.from(left), right: Uint8Array.from(right) };
}

/** Both lists of lines as one. */
export function joined(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Each line once for every unit beside it, directed so that the unit is on its left. */
export function taggedLinesOfMap({ lines, left, right }: LabelledLines): TaggedLines {
  const walked: number[] = [];
  const tags: number[] = [];
  for (let i = 0; i < left.length; i++) {
    const [x0, y0, x1, y1] = [lines[i * 4]!, lines[i * 4 + 1]!, lines[i * 4 + 2]!, lines[i * 4 + 3]!];
    if (left[i] !== OUTSIDE) {
      walked.push(x0, y0, x1, y1);
      tags.push(left[i]!);
    }
    if (right[i] !== OUTSIDE) {
      walked.push(x1, y1, x0, y0);
      tags.push(right[i]!);
    }
  }
  return { lines: Int32Array.from(walked), tags: Int16Array.from(tags) };
}

// Areas in square kilometres on the WGS84 ellipsoid, summed over lines in an equal-area cylindrical projection, in
// which a line counts as straight.

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
