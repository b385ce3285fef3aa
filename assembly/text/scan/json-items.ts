// Reads one JSON item: {lat, lng, resolution?, id?} or [lat, lng]; {hexcodes, id?} or "code". lat may be `latitude`,
// and lng `longitude` or `lon`. A parser returns the address after its text, or 0 where the host must decide.

import { INPUT, RESOLUTIONS } from "../../memory";
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, LOWER_CASE, LOWER_E, OPEN_BRACE, OPEN_BRACKET, POINT, QUOTE, ZERO } from "../chars";
import { NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber } from "../numbers/parse";
import {
  addRowFlags, CODE_HAD_ESCAPES, coordinateText, idBytes, idStart, LAT, LNG, NO_RESOLUTION, rowResolution, setCodeText, setCoordinateText, setId, setPlainBytes,
  setRowResolution, setRowShape,
} from "../row";
import { longerEnd, numberShapeAt, readLonger, shapeAt, shapeBytes } from "./decimals";
import { storeCode, storeEscapedCode } from "./input";
import {
  escapedMemberAt, HEXCODES_NAME, ID_NAME, LAT_NAME, LNG_NAME, LNG_NEXT, memberAt, OTHER, RESOLUTION_NAME, SEVEN_BYTES,
  SIDE_NAMES, sidesAt,
} from "./json-names";
import { afterSpace, skipName, skipString, skipValue, stringHasEscapes, stringUnits } from "./json-values";

const MAX_ID_UNITS: u32 = 128;
const MAX_RESOLUTION: u32 = 15;

export function encodeItem(index: u32, row: usize, p: usize, resolution: u32): usize {
  store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  let byte: u32 = load<u8>(p);
  if (byte == OPEN_BRACKET) {
    p = coordinate(index, row, afterSpace(p + 1), LAT);
    if (!p) return 0;
    p = afterSpace(p);
    if (load<u8>(p) != COMMA) return 0;
    p = coordinate(index, row, afterSpace(p + 1), LNG);
    if (!p) return 0;
    p = afterSpace(p);
    return load<u8>(p) == CLOSE_BRACKET ? p + 1 : 0;
  }
  if (byte != OPEN_BRACE) return 0;
  // The members read so far.
  let seen: u32 = 0;
  do {
    p = afterSpace(p + 1);
    if (load<u8>(p) != QUOTE) return 0;
    let member = memberAt(p + 1);
    if (member & (LAT_NAME | LNG_NAME) && load<u8>(p, 4) == QUOTE) {
      p = afterSpace(p + 5);
    } else if (member == ID_NAME) {
      p = afterSpace(p + 4);
    } else {
      const name = p + 1;
      p = skipName(p);
      if (!p) return 0;
      if (stringHasEscapes) member = escapedMemberAt(name);
      if (member == OTHER) member = sidesAt(name, p - 1, stringHasEscapes);
      p = afterSpace(p);
    }
    if (load<u8>(p) != COLON) return 0;
    p = afterSpace(p + 1);
    if (member == LAT_NAME) {
      p = axisValue(index, row, p, LAT, seen & LAT_NAME);
      // Usually lng is next.
      if (p && (load<u64>(p) & SEVEN_BYTES) == LNG_NEXT && !(seen & LNG_NAME)) {
        p = coordinate(index, row, p + 7, LNG);
        member |= LNG_NAME;
      }
    } else if (member == LNG_NAME) p = axisValue(index, row, p, LNG, seen & LNG_NAME);
    else if (member == ID_NAME) p = idValue(row, p, seen & ID_NAME);
    else if (member == RESOLUTION_NAME) p = resolutionValue(index, row, p, seen & RESOLUTION_NAME);
    else p = skipValue(p);
    if (!p) return 0;
    seen |= member;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == COMMA);
  // The host knows the names of hemispheres by their letters.
  if ((seen & SIDE_NAMES) == SIDE_NAMES) return 0;
  const isWhole = byte == CLOSE_BRACE && (seen & LAT_NAME) != 0 && (seen & LNG_NAME) != 0;
  return isWhole ? p + 1 : 0;
}

export function decodeItem(index: u32, row: usize, p: usize): usize {
  setRowResolution(row, NO_RESOLUTION);
  let byte: u32 = load<u8>(p);
  if (byte == QUOTE) return codeValue(index, row, p);
  if (byte != OPEN_BRACE) return 0;
  let seen: u32 = 0;
  do {
    p = afterSpace(p + 1);
    if (load<u8>(p) != QUOTE) return 0;
    const name = p + 1;
    p = skipString(p);
    if (!p) return 0;
    const member = stringHasEscapes ? escapedMemberAt(name) : memberAt(name);
    p = afterSpace(p);
    if (load<u8>(p) != COLON) return 0;
    p = afterSpace(p + 1);
    if (member == HEXCODES_NAME) {
      // The host compares a code that is given twice.
      if (seen & HEXCODES_NAME) return 0;
      p = codeValue(index, row, p);
    } else if (member == ID_NAME) {
      p = idValue(row, p, seen & ID_NAME);
    } else {
      p = skipValue(p);
    }
    if (!p) return 0;
    seen |= member;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == COMMA);
  return byte == CLOSE_BRACE && (seen & HEXCODES_NAME) ? p + 1 : 0;
}

