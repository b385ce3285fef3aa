// Numbers of CSV fields that are not written as usual (decimals.ts): with blanks around them, or with a decimal comma,
// as spreadsheets write them under Vietnamese settings. A coordinate with one comma and no point has no other meaning.

import { COMMA, POINT, SPACE, TAB } from "../chars";
import { NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber, readSmallInteger } from "../numbers/parse";
import { setCoordinateText, setPlainBytes } from "../row";

/** Result of readCoordinate(): NUMBER, HARD_NUMBER or NOT_A_NUMBER. */
export let coordinateKind: u32 = 0;

/** Reads the coordinate in a field, and notes where its text starts without blanks. */
export function readCoordinate(row: usize, axis: usize, start: usize, end: usize): f64 {
  start = behindBlanks(start, end);
  end = beforeBlanks(start, end);
  setCoordinateText(row, axis, start);
  let value = readNumber(start, false);
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
  start = behindBlanks(start, end);
  return readSmallInteger(start, beforeBlanks(start, end), 15);
}

/** U+00A0 in UTF-8, as a little-endian u16. */
const NO_BREAK_SPACE: u16 = 0xa0c2;

function behindBlanks(start: usize, end: usize): usize {
  for (; start < end; start++) {
    const byte: u32 = load<u8>(start);
    if (byte == SPACE || byte == TAB) continue;
    if (end - start < 2 || load<u16>(start) != NO_BREAK_SPACE) break;
    start++;
  }
  return start;
}

function beforeBlanks(start: usize, end: usize): usize {
  for (; end > start; end--) {
    const byte: u32 = load<u8>(end - 1);
    if (byte == SPACE || byte == TAB) continue;
    if (end - start < 2 || load<u16>(end - 2) != NO_BREAK_SPACE) break;
    end--;
  }
  return end;
}
