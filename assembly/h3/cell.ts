// H3 cell indexes: bits 59-62 mode (1 = cell), 52-55 resolution, 45-51 base cell, then fifteen digits of three
// bits, 7 where finer than the resolution. The careful path from position to cell lives here: H3's algorithm
// (_faceIjkToH3 of h3Index.c, H3 4.5, Copyright Uber Technologies, Inc., Apache License 2.0). It is the
// definition wherever a faster path is in doubt.

import { baseCellAt, homePosition } from "./faces";
import { cellI, cellJ, roundToCell, stepUp } from "./lattice";
import { planeFace, planeX, planeY, toPlane } from "./projection";

/** The domain: every point of it lies on faces 5 and 10, under base cells 32, 37, 50 and 52. Degrees, inclusive. */
export const DOMAIN_SOUTH_DEG: f64 = 5;
export const DOMAIN_NORTH_DEG: f64 = 25;
export const DOMAIN_WEST_DEG: f64 = 100;
export const DOMAIN_EAST_DEG: f64 = 119;

export const MAX_RESOLUTION: u32 = 15;

/** Fifteen digits of 7. */
const NO_DIGITS: u64 = 0x1fffffffffff;
const CELL_MODE: u64 = 1 << 59;

/** Whether the position lies in the domain; false for NaN. */
// @ts-ignore: decorator
@inline
export function inDomain(latDeg: f64, lngDeg: f64): bool {
  return latDeg >= DOMAIN_SOUTH_DEG && latDeg <= DOMAIN_NORTH_DEG
    && lngDeg >= DOMAIN_WEST_DEG && lngDeg <= DOMAIN_EAST_DEG;
}

/** The H3 cell of a position of the domain, resolution 0-15. */
export function carefulCellAt(latDeg: f64, lngDeg: f64, resolution: i32): u64 {
  toPlane(latDeg, lngDeg, resolution);
  roundToCell(planeX, planeY);
  let digits: u64 = 0;
  for (let r = resolution; r > 0; r--) digits |= <u64>stepUp(r) << digitShift(r);
  const base = baseCellAt(planeFace, cellI, cellJ);
  if (base < 0) return 0;
  if (base & 128) digits = turn180(digits);
  // digits finer than the resolution
  digits |= NO_DIGITS >> (3 * resolution);
  return CELL_MODE | <u64>resolution << 52 | <u64>(base & 127) << 45 | digits;
}

/** Every digit d but 0 becomes 7 - d: three turns of 60 degrees. */
function turn180(digits: u64): u64 {
  const ONES: u64 = 0x49249249249;
  const some = (digits | digits >> 1 | digits >> 2) & ONES;
  return digits ^ some * 7;
}

// @ts-ignore: decorator
@inline
export function digitShift(resolution: i32): u64 {
  return <u64>(3 * (15 - resolution));
}

// @ts-ignore: decorator
@inline
export function resolutionOf(cell: u64): i32 {
  return <i32>(cell >> 52) & 15;
}

// @ts-ignore: decorator
@inline
export function baseCellOf(cell: u64): i32 {
  return <i32>(cell >> 45) & 127;
}

/** The index of a base cell, a resolution and digits in place (7 where finer). */
// @ts-ignore: decorator
@inline
export function cellFrom(baseCell: i32, resolution: i32, digits: u64): u64 {
  return CELL_MODE | <u64>resolution << 52 | <u64>baseCell << 45 | digits;
}

/** Whether it is a cell of base cell 32, 37, 50 or 52 with every digit in order. */
export function isCell(cell: u64): bool {
  if ((cell & ~(<u64>15 << 52 | <u64>127 << 45 | NO_DIGITS)) != CELL_MODE) return false;
  if (homePosition(baseCellOf(cell)) < 0) return false;
  const finer = NO_DIGITS >> (3 * resolutionOf(cell));
  if ((cell & finer) != finer) return false;
  // a digit of 7 has all three bits
  const ONES: u64 = 0x49249249249;
  return (cell & cell >> 1 & cell >> 2 & ONES & NO_DIGITS & ~finer) == 0;
}
