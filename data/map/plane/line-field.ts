// Rings in a spatial hash: which tag holds a place, and how far the nearest line is. Places are in steps of the
// vertex grid; distances in metres on the plane that touches the sphere at the asking place (a degree of
// longitude shrunk by cos latitude), good to 0.1 % over the 50 km asked for here.
import { type Ring, STEPS_PER_DEGREE } from '../sources.js';

export interface TaggedRing {
  readonly tag: number;
  readonly ring: Ring;
}

/** Lines x0, y0, x1, y1 in steps, each with a tag; what has the tag is on the left. */
export interface TaggedLines {
  readonly lines: Int32Array;
  readonly tags: Int16Array;
}

export interface Nearest {
  distanceM: number;
  tag: number;
}

/** The sphere of mean Earth radius: 111.195 km to a degree. */
export const METRES_PER_STEP = (6_371_008.8 * Math.PI) / 180 / STEPS_PER_DEGREE;

const CELL = 2000;
const ROW = 200;

/** cos of the latitude of a height in steps. */
export function shrink(y: number): number {
  return Math.cos((y / STEPS_PER_DEGREE) * (Math.PI / 180));
}

export class LineField {
  /** x0, y0, x1, y1 of every line. */
  readonly #lines: Int32Array;
  readonly #tags: Int16Array;
  readonly #west: number;
  readonly #south: number;
  readonly #columns: number;
  readonly #cellRows: number;
  readonly #cells: Buckets;
  readonly #rows: Buckets;
  readonly #windings = new Int16Array(256);

  static ofRings(rings: readonly TaggedRing[]): LineField {
    const { lines, tags } = taggedLinesOf(rings);
    return new LineField(lines, tags);
  }

