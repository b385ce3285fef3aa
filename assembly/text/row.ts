// A row of a block of text, between scanning and writing: 32 bytes in ROWS.
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
// Numbers go to INPUT (and RESOLUTIONS), codes to INPUT as records. src/kernel/text-memory.ts reads some of the fields.

import { ROWS, ROW_BYTES } from "../memory";

/** Row statuses: the places of ROW_STATUSES in src/wire/job.ts. */
export const ROW_OK: u32 = 0;
export const ROW_NOT_FOUND: u32 = 1;
export const ROW_INVALID_REQUEST: u32 = 2;
export const ROW_INVALID_HEXCODES: u32 = 3;

export const NO_RESOLUTION: u32 = 255;

/** Flags: how the row ends. None of the two is the last row of a body. */
export const LINE_END_MASK: u32 = 3;
export const ENDS_WITH_LF: u32 = 1;
export const ENDS_WITH_CRLF: u32 = 2;
/** Flag: the text of the code cannot be copied into JSON as it stands. */
export const CODE_NEEDS_ESCAPES: u32 = 4;
/** Flag: the row is listed in HOST_ROWS. */
export const LEFT_TO_HOST: u32 = 8;

/** Of the two coordinates of a row: which one a field belongs to. */
export const LAT: usize = 0;
export const LNG: usize = 1;

const AT_END: usize = 4;
const AT_FIRST: usize = 8;
const AT_SECOND: usize = 12;
const AT_ID: usize = 16;
const AT_PLAIN_BYTES: usize = 20;
const AT_ID_BYTES: usize = 24;
const AT_RESOLUTION: usize = 26;
const AT_STATUS: usize = 27;
const AT_FLAGS: usize = 28;
const AT_SHAPES: usize = 29;

// @ts-ignore: decorator
@inline
export function rowAt(index: u32): usize {
  return ROWS + <usize>(index * ROW_BYTES);
}

/** Clears a row but for its start. */
// @ts-ignore: decorator
@inline
export function openRow(row: usize, start: usize): void {
  v128.store(row, i64x2.splat(0));
  v128.store(row, i64x2.splat(0), 16);
  store<u32>(row, <u32>start);
}

/** Sets every field of an encode row whose numbers are both left to decimals.ts. */
// @ts-ignore: decorator
@inline
export function fillRow(
  row: usize, start: usize, end: usize, lat: usize, lng: usize, id: usize, idBytes: usize, resolution: u32, latShape: u32, lngShape: u32,
): void {
  store<u32>(row, <u32>start);
  store<u32>(row, <u32>end, AT_END);
  store<u32>(row, <u32>lat, AT_FIRST);
  store<u32>(row, <u32>lng, AT_SECOND);
  store<u32>(row, <u32>id, AT_ID);
  store<u32>(row, 0, AT_PLAIN_BYTES);
  // id, resolution, status OK and no flags, shapes
  store<u64>(row, <u64>(<u32>idBytes | resolution << 16) | <u64>(latShape | lngShape << 8) << 40, AT_ID_BYTES);
}

// @ts-ignore: decorator
@inline
export function rowStart(row: usize): usize {
  return load<u32>(row);
}

// @ts-ignore: decorator
@inline
export function rowEnd(row: usize): usize {
  return load<u32>(row, AT_END);
}

// @ts-ignore: decorator
@inline
export function setRowEnd(row: usize, end: usize): void {
  store<u32>(row, <u32>end, AT_END);
}

/** Where the text of a coordinate starts; its end is the number's grammar. */
// @ts-ignore: decorator
@inline
export function coordinateText(row: usize, place: usize): usize {
  return load<u32>(row + (place << 2), AT_FIRST);
}

// @ts-ignore: decorator
@inline
export function setCoordinateText(row: usize, place: usize, start: usize): void {
  store<u32>(row + (place << 2), <u32>start, AT_FIRST);
}

// @ts-ignore: decorator
@inline
export function codeStart(row: usize): usize {
  return load<u32>(row, AT_FIRST);
}

// @ts-ignore: decorator
@inline
export function codeEnd(row: usize): usize {
  return load<u32>(row, AT_SECOND);
}

// @ts-ignore: decorator
@inline
export function setCodeText(row: usize, start: usize, end: usize): void {
  store<u32>(row, <u32>start, AT_FIRST);
  store<u32>(row, <u32>end, AT_SECOND);
}

// @ts-ignore: decorator
@inline
export function idStart(row: usize): usize {
  return load<u32>(row, AT_ID);
}

/** 0: the row has no id. */
// @ts-ignore: decorator
@inline
export function idBytes(row: usize): usize {
  return load<u16>(row, AT_ID_BYTES);
}

// @ts-ignore: decorator
@inline
export function setId(row: usize, start: usize, sizeBytes: usize): void {
  store<u32>(row, <u32>start, AT_ID);
  store<u16>(row, <u16>sizeBytes, AT_ID_BYTES);
}

/** How much of a coordinate's text is what printing its number would give; 0: it must be printed. */
// @ts-ignore: decorator
@inline
export function plainBytes(row: usize, place: usize): usize {
  return load<u16>(row + (place << 1), AT_PLAIN_BYTES);
}

// @ts-ignore: decorator
@inline
export function setPlainBytes(row: usize, place: usize, sizeBytes: usize): void {
  store<u16>(row + (place << 1), <u16>sizeBytes, AT_PLAIN_BYTES);
}

// @ts-ignore: decorator
@inline
export function rowResolution(row: usize): u32 {
  return load<u8>(row, AT_RESOLUTION);
}

// @ts-ignore: decorator
@inline
export function setRowResolution(row: usize, resolution: u32): void {
  store<u8>(row, <u8>resolution, AT_RESOLUTION);
}

// @ts-ignore: decorator
@inline
export function rowStatus(row: usize): u32 {
  return load<u8>(row, AT_STATUS);
}

// @ts-ignore: decorator
@inline
export function setRowStatus(row: usize, status: u32): void {
  store<u8>(row, <u8>status, AT_STATUS);
}

// @ts-ignore: decorator
@inline
export function rowFlags(row: usize): u32 {
  return load<u8>(row, AT_FLAGS);
}

// @ts-ignore: decorator
@inline
export function addRowFlags(row: usize, flags: u32): void {
  store<u8>(row, <u8>(rowFlags(row) | flags), AT_FLAGS);
}

/** The shapes of both coordinates (decimals.ts): lat's in the low byte, lng's in the high one. */
// @ts-ignore: decorator
@inline
export function rowShapes(row: usize): u32 {
  return load<u16>(row, AT_SHAPES);
}

// @ts-ignore: decorator
@inline
export function setRowShapes(row: usize, latShape: u32, lngShape: u32): void {
  store<u16>(row, <u16>(latShape | lngShape << 8), AT_SHAPES);
}

// @ts-ignore: decorator
@inline
export function setRowShape(row: usize, place: usize, shape: u32): void {
  store<u8>(row + place, <u8>shape, AT_SHAPES);
}
