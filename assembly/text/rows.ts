// The rows of a block of text, between scanning and writing. A row is 32 bytes in ROWS:
//
//    0  u32  start        of the row or item
//    4  u32  end          without its line end
//    8  u32  first        start of the text of lat, or of the code
//   12  u32  second       start of the text of lng, or the code's end
//   16  u32  id           start of the id's JSON text
//   20  u16  firstBytes   of lat's text that printing would give again, else 0
//   22  u16  secondBytes  likewise of lng
//   24  u16  idBytes      0: no id
//   26  u8   resolution   as understood, NO_RESOLUTION if not
//   27  u8   status       OK, or what scanning already decided
//   28  u8   flags
//   29  u8   latShape     of lat's text where decimals.ts reads it, else 0
//   30  u8   lngShape     likewise of lng
//
// Numbers go to INPUT (and RESOLUTIONS), codes to INPUT as records.

import { HOST_ROWS, INPUT, RECORD_BYTES, ROWS, ROW_BYTES } from "../memory";

/** Row statuses: the places of ROW_STATUSES in src/wire/job.ts. */
export const ROW_OK: u32 = 0;
export const ROW_NOT_FOUND: u32 = 1;
export const ROW_INVALID_REQUEST: u32 = 2;
export const ROW_INVALID_HEXCODES: u32 = 3;
export const ROW_STATUS_COUNT: u32 = 6;

export const NO_RESOLUTION: u32 = 255;

/** How the row ends: none (the last row of a body), LF, CR LF. */
export const LINE_END_MASK: u32 = 3;
export const LINE_FEED: u32 = 1;
export const CARRIAGE_RETURN: u32 = 2;
/** The text of the code cannot be copied into JSON as it stands. */
export const CODE_NEEDS_ESCAPES: u32 = 4;
/** The host has been, or will be, asked about this row. */
export const HOST: u32 = 8;

/** Rows that the last scan listed in HOST_ROWS. */
export let hostRowCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function rowAt(index: u32): usize {
  return ROWS + <usize>(index * ROW_BYTES);
}

// @ts-ignore: decorator
@inline
export function clearHostRows(): void {
  hostRowCount = 0;
}

/** Clears a row but for its bounds. */
// @ts-ignore: decorator
@inline
export function openRow(row: usize, start: usize): void {
  v128.store(row, i64x2.splat(0));
  v128.store(row, i64x2.splat(0), 16);
  store<u32>(row, <u32>start);
}

/** Leaves a row to the host: the position or code in INPUT is one that cannot pass meanwhile. */
export function leaveToHost(index: u32, row: usize): void {
  store<u8>(row, <u8>(load<u8>(row, 28) | HOST), 28);
  store<u16>(HOST_ROWS + (<usize>hostRowCount << 1), <u16>index);
  hostRowCount += 1;
}

// @ts-ignore: decorator
@inline
export function storePoint(index: u32, latDeg: f64, lngDeg: f64): void {
  const point = INPUT + (<usize>index << 4);
  store<f64>(point, latDeg);
  store<f64>(point, lngDeg, 8);
}

/** A record that is no code. */
// @ts-ignore: decorator
@inline
export function storeNoCode(index: u32): void {
  const record = INPUT + <usize>(index * RECORD_BYTES);
  v128.store(record, i64x2.splat(0));
  store<u32>(record, 0, 16);
  store<u8>(record, 33);
}

/** Puts the code of `size` bytes into its record; false if it is longer than one, not ASCII, or holds a NUL. */
// @ts-ignore: decorator
@inline
export function storeCode(index: u32, at: usize, size: u32): bool {
  if (size - 1 >= RECORD_BYTES - 1) return false;
  const record = INPUT + <usize>(index * RECORD_BYTES);
  store<u32>(record, 0, 16);
  if (size < 16) {
    // Beyond its end the code's text is masked away.
    const kept = i8x16.lt_u(LANES, i8x16.splat(<i8>size));
    const text = v128.and(v128.load(at), kept);
    v128.store(record, text);
    return i8x16.bitmask(text) == 0 && i8x16.bitmask(v128.and(i8x16.eq(text, i8x16.splat(0)), kept)) == 0;
  }
  const text = v128.load(at);
  v128.store(record, text);
  let isFit = i8x16.bitmask(text) == 0 && i8x16.all_true(text);
  for (let i: u32 = 16; i < size; i++) {
    const byte = load<u8>(at + i);
    store<u8>(record + i, byte);
    if (byte - 1 >= 127) isFit = false;
  }
  return isFit;
}

const LANES: v128 = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
