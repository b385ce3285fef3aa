// Turns any lines into an arrangement, whose edges meet at common end points only. Snap rounding (Hobby 1999): each
// crossing is rounded to the grid, and each line that passes through the unit square around a vertex is bent through
// that vertex. A bent line may cross others, so rounds go on until nothing moves. All tests are exact, see grid.ts.
import { Buckets, cellsOfLine } from './buckets.js';

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
