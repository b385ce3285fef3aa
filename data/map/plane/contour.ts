// Draws the lines between the different values of a function of the plane that can only be asked point by point:
// marching squares for any number of values. Where the corners of a square differ, the change on each side is found by
// bisection to one step; two such crossings are joined by a line, three or four are joined to the middle of the square.
// Both squares beside a side use the same crossing, so lines join up from square to square.

/** Steps; 55 m of latitude. */
const SQUARE = 50;
/**
 * Squares; the spacing of the first samples. Lines are followed from where two of these differ, so a patch of another
 * value that lies wholly between them is missed.
 */
const COARSE = 40;
/** Squares; the spacing of the first samples in the blocks that the caller calls detailed. */
const CLOSE = 2;

interface ContourBox {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Steps from the middle of a block of COARSE by COARSE squares to its corners. */
export const BLOCK_RADIUS = Math.ceil((COARSE * SQUARE) / Math.SQRT2);

/**
 * The lines, x0, y0, x1, y1 in steps.
 *
 * @param box in steps; enlarged to whole blocks
 * @param quiet squares where this holds at all four corners get no lines: the caller has exact ones for them
 * @param detailed blocks where this holds in the middle are sampled closely
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
  // Values that were requested before, by corner (row and column of squares) and, for crossings, by side.
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

  /** Steps from the first corner of a side to the first point found to have another value. */
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
  // Squares that have been reached, and those of them that are still to be drawn.
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

  /** Draws one square; a line that leaves it leads to the square beyond that side. */
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

  /** Where two samples of a row or column differ, finds by bisection a side of one square whose corners differ. */
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

  /** Compares the samples of one block, `length` squares apart, with their neighbours east and north. */
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
