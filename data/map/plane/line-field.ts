// Answers two questions about many lines: which tag's rings wind around a point, and how far the nearest line is.
// Points are in steps of the grid, which need not be whole; distances are in metres on the plane that touches the
// sphere at the point asked about (a step of longitude is shorter by the cosine of the latitude), within 0.1 % up to 50
// km.
import { Buckets, cellsOfLine, METRES_PER_STEP, type Ring, ringArea, shrink } from './grid.js';

// Lines and rings that carry a number, their tag: a former province, a province or an island, as the caller likes. A
// line is a straight segment between two grid points; the area that its tag names is on its left.

export interface TaggedRing {
  readonly tag: number;
  readonly ring: Ring;
}

export interface TaggedLines {
  /** x0, y0, x1, y1 of each line in steps. */
  readonly lines: Int32Array;
  readonly tags: Int16Array;
}

/**
 * The lines of open rings, each turned counter-clockwise. Rings of one tag that overlap wind twice around the overlap.
 */
export function taggedLinesOf(rings: readonly TaggedRing[]): TaggedLines {
  const count = rings.reduce((sum, { ring }) => sum + ring.length / 2, 0);
  const lines = new Int32Array(count * 4);
  const tags = new Int16Array(count);
  let line = 0;
  for (const { tag, ring } of rings) {
    const isCounterClockwise = ringArea(ring) >= 0;
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length;
      const [from, to] = isCounterClockwise ? [i, j] : [j, i];
      lines.set([ring[from]!, ring[from + 1]!, ring[to]!, ring[to + 1]!], line * 4);
      tags[line++] = tag;
    }
  }
  return { lines, tags };
}

/** The lines of open rings, turned likewise, without tags. */
export function linesOf(rings: readonly Ring[]): Int32Array {
  return taggedLinesOf(rings.map((ring) => ({ tag: 0, ring }))).lines;
}

export interface Nearest {
  distanceM: number;
  tag: number;
}

