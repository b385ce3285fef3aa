// A row of a block of text, as scanning leaves it for writing: 32 bytes in ROWS. The numbers themselves are in INPUT
// and RESOLUTIONS, codes in INPUT as records.

import { ROWS, ROW_BYTES } from "../memory";

// All addresses are those of text in TEXT_IN. src/hexcodes/kernel/text-memory.ts reads and sets some of the fields.
//
//    0  u32  start        of the row or item
//    4  u32  end          of it, without its line end
//    8  u32  first        start of lat's text, or of the code's
//   12  u32  second       start of lng's text, or end of the code's
//   16  u32  id           start of the id's JSON text; of a ragged row, how many fields it must have
//   20  u16  firstBytes   how many bytes of lat's text equal its printed number; 0: it must be printed
//   22  u16  secondBytes  the same for lng
//   24  u16  idBytes      0: no id
//   26  u8   resolution   NO_RESOLUTION if it was not understood
//   27  u8   status       OK, or a status that scanning has found already
//   28  u8   flags
//   29  u8   latShape     the shape of lat's text if decimals.ts is to read it, else 0
//   30  u8   lngShape     the same for lng
//
// After a CSV writer has answered a row that failed, `status` is its status, and `first` and `second` are the bounds of
// the answer in TEXT_OUT.

/** Row statuses: the indexes of ROW_STATUSES in src/hexcodes/wire/job.ts. */
export const ROW_OK: u32 = 0;
export const ROW_NOT_FOUND: u32 = 1;
export const ROW_INVALID_REQUEST: u32 = 2;
export const ROW_INVALID_HEXCODES: u32 = 3;

export const NO_RESOLUTION: u32 = 255;

/** Flags: the line end of the row. Only the last row of a body may have none. */
export const LINE_END_MASK: u32 = 3;
export const ENDS_WITH_LF: u32 = 1;
export const ENDS_WITH_CRLF: u32 = 2;
/** Flag: the text of the code cannot be copied into JSON unchanged. */
export const CODE_NEEDS_ESCAPES: u32 = 4;
/** Flag: the row is listed in HOST_ROWS. */
export const LEFT_TO_HOST: u32 = 8;

/** Flag: the row has more or fewer fields than the header, or a quote that is not closed. */
export const RAGGED: u32 = 16;
/** Flag: a field has quotes to be taken out, so that its bounds were not noted. */
export const FIELDS_LEFT: u32 = 32;
/** Flag: the text of the code has escapes; its record in INPUT is the code, in bytes that need none. */
export const CODE_HAD_ESCAPES: u32 = 64;
/** Addresses of the two coordinates of a row. */
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

/** Sets every field of a row to encode; decimals.ts is to read both numbers. */
// @ts-ignore: decorator
@inline
export function fillRow(
  row: usize, start: usize, end: usize, lat: usize, lng: usize, id: usize, idBytes: usize, resolution: u32, latShape: u32,
  lngShape: u32,
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

/** Where the text of a coordinate starts. Its end is not kept: the number's grammar gives it. */
// @ts-ignore: decorator
@inline
export function coordinateText(row: usize, axis: usize): usize {
  return load<u32>(row + (axis << 2), AT_FIRST);
}

// @ts-ignore: decorator
@inline
export function setCoordinateText(row: usize, axis: usize, start: usize): void {
  store<u32>(row + (axis << 2), <u32>start, AT_FIRST);
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

/** How many fields a ragged row must have: as many as the header. */
export function fieldsWanted(row: usize): u32 {
  return load<u32>(row, AT_ID);
}

export function markRagged(row: usize, fields: u32): void {
  addRowFlags(row, RAGGED);
  store<u32>(row, fields, AT_ID);
}

/** Bytes of a coordinate's text that printing its number would give; 0: it must be printed. */
// @ts-ignore: decorator
@inline
export function plainBytes(row: usize, axis: usize): usize {
  return load<u16>(row + (axis << 1), AT_PLAIN_BYTES);
}

// @ts-ignore: decorator
@inline
export function setPlainBytes(row: usize, axis: usize, sizeBytes: usize): void {
  store<u16>(row + (axis << 1), <u16>sizeBytes, AT_PLAIN_BYTES);
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

/** Sets status and answer of a failed row that has been written. */
export function noteFailure(row: usize, status: u32, answer: usize, answerEnd: usize): void {
  setRowStatus(row, status);
  store<u32>(row, <u32>answer, AT_FIRST);
  store<u32>(row, <u32>answerEnd, AT_SECOND);
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
export function setRowShape(row: usize, axis: usize, shape: u32): void {
  store<u8>(row + axis, <u8>shape, AT_SHAPES);
}
