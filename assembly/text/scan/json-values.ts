// JSON within items: white space, strings, and skipped values. A parser returns the address after its text, or 0 if
// that is not JSON, not valid UTF-8, or nested too deep.

import {
  BACKSLASH, CARRIAGE_RETURN, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isDigit, LINE_FEED, LOWER_A, LOWER_B, LOWER_CASE, LOWER_E, LOWER_F, LOWER_N,
  LOWER_R, LOWER_T, LOWER_U, MINUS, OPEN_BRACE, OPEN_BRACKET, QUOTE, SLASH, SPACE, TAB,
} from "../chars";
import { NOT_A_NUMBER, numberEnd, numberKind, readNumber } from "../numbers/parse";
import { numberShapeAt, shapeBytes } from "./decimals";

/** No item is longer than 64 KiB, so none that is converted has more brackets around a value. */
const MAX_DEPTH: u32 = 32768;

/** A line of a file with more brackets around a value is refused by the host. */
const MAX_LINE_DEPTH: u32 = 511;

/** Whether skipped values of an item are nested deeper than that. */
export let isDeep: bool = false;

export function clearDeep(): void {
  isDeep = false;
}

/** Results of skipString(): the string's length in UTF-16 units, and whether it has escapes. */
export let stringUnits: u32 = 0;
export let stringHasEscapes: bool = false;

let feedIsSpace: bool = false;

/** Whether LF is white space: not in NDJSON, where an item does not continue in the next line. */
export function useFeedAsSpace(isSpace: bool): void {
  feedIsSpace = isSpace;
}

// @ts-ignore: decorator
@inline
export function isSpace(byte: u32): bool {
  return byte == SPACE || byte == LINE_FEED || byte == CARRIAGE_RETURN || byte == TAB;
}

// @ts-ignore: decorator
@inline
export function afterSpace(p: usize): usize {
  if (load<u8>(p) > SPACE) return p;
  // Usually it is one blank.
  return load<u8>(p) == SPACE && load<u8>(p, 1) > SPACE ? p + 1 : afterSpaces(p);
}

/** Indented text has many blanks. */
function afterSpaces(p: usize): usize {
  const breaks = i8x16.splat(feedIsSpace ? <i8>LINE_FEED : <i8>SPACE);
  while (true) {
    const bytes = v128.load(p);
    const spaces = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>SPACE)), i8x16.eq(bytes, breaks)),
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>TAB)), i8x16.eq(bytes, i8x16.splat(<i8>CARRIAGE_RETURN))),
    );
    const others = ~i8x16.bitmask(spaces) & 0xffff;
    if (others) return p + <usize>ctz(others);
    p += 16;
  }
}

/** Open brackets around a value: a bit for each, 1 for an object. */
const OPEN_BITS: usize = memory.data(<i32>(MAX_DEPTH >> 3), 8);

/** Skips a value of any kind. */
export function skipValue(p: usize): usize {
  const first: u32 = load<u8>(p);
  return first == OPEN_BRACKET || first == OPEN_BRACE ? skipNested(p) : skipSimple(p, first);
}

