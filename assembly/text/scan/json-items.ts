// Reads one JSON item: {lat, lng, resolution?, id?} or [lat, lng]; {hexcodes, id?} or "code". A parser returns the
// address behind its text, or 0 where the host must decide.

import { INPUT, LINE_NAME_COUNT, LINE_NAMES, RESOLUTIONS } from "../../memory";
import {
  CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isDigit, LOWER_CASE, LOWER_E, OPEN_BRACE, OPEN_BRACKET, POINT, QUOTE, ZERO,
} from "../chars";
import { NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber } from "../numbers/parse";
import {
  LAT, LNG, NO_RESOLUTION, setCodeText, setCoordinateText, setId, setPlainBytes, setRowResolution, setRowShape,
} from "../row";
import { shapeAt, shapeBytes } from "./decimals";
import { storeCode } from "./input";
import {
  FIVE_BYTES, KEY_HEXCODES, KEY_ID, KEY_LAT, KEY_LNG, KEY_RESO, KEY_SOLUTION, LAT_MEMBER, LNG_NEXT, SEVEN_BYTES,
} from "./json-names";
import { afterSpace, skipString, skipValue, stringHasEscapes, stringUnits } from "./json-values";

const MAX_ID_UNITS: u32 = 128;

/** Whether an item to encode may have had a member of LINE_NAMES, or a resolution, since the last scan began. */
export let lineNamesMet: bool = false;

export function clearLineNamesMet(): void {
  lineNamesMet = false;
}

// @ts-ignore: decorator
@inline
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
  let seen: u32 = 0;
  do {
    p = afterSpace(p + 1);
    if (load<u8>(p) != QUOTE) return 0;
    const name = load<u64>(p, 1);
    const key = <u32>name;
    let member: u32 = 0;
    // Usually lng follows lat without a space between them.
    if ((name & FIVE_BYTES) == LAT_MEMBER && !(seen & 3)) {
      p = coordinate(index, row, p + 6, LAT);
      if (!p) return 0;
      seen |= 1;
      if ((load<u64>(p) & SEVEN_BYTES) == LNG_NEXT) {
        p = coordinate(index, row, p + 7, LNG);
        if (!p) return 0;
        seen |= 2;
      }
      p = afterSpace(p);
      byte = load<u8>(p);
      continue;
    }
    if (key == KEY_LAT) {
      member = 1;
      p += 5;
    } else if (key == KEY_LNG) {
      member = 2;
      p += 5;
    } else if ((key & 0xffffff) == KEY_ID) {
      member = 4;
      p += 4;
    } else if (key == KEY_RESO && load<u64>(p, 3) == KEY_SOLUTION && load<u8>(p, 11) == QUOTE) {
      member = 8;
      p += 12;
      lineNamesMet = true;
    } else {
      for (let name = LINE_NAMES; name < LINE_NAMES + LINE_NAME_COUNT * 16; name += 16) {
        if ((load<u64>(p, 1) & load<u64>(name, 8)) == load<u64>(name)) lineNamesMet = true;
      }
      p = otherKey(p);
      if (!p) return 0;
    }
    // A member appears twice: the last one counts, which is left to the host.
    if (seen & member) return 0;
    seen |= member;
    p = afterSpace(p);
    if (load<u8>(p) != COLON) return 0;
    p = afterSpace(p + 1);
    if (member == 1) p = coordinate(index, row, p, LAT);
    else if (member == 2) p = coordinate(index, row, p, LNG);
    else if (member == 4) p = idValue(row, p);
    else if (member == 8) p = resolutionValue(index, row, p);
    else p = skipValue(p, 0);
    if (!p) return 0;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == COMMA);
  return byte == CLOSE_BRACE && (seen & 3) == 3 ? p + 1 : 0;
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
    let member: u32 = 0;
    if (load<u64>(p, 1) == KEY_HEXCODES && load<u8>(p, 9) == QUOTE) {
      member = 1;
      p += 10;
    } else if ((load<u32>(p, 1) & 0xffffff) == KEY_ID) {
      member = 4;
      p += 4;
    } else {
      p = otherKey(p);
      if (!p) return 0;
    }
    if (seen & member) return 0;
    seen |= member;
    p = afterSpace(p);
    if (load<u8>(p) != COLON) return 0;
    p = afterSpace(p + 1);
    if (member == 1) p = codeValue(index, row, p);
    else if (member == 4) p = idValue(row, p);
    else p = skipValue(p, 0);
    if (!p) return 0;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == COMMA);
  return byte == CLOSE_BRACE && (seen & 1) ? p + 1 : 0;
}

/** Passes over another key. One with escapes may stand for any key, so it is left to the host. */
// @ts-ignore: decorator
@inline
function otherKey(p: usize): usize {
  const after = skipString(p);
  return stringHasEscapes ? 0 : after;
}

// @ts-ignore: decorator
@inline
function coordinate(index: u32, row: usize, p: usize, axis: usize): usize {
  setCoordinateText(row, axis, p);
  const shape = shapeAt(p);
  if (shape) {
    setRowShape(row, axis, shape);
    return p + shapeBytes(shape);
  }
  const value = readNumber(p, true);
  if (numberKind != NUMBER) return 0;
  store<f64>(pointAt(index) + (axis << 3), value);
  if (numberIsPlain) setPlainBytes(row, axis, numberEnd - p);
  return numberEnd;
}

// @ts-ignore: decorator
@inline
function resolutionValue(index: u32, row: usize, p: usize): usize {
  let value: u32 = <u32>load<u8>(p) - ZERO;
  if (value > 9) return 0;
  const second: u32 = <u32>load<u8>(p + 1) - ZERO;
  if (second <= 9) {
    value = value * 10 + second;
    if (value < 10 || value > 15) return 0;
    p++;
  }
  p++;
  // A fraction, an exponent or a third digit is left to the host.
  const byte: u32 = load<u8>(p);
  if (byte == POINT || (byte | LOWER_CASE) == LOWER_E || isDigit(byte)) return 0;
  setRowResolution(row, value);
  store<u8>(RESOLUTIONS + <usize>index, <u8>value);
  return p;
}

// @ts-ignore: decorator
@inline
function idValue(row: usize, p: usize): usize {
  let after: usize;
  if (load<u8>(p) == QUOTE) {
    after = skipString(p);
    if (!after || stringUnits > MAX_ID_UNITS) return 0;
  } else {
    readNumber(p, true);
    after = numberEnd;
    if (numberKind == NOT_A_NUMBER || after - p > MAX_ID_UNITS) return 0;
  }
  setId(row, p, after - p);
  return after;
}

// @ts-ignore: decorator
@inline
function codeValue(index: u32, row: usize, p: usize): usize {
  if (load<u8>(p) != QUOTE) return 0;
  const after = skipString(p);
  if (!after) return 0;
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
