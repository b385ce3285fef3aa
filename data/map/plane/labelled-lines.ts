// Lines with what lies on either side of them: a map without rings. They are made from an arrangement by giving each of
// its faces a unit and keeping the lines between different units.
import type { Arrangement } from './arrangement.js';
import { type Faces, findFaces, pointsInside } from './faces.js';
import type { TaggedLines } from './tagged-lines.js';

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
