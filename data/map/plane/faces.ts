// The faces that an arrangement cuts the plane into. Half-edge 2e goes from the first vertex of edge e to the second
// and belongs to the face on its left, 2e + 1 goes back. Turning left as sharply as possible at every vertex leads
// around a cycle: counter-clockwise around a face from within, or clockwise around a group of edges that lies inside a
// face. The nearest half-edge west of such a group belongs to that face.
import type { Arrangement } from './arrangement.js';
import { Buckets } from './buckets.js';

export interface Faces {
  /** Number of the face on the left of each half-edge. */
  readonly faceOf: Int32Array;
  readonly count: number;
  /** The unbounded face. */
  readonly outer: number;
}

/** Steps; height of the rows in which `halfEdgeWestOf` looks. */
const ROW = 1000;

export function findFaces({ xs, ys, edges }: Arrangement): Faces {
  const halfCount = edges.length;
  const origin = (half: number) => edges[half]!;
  const target = (half: number) => edges[half ^ 1]!;
  const around = new Buckets(xs.length, halfCount, (half, visit) => visit(origin(half)));
  const next = new Int32Array(halfCount);
  for (let vertex = 0; vertex < xs.length; vertex++) {
    const spokes = around.items.subarray(around.starts[vertex]!, around.starts[vertex + 1]!);
    spokes.sort((a, b) =>
      byAngle(
        xs[target(a)]! - xs[vertex]!,
        ys[target(a)]! - ys[vertex]!,
        xs[target(b)]! - xs[vertex]!,
        ys[target(b)]! - ys[vertex]!,
      ),
    );
    // Spokes leave the vertex, here in counter-clockwise order. After the twin of a spoke, which arrives on the same
    // edge, the sharpest left turn is the spoke before it in that order.
    for (let k = 0; k < spokes.length; k++)
      next[spokes[k]! ^ 1] = spokes[(k + spokes.length - 1) % spokes.length]!;
  }

  const cycleOf = new Int32Array(halfCount).fill(-1);
  /** Twice the area of each cycle, negative where it runs clockwise. */
  const areas: number[] = [];
  const westernmost: number[] = [];
  for (let first = 0; first < halfCount; first++) {
    if (cycleOf[first] !== -1) continue;
    let area = 0;
    let west = origin(first);
    const x0 = xs[west]!;
    const y0 = ys[west]!;
    for (let half = first; cycleOf[half] === -1; half = next[half]!) {
      cycleOf[half] = areas.length;
      const from = origin(half);
      const to = target(half);
      area += (xs[from]! - x0) * (ys[to]! - y0) - (xs[to]! - x0) * (ys[from]! - y0);
      if (xs[from]! < xs[west]! || (xs[from] === xs[west] && ys[from]! < ys[west]!)) west = from;
    }
    areas.push(area);
    westernmost.push(west);
  }

  // Maps each cycle to another one of the same face, nearer to its outline. A counter-clockwise cycle is the outline; a
  // clockwise one leads to the cycle of the nearest half-edge west of it, or to -1, the unbounded face.
  const outlineOf = new Int32Array(areas.length);
  const halfEdgeWestOf = westwardSearch({ xs, ys, edges });
  for (let cycle = 0; cycle < areas.length; cycle++) {
    if (areas[cycle]! > 0) outlineOf[cycle] = cycle;
    else {
      const half = halfEdgeWestOf(westernmost[cycle]!);
      outlineOf[cycle] = half < 0 ? -1 : cycleOf[half]!;
    }
  }
  const numbers = new Map<number, number>([[-1, 0]]);
  const faceOf = new Int32Array(halfCount);
  for (let half = 0; half < halfCount; half++) {
    let cycle = cycleOf[half]!;
    while (cycle !== -1 && outlineOf[cycle] !== cycle) cycle = outlineOf[cycle]!;
    let face = numbers.get(cycle);
    if (face === undefined) {
      face = numbers.size;
      numbers.set(cycle, face);
    }
    faceOf[half] = face;
  }
  return { faceOf, count: numbers.size, outer: 0 };
}

/** Orders directions counter-clockwise, from east. */
function byAngle(ax: number, ay: number, bx: number, by: number): number {
  const halfA = ay > 0 || (ay === 0 && ax > 0) ? 0 : 1;
  const halfB = by > 0 || (by === 0 && bx > 0) ? 0 : 1;
  return halfA - halfB || bx * ay - ax * by;
}