  /** Lines that close no rings can only be asked for the nearest. Without tags all have tag 0. */
  constructor(lines: Int32Array, tags: Int16Array = new Int16Array(lines.length / 4)) {
    const count = tags.length;
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
    this.#lines = lines;
    this.#tags = tags;
    this.#west = west;
    this.#south = south;
    // One more than needed: a line on the last cell's edge is also put into the cell behind it.
    this.#columns = Math.floor((east - west) / CELL) + 2;
    this.#cellRows = Math.floor((north - south) / CELL) + 2;
    this.#rows = new Buckets(Math.floor((north - south) / ROW) + 1, count, (i, visit) => {
      const low = Math.min(lines[i * 4 + 1]!, lines[i * 4 + 3]!) - south;
      const high = Math.max(lines[i * 4 + 1]!, lines[i * 4 + 3]!) - south;
      for (let row = Math.floor(low / ROW); row <= Math.floor(high / ROW); row++) visit(row);
    });
    this.#cells = new Buckets(this.#columns * this.#cellRows, count, (i, visit) =>
      cellsOfLine(lines, i, west, south, CELL, (column, row) => visit(row * this.#columns + column)),
    );
  }

  /** The lowest tag with a ring around the place, or -1. */
  holderOf(x: number, y: number): number {
    let holder = -1;
    this.#wind(x, y, (tag) => {
      if (holder < 0 || tag < holder) holder = tag;
    });
    return holder;
  }

  /** Every tag with rings around the place, as often as they wind around it; ascending. */
  holdersOf(x: number, y: number): number[] {
    const holders: number[] = [];
    this.#wind(x, y, (tag, turns) => {
      for (let k = 0; k < Math.abs(turns); k++) holders.push(tag);
    });
    return holders.sort((a, b) => a - b);
  }

  /** The lowest tag with rings around the place that walk with it on their right, or -1: holes where nothing is. */
  reversedAt(x: number, y: number): number {
    let reversed = -1;
    this.#wind(x, y, (tag, turns) => {
      if (turns < 0 && (reversed < 0 || tag < reversed)) reversed = tag;
    });
    return reversed;
  }

  /** Visits each tag that winds around the place once. */
  #wind(x: number, y: number, visit: (tag: number, turns: number) => void): void {
    const row = Math.floor((y - this.#south) / ROW);
    if (row < 0 || row >= this.#rows.count) return;
    const windings = this.#windings;
    const lines = this.#lines;
    const { items, starts } = this.#rows;
    for (let k = starts[row]!; k < starts[row + 1]!; k++) {
      const i = items[k]! * 4;
      const y0 = lines[i + 1]!;
      const y1 = lines[i + 3]!;
      if (y0 > y === y1 > y) continue;
      const east = (lines[i]! - x) * (y1 - y0) + (y - y0) * (lines[i + 2]! - lines[i]!);
      if (y1 > y0 ? east > 0 : east < 0) windings[this.#tags[items[k]!]!]! += y1 > y0 ? 1 : -1;
    }
    for (let k = starts[row]!; k < starts[row + 1]!; k++) {
      const tag = this.#tags[items[k]!]!;
      if (windings[tag] === 0) continue;
      visit(tag, windings[tag]!);
      windings[tag] = 0;
    }
  }

  /** The nearest line not farther than the limit; null if there is none. */
  nearest(x: number, y: number, limitM: number): Nearest | null {
    const cos = shrink(y);
    const column = Math.floor((x - this.#west) / CELL);
    const row = Math.floor((y - this.#south) / CELL);
    const limit = limitM / METRES_PER_STEP;
    // Nothing outside the square of cells at Chebyshev distance k is nearer than k cells and this margin.
    const toEdge = Math.min(x - this.#west - column * CELL, (column + 1) * CELL - (x - this.#west));
    const toRow = Math.min(y - this.#south - row * CELL, (row + 1) * CELL - (y - this.#south));
    const margin = Math.min(toEdge * cos, toRow);
    let best = limit * limit;
    let bestLine = -1;
    for (let k = 0; ; k++) {
      const reached = k === 0 ? 0 : (k - 1) * CELL * cos + margin;
      if (reached * reached > best) break;
      const bottom = Math.max(row - k, 0);
      const top = Math.min(row + k, this.#cellRows - 1);
      for (let r = bottom; r <= top; r++) {
        const whole = r === row - k || r === row + k;
        for (let c = column - k; c <= column + k; c += whole ? 1 : Math.max(2 * k, 1)) {
          if (c < 0 || c >= this.#columns) continue;
          const cell = r * this.#columns + c;
          for (let n = this.#cells.starts[cell]!; n < this.#cells.starts[cell + 1]!; n++) {
            const line = this.#cells.items[n]!;
            const square = squareToLine(this.#lines, line * 4, x, y, cos);
            if (
              square < best ||
              (square === best && bestLine >= 0 && this.#leansTo(line, bestLine, x, y, cos))
            ) {
              best = square;
              bestLine = line;
            }
          }
        }
      }
    }
    if (bestLine < 0) return null;
    return { distanceM: Math.sqrt(best) * METRES_PER_STEP, tag: this.#tags[bestLine]! };
  }

  /**
   * Two lines of different tags are equally near where their common vertex is the nearest place of both: a whole
   * wedge of the plane. The line that leaves the vertex more towards the asking place wins, which halves it.
   */
  #leansTo(line: number, rival: number, x: number, y: number, cos: number): boolean {
    if (this.#tags[line] === this.#tags[rival]) return false;
    return lean(this.#lines, line * 4, x, y, cos) > lean(this.#lines, rival * 4, x, y, cos);
  }
}

/** Cosine of the angle at a line's nearer end between the line and the way to the place. */
function lean(lines: Int32Array, i: number, x: number, y: number, cos: number): number {
  const ax = (x - lines[i]!) * cos;
  const ay = y - lines[i + 1]!;
  const bx = (x - lines[i + 2]!) * cos;
  const by = y - lines[i + 3]!;
  const dx = (lines[i + 2]! - lines[i]!) * cos;
  const dy = lines[i + 3]! - lines[i + 1]!;
  const fromFirst = ax * ax + ay * ay <= bx * bx + by * by;
  return (
    (fromFirst ? ax * dx + ay * dy : -(bx * dx + by * dy)) /
    Math.hypot(dx, dy) /
    (fromFirst ? Math.hypot(ax, ay) : Math.hypot(bx, by))
  );
}

/** Square of the distance in steps of latitude. */
function squareToLine(lines: Int32Array, i: number, x: number, y: number, cos: number): number {
  const ax = (lines[i]! - x) * cos;
  const ay = lines[i + 1]! - y;
  const dx = (lines[i + 2]! - lines[i]!) * cos;
  const dy = lines[i + 3]! - lines[i + 1]!;
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : -(ax * dx + ay * dy) / length;
  // Ends are measured by themselves, so that lines with a common end are exactly equally far.
  if (along <= 0) return ax * ax + ay * ay;
  if (along >= 1) return ((lines[i + 2]! - x) * cos) ** 2 + (lines[i + 3]! - y) ** 2;
  const px = ax + along * dx;
  const py = ay + along * dy;
  return px * px + py * py;
}

/** Items in buckets, one flat list: the items of bucket b are `items[starts[b]] … items[starts[b + 1] - 1]`. */
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

/** The lines of open rings, all against the clock, so that one ring inside another of its tag adds up. */
export function taggedLinesOf(rings: readonly TaggedRing[]): TaggedLines {
  const count = rings.reduce((sum, { ring }) => sum + ring.length / 2, 0);
  const lines = new Int32Array(count * 4);
  const tags = new Int16Array(count);
  let line = 0;
  for (const { tag, ring } of rings) {
    const againstClock = ringArea(ring) >= 0;
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length;
      const [from, to] = againstClock ? [i, j] : [j, i];
      lines.set([ring[from]!, ring[from + 1]!, ring[to]!, ring[to + 1]!], line * 4);
      tags[line++] = tag;
    }
  }
  return { lines, tags };
}

export function linesOf(rings: readonly Ring[]): Int32Array {
  return taggedLinesOf(rings.map((ring) => ({ tag: 0, ring }))).lines;
}

/** Twice the area inside an open ring in square steps, positive against the clock. */
export function ringArea(ring: Ring): number {
  let sum = 0;
  for (let i = 0; i < ring.length; i += 2) {
    const j = (i + 2) % ring.length;
    sum +=
      (ring[i]! - ring[0]!) * (ring[j + 1]! - ring[1]!) - (ring[j]! - ring[0]!) * (ring[i + 1]! - ring[1]!);
  }
  return sum;
}
