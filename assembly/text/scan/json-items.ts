// Reads one JSON item: {lat, lng, resolution?, id?} or [lat, lng]; {hexcodes, id?} or "code". lat may be `latitude`,
// and lng `longitude` or `lon`. A parser returns the address after its text, or 0 where the host must decide.

import {
  BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, hexDigit, LOWER_A, LOWER_CASE, LOWER_E, LOWER_U, OPEN_BRACE,
  OPEN_BRACKET, POINT, QUOTE, SPACE, ZERO,
} from "../chars";
import { INPUT, RESOLUTIONS } from "../../memory";
import { NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber } from "../numbers/parse";
import {
  addRowFlags, CODE_HAD_ESCAPES, coordinateText, idBytes, idStart, LAT, LNG, NO_RESOLUTION, rowResolution, setCodeText,
  setCoordinateText, setId, setPlainBytes, setRowResolution, setRowShape,
} from "../row";
import { longerEnd, numberShapeAt, readLonger, shapeAt, shapeBytes } from "./decimals";
import { storeCode, storeEscapedCode } from "./input";
import { afterSpace, skipName, skipString, skipValue, stringHasEscapes, stringUnits } from "./json-values";

// Names of JSON members with the characters around them, as little-endian words: compared at once with loaded bytes.

export const SEVEN_BYTES: u64 = 0xffffffffffffff;
export const SIX_BYTES: u64 = 0xffffffffffff;
export const ID_FIRST: u64 = 0x3a226469227b; // {"id":
export const ID_NEXT: u64 = 0x3a226469222c; // ,"id":
export const LAT_NEXT: u64 = 0x3a2274616c222c; // ,"lat":
export const LAT_FIRST: u64 = 0x3a2274616c227b; // {"lat":
export const LNG_NEXT: u64 = 0x3a22676e6c222c; // ,"lng":
/** Member names as json.dumps writes them, with a blank before the name. */
export const ID_AFTER_BLANK: u64 = 0x3a22646922202c; // , "id":
export const LAT_AFTER_BLANK: u64 = 0x3a2274616c22202c; // , "lat":
export const LNG_AFTER_BLANK: u64 = 0x3a22676e6c22202c; // , "lng":

const KEY_LAT: u32 = 0x2274616c; // lat"
const KEY_LNG: u32 = 0x22676e6c; // lng"
const KEY_LON: u32 = 0x226e6f6c; // lon"
const KEY_ID: u32 = 0x00226469; // id"
const KEY_LATITUDE: u64 = 0x656475746974616c; // latitude
const KEY_LONGITUD: u64 = 0x64757469676e6f6c; // longitud
const KEY_E: u16 = 0x2265; // e"
const KEY_HEXCODES: u64 = 0x7365646f63786568; // hexcodes
const KEY_RESOLUTI: u64 = 0x6974756c6f736572; // resoluti
const KEY_ON: u32 = 0x00226e6f; // on"
const THREE_BYTES: u32 = 0xffffff;

/** The members of an item, by their names: bits. Every other name is OTHER. */
const OTHER: u32 = 0;
/** Also `latitude`. */
const LAT_NAME: u32 = 1;
/** Also `longitude` and `lon`. */
const LNG_NAME: u32 = 2;
const ID_NAME: u32 = 4;
const RESOLUTION_NAME: u32 = 8;
const HEXCODES_NAME: u32 = 64;

/** `ns` and `ew`, refused together; a name that may say a hemisphere by itself is both: see hemisphereFault. */
const LAT_SIDE: u32 = 128;
const LNG_SIDE: u32 = 256;
const SIDE_NAMES: u32 = LAT_SIDE | LNG_SIDE;
const LETTERS_CASE: u32 = 0x20202020;
const START_LAT: u32 = 0x74616c; // lat
const START_LNG: u32 = 0x676e6c; // lng
const START_LON: u32 = 0x6e6f6c; // lon
const START_GPS: u32 = 0x737067; // gps
const START_NORT: u32 = 0x74726f6e; // nort
const START_EAST: u32 = 0x74736165; // east
/** The last letters of north_south and east_west, and of direction, hemi, indicator and the like. */
const END_UTH: u32 = 0x687475; // uth
const END_EST: u32 = 0x747365; // est
const END_DIR: u32 = 0x726964; // dir
const END_ION: u32 = 0x6e6f69; // ion
const END_HEM: u32 = 0x6d6568; // hem
const END_EMI: u32 = 0x696d65; // emi
const END_ERE: u32 = 0x657265; // ere
const END_REF: u32 = 0x666572; // ref
const END_NCE: u32 = 0x65636e; // nce
const END_IGN: u32 = 0x6e6769; // ign
const END_TOR: u32 = 0x726f74; // tor
const END_ANT: u32 = 0x746e61; // ant
const END_NAL: u32 = 0x6c616e; // nal

/** Bytes of the longest of these names. */
const MAX_NAME_BYTES: u32 = 10;
/** An unescaped name and its quote; what is loaded after it is zero. */
const UNESCAPED: usize = memory.data(32, 16);