// @ts-ignore: decorator
@inline
export function coordinate(index: u32, row: usize, p: usize, axis: usize): usize {
  setCoordinateText(row, axis, p);
  const shape = shapeAt(p);
  if (shape) {
    const after = p + shapeBytes(shape);
    if ((<u32>load<u8>(after) | LOWER_CASE) != LOWER_E) {
      setRowShape(row, axis, shape);
      return after;
    }
  }
  return unusualCoordinate(index, row, p, axis);
}

/** A number without a shape. */
function unusualCoordinate(index: u32, row: usize, p: usize, axis: usize): usize {
  const at = pointAt(index) + (axis << 3);
  store<f64>(at, readLonger(p, POINT));
  if (longerEnd) return longerEnd;
  const value = readNumber(p, true);
  if (numberKind != NUMBER) return 0;
  store<f64>(at, value);
  if (numberIsPlain) setPlainBytes(row, axis, numberEnd - p);
  return numberEnd;
}

/** The value of lat or lng, which may have been read under any of its names. */
// @ts-ignore: decorator
@inline
function axisValue(index: u32, row: usize, p: usize, axis: usize, again: u32): usize {
  return again ? sameCoordinate(row, p, axis) : coordinate(index, row, p, axis);
}

/** A coordinate that is given once more, which must be the same number. */
export function sameCoordinate(row: usize, p: usize, axis: usize): usize {
  const before = readNumber(coordinateText(row, axis), true);
  if (numberKind != NUMBER) return 0;
  const value = readNumber(p, true);
  return numberKind == NUMBER && value == before ? numberEnd : 0;
}

/** A resolution is an integer of 0 to 15, also as 9.0; one that is given once more must be the same. */
export function resolutionValue(index: u32, row: usize, p: usize, again: u32): usize {
  let value: u32 = <u32>load<u8>(p) - ZERO;
  if (value > 9) return 0;
  const shape = numberShapeAt(p);
  let after = p + <usize>shape;
  if (shape == 2) value = value * 10 + load<u8>(p, 1) - ZERO;
  if (shape - 1 > 1 || value > MAX_RESOLUTION || (<u32>load<u8>(after) | LOWER_CASE) == LOWER_E) {
    const number = readNumber(p, true);
    if (numberKind != NUMBER || number > <f64>MAX_RESOLUTION || floor(number) != number) return 0;
    value = <u32>number;
    after = numberEnd;
  }
  if (again && rowResolution(row) != value) return 0;
  setRowResolution(row, value);
  store<u8>(RESOLUTIONS + <usize>index, <u8>value);
  return after;
}

/** An id that is given once more must have the same text. */
function idValue(row: usize, p: usize, again: u32): usize {
  let after: usize;
  if (load<u8>(p) == QUOTE) {
    after = skipString(p);
    if (!after || stringUnits > MAX_ID_UNITS) return 0;
  } else {
    // Usually it is an integer.
    const shape = numberShapeAt(p);
    after = p + <usize>shapeBytes(shape);
    if (!shape || (<u32>load<u8>(after) | LOWER_CASE) == LOWER_E) {
      readNumber(p, true);
      after = numberEnd;
      if (numberKind == NOT_A_NUMBER || after - p > MAX_ID_UNITS) return 0;
    }
  }
  const size = after - p;
  if (again && (size != idBytes(row) || memory.compare(p, idStart(row), size) != 0)) return 0;
  setId(row, p, size);
  return after;
}

export function codeValue(index: u32, row: usize, p: usize): usize {
  if (load<u8>(p) != QUOTE) return 0;
  const after = skipString(p);
  if (!after) return 0;
  if (stringHasEscapes) {
    if (!storeEscapedCode(index, p + 1, after - 1)) return 0;
    addRowFlags(row, CODE_HAD_ESCAPES);
    return after;
  }
  const size = <u32>(after - p - 2);
  // As many UTF-16 units as bytes: ASCII without escapes.
  if (stringUnits != size || !storeCode(index, p + 1, size)) return 0;
  setCodeText(row, p, after);
  return after;
}

// @ts-ignore: decorator
@inline
function pointAt(index: u32): usize {
  return INPUT + (<usize>index << 4);
}
