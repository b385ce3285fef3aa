// Draws the lines between the values of a function that is known at places only (marching squares for any
// number of values): a square whose corners differ gets a line between the crossings on its sides, which are
// found by halving to one step; three or more crossings meet in the middle. Each crossing is the same for both
// squares beside it, so the lines close by themselves.

/** Steps; 55 m of latitude. */
const SQUARE = 50;
/** The first look at the map, in squares: what lies wholly between these places is not seen, */
const COARSE = 40;
/** except where the caller wants a closer look. */
const CLOSE = 2;

export interface ContourBox {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** How far from the middle of a block of the first look its corners are, in steps. */
export const BLOCK_RADIUS = Math.ceil((COARSE * SQUARE) / Math.SQRT2);

/**
 * The lines in x0, y0, x1, y1 steps. Squares with `quiet` at all corners are passed over: the caller has exact
 * lines for them. Blocks with `detailed` in their middle are looked at closely.
 */
export function contour(
  box: ContourBox,
  valueAt: (x: number, y: number) => number,
  quiet: (x: number, y: number, value: number) => boolean,
  detailed: (x: number, y: number) => boolean,
): Int32Array {
  const west = Math.floor(box.west / SQUARE / COARSE) * COARSE;
  const south = Math.floor(box.south / SQUARE / COARSE) * COARSE;
  const columns = Math.ceil((box.east / SQUARE - west) / COARSE) * COARSE;
  const rows = Math.ceil((box.north / SQUARE - south) / COARSE) * COARSE;
  const width = columns + 1;
  const values = new Map<number, number>();
  const quiets = new Map<number, boolean>();
  const crossings = new Map<number, number>();

  function at(column: number, row: number): number {
    const key = row * width + column;
    let value = values.get(key);
    if (value === undefined) {
      value = valueAt((west + column) * SQUARE, (south + row) * SQUARE);
      values.set(key, value);
    }
    return value;
  }

  function isQuiet(column: number, row: number): boolean {
    const key = row * width + column;
    let answer = quiets.get(key);
    if (answer === undefined) {
      answer = quiet((west + column) * SQUARE, (south + row) * SQUARE, at(column, row));
      quiets.set(key, answer);
    }
    return answer;
  }

  /** Steps from the first corner of a side to the first place that no longer has its value. */
  function crossing(column: number, row: number, upward: 0 | 1): number {
    const key = (row * width + column) * 2 + upward;
    const known = crossings.get(key);
    if (known !== undefined) return known;
    const first = at(column, row);
    const x = (west + column) * SQUARE;
    const y = (south + row) * SQUARE;
    let low = 0;
    let high = SQUARE;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const value = upward ? valueAt(x, y + middle) : valueAt(x + middle, y);
      if (value === first) low = middle;
      else high = middle;
    }
    crossings.set(key, high);
    return high;
  }

  const lines: number[] = [];
  const seen = new Set<number>();
  const waiting: number[] = [];
  const push = (column: number, row: number) => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    const key = row * width + column;
    if (!seen.has(key)) {
      seen.add(key);
      waiting.push(key);
    }
  };

  function draw(column: number, row: number): void {
    const a = at(column, row);
    const b = at(column + 1, row);
    const c = at(column + 1, row + 1);
    const d = at(column, row + 1);
    if (a === b && b === c && c === d) return;
    if (
      isQuiet(column, row) &&
      isQuiet(column + 1, row) &&
      isQuiet(column + 1, row + 1) &&
      isQuiet(column, row + 1)
    )
      return;
    const x = (west + column) * SQUARE;
    const y = (south + row) * SQUARE;
    const ends: number[] = [];
    if (a !== b) {
      ends.push(x + crossing(column, row, 0), y);
      push(column, row - 1);
    }
    if (b !== c) {
      ends.push(x + SQUARE, y + crossing(column + 1, row, 1));
      push(column + 1, row);
    }
    if (d !== c) {
      ends.push(x + crossing(column, row + 1, 0), y + SQUARE);
      push(column, row + 1);
    }
    if (a !== d) {
      ends.push(x, y + crossing(column, row, 1));
      push(column - 1, row);
    }
    if (ends.length === 4) lines.push(ends[0]!, ends[1]!, ends[2]!, ends[3]!);
    else {
      for (let i = 0; i < ends.length; i += 2)
        lines.push(ends[i]!, ends[i + 1]!, x + SQUARE / 2, y + SQUARE / 2);
    }
  }

  /** Starts where the ends of a long side differ: halves it down to one square's side. */
  function start(column: number, row: number, dc: 0 | 1, dr: 0 | 1, length: number): void {
    const first = at(column, row);
    if (first === at(column + dc * length, row + dr * length)) return;
    let low = 0;
    let high = length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (at(column + dc * middle, row + dr * middle) === first) low = middle;
      else high = middle;
    }
    push(column + dc * low, row + dr * low);
    push(column + dc * low - dr, row + dr * low - dc);
  }

  function look(column: number, row: number, size: number, length: number): void {
    for (let r = row; r <= row + size; r += length) {
      for (let c = column; c <= column + size; c += length) {
        if (c < column + size) start(c, r, 1, 0, length);
        if (r < row + size) start(c, r, 0, 1, length);
      }
    }
  }

  for (let row = 0; row < rows; row += COARSE) {
    for (let column = 0; column < columns; column += COARSE) {
      const x = (west + column + COARSE / 2) * SQUARE;
      const y = (south + row + COARSE / 2) * SQUARE;
      look(column, row, COARSE, detailed(x, y) ? CLOSE : COARSE);
    }
  }
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
    draw(key % width, Math.floor(key / width));
  return withoutPoints(lines);
}

function withoutPoints(lines: readonly number[]): Int32Array {
  const kept: number[] = [];
  for (let i = 0; i < lines.length; i += 4) {
    if (lines[i] !== lines[i + 2] || lines[i + 1] !== lines[i + 3])
      kept.push(lines[i]!, lines[i + 1]!, lines[i + 2]!, lines[i + 3]!);
  }
  return Int32Array.from(kept);
}