/** Skips a value that begins with a bracket. */
function skipNested(p: usize): usize {
  let depth: u32 = 0;
  let isObject = false;
  while (true) {
    // At a value, or in an object at its name.
    if (isObject) {
      if (load<u8>(p) != QUOTE) return 0;
      p = skipString(p);
      if (!p) return 0;
      p = afterSpace(p);
      if (load<u8>(p) != COLON) return 0;
      p = afterSpace(p + 1);
    }
    const first: u32 = load<u8>(p);
    if (first == OPEN_BRACKET || first == OPEN_BRACE) {
      p = afterSpace(p + 1);
      if (<u32>load<u8>(p) != first + 2) {
        if (depth == MAX_DEPTH) return 0;
        const bits = OPEN_BITS + <usize>(depth >> 3);
        const bit: u32 = 1 << (depth & 7);
        isObject = first == OPEN_BRACE;
        store<u8>(bits, <u8>(isObject ? load<u8>(bits) | bit : load<u8>(bits) & ~bit));
        depth++;
        if (depth > MAX_LINE_DEPTH) isDeep = true;
        continue;
      }
      if (depth >= MAX_LINE_DEPTH) isDeep = true;
      p++;
    } else {
      p = skipSimple(p, first);
      if (!p) return 0;
    }
    // After a value.
    while (true) {
      if (depth == 0) return p;
      p = afterSpace(p);
      const byte: u32 = load<u8>(p);
      if (byte == COMMA) {
        p = afterSpace(p + 1);
        break;
      }
      if (byte != (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return 0;
      p++;
      depth--;
      if (depth) isObject = ((load<u8>(OPEN_BITS + <usize>((depth - 1) >> 3)) >> ((depth - 1) & 7)) & 1) != 0;
    }
  }
}

/** Skips a string, a number, true, false or null. */
function skipSimple(p: usize, first: u32): usize {
  if (first == QUOTE) return skipString(p);
  if (first == MINUS || isDigit(first)) {
    // Most are integers or short decimals.
    const shape = numberShapeAt(p);
    if (shape) {
      const after = p + <usize>shapeBytes(shape);
      if ((<u32>load<u8>(after) | LOWER_CASE) != LOWER_E) return after;
    }
    readNumber(p, true);
    return numberKind == NOT_A_NUMBER ? 0 : numberEnd;
  }
  const word = load<u32>(p);
  if (word == 0x65757274) return p + 4; // true
  if (word == 0x6c6c756e) return p + 4; // null
  if (word == 0x736c6166 && load<u8>(p, 4) == LOWER_E) return p + 5; // false
  return 0;
}

/** Skips the string whose opening quote is at `p`; only valid UTF-8 and valid escapes. Counts its UTF-16 units. */
export function skipString(p: usize): usize {
  const quotes = i8x16.splat(<i8>QUOTE);
  const slashes = i8x16.splat(<i8>BACKSLASH);
  const spaces = i8x16.splat(<i8>SPACE);
  stringUnits = 0;
  stringHasEscapes = false;
  p++;
  while (true) {
    const bytes = v128.load(p);
    // As signed bytes, control characters and bytes of 128 to 255 are below the space.
    const mask = i8x16.bitmask(
      v128.or(i8x16.lt_s(bytes, spaces), v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, slashes))),
    );
    if (!mask) {
      p += 16;
      stringUnits += 16;
      continue;
    }
    const skipped = ctz(mask);
    p += <usize>skipped;
    stringUnits += <u32>skipped;
    const byte: u32 = load<u8>(p);
    if (byte == QUOTE) return p + 1;
    if (byte == BACKSLASH) {
      p = skipEscape(p);
      stringHasEscapes = true;
      stringUnits++;
    } else if (byte >= 128) {
      p = skipSequence(p, byte);
    } else {
      return 0;
    }
    if (!p) return 0;
  }
}

/** Skips a name like any string, but counts no units. */
// @ts-ignore: decorator
@inline
export function skipName(p: usize): usize {
  const bytes = v128.load(p, 1);
  const odd = v128.or(
    i8x16.lt_s(bytes, i8x16.splat(<i8>SPACE)),
    v128.or(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH))),
  );
  const end = p + <usize>ctz(i8x16.bitmask(odd) | 0x10000) + 1;
  if (load<u8>(end) != QUOTE) return skipString(p);
  stringHasEscapes = false;
  return end + 1;
}

/** Skips an escape. */
export function skipEscape(p: usize): usize {
  const byte: u32 = load<u8>(p, 1);
  if (byte == LOWER_U) return isHex(load<u8>(p, 2)) && isHex(load<u8>(p, 3)) && isHex(load<u8>(p, 4)) && isHex(load<u8>(p, 5)) ? p + 6 : 0;
  const isKnown =
    byte == QUOTE || byte == BACKSLASH || byte == SLASH || byte == LOWER_B || byte == LOWER_F || byte == LOWER_N || byte == LOWER_R ||
    byte == LOWER_T;
  return isKnown ? p + 2 : 0;
}

// @ts-ignore: decorator
@inline
function isHex(byte: u32): bool {
  return isDigit(byte) || (byte | LOWER_CASE) - LOWER_A < 6;
}

/** Skips one UTF-8 sequence of two to four bytes (RFC 3629: shortest form, no surrogates, up to U+10FFFF). */
function skipSequence(p: usize, lead: u32): usize {
  stringUnits++;
  const second: u32 = load<u8>(p, 1);
  if (lead >= 0xc2 && lead < 0xe0) return (second & 0xc0) == 0x80 ? p + 2 : 0;
  const third: u32 = load<u8>(p, 2);
  if (lead >= 0xe0 && lead < 0xf0) {
    const isRight =
      (second & 0xc0) == 0x80 &&
      (third & 0xc0) == 0x80 &&
      (lead != 0xe0 || second >= 0xa0) &&
      (lead != 0xed || second < 0xa0);
    return isRight ? p + 3 : 0;
  }
  if (lead >= 0xf0 && lead < 0xf5) {
    stringUnits++;
    const isRight =
      (second & 0xc0) == 0x80 &&
      (third & 0xc0) == 0x80 &&
      (load<u8>(p, 3) & 0xc0) == 0x80 &&
      (lead != 0xf0 || second >= 0x90) &&
      (lead != 0xf4 || second < 0x90);
    return isRight ? p + 4 : 0;
  }
  return 0;
}
