// Builds the grid over the segments. The sum of locate.ts, for the points of one cell (a square of 2^CELL_BITS
// micro-degrees), has two parts. Segments that cross one of the cell's rows inside it are listed. All other segments
// east of the cell add an amount that depends on the row alone: a base value for the cell's first row, and changes at
// some rows. Each change is listed as a *virtual* segment, upright, just east of the cell, from that row to the cell's
// top.

import { SCRATCH } from "../memory";
import { reserve, useGrid } from "./locate";
import {
  ACCEPTED, CELL_BITS, EFFECT_BITS, EFFECT_MASK, MEMORY_LIMIT, MIXED, OUTSIDE, REFUSED_MEMORY, REFUSED_OPEN,
  SEGMENT_BYTES, TILE_BITS, tilesOf,
} from "./layout";

// The cells of a band, which is a row of cells, are walked from east to west. SUM is what the segments add east of the
// cell's eastern edge, as a list of changes by row; REST is the part of it that the cell does not list. Every crossing
// of a segment and an edge is an exact integer division. West of the last cell each row must be outside again, or some
// line is open.
//
// Memory after the segments: cells u32 × (count + 1) · ids u32 × touches, later tiles · records of 16 bytes (layout.ts)

const CELL: i32 = 1 << CELL_BITS;
/** Cells of a tile's row: one v128. */
const TILE: u32 = 1 << TILE_BITS;

// Changes in a band, u32 row << 6 | effect, ascending. Only data that is not a partition has thousands of them.
const SUM: usize = SCRATCH;
const REST: usize = SCRATCH + 0x4000;
const CHANGES_LIMIT: u32 = 0xfff;

/** The address after the last grid. */
export let gridEnd: usize = 0;

/** Builds the grid over the segments, which lie wholly in the box, and takes it into use: ACCEPTED, or a refusal. */
export function buildGrid(
  segments: usize, segmentCount: u32, east: i32, south: i32, width: u32, height: u32,
): u32 {
  const columns = (width >> CELL_BITS) + 1;
  const rows = (height >> CELL_BITS) + 1;
  const cellCount = columns * rows;
  const cells = segments + <usize>segmentCount * SEGMENT_BYTES;
  const ids = cells + (<usize>(cellCount + 1) << 2);
  if (!reserve(ids)) return REFUSED_MEMORY;
  memory.fill(cells, 0, (<usize>(cellCount + 1)) << 2);

  const touches = countTouches(segments, segmentCount, columns, cells);
  if (touches > MEMORY_LIMIT >> 2) return REFUSED_MEMORY;
  const tileCount = tilesOf(columns) * tilesOf(rows);
  const records = (ids + max(<usize>touches << 2, <usize>tileCount) + 15) & ~15;
  if (!reserve(records)) return REFUSED_MEMORY;
  listTouches(segments, segmentCount, columns, cells, cellCount, ids);

  const refusal = writeRecords(segments, columns, rows, cells, ids, records);
  if (refusal == ACCEPTED) {
    // the ids are no longer needed: the tiles go where they were
    writeTiles(cells, columns, rows, ids);
    useGrid(east, south, columns, rows, cells, records, ids);
  }
  return refusal;
}

/** Cells → tiles, u8 each: the unit of all points of the tile where its cells list no segment and agree, else MIXED. */
function writeTiles(cells: usize, columns: u32, rows: u32, tiles: usize): void {
  const tileColumns = tilesOf(columns);
  let cell = cells;
  for (let row: u32 = 0; row < rows; row++) {
    let tile = tiles + (row >> TILE_BITS) * tileColumns;
    const first = (row & (TILE - 1)) == 0;
    for (let column: u32 = 0; column < columns; column += TILE, tile++) {
      const width = min(TILE, columns - column);
      const value = load<u32>(cell);
      const base = value & EFFECT_MASK;
      const next = cell + (<usize>width << 2);
      // a cell whose records begin where those of the next one do lists none
      let agree = load<u32>(next) >> EFFECT_BITS == value >> EFFECT_BITS;
      if (ASC_FEATURE_SIMD && width == TILE) {
        agree = agree && i32x4.all_true(i32x4.eq(v128.load(cell), i32x4.splat(value)));
      } else for (let other = cell + 4; other < next; other += 4) agree = agree && load<u32>(other) == value;
      if (!agree || (!first && base != load<u8>(tile))) store<u8>(tile, <u8>MIXED);
      else if (first) store<u8>(tile, <u8>base);
      cell = next;
    }
  }
}

let firstColumn: u32 = 0;
let lastColumn: u32 = 0;

