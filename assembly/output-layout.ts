// Where the parts of an answer lie, from OUTPUT on or from the address that a call was given.
// src/hexcodes/kernel/output-layout.ts says the same for the host; test/conformance/kernel/abi.test.ts
// compares the two.

import { OUTPUT, POINT_BYTES, RECORD_BYTES } from "./memory";

// A batch of `count`, or one text that was read:
//
//   records     20 bytes each, the status in byte 19 (hexcode/record.ts)
//   cells       u64 cell × count, u8 admin number × count, u8 status × count
//   positions   (f64 latDeg, f64 lngDeg) × count, u8 resolution × count, u8 status × count
//   one text    f64 latDeg, f64 lngDeg, u64 cell, u8 resolution, u8 admin number; the canonical record at byte 32

/** Byte of a record's status. */
export const AT_STATUS: usize = RECORD_BYTES - 1;

export const NO_RESOLUTION: u8 = 255;

// @ts-ignore: decorator
@inline
export function recordAt(records: usize, index: u32): usize {
  return records + <usize>(index * RECORD_BYTES);
}

// @ts-ignore: decorator
@inline
export function adminsOfCells(cells: usize, count: u32): usize {
  return cells + 8 * count;
}

// @ts-ignore: decorator
@inline
export function statusesOfCells(cells: usize, count: u32): usize {
  return adminsOfCells(cells, count) + count;
}

// @ts-ignore: decorator
@inline
export function resolutionsOfPositions(positions: usize, count: u32): usize {
  return positions + POINT_BYTES * count;
}

// @ts-ignore: decorator
@inline
export function statusesOfPositions(positions: usize, count: u32): usize {
  return resolutionsOfPositions(positions, count) + count;
}

/** The parts of an answer of readText after its position. */
export const READ_CELL: usize = OUTPUT + 16;
export const READ_RESOLUTION: usize = OUTPUT + 24;
export const READ_ADMIN: usize = OUTPUT + 25;
/** Only readAscii. */
export const READ_IS_CANONICAL: usize = OUTPUT + 26;
export const READ_RECORD: usize = OUTPUT + 32;
