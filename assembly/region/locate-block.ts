// Admin numbers of a block of points, those that unitAt() finds one by one, in passes: the grid positions of all points
// in the grid, four at a time; their tiles; the cells of points in mixed tiles; the crossings of points whose cells
// list segments. No load of a pass waits for another one, so the processor has many cache misses under way at a time.

import { NO_ADMIN } from "../hexcode/admin";
import { INDEX } from "../memory";
import { ADMIN_NUMBERS, CELLS, CROSSINGS, MIXED_POINTS, GRID_U, GRID_V, TILES } from "../scratch";
import { AT_ADMINS, CELL_BITS, EFFECT_BITS, EFFECT_MASK, MIXED, OUTSIDE, SEGMENT_BYTES, TILE_BITS, tilesOf } from "./layout";
import { cells, columns, east, records, rows, south, tiles } from "./grid-state";
import { adminOf, unitAt } from "./locate";

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
