// Turns any lines into an arrangement, whose edges meet at common end points only. Snap rounding (Hobby 1999): each
// crossing is rounded to the grid, and each line that passes through the unit square around a vertex is bent through
// that vertex. A bent line may cross others, so rounds go on until nothing moves. All tests are exact, see grid.ts.
import { Buckets, cellsOfLine } from './grid.js';

export interface Arrangement {
  /** Each vertex once. */
  readonly xs: Int32Array;
  readonly ys: Int32Array;
  /** The two vertices of each edge; each edge once. */
  readonly edges: Int32Array;
}

/** Without a limit a fault here would never end. */
const MAX_ROUNDS = 50;

export function arrange(lines: Int32Array): Arrangement {
  let noded = unique(upward(lines));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const cuts = findCuts(noded);
    if (cuts.size === 0) return numbered(noded);
    noded = unique(upward(cut(noded, cuts)));
  }
  throw new Error(`The lines still cross after ${MAX_ROUNDS} rounds of snapping.`);
}

/** A point where lines meet other than at common end points; null if they do so nowhere. */
export function findCrossing(lines: Int32Array): { x: number; y: number } | null {
  for (const [, points] of findCuts(upward(lines))) return { x: points[0]!, y: points[1]! };
  return null;
}

/** The lines, each directed upward, or eastward where it is level. */
function upward(lines: Int32Array): Int32Array {
  const directed = lines.slice();
  for (let i = 0; i < lines.length; i += 4) {
    const [x0, y0, x1, y1] = [lines[i]!, lines[i + 1]!, lines[i + 2]!, lines[i + 3]!];
    if (y0 > y1 || (y0 === y1 && x0 > x1)) directed.set([x1, y1, x0, y0], i);
  }
  return directed;
}

/** Each of the lines once, without those of no length. */
function unique(lines: Int32Array): Int32Array {
  const kept: number[] = [];
  const seen = new Map<number, number[]>();
  for (let i = 0; i < lines.length; i += 4) {
    const [x0, y0, x1, y1] = [lines[i]!, lines[i + 1]!, lines[i + 2]!, lines[i + 3]!];
    if (x0 === x1 && y0 === y1) continue;
    const from = x0 * 2 ** 24 + y0;
    const to = x1 * 2 ** 24 + y1;
    const others = seen.get(from);
    if (others?.includes(to)) continue;
    if (others) others.push(to);
    else seen.set(from, [to]);
    kept.push(x0, y0, x1, y1);
  }
  return Int32Array.from(kept);
}

/** The points at which each of the lines, which are directed upward, must be cut: x and y in turn, by line. */
function findCuts(lines: Int32Array): Map<number, number[]> {
  const count = lines.length / 4;
  const grid = gridOver(lines);
  const { starts, items } = grid;
  const cuts = new Map<number, number[]>();
  const add = (line: number, x: number, y: number) => {
    const i = line * 4;
    if ((x === lines[i] && y === lines[i + 1]) || (x === lines[i + 2] && y === lines[i + 3])) return;
    const points = cuts.get(line);
    if (points === undefined) {
      cuts.set(line, [x, y]);
      return;
    }
    for (let k = 0; k < points.length; k += 2) if (points[k] === x && points[k + 1] === y) return;
    points.push(x, y);
  };
  if (count === 0) return cuts;
  for (let cell = 0; cell < grid.count; cell++) {
    for (let k = starts[cell]!; k < starts[cell + 1]!; k++) {
      const a = items[k]!;
      for (let l = k + 1; l < starts[cell + 1]!; l++) meet(lines, a, items[l]!, add);
    }
  }
  return cuts;
}

/** Adds the cuts that two lines cause in each other: an end of one that lies on the other, or their crossing. */
function meet(
  lines: Int32Array,
  a: number,
  b: number,
  add: (line: number, x: number, y: number) => void,
): void {
  const i = a * 4;
  const j = b * 4;
  const ax0 = lines[i]!;
  const ay0 = lines[i + 1]!;
  const ax1 = lines[i + 2]!;
  const ay1 = lines[i + 3]!;
  const bx0 = lines[j]!;
  const by0 = lines[j + 1]!;
  const bx1 = lines[j + 2]!;
  const by1 = lines[j + 3]!;
  // Lines run upward: y0 is the lower end.
  if (ay1 < by0 - 1 || by1 < ay0 - 1) return;
  if (Math.max(ax0, ax1) < Math.min(bx0, bx1) - 1 || Math.max(bx0, bx1) < Math.min(ax0, ax1) - 1) return;
  if (passes(ax0, ay0, ax1, ay1, bx0, by0)) add(a, bx0, by0);
  if (passes(ax0, ay0, ax1, ay1, bx1, by1)) add(a, bx1, by1);
  if (passes(bx0, by0, bx1, by1, ax0, ay0)) add(b, ax0, ay0);
  if (passes(bx0, by0, bx1, by1, ax1, ay1)) add(b, ax1, ay1);
  const sideA0 = cross(bx0, by0, bx1, by1, ax0, ay0);
  const sideA1 = cross(bx0, by0, bx1, by1, ax1, ay1);
  if (sideA0 === 0 || sideA1 === 0 || sideA0 > 0 === sideA1 > 0) return;
  const sideB0 = cross(ax0, ay0, ax1, ay1, bx0, by0);
  const sideB1 = cross(ax0, ay0, ax1, ay1, bx1, by1);
  if (sideB0 === 0 || sideB1 === 0 || sideB0 > 0 === sideB1 > 0) return;
  const along = sideA0 / (sideA0 - sideA1);
  const x = Math.round(ax0 + along * (ax1 - ax0));
  const y = Math.round(ay0 + along * (ay1 - ay0));
  add(a, x, y);
  add(b, x, y);
}

