// The grid that every vertex of the map lies on: x is longitude, y latitude, both in steps of 10 micro-degrees (1.1 m).
// Coordinates stay below 2^25, so products of two differences, and sums of a few of them, are exact in doubles.

/** Micro-degrees between neighbouring grid points. */
export const VERTEX_STEP = 10;

export const STEPS_PER_DEGREE = 1_000_000 / VERTEX_STEP;

/** Length of a step of latitude on the sphere of mean Earth radius, on which a degree is 111.195 km. */
export const METRES_PER_STEP = (6_371_008.8 * Math.PI) / 180 / STEPS_PER_DEGREE;

/** How much shorter a step of longitude is than one of latitude, at a latitude in steps: its cosine. */
export function shrink(y: number): number {
  return Math.cos((y / STEPS_PER_DEGREE) * (Math.PI / 180));
}

/** An open ring, x and y in turn, in steps: the segment from the last vertex to the first is implied. */
export type Ring = Int32Array;

/** Without the repeated first vertex at the end and without repeated vertices in a row. */
export function openRing(flat: readonly number[]): Ring {
  const ring: number[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] !== ring.at(-2) || flat[i + 1] !== ring.at(-1)) ring.push(flat[i]!, flat[i + 1]!);
  }
  while (ring.length > 2 && ring[0] === ring.at(-2) && ring[1] === ring.at(-1)) ring.length -= 2;
  return Int32Array.from(ring);
}

/** Twice the area inside an open ring in square steps, positive where the ring runs counter-clockwise. */
export function ringArea(ring: Ring): number {
  let sum = 0;
  for (let i = 0; i < ring.length; i += 2) {
    const j = (i + 2) % ring.length;
    sum +=
      (ring[i]! - ring[0]!) * (ring[j + 1]! - ring[1]!) - (ring[j]! - ring[0]!) * (ring[i + 1]! - ring[1]!);
  }
  return sum;
}

// Items sorted into numbered buckets and kept in one flat list: the index after every search over many lines, whose
// buckets are cells of a grid, rows of it, vertices or faces.

/** The items of bucket b are `items[starts[b]]` to `items[starts[b + 1] - 1]`, in ascending order. */
export class Buckets {
  readonly starts: Int32Array;
  readonly items: Int32Array;

  constructor(
    readonly count: number,
    itemCount: number,
    bucketsOf: (item: number, visit: (bucket: number) => void) => void,
  ) {
    const starts = new Int32Array(count + 1);
    for (let i = 0; i < itemCount; i++) bucketsOf(i, (bucket) => starts[bucket + 1]!++);
    for (let b = 0; b < count; b++) starts[b + 1]! += starts[b]!;
    this.items = new Int32Array(starts[count]!);
    const next = starts.slice();
    for (let i = 0; i < itemCount; i++) {
      bucketsOf(i, (bucket) => {
        this.items[next[bucket]!++] = i;
      });
    }
    this.starts = starts;
  }
}

/** Every cell of a square grid that a line comes within one step of. */
export function cellsOfLine(
  lines: Int32Array,
  line: number,
  west: number,
  south: number,
  cell: number,
  visit: (column: number, row: number) => void,
): void {
  const i = line * 4;
  const up = lines[i + 1]! <= lines[i + 3]!;
  const x0 = (up ? lines[i]! : lines[i + 2]!) - west;
  const y0 = (up ? lines[i + 1]! : lines[i + 3]!) - south;
  const x1 = (up ? lines[i + 2]! : lines[i]!) - west;
  const y1 = (up ? lines[i + 3]! : lines[i + 1]!) - south;
  const low = Math.max(0, Math.floor((y0 - 1) / cell));
  const high = Math.floor((y1 + 1) / cell);
  for (let row = low; row <= high; row++) {
    const from = Math.max(y0, row * cell - 1);
    const to = Math.min(y1, (row + 1) * cell + 1);
    const xa = y1 === y0 ? x0 : x0 + ((from - y0) / (y1 - y0)) * (x1 - x0);
    const xb = y1 === y0 ? x1 : x0 + ((to - y0) / (y1 - y0)) * (x1 - x0);
    const first = Math.max(0, Math.floor((Math.min(xa, xb) - 1) / cell));
    const last = Math.floor((Math.max(xa, xb) + 1) / cell);
    for (let column = first; column <= last; column++) visit(column, row);
  }
}