/** Steps; side of the square cells in which `nearest` looks. */
const CELL = 2000;
/** Steps; height of the rows in which windings are counted. */
const ROW = 200;
/** In place of a line that is not looked at yet: there is one at the best distance. */
const SOME_LINE = -2;

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
  /** Empty rings of cells around each cell, itself included, that have no line; 255 for any more. */
  readonly #emptyRings: Uint8Array;
  /** Turns of each tag around the point asked about; all zero between two questions. */
  readonly #windings = new Int16Array(256);
  /**
   * The line that `nearest` found last, or -1: the next point is mostly beside the last one, so its distance ends the
   * search early.
   */
  #lastNearest = -1;

  static ofRings(rings: readonly TaggedRing[]): LineField {
    const { lines, tags } = taggedLinesOf(rings);
    return new LineField(lines, tags);
  }

  /**
   * Without tags all lines have tag 0. Lines that do not close into rings, and tags above 255, are good for `nearest`
   * only.
   */
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
    // One more than the width needs: a line on the outer edge of the last cell is also put into the cell beyond it.
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
    this.#emptyRings = emptyRingsOf(this.#cells, this.#columns);
  }

  /** The lowest tag with a ring around the point, or -1. */
  holderOf(x: number, y: number): number {
    let holder = -1;
    this.#wind(x, y, (tag) => {
      if (holder < 0 || tag < holder) holder = tag;
    });
    return holder;
  }

  /** The tags whose rings wind around the point, ascending, each as often as they do. */
  holdersOf(x: number, y: number): number[] {
    const holders: number[] = [];
    this.#wind(x, y, (tag, turns) => {
      for (let k = 0; k < Math.abs(turns); k++) holders.push(tag);
    });
    return holders.sort((a, b) => a - b);
  }

  /** The lowest tag whose rings wind clockwise around the point, or -1: such is a hole outside its polygon. */
  reversedAt(x: number, y: number): number {
    let reversed = -1;
    this.#wind(x, y, (tag, turns) => {
      if (turns < 0 && (reversed < 0 || tag < reversed)) reversed = tag;
    });
    return reversed;
  }

  /**
   * Visits each tag with its winding number, where that is not 0: lines to the east of the point, upward less downward.
   */
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
      // How far east of the point the line crosses its latitude, times the height of the line, negative if it runs
      // down.
      const east = (lines[i]! - x) * (y1 - y0) + (y - y0) * (lines[i + 2]! - lines[i]!);
      if (y1 > y0 ? east > 0 : east < 0) windings[this.#tags[items[k]!]!]! += y1 > y0 ? 1 : -1;
    }
    // A second copy of the lines, to visit each tag once and to leave all windings at zero.
    for (let k = starts[row]!; k < starts[row + 1]!; k++) {
      const tag = this.#tags[items[k]!]!;
      if (windings[tag] === 0) continue;
      visit(tag, windings[tag]!);
      windings[tag] = 0;
    }
  }

  /** The nearest line, null if none is nearer than the limit. Searches rings of cells around the cell of the point. */
  nearest(x: number, y: number, limitM: number): Nearest | null {
    const cos = shrink(y);
    const column = Math.floor((x - this.#west) / CELL);
    const row = Math.floor((y - this.#south) / CELL);
    const limit = limitM / METRES_PER_STEP;
    // From the point to the nearest side of its own cell: a cell k cells away is k - 1 cells and this much away, or
    // more.
    const toEdge = Math.min(x - this.#west - column * CELL, (column + 1) * CELL - (x - this.#west));
    const toRow = Math.min(y - this.#south - row * CELL, (row + 1) * CELL - (y - this.#south));
    const margin = Math.min(toEdge * cos, toRow);
    const { starts, items } = this.#cells;
    let best = limit * limit;
    let bestLine = -1;
    if (this.#lastNearest >= 0) {
      // Only its distance counts: of lines at the same distance, the order of the cells decides below.
      const square = squareToLine(this.#lines, this.#lastNearest * 4, x, y, cos);
      if (square < best) {
        best = square;
        bestLine = SOME_LINE;
      }
    }
    const isInside = column >= 0 && column < this.#columns && row >= 0 && row < this.#cellRows;
    const firstRing = isInside ? this.#emptyRings[row * this.#columns + column]! : 0;
    for (let k = firstRing; ; k++) {
      const reached = k === 0 ? 0 : (k - 1) * CELL * cos + margin;
      if (reached * reached > best) break;
      const bottom = Math.max(row - k, 0);
      const top = Math.min(row + k, this.#cellRows - 1);
      for (let r = bottom; r <= top; r++) {
        // Rows between the lowest and the highest have only their two outer cells in the ring.
        const isWholeRow = r === row - k || r === row + k;
        const first = isWholeRow ? Math.max(column - k, 0) : column - k;
        const last = Math.min(column + k, this.#columns - 1);
        for (let c = first; c <= last; c += isWholeRow ? 1 : 2 * k) {
          if (c < 0) continue;
          const cell = r * this.#columns + c;
          for (let n = starts[cell]!; n < starts[cell + 1]!; n++) {
            const line = items[n]!;
            const square = squareToLine(this.#lines, line * 4, x, y, cos);
            if (square > best || (square === best && !this.#leansTo(line, bestLine, x, y, cos))) continue;
            best = square;
            bestLine = line;
          }
        }
      }
    }
    if (bestLine === -1) return null;
    // The search may end before the cells of the last answer's line, where no other line is nearer.
    if (bestLine === SOME_LINE) bestLine = this.#lastNearest;
    this.#lastNearest = bestLine;
    return { distanceM: Math.sqrt(best) * METRES_PER_STEP, tag: this.#tags[bestLine]! };
  }

  /**
   * Breaks a tie. Where the nearest point of two lines is the vertex they share, both are equally far from a whole
   * wedge of the plane. The line that makes the smaller angle with the direction to the point wins, which cuts the
   * wedge in half.
   */
  #leansTo(line: number, rival: number, x: number, y: number, cos: number): boolean {
    if (rival < 0) return rival === SOME_LINE;
    if (this.#tags[line] === this.#tags[rival]) return false;
    return lean(this.#lines, line * 4, x, y, cos) > lean(this.#lines, rival * 4, x, y, cos);
  }
}

/** Empty rings by cell, from cells with lines outward: each has one more than the least of the eight around it. */
function emptyRingsOf({ starts, count }: Buckets, columns: number): Uint8Array {
  const rings = new Uint8Array(count).fill(255);
  let edge: number[] = [];
  const reach = (cell: number, k: number): void => {
    if (rings[cell]! <= k) return;
    rings[cell] = k;
    edge.push(cell);
  };
  for (let cell = 0; cell < count; cell++) if (starts[cell]! < starts[cell + 1]!) reach(cell, 0);
  for (let k = 1; k < 255 && edge.length > 0; k++) {
    const inner = edge;
    edge = [];
    for (const cell of inner) {
      const column = cell % columns;
      for (let r = cell - column - columns; r <= cell - column + columns; r += columns) {
        if (r < 0 || r >= count) continue;
        for (let c = Math.max(column - 1, 0); c <= Math.min(column + 1, columns - 1); c++) reach(r + c, k);
      }
    }
  }
  return rings;
}

/**
 * Cosine of the angle, at the end of a line that is nearer to the point, between the line and the direction to the
 * point.
 */
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

/** Squared distance of a point from a line, in squared steps of latitude. */
function squareToLine(lines: Int32Array, i: number, x: number, y: number, cos: number): number {
  const ax = (lines[i]! - x) * cos;
  const ay = lines[i + 1]! - y;
  const dx = (lines[i + 2]! - lines[i]!) * cos;
  const dy = lines[i + 3]! - lines[i + 1]!;
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : -(ax * dx + ay * dy) / length;
  // Beyond an end the distance is that of the vertex alone, so lines that share it are at exactly the same distance.
  if (along <= 0) return ax * ax + ay * ay;
  if (along >= 1) return ((lines[i + 2]! - x) * cos) ** 2 + (lines[i + 3]! - y) ** 2;
  const px = ax + along * dx;
  const py = ay + along * dy;
  return px * px + py * py;
}
