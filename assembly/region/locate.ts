// A point's unit: OUTSIDE, XOR (left ^ right) of every segment that spans the point's row, half-open (y0 > y) != (y1 >
// y), and lies strictly east of it. grid.ts cuts this sum down to the segments of one cell, with the same result for
// every integer point. Everything is integer and exact.

import { ADMIN_NUMBERS, CELLS, CROSSINGS, GRID_U, GRID_V, INDEX, MIXED_POINTS, TILES } from "../memory";
import {
  AT_ADMINS, CELL_BITS, EFFECT_BITS, EFFECT_MASK, MEMORY_LIMIT, MIXED, OUTSIDE, SEGMENT_BYTES, TILE_BITS, tilesOf,
} from "./layout";
import { NO_ADMIN } from "../hexcode/admin";

// The grid in use: where its tables lie and which part of the map it covers. load.ts and grid.ts fill it.

/** The south-east corner of the box, micro-degrees. */
export let east: i32 = 0;
export let south: i32 = 0;
/** Cells of the grid to the west and to the north; no columns: no grid, and every point is outside. */
export let columns: u32 = 0;
export let rows: u32 = 0;
/** Addresses: u32 of each cell, records of 16 bytes, u8 of each tile (grid.ts). */
export let cells: usize = 0;
export let records: usize = 0;
export let tiles: usize = 0;

/** Takes a finished grid into use. */
export function useGrid(
  eastMicro: i32, southMicro: i32, columnCount: u32, rowCount: u32, cellsAt: usize, recordsAt: usize,
  tilesAt: usize,
): void {
  east = eastMicro;
  south = southMicro;
  columns = columnCount;
  rows = rowCount;
  cells = cellsAt;
  records = recordsAt;
  tiles = tilesAt;
}

/** Leaves the kernel without a grid. */
export function dropGrid(): void {
  useGrid(0, 0, 0, 0, 0, 0, 0);
}