/** Sets the columns of the cells in which a segment crosses rows of a band, by its crossings of the outermost rows. */
@inline
function findColumns(segment: usize, row: u32): void {
  const v0 = load<i32>(segment, 4);
  const du = <i64>load<i32>(segment, 8);
  const dv = <i32>(load<u32>(segment, 12) >> EFFECT_BITS);
  const low = max<i32>(0, <i32>(row << CELL_BITS) - v0);
  const high = min<i32>(dv - 1, <i32>((row + 1) << CELL_BITS) - 1 - v0);
  const u0 = load<i32>(segment);
  const a = <u32>(u0 + <i32>floorDivide(du * low, dv)) >> CELL_BITS;
  const b = <u32>(u0 + <i32>floorDivide(du * high, dv)) >> CELL_BITS;
  firstColumn = min<u32>(a, b);
  lastColumn = max<u32>(a, b);
}

@inline
function floorDivide(dividend: i64, divisor: i64): i64 {
  const quotient = dividend / divisor;
  return quotient - <i64>(quotient * divisor > dividend);
}

/**
 * Counts in each cell the segments that it will list; returns their sum, and stops as soon as it is beyond the limit.
 */
function countTouches(segments: usize, segmentCount: u32, columns: u32, cells: usize): u32 {
  let touches: u32 = 0;
  const end = segments + <usize>segmentCount * SEGMENT_BYTES;
  for (let segment = segments; segment < end; segment += SEGMENT_BYTES) {
    const v0 = load<u32>(segment, 4);
    const lastRow = (v0 + (load<u32>(segment, 12) >> EFFECT_BITS) - 1) >> CELL_BITS;
    for (let row = v0 >> CELL_BITS; row <= lastRow; row++) {
      findColumns(segment, row);
      for (let column = firstColumn; column <= lastColumn; column++) {
        const cell = cells + (<usize>(row * columns + column) << 2);
        store<u32>(cell, load<u32>(cell) + 1);
      }
      touches += lastColumn - firstColumn + 1;
      if (touches > MEMORY_LIMIT >> 2) return touches;
    }
  }
  return touches;
}

/**
 * Writes the numbers of the segments that each cell lists, cell by cell; afterwards a cell holds where its list ends.
 */
function listTouches(
  segments: usize, segmentCount: u32, columns: u32, cells: usize, cellCount: u32, ids: usize,
): void {
  let begin: u32 = 0;
  for (let cell = cells, end = cells + (<usize>cellCount << 2); cell < end; cell += 4) {
    // most cells list nothing: four at a time
    while (ASC_FEATURE_SIMD && cell + 16 <= end && !v128.any_true(v128.load(cell))) {
      v128.store(cell, i32x4.splat(begin));
      cell += 16;
    }
    if (cell >= end) break;
    const count = load<u32>(cell);
    store<u32>(cell, begin);
    begin += count;
  }
  for (let id: u32 = 0; id < segmentCount; id++) {
    const segment = segments + <usize>id * SEGMENT_BYTES;
    const v0 = load<u32>(segment, 4);
    const lastRow = (v0 + (load<u32>(segment, 12) >> EFFECT_BITS) - 1) >> CELL_BITS;
    for (let row = v0 >> CELL_BITS; row <= lastRow; row++) {
      findColumns(segment, row);
      for (let column = firstColumn; column <= lastColumn; column++) {
        const cell = cells + (<usize>(row * columns + column) << 2);
        const index = load<u32>(cell);
        store<u32>(ids + (<usize>index << 2), id);
        store<u32>(cell, index + 1);
      }
    }
  }
}

let base: u32 = 0;
let bandLow: i32 = 0;

/** Applies an effect to the rows low..high − 1 of the band: to `base` and the list of changes. Returns its length. */
function applyTo(list: usize, count: u32, low: i32, high: i32, effect: u32): u32 {
  low = max<i32>(low, bandLow);
  high = min<i32>(high, bandLow + CELL);
  if (low >= high) return count;
  if (low == bandLow) base ^= effect;
  else count = change(list, count, <u32>low, effect);
  return high == bandLow + CELL ? count : change(list, count, <u32>high, effect);
}

/** Adds a change at a row to an ascending list, where two of one row become one or none. Returns the new length. */
function change(list: usize, count: u32, row: u32, effect: u32): u32 {
  const begin = list;
  let at = list + (<usize>count << 2);
  while (at > begin && load<u32>(at - 4) >> EFFECT_BITS > row) at -= 4;
  const end = list + (<usize>count << 2);
  if (at > begin && load<u32>(at - 4) >> EFFECT_BITS == row) {
    const merged = load<u32>(at - 4) ^ effect;
    if (merged & EFFECT_MASK) {
      store<u32>(at - 4, merged);
      return count;
    }
    memory.copy(at - 4, at, end - at);
    return count - 1;
  }
  memory.copy(at + 4, at, end - at);
  store<u32>(at, (row << EFFECT_BITS) | effect);
  return count + 1;
}