/**
 * Prepares a search: for a vertex, the nearest edge west of it, as the half-edge with the vertex on its left; -1 for
 * none.
 */
function westwardSearch({ xs, ys, edges }: Arrangement): (vertex: number) => number {
  let south = Infinity;
  let north = -Infinity;
  for (const y of ys) {
    south = Math.min(south, y);
    north = Math.max(north, y);
  }
  const rows = new Buckets(
    xs.length ? Math.floor((north - south) / ROW) + 1 : 0,
    edges.length / 2,
    (e, visit) => {
      const a = ys[edges[2 * e]!]! - south;
      const b = ys[edges[2 * e + 1]!]! - south;
      for (let row = Math.floor(Math.min(a, b) / ROW); row <= Math.floor(Math.max(a, b) / ROW); row++)
        visit(row);
    },
  );
  return (vertex) => {
    const x = xs[vertex]!;
    const y = ys[vertex]!;
    const row = Math.floor((y - south) / ROW);
    let bestX = -Infinity;
    let bestSlope = -Infinity;
    let best = -1;
    for (let k = rows.starts[row]!; k < rows.starts[row + 1]!; k++) {
      const e = rows.items[k]!;
      const a = edges[2 * e]!;
      const b = edges[2 * e + 1]!;
      if (a === vertex || b === vertex || ys[a]! > y === ys[b]! > y) continue;
      // As if just above the vertex: of two edges that rise from one point of its latitude the eastern one is nearer.
      const [low, high] = ys[a]! < ys[b]! ? [a, b] : [b, a];
      const slope = (xs[high]! - xs[low]!) / (ys[high]! - ys[low]!);
      const at = xs[low]! + (y - ys[low]!) * slope;
      if (at < x && (at > bestX || (at === bestX && slope > bestSlope))) {
        bestX = at;
        bestSlope = slope;
        // The half-edge that runs down has the east on its left.
        best = ys[a]! > ys[b]! ? 2 * e : 2 * e + 1;
      }
    }
    return best;
  };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A point well inside each face, the middle of the widest of seven level cuts; null for the unbounded face. */
export function pointsInside({ xs, ys, edges }: Arrangement, faces: Faces): (Point | null)[] {
  const edgesOf = new Buckets(faces.count, edges.length, (half, visit) => visit(faces.faceOf[half]!));
  const points: (Point | null)[] = [];
  for (let face = 0; face < faces.count; face++) {
    if (face === faces.outer) {
      points.push(null);
      continue;
    }
    const halves = edgesOf.items.subarray(edgesOf.starts[face]!, edgesOf.starts[face + 1]!);
    let south = Infinity;
    let north = -Infinity;
    for (const half of halves) {
      south = Math.min(south, ys[edges[half]!]!);
      north = Math.max(north, ys[edges[half]!]!);
    }
    let widest = 0;
    let point: Point | null = null;
    for (const part of [0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875]) {
      const y = Math.min(north - 0.5, Math.floor(south + part * (north - south)) + 0.5);
      // The face is on the left of its half-edges: from west to east, one that runs down begins a stretch inside the
      // face and one that runs up ends it.
      const crossings: { x: number; opens: boolean }[] = [];
      for (const half of halves) {
        const a = edges[half]!;
        const b = edges[half ^ 1]!;
        if (ys[a]! > y === ys[b]! > y) continue;
        const x = xs[a]! + ((y - ys[a]!) * (xs[b]! - xs[a]!)) / (ys[b]! - ys[a]!);
        crossings.push({ x, opens: ys[a]! > ys[b]! });
      }
      crossings.sort((p, q) => p.x - q.x || Number(p.opens) - Number(q.opens));
      for (let k = 1; k < crossings.length; k++) {
        const width = crossings[k]!.x - crossings[k - 1]!.x;
        if (crossings[k - 1]!.opens && width > widest) {
          widest = width;
          point = { x: crossings[k - 1]!.x + width / 2, y };
        }
      }
    }
    if (!point) throw new Error('A face of the arrangement has no inside.');
    points.push(point);
  }
  return points;
}
