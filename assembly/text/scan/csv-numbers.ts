// Numbers of CSV fields that are not written as usual (decimals.ts): with blanks around them, or with a decimal comma,
// as spreadsheets write them under Vietnamese settings. A coordinate with one comma and no point has no other meaning.

import { COMMA, MINUS, POINT, SPACE, TAB } from "../chars";
import { NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber, readSmallInteger } from "../numbers/parse";
import { setCoordinateText, setPlainBytes } from "../row";
import { longerEnd, readLonger } from "./decimals";

/** Result of readCoordinate(): NUMBER, HARD_NUMBER or NOT_A_NUMBER. */
export let coordinateKind: u32 = 0;

/** Reads the coordinate in a field without blanks around it. */
export function readCoordinate(row: usize, axis: usize, start: usize, end: usize): f64 {
  setCoordinateText(row, axis, start);
  const isNegative = load<u8>(start) == MINUS;
  let value = readLonger(start + <usize>isNegative, COMMA);
  if (longerEnd == end) {
    coordinateKind = NUMBER;
    return isNegative ? -value : value;
  }
  value = readNumber(start, false);
  const comma = numberEnd;
  const hasComma = comma > start && comma < end && load<u8>(comma) == COMMA;
  if (hasComma) {
    // The text itself must stay, for it is passed through.
    store<u8>(comma, <u8>POINT);
    value = readNumber(start, false);
    store<u8>(comma, <u8>COMMA);
  }
  coordinateKind = numberEnd == end ? numberKind : NOT_A_NUMBER;
  if (coordinateKind == NUMBER && numberIsPlain && !hasComma) setPlainBytes(row, axis, end - start);
  return value;
}

/** The resolution in a field; 255 if it holds none. */
export function readResolution(start: usize, end: usize): u32 {
  start = afterBlanks(start, end);
  return readSmallInteger(start, beforeBlanks(start, end), 15);
}

/** The start of a field after its blanks. */
export function afterBlanks(start: usize, end: usize): usize {
  while (start < end && isBlankByte(load<u8>(start))) {
    const size = blankAt(start, end);
    if (size == 0) break;
    start += size;
  }
  return start;
}

/** The end of a field before its blanks. */
export function beforeBlanks(start: usize, end: usize): usize {
  while (end > start && isBlankByte(load<u8>(end - 1))) {
    let size: usize = 1;
    while (size <= 3 && (end - start < size || blankAt(end - size, end) != size)) size++;
    if (size > 3) break;
    end -= size;
  }
  return end;
}

/** Whether a byte may belong to a blank. */
// @ts-ignore: decorator
@inline
function isBlankByte(byte: u32): bool {
  return byte <= SPACE || byte >= 0x80;
}

/** Bytes of the blank that begins here; 0 where none does. Blanks are also U+00A0 and characters of no width. */
function blankAt(at: usize, end: usize): usize {
  const first: u32 = load<u8>(at);
  if (first == SPACE || first == TAB) return 1;
  if (first < 0xc2 || end - at < 2) return 0;
  const second: u32 = load<u8>(at + 1);
  if (first == 0xc2) return second == 0xa0 ? 2 : 0;
  if (end - at < 3) return 0;
  const rest: u32 = (second << 8) | load<u8>(at + 2);
  if (first == 0xef) return rest == 0xbbbf ? 3 : 0;
  if (first != 0xe2) return 0;
  // U+200B to U+200F, U+202A to U+202E, U+2060, U+2066 to U+2069.
  const isInvisible =
    rest - 0x808b <= 4 || rest - 0x80aa <= 4 || rest == 0x81a0 || rest - 0x81a6 <= 3;
  return isInvisible ? 3 : 0;
}