/**
 * On which of its rows a segment lies east of u = edge, rows counted from its own v0: those before the result where it
 * leans west (du > 0) or is upright, those from the result on where it leans east.
 */
@inline
function turnAt(u0: i32, du: i32, dv: i32, edge: i32): i32 {
  if (du == 0) return u0 < edge ? dv : 0;
  // East at row t: u0 + du·t / dv < edge.
  const reach = (du > 0 ? <i64>edge - u0 : <i64>u0 - edge) * dv;
  if (du > 0) return reach <= 0 ? 0 : <i32>min<i64>((reach + du - 1) / du, dv);
  return reach < 0 ? 0 : <i32>min<i64>(reach / -<i64>du + 1, dv);
}

/** Writes the records of all cells, and in each cell its base and where its records begin. */
function writeRecords(
  segments: usize, columns: u32, rows: u32, cells: usize, ids: usize, records: usize,
): u32 {
  let at = records;
  let reserved = records;
  let cell = cells;
  let id = ids;
  for (let row: u32 = 0; row < rows; row++) {
    let sumBase = OUTSIDE;
    let sumCount: u32 = 0;
    bandLow = <i32>(row << CELL_BITS);
    for (let column: u32 = 0; column < columns; ++column, cell += 4) {
      const idsEnd = ids + (<usize>load<u32>(cell) << 2);
      const first = <u32>((at - records) / SEGMENT_BYTES) << EFFECT_BITS;
      if (id == idsEnd && sumCount == 0) {
        const value = first | sumBase;
        const lists = load<u32>(cell);
        store<u32>(cell, value);
        // and the cells west of it that list nothing either, four at a time
        while (
          ASC_FEATURE_SIMD && column + 4 < columns
          && i32x4.all_true(i32x4.eq(v128.load(cell, 4), i32x4.splat(lists)))
        ) {
          v128.store(cell, i32x4.splat(value), 4);
          column += 4;
          cell += 16;
        }
        continue;
      }
      const most = at + (<usize>(sumCount + CHANGES_LIMIT) * SEGMENT_BYTES + ((idsEnd - id) >> 2) * SEGMENT_BYTES * 3);
      if (most > reserved) {
        reserved = most + 0x40000;
        if (!reserve(reserved)) return REFUSED_MEMORY;
      }
      const edge = <i32>(column << CELL_BITS);
      memory.copy(REST, SUM, <usize>sumCount << 2);
      let restBase = sumBase;
      let restCount = sumCount;
      const listed = at;
      for (; id < idsEnd; id += 4) {
        const segment = segments + <usize>load<u32>(id) * SEGMENT_BYTES;
        const u0 = load<i32>(segment);
        const v0 = load<i32>(segment, 4);
        const du = load<i32>(segment, 8);
        const spanAndEffect = load<u32>(segment, 12);
        const dv = <i32>(spanAndEffect >> EFFECT_BITS);
        const effect = spanAndEffect & EFFECT_MASK;
        const turn = turnAt(u0, du, dv, edge);
        const nextTurn = turnAt(u0, du, dv, edge + CELL);
        if (turn == nextTurn) continue;
        if (restCount + 2 > CHANGES_LIMIT || sumCount + 2 > CHANGES_LIMIT) return REFUSED_OPEN;
        store<u64>(at, load<u64>(segment));
        store<u64>(at, load<u64>(segment, 8), 8);
        at += SEGMENT_BYTES;
        // SUM counts the rows on which the segment lies east of this cell. Its record counts them too, so REST leaves
        // them out.
        base = restBase;
        restCount = du < 0
          ? applyTo(REST, restCount, v0 + turn, v0 + dv, effect)
          : applyTo(REST, restCount, v0, v0 + turn, effect);
        restBase = base;
        base = sumBase;
        sumCount = applyTo(SUM, sumCount, v0 + min<i32>(turn, nextTurn), v0 + max<i32>(turn, nextTurn), effect);
        sumBase = base;
      }
      store<u32>(cell, first | restBase);
      // the virtual segments
      for (let i: u32 = 0; i < restCount; i++) {
        const rowAndEffect = load<u32>(REST + (<usize>i << 2));
        const low = <i32>(rowAndEffect >> EFFECT_BITS);
        store<i32>(at, edge - 1);
        store<i32>(at, low, 4);
        store<i32>(at, 0, 8);
        store<u32>(at, (<u32>(bandLow + CELL - low) << EFFECT_BITS) | (rowAndEffect & EFFECT_MASK), 12);
        at += SEGMENT_BYTES;
      }
    }
    if (sumBase != OUTSIDE || sumCount != 0) return REFUSED_OPEN;
  }
  store<u32>(cell, <u32>((at - records) / SEGMENT_BYTES) << EFFECT_BITS);
  gridEnd = at;
  return ACCEPTED;
}
