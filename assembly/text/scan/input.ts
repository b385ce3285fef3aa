// Stores what scanning has read in INPUT: the position of a row, or its code as a record; and notes the rows that it
// leaves to the host or passes.

import { HOST_ROWS, INPUT, RECORD_BYTES } from "../../memory";
import { BACKSLASH, escapedCharacter, escapeEnd, isCodeByte, SPACE } from "../chars";
import { addRowFlags, LEFT_TO_HOST } from "../row";

// @ts-ignore: decorator
@inline
export function storePoint(index: u32, latDeg: f64, lngDeg: f64): void {
  const point = INPUT + (<usize>index << 4);
  store<f64>(point, latDeg);
  store<f64>(point, lngDeg, 8);
}

/** A character of no code: "!". */
const NO_CODE: u8 = 33;

/** A record that decodes to nothing. */
// @ts-ignore: decorator
@inline
export function storeNoCode(index: u32): void {
  const record = INPUT + <usize>(index * RECORD_BYTES);
  v128.store(record, i64x2.splat(0));
  store<u32>(record, 0, 16);
  store<u8>(record, NO_CODE);
}

/** Stores a code of `size` bytes as a record; false if it is empty, too long for one, not ASCII, or holds a NUL. */
// @ts-ignore: decorator
@inline
export function storeCode(index: u32, at: usize, size: u32): bool {
  // Blanks around a code do not count.
  if (size >= RECORD_BYTES) {
    while (size && load<u8>(at) == SPACE) {
      at++;
      size--;
    }
    while (size && load<u8>(at + size - 1) == SPACE) size--;
  }
  if (size - 1 >= RECORD_BYTES - 1) return false;
  const record = INPUT + <usize>(index * RECORD_BYTES);
  store<u32>(record, 0, 16);
  if (size < 16) {
    // the bytes after the code are masked away
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

/**
 * Stores a code from the text of a JSON string with escapes; false if it is too long or holds a character that codes do
 * not have.
 */
export function storeEscapedCode(index: u32, p: usize, end: usize): bool {
  const record = INPUT + <usize>(index * RECORD_BYTES);
  v128.store(record, i64x2.splat(0));
  store<u32>(record, 0, 16);
  let size: usize = 0;
  while (p < end) {
    let character: u32 = load<u8>(p++);
    if (character == BACKSLASH) {
      character = escapedCharacter(p, end);
      p = escapeEnd;
    }
    if (!isCodeByte(character) || size == RECORD_BYTES - 1) return false;
    store<u8>(record + size++, <u8>character);
  }
  return true;
}

const LANES: v128 = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

// The rows that a scan leaves to the host, which reads them with the platform's own parsers
// (src/hexcodes/wire/rows/host-row.ts).

/** Rows that the last scan listed in HOST_ROWS. */
export let hostRowCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function clearHostRows(): void {
  hostRowCount = 0;
}

/** Lists a row for the host. Its position or code in INPUT must be one that fails until the host has read it. */
export function leaveToHost(index: u32, row: usize): void {
  addRowFlags(row, LEFT_TO_HOST);
  store<u16>(HOST_ROWS + (<usize>hostRowCount << 1), <u16>index);
  hostRowCount += 1;
}

// Lines without a row that the last scan of lines passed: rows and they make the number of a line in its file.

export let blankLines: u32 = 0;

export function clearBlankLines(): void {
  blankLines = 0;
}

// @ts-ignore: decorator
@inline
export function addBlankLine(): void {
  blankLines++;
}