/** Grows the memory up to an address; false where the index would take more than `limit` or the host gives no more. */
export function reserve(end: usize, limit: u32 = MEMORY_LIMIT): bool {
  if (end - INDEX > limit) return false;
  const pages = <i32>((end + 0xffff) >> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

// Points are measured from the south-east corner of the box: u to the west, v to the north, so "strictly east"
// reads U(v) < u, and a point beyond any side of the box fails one unsigned comparison.

/** Unit at a position in degrees, rounded once to micro-degrees; OUTSIDE for every other position and NaN. */
export function unitAt(latDeg: f64, lngDeg: f64): u32 {
  const u = <u32>(east - <i32>floor<f64>(lngDeg * 1e6 + 0.5));
  const v = <u32>(<i32>floor<f64>(latDeg * 1e6 + 0.5) - south);
  const column = u >> CELL_BITS;
  const row = v >> CELL_BITS;
  if (column >= columns || row >= rows) return OUTSIDE;
  // A cell is u32: its first record << 6 | its base; its records end where those of the next cell begin.
  const pair = load<u64>(cells + ((row * columns + column) << 2));
  let unit = <u32>pair & EFFECT_MASK;
  let at = records + (<usize>((<u32>pair) >> EFFECT_BITS)) * SEGMENT_BYTES;
  const end = records + (<usize>(pair >> (32 + EFFECT_BITS))) * SEGMENT_BYTES;
  for (; at < end; at += SEGMENT_BYTES) {
    // No branch on whether the segment counts: close to borders that is a coin toss (52 ns a point with one, 43
    // without).
    const t = v - load<u32>(at, 4);
    const spanAndEffect = load<u32>(at, 12);
    const dv = spanAndEffect >> EFFECT_BITS;
    const counts = <u32>(t < dv) & <u32>(<i64>(<i32>u - load<i32>(at)) * <i64>dv > <i64>load<i32>(at, 8) * <i64>t);
    unit ^= spanAndEffect & EFFECT_MASK & (0 - counts);
  }
  return unit;
}

/**
 * The admin number of a unit; NO_ADMIN for OUTSIDE, also where the file at INDEX was refused and its table is anything.
 */
export function adminOf(unit: u32): u32 {
  return unit >= OUTSIDE ? NO_ADMIN : load<u8>(INDEX + AT_ADMINS + unit);
}

// Admin numbers of a block of points, those that unitAt() finds one by one, in passes: the grid positions of all points
// in the grid, four at a time; their tiles; the cells of points in mixed tiles; the crossings of points whose cells
// list segments. No load of a pass waits for another one, so the processor has many cache misses under way at a time.

/** The tile that points beyond the grid are given. */
const NOWHERE: usize = memory.data<u8>([<u8>OUTSIDE]);

/**
 * f64 constants: micro-degrees in a degree; 0.5; the bounds of i32; 2⁵² + 2⁵¹ (a sum with an integer ends in its 32
 * bits).
 */
const MICRO: usize = memory.data<f64>([1e6, 0.5, 2147483647, -2147483648, 6755399441055744]);
const HALF: usize = MICRO + 8;
const MOST: usize = MICRO + 16;
const LEAST: usize = MICRO + 24;
const ROUNDER: usize = MICRO + 32;

/** Values of the grid, each as i32 × 4. */
const GRID: usize = memory.data(8 * 16, 16);
const EAST: usize = GRID;
const SOUTH: usize = GRID + 16;
const COLUMNS: usize = GRID + 32;
const ROWS: usize = GRID + 48;
const FIRST_CELL: usize = GRID + 64;
const TILE_COLUMNS: usize = GRID + 80;
const FIRST_TILE: usize = GRID + 96;
const NO_TILE: usize = GRID + 112;

/**
 * Two numbers of degrees → whole micro-degrees, rounded as in unitAt(), in the low 32 bits of each. Numbers beyond i32,
 * and NaN, become a bound of i32, which lies beyond every grid. Cheaper than WebAssembly's saturating conversion.
 */
// @ts-ignore: decorator
@inline
function micro(deg: v128): v128 {
  const scaled = f64x2.add(f64x2.mul(deg, v128.load64_splat(MICRO)), v128.load64_splat(HALF));
  const whole = f64x2.pmax(f64x2.pmin(v128.load64_splat(MOST), f64x2.floor(scaled)), v128.load64_splat(LEAST));
  return f64x2.add(whole, v128.load64_splat(ROUNDER));
}

/** Two points (f64 latDeg, f64 lngDeg) as i32 lat, lat, lng, lng in micro-degrees. */
// @ts-ignore: decorator
@inline
export function microPair(points: usize): v128 {
  const first = v128.load(points);
  const second = v128.load(points, 16);
  const lat = micro(v128.shuffle<f64>(first, second, 0, 2));
  const lng = micro(v128.shuffle<f64>(first, second, 1, 3));
  return v128.shuffle<i32>(lat, lng, 0, 2, 4, 6);
}

/**
 * Writes the admin number that the tile gives to the point at `n`, and `n` itself to `mixed`. Returns the address for
 * the next mixed point: after `mixed` if the tile is mixed, else `mixed` again.
 */
// @ts-ignore: decorator
@inline
function askTile(n: usize, mixed: usize): usize {
  const unit = <u32>load<u8>(load<u32>(TILES + n));
  store<u32>(ADMIN_NUMBERS + n, <u32>load<u8>(<usize>unit, INDEX + AT_ADMINS));
  store<u32>(mixed, <u32>n);
  return mixed + (<usize>(unit == MIXED) << 2);
}

/**
 * Points (f64 latDeg, f64 lngDeg), at most BLOCK_POINTS, → ADMIN_NUMBERS, u32 each, NO_ADMIN outside. Reads up to three
 * points beyond the last one.
 */
export function locateBlock(points: usize, count: u32): void {
  if (!ASC_FEATURE_SIMD) {
    for (let n: usize = 0, end = <usize>count << 2; n < end; n += 4, points += 16) {
      store<u32>(ADMIN_NUMBERS + n, adminOf(unitAt(load<f64>(points), load<f64>(points, 8))));
    }
    return;
  }
  if (columns == 0) {
    for (let n: u32 = 0; n < count; n++) store<u32>(ADMIN_NUMBERS + 4 * n, NO_ADMIN);
    return;
  }
  v128.store(EAST, i32x4.splat(east));
  v128.store(SOUTH, i32x4.splat(south));
  v128.store(COLUMNS, i32x4.splat(columns));
  v128.store(ROWS, i32x4.splat(rows));
  v128.store(FIRST_CELL, i32x4.splat(<i32>cells));
  v128.store(TILE_COLUMNS, i32x4.splat(tilesOf(columns)));
  v128.store(FIRST_TILE, i32x4.splat(<i32>tiles));
  v128.store(NO_TILE, i32x4.splat(<i32>NOWHERE));
  const bytes = <usize>(count << 2);
  for (let n: usize = 0; n < bytes; n += 16, points += 64) {
    const low = microPair(points);
    const high = microPair(points + 32);
    const u = i32x4.sub(v128.load(EAST), v128.shuffle<i64>(low, high, 1, 3));
    const v = i32x4.sub(v128.shuffle<i64>(low, high, 0, 2), v128.load(SOUTH));
    const column = i32x4.shr_u(u, CELL_BITS);
    const row = i32x4.shr_u(v, CELL_BITS);
    const inside = v128.and(i32x4.lt_u(column, v128.load(COLUMNS)), i32x4.lt_u(row, v128.load(ROWS)));
    const tile = i32x4.add(
      i32x4.add(i32x4.mul(i32x4.shr_u(row, TILE_BITS), v128.load(TILE_COLUMNS)), i32x4.shr_u(column, TILE_BITS)),
      v128.load(FIRST_TILE),
    );
    const cell = i32x4.add(i32x4.shl(i32x4.add(i32x4.mul(row, v128.load(COLUMNS)), column), 2), v128.load(FIRST_CELL));
    v128.store(GRID_U + n, u);
    v128.store(GRID_V + n, v);
    v128.store(CELLS + n, cell);
    v128.store(TILES + n, v128.bitselect(tile, v128.load(NO_TILE), inside));
  }

  // the last four may hold up to three points beyond `count`, whose answers nobody reads
  let mixed = MIXED_POINTS;
  for (let n: usize = 0; n < bytes; n += 16) {
    mixed = askTile(n, mixed);
    mixed = askTile(n + 4, mixed);
    mixed = askTile(n + 8, mixed);
    mixed = askTile(n + 12, mixed);
  }

  let crossing = CROSSINGS;
  for (let next = MIXED_POINTS; next < mixed; next += 4) {
    const n = <usize>load<u32>(next);
    const pair = load<u64>(load<u32>(CELLS + n));
    store<u32>(ADMIN_NUMBERS + n, <u32>load<u8>(INDEX + AT_ADMINS + (<usize>pair & EFFECT_MASK)));
    store<u64>(crossing, pair);
    store<u32>(crossing, <u32>n, 8);
    // written over by the next point unless the cell lists segments
    crossing += <usize>(<u32>pair >> EFFECT_BITS != <u32>(pair >> (32 + EFFECT_BITS))) << 4;
  }
  // brings the first segment of each into the cache; nobody reads the stored value
  for (let next = CROSSINGS; next < crossing; next += 16) {
    store<u32>(next, load<u32>(records + (<usize>(load<u32>(next) >> EFFECT_BITS)) * SEGMENT_BYTES), 12);
  }

  for (let next = CROSSINGS; next < crossing; next += 16) {
    const pair = load<u64>(next);
    const n = <usize>load<u32>(next, 8);
    const u = load<i32>(GRID_U + n);
    const v = load<u32>(GRID_V + n);
    let unit = <u32>pair & EFFECT_MASK;
    let at = records + (<usize>(<u32>pair >> EFFECT_BITS)) * SEGMENT_BYTES;
    const end = records + (<usize>(pair >> (32 + EFFECT_BITS))) * SEGMENT_BYTES;
    for (; at < end; at += SEGMENT_BYTES) {
      const t = v - load<u32>(at, 4);
      const spanAndEffect = load<u32>(at, 12);
      const dv = spanAndEffect >> EFFECT_BITS;
      const counts = <u32>(t < dv) & <u32>(<i64>(u - load<i32>(at)) * <i64>dv > <i64>load<i32>(at, 8) * <i64>t);
      unit ^= spanAndEffect & EFFECT_MASK & (0 - counts);
    }
    store<u32>(ADMIN_NUMBERS + n, <u32>load<u8>(INDEX + AT_ADMINS + <usize>unit));
  }
}