/** The member whose name, up to its closing quote, is at `p`. */
// @ts-ignore: decorator
@inline
function memberAt(p: usize): u32 {
  const eight = load<u64>(p);
  const four = <u32>eight;
  if (four == KEY_LAT) return LAT_NAME;
  if (four == KEY_LNG) return LNG_NAME;
  if ((four & THREE_BYTES) == KEY_ID) return ID_NAME;
  if (four == KEY_LON) return LNG_NAME;
  if (eight == KEY_LATITUDE) return load<u8>(p, 8) == QUOTE ? LAT_NAME : OTHER;
  if (eight == KEY_LONGITUD) return load<u16>(p, 8) == KEY_E ? LNG_NAME : OTHER;
  if (eight == KEY_RESOLUTI) return (load<u32>(p, 8) & THREE_BYTES) == KEY_ON ? RESOLUTION_NAME : OTHER;
  if (eight == KEY_HEXCODES) return load<u8>(p, 8) == QUOTE ? HEXCODES_NAME : OTHER;
  return OTHER;
}

/** A name with valid escapes may stand for any name. */
function escapedMemberAt(p: usize): u32 {
  memory.fill(UNESCAPED, 0, 32);
  for (let size: u32 = 0; size <= MAX_NAME_BYTES; size++, p++) {
    let byte: u32 = load<u8>(p);
    if (byte == QUOTE) {
      store<u8>(UNESCAPED + <usize>size, <u8>QUOTE);
      return memberAt(UNESCAPED);
    }
    if (byte == BACKSLASH) {
      // No name has a character of the short escapes.
      if (load<u8>(p, 1) != LOWER_U || load<u16>(p, 2) != 0x3030) return OTHER;
      byte = hexDigit(load<u8>(p, 4)) << 4 | hexDigit(load<u8>(p, 5));
      p += 5;
    }
    // All are lower-case letters.
    if (byte - LOWER_A > 25) return OTHER;
    store<u8>(UNESCAPED + <usize>size, <u8>byte);
  }
  return OTHER;
}

/** The sides that an unknown name from `p` to its closing quote at `end` may be of. */
// @ts-ignore: decorator
@inline
function sidesAt(p: usize, end: usize, hasEscapes: bool): u32 {
  const first = <u32>load<u8>(p) | LOWER_CASE;
  // n, e, l and g with a letter that may follow, an escape, or a blank: also that of two bytes, and those of three
  const second = <u32>load<u8>(p, 1) | LOWER_CASE;
  const isLetter = second - LOWER_A < 26;
  const isSide = first == 0x6e ? !isLetter || second == 0x73 || second == 0x6f
    : first == 0x65 ? !isLetter || second == 0x77 || second == 0x61
    : first == 0x6c ? second == 0x61 || second == 0x6f || second == 0x6e
    : first == 0x67 && second == 0x70;
  if (!isSide && !hasEscapes && first != SPACE && first != 0xe2 && first != 0xef) return OTHER;
  return sidesOf(p, end, hasEscapes);
}

function sidesOf(p: usize, end: usize, hasEscapes: bool): u32 {
  if (hasEscapes && hasPlainEscape(p, end)) return SIDE_NAMES;
  const first: u32 = load<u8>(p);
  if (first == SPACE || first == 0xc2 || first == 0xe2 || first == 0xef || load<u16>(end - 2) == 0xa0c2) return SIDE_NAMES;
  while (end > p && load<u8>(end - 1) == SPACE) end--;
  const four = load<u32>(p) | LETTERS_CASE;
  const last: u32 = <u32>load<u8>(end - 1) | LOWER_CASE;
  if (end - p <= 3) {
    // ns, n_s, ew, e_w
    if ((four & 0xff) == 0x6e && last == 0x73) return LAT_SIDE;
    return (four & 0xff) == 0x65 && last == 0x77 ? LNG_SIDE : OTHER;
  }
  const end3 = load<u32>(end - 4) >>> 8 | (LETTERS_CASE >>> 8);
  if (four == START_NORT) return end3 == END_UTH ? SIDE_NAMES : OTHER;
  if (four == START_EAST) return end3 == END_EST ? SIDE_NAMES : OTHER;
  if (!isSideEnd(end3)) return OTHER;
  // ns_indicator, n/s indicator, ew_dir, e_w_sign
  const two = four & 0xffff;
  const apart = four & 0xff00ff;
  if (two == 0x736e || apart == 0x73006e || two == 0x7765 || apart == 0x770065) return SIDE_NAMES;
  const three = four & THREE_BYTES;
  return three == START_LAT || three == START_LNG || three == START_LON || three == START_GPS ? SIDE_NAMES : OTHER;
}

/** Whether three letters end a name of a side: ns and ew, or one of the words of SIDE in names.ts of the library. */
function isSideEnd(end3: u32): bool {
  const end2 = end3 >>> 8;
  if (end2 == 0x736e || end2 == 0x7765) return true;
  return end3 == END_DIR || end3 == END_ION || end3 == END_HEM || end3 == END_EMI || end3 == END_ERE || end3 == END_REF
    || end3 == END_NCE || end3 == END_IGN || end3 == END_TOR || end3 == END_ANT || end3 == END_NAL;
}

/** Whether a name has an escape of a character of ASCII: `n\/s`, `\u006es`. */
function hasPlainEscape(p: usize, end: usize): bool {
  for (; p < end; p++) {
    if (load<u8>(p) != BACKSLASH) continue;
    p++;
    if (load<u8>(p) != LOWER_U || (load<u16>(p, 1) == 0x3030 && load<u8>(p, 3) < 0x38)) return true;
  }
  return false;
}

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