/** Twice the area of a triangle: positive where (x, y) is on the left of the line. */
const cross = (x0: number, y0: number, x1: number, y1: number, x: number, y: number) =>
  (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);

/**
 * Whether a line passes through the open square of one step around a vertex. Touching a corner does not count: a
 * diagonal through the corner of four squares would be bent from one vertex to the other and back without end.
 */
function passes(x0: number, y0: number, x1: number, y1: number, x: number, y: number): boolean {
  if (y < y0 || y > y1 || x < Math.min(x0, x1) || x > Math.max(x0, x1)) return false;
  return Math.abs(cross(x0, y0, x1, y1, x, y)) * 2 < Math.abs(x1 - x0) + Math.abs(y1 - y0);
}

/** The lines cut at the given points, in the order in which these follow each other along the line. */
function cut(lines: Int32Array, cuts: Map<number, number[]>): Int32Array {
  const parts: number[] = [];
  for (let line = 0; line < lines.length / 4; line++) {
    const i = line * 4;
    const [x0, y0, x1, y1] = [lines[i]!, lines[i + 1]!, lines[i + 2]!, lines[i + 3]!];
    const points = cuts.get(line);
    if (points === undefined) {
      parts.push(x0, y0, x1, y1);
      continue;
    }
    const stops: { x: number; y: number; along: number }[] = [];
    for (let k = 0; k < points.length; k += 2) {
      const [x, y] = [points[k]!, points[k + 1]!];
      stops.push({ x, y, along: (x - x0) * (x1 - x0) + (y - y0) * (y1 - y0) });
    }
    stops.sort((p, q) => p.along - q.along || p.x - q.x || p.y - q.y);
    let [x, y] = [x0, y0];
    for (const stop of stops) {
      parts.push(x, y, stop.x, stop.y);
      [x, y] = [stop.x, stop.y];
    }
    parts.push(x, y, x1, y1);
  }
  return Int32Array.from(parts);
}

/** The lines in square cells over their bounding box: lines within a step of each other share a cell. */
function gridOver(lines: Int32Array): Buckets {
  const count = lines.length / 4;
  let west = Infinity;
  let south = Infinity;
  let east = -Infinity;
  let north = -Infinity;
  for (let i = 0; i < lines.length; i += 2) {
    west = Math.min(west, lines[i]!);
    east = Math.max(east, lines[i]!);
    south = Math.min(south, lines[i + 1]!);
    north = Math.max(north, lines[i + 1]!);
  }
  if (count === 0) return new Buckets(0, 0, () => {});
  // At most about four million cells.
  const cell = Math.max(64, Math.ceil(Math.sqrt(((east - west + 1) * (north - south + 1)) / 4e6)));
  const columns = Math.floor((east - west + 1) / cell) + 2;
  const rows = Math.floor((north - south + 1) / cell) + 2;
  return new Buckets(columns * rows, count, (line, visit) =>
    cellsOfLine(lines, line, west, south, cell, (column, row) => visit(row * columns + column)),
  );
}

/** The end points numbered in order of appearance, and the lines as edges between these numbers. */
function numbered(lines: Int32Array): Arrangement {
  const numbers = new Map<number, number>();
  const xs: number[] = [];
  const ys: number[] = [];
  const edges = new Int32Array(lines.length / 2);
  for (let i = 0; i < lines.length; i += 2) {
    const key = lines[i]! * 2 ** 24 + lines[i + 1]!;
    let vertex = numbers.get(key);
    if (vertex === undefined) {
      vertex = xs.length;
      numbers.set(key, vertex);
      xs.push(lines[i]!);
      ys.push(lines[i + 1]!);
    }
    edges[i >> 1] = vertex;
  }
  return { xs: Int32Array.from(xs), ys: Int32Array.from(ys), edges };
}

// The faces that an arrangement cuts the plane into. Half-edge 2e goes from the first vertex of edge e to the second
// and belongs to the face on its left, 2e + 1 goes back. Turning left as sharply as possible at every vertex leads
// around a cycle: counter-clockwise around a face from within, or clockwise around a group of edges that lies inside a
// face. The nearest half-edge west of such a group belongs to that face.

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
