// The lines between two provinces, as the arcs of the file have them: level ones too, and none between two former
// provinces of one province or to the outside. load.ts notes them; tiles, which are made when a distance is first asked
// for, list them.

import { NO_ADMIN } from "../hexcode/admin";
import { INDEX } from "../memory";
import { AT_ADMINS, MEMORY_LIMIT, OUTSIDE } from "./layout";

/** Bytes of a line: i32 u0, v0 and du, dv to its other end, in micro-degrees from the south-east corner of the box. */
export const LINE_BYTES: usize = 16;
const SIDES_BYTES: usize = 2;

/**
 * Tiles of lines are squares of 2^LINE_TILE_BITS micro-degrees: 7.2 km of latitude, and beyond 5 km of longitude up to
 * MAX_LATITUDE. All lines within 5 km of a point then lie in its tile and the eight around it.
 */
export const LINE_TILE_BITS: u32 = 16;
export const MAX_LATITUDE_DEG: f64 = 45;

/**
 * The lines, and after the space for all segments of the file the provinces on either side of each: u8 left, u8 right.
 */
export let lines: usize = 0;
let sides: usize = 0;
export let lineCount: u32 = 0;
/** Entries of all tiles together. */
export let lineTouches: u32 = 0;

/** Begins with no line; returns the address after the space for `capacity` of them. */
export function startLines(at: usize, capacity: u32): usize {
  lines = at;
  sides = at + <usize>capacity * LINE_BYTES;
  lineCount = 0;
  lineTouches = 0;
  return (sides + <usize>capacity * SIDES_BYTES + 15) & ~15;
}

/** The admin number of a unit of an arc. */
// @ts-ignore: decorator
@inline
export function sideOf(unit: u32): u32 {
  return unit == OUTSIDE ? NO_ADMIN : <u32>load<u8>(INDEX + AT_ADMINS + <usize>unit);
}

/** Notes the line from (u, v) to (u + du, v + dv) between two provinces. */
export function addLine(u: i32, v: i32, du: i32, dv: i32, left: u32, right: u32): void {
  const line = lines + <usize>lineCount * LINE_BYTES;
  store<i32>(line, u);
  store<i32>(line, v, 4);
  store<i32>(line, du, 8);
  store<i32>(line, dv, 12);
  store<u16>(sides + <usize>lineCount * SIDES_BYTES, <u16>(left | (right << 8)));
  lineCount++;
  const touches = (lastTile(u, du) - firstTile(u, du) + 1) * (lastTile(v, dv) - firstTile(v, dv) + 1);
  // lines across the whole map, which only a damaged one has many of, would let it overflow
  lineTouches = min<u32>(lineTouches + touches, MEMORY_LIMIT);
}

/** The provinces on either side of a line: left | right << 8. */
export function sidesOf(line: u32): u32 {
  return load<u16>(sides + <usize>line * SIDES_BYTES);
}

/** The first and the last column (or row) of tiles in which a line lies that goes from `from` by `step`. */
// @ts-ignore: decorator
@inline
export function firstTile(from: i32, step: i32): u32 {
  return <u32>min<i32>(from, from + step) >> LINE_TILE_BITS;
}

// @ts-ignore: decorator
@inline
export function lastTile(from: i32, step: i32): u32 {
  return <u32>max<i32>(from, from + step) >> LINE_TILE_BITS;
}

/** Number of tiles over a width or height in micro-degrees. */
// @ts-ignore: decorator
@inline
export function lineTilesOver(sizeMicro: u32): u32 {
  return (sizeMicro >> LINE_TILE_BITS) + 1;
}

/**
 * Fills the tiles: `starts`, u32 for each tile and one more, and `ids`, u32 for each of the lineTouches: the lines of
 * tile n are ids[starts[n]] to ids[starts[n + 1] − 1].
 */
export function fillLineTiles(starts: usize, ids: usize, tileColumns: u32, tileRows: u32): void {
  const tiles = tileColumns * tileRows;
  memory.fill(starts, 0, (<usize>tiles + 1) << 2);
  // counts, then ends; filled from the last line to the first, each ends as a start
  for (let pass: u32 = 0; pass < 2; pass++) {
    for (let line = lineCount; line > 0;) {
      line--;
      const at = lines + <usize>line * LINE_BYTES;
      const u = load<i32>(at);
      const v = load<i32>(at, 4);
      const du = load<i32>(at, 8);
      const dv = load<i32>(at, 12);
      for (let row = firstTile(v, dv); row <= lastTile(v, dv); row++) {
        for (let column = firstTile(u, du); column <= lastTile(u, du); column++) {
          const tile = starts + (<usize>(row * tileColumns + column) << 2);
          if (pass == 0) {
            store<u32>(tile, load<u32>(tile) + 1);
          } else {
            const index = load<u32>(tile) - 1;
            store<u32>(tile, index);
            store<u32>(ids + (<usize>index << 2), line);
          }
        }
      }
    }
    if (pass == 0) {
      let end: u32 = 0;
      for (let tile: u32 = 0; tile <= tiles; tile++) {
        const at = starts + (<usize>tile << 2);
        end += load<u32>(at);
        store<u32>(at, end);
      }
    }
  }
}
