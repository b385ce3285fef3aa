// JSON within items: white space, strings, and values that are passed over. A parser returns the address behind its
// text, or 0 if that is no JSON, no valid UTF-8, or nested too deep.

import {
  BACKSLASH, CARRIAGE_RETURN, COLON, COMMA, isDigit, LINE_FEED, LOWER_A, LOWER_B, LOWER_CASE, LOWER_E, LOWER_F, LOWER_N,
  LOWER_R, LOWER_T, LOWER_U, MINUS, OPEN_BRACE, OPEN_BRACKET, QUOTE, SLASH, SPACE, TAB,
} from "../chars";
import { NOT_A_NUMBER, numberEnd, numberKind, readNumber } from "../numbers/parse";

/** Values deeper than this, in members that are passed over, are left to the host. */
const MAX_DEPTH: u32 = 32;

/** Results of skipString(): the string's length in UTF-16 units, and whether it has escapes. */
export let stringUnits: u32 = 0;
export let stringHasEscapes: bool = false;

let feedIsSpace: bool = false;

/** Whether LF is white space: not in NDJSON, where an item that goes on in the next line is none. */
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
  return load<u8>(p) > SPACE ? p : afterSpaces(p);
}

function afterSpaces(p: usize): usize {
  while (isSpace(load<u8>(p)) && (feedIsSpace || load<u8>(p) != LINE_FEED)) p++;
  return p;
}

export function skipValue(p: usize, depth: u32): usize {
  let byte: u32 = load<u8>(p);
  if (byte == QUOTE) return skipString(p);
  if (byte == OPEN_BRACKET || byte == OPEN_BRACE) {
    if (depth >= MAX_DEPTH) return 0;
    const isObject = byte == OPEN_BRACE;
    const close = byte + 2;
    p = afterSpace(p + 1);
    if (load<u8>(p) == close) return p + 1;
    for (; ; p = afterSpace(p + 1)) {
      if (isObject) {
        if (load<u8>(p) != QUOTE) return 0;
        p = skipString(p);
        if (!p) return 0;
        p = afterSpace(p);
        if (load<u8>(p) != COLON) return 0;
        p = afterSpace(p + 1);
      }
      p = skipValue(p, depth + 1);
      if (!p) return 0;
      p = afterSpace(p);
      byte = load<u8>(p);
      if (byte == close) return p + 1;
      if (byte != COMMA) return 0;
    }
  }
  if (byte == MINUS || isDigit(byte)) {
    readNumber(p, true);
    return numberKind == NOT_A_NUMBER ? 0 : numberEnd;
  }
  const word = load<u32>(p);
  if (word == 0x65757274) return p + 4; // true
  if (word == 0x6c6c756e) return p + 4; // null
  if (word == 0x736c6166 && load<u8>(p, 4) == LOWER_E) return p + 5; // false
  return 0;
}

/**
 * Passes over the string whose opening quote is at `p`; only valid UTF-8 and valid escapes. Counts its UTF-16 units.
 */
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

/** Passes over an escape. */
export function skipEscape(p: usize): usize {
  const byte: u32 = load<u8>(p, 1);
  if (byte == LOWER_U) {
    for (let i: usize = 2; i < 6; i++) {
      const digit: u32 = load<u8>(p + i);
      if (!isDigit(digit) && (digit | LOWER_CASE) - LOWER_A > 5) return 0;
    }
    return p + 6;
  }
  const isKnown =
    byte == QUOTE || byte == BACKSLASH || byte == SLASH || byte == LOWER_B || byte == LOWER_F || byte == LOWER_N || byte == LOWER_R ||
    byte == LOWER_T;
  return isKnown ? p + 2 : 0;
}

/** Passes over one UTF-8 sequence of two to four bytes (RFC 3629: shortest form, no surrogates, up to U+10FFFF). */
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
