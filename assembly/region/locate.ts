// A point's unit: OUTSIDE, XOR (left ^ right) of every segment that spans the point's row, half-open (y0 > y) != (y1 >
// y), and lies strictly east of it. grid.ts cuts this sum down to the segments of one cell, with the same result for
// every integer point. Everything is integer and exact.

import { NO_ADMIN } from "../hexcode/admin";
import { INDEX } from "../memory";
import { cells, columns, east, records, rows, south } from "./grid-state";
import { AT_ADMINS, CELL_BITS, EFFECT_BITS, EFFECT_MASK, OUTSIDE, SEGMENT_BYTES } from "./layout";

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
