// From positions to admin numbers and units, without a code.

import { NO_ADMIN } from "./hexcode/admin";
import { ADMIN_NUMBERS, BLOCK_POINTS, CAPACITY, INPUT, OUTPUT, POINT_BYTES } from "./memory";
import { OUTSIDE } from "./region/layout";
import { borderMetres, bordersOfBlock, neighbourAt } from "./region/border-distance";
import { adminOf, locateBlock, unitAt } from "./region/locate";

/** Admin number at a position, NO_ADMIN outside. */
export function regionOf(latDeg: f64, lngDeg: f64): u32 {
  return adminOf(unitAt(latDeg, lngDeg));
}

/** Unit at a position, 255 outside. */
export function unitOf(latDeg: f64, lngDeg: f64): u32 {
  const unit = unitAt(latDeg, lngDeg);
  return unit == OUTSIDE ? NO_ADMIN : unit;
}

/** Points at INPUT to one unit each at OUTPUT, as unitOf() gives them. */
export function unitBatch(count: u32): void {
  if (count > CAPACITY) count = CAPACITY;
  for (let n: u32 = 0; n < count; n++) {
    const point = INPUT + <usize>(n * POINT_BYTES);
    store<u8>(OUTPUT + n, <u8>unitOf(load<f64>(point), load<f64>(point, 8)));
  }
}

/** Whole metres from a position to the nearest border between two provinces, NO_BORDER beyond 5 km. */
export function borderOf(latDeg: f64, lngDeg: f64): u32 {
  return borderMetres(latDeg, lngDeg);
}

/** Admin number of the province behind that border, NO_ADMIN where there is none. */
export function neighbourOf(latDeg: f64, lngDeg: f64): u32 {
  return neighbourAt(latDeg, lngDeg);
}

/** Points at INPUT to u16 each at OUTPUT, as borderOf() gives them. */
export function borderBatch(count: u32): void {
  if (count > CAPACITY) count = CAPACITY;
  for (let from: u32 = 0; from < count; from += BLOCK_POINTS) {
    const block = min(BLOCK_POINTS, count - from);
    bordersOfBlock(INPUT + <usize>(from * POINT_BYTES), block, OUTPUT + (<usize>from << 1));
  }
}

/** Points at INPUT to one admin number each at OUTPUT; for measurements and for callers that need no code. */
export function locateBatch(count: u32): void {
  if (count > CAPACITY) count = CAPACITY;
  for (let from: u32 = 0; from < count; from += BLOCK_POINTS) {
    const block = min(BLOCK_POINTS, count - from);
    locateBlock(INPUT + <usize>(from * POINT_BYTES), block);
    for (let i: u32 = 0; i < block; i++) store<u8>(OUTPUT + from + i, <u8>load<u32>(ADMIN_NUMBERS + (<usize>i << 2)));
  }
}
