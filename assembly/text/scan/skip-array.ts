// Finds the end of a JSON array and counts its elements, 64 bytes at a time, without looking into them: only strings
// and brackets are told apart, and brackets of both kinds count alike. The host reads the envelope of a batch with it
// (src/hexcodes/wire/rows/envelope.ts), whose own walk gives the same end and count.

import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../chars";

/** Brackets that are open; 0 once the array has ended. */
export let skipDepth: u32 = 0;
/** Commas between elements of the array so far. */
export let skipCommas: u32 = 0;
/** Where the text so far has ended: inside a string. */
export let skipInString: bool = false;
/** The byte before this one is a backslash that escapes it. */
let isEscaped: bool = false;

/** Bytes as vectors: V8 makes literals again at each use. */
const VECTORS: usize = memory.data(6 * 16, 16);
const QUOTES: usize = VECTORS;
const BACKSLASHES: usize = VECTORS + 16;
const COMMAS: usize = VECTORS + 32;
/** Brackets and braces differ in this bit alone. */
const BRACE_BIT: usize = VECTORS + 48;
const OPENS: usize = VECTORS + 64;
const CLOSES: usize = VECTORS + 80;
memory.fill(QUOTES, <u8>QUOTE, 16);
memory.fill(BACKSLASHES, <u8>BACKSLASH, 16);
memory.fill(COMMAS, <u8>COMMA, 16);
memory.fill(BRACE_BIT, 0x20, 16);
memory.fill(OPENS, <u8>OPEN_BRACE, 16);
memory.fill(CLOSES, <u8>CLOSE_BRACE, 16);

/**
 * Goes on through the text from `at` to `end`, of which up to 63 bytes after may be read. The first call of an array is
 * at its opening bracket, with `isFirst`. Returns the address after the closing bracket, or `end` while skipDepth is
 * not 0.
 */
export function skipArray(at: usize, end: usize, isFirst: bool): usize {
  if (isFirst) {
    skipDepth = 0;
    skipCommas = 0;
    skipInString = false;
    isEscaped = false;
  }
  let depth = skipDepth;
  let commas = skipCommas;
  /** All bits set inside a string, else 0. */
  let strings: u64 = -<u64>skipInString;
  let p = at;
  while (p < end) {
    const slashes = maskOf(p, BACKSLASHES, 0);
    if (slashes | <u64>isEscaped) {
      skipDepth = depth;
      skipCommas = commas;
      skipInString = strings != 0;
      const after = skipSlowly(p, min(p + 64, end));
      if (skipDepth == 0) return after;
      depth = skipDepth;
      commas = skipCommas;
      strings = -<u64>skipInString;
      p += 64;
      continue;
    }
    let quotes = maskOf(p, QUOTES, 0);
    let opens = maskOf(p, OPENS, BRACE_BIT);
    let closes = maskOf(p, CLOSES, BRACE_BIT);
    let seps = maskOf(p, COMMAS, 0);
    if (end - p < 64) {
      const known = ((<u64>1) << <u64>(end - p)) - 1;
      quotes &= known;
      opens &= known;
      closes &= known;
      seps &= known;
    }
    // Each bit becomes the parity of the quotes up to it: set from an opening quote to before its closing one.
    quotes ^= quotes << 1;
    quotes ^= quotes << 2;
    quotes ^= quotes << 4;
    quotes ^= quotes << 8;
    quotes ^= quotes << 16;
    quotes ^= quotes << 32;
    quotes ^= strings;
    strings = <u64>(<i64>quotes >> 63);
    opens &= ~quotes;
    closes &= ~quotes;
    seps &= ~quotes;
    let brackets = opens | closes;
    while (brackets) {
      const bit = brackets & -brackets;
      if (depth == 1) commas += <u32>popcnt(seps & (bit - 1));
      // what lies before this bracket is done with
      seps &= ~(bit - 1);
      depth += opens & bit ? 1 : -1;
      if (depth == 0) {
        skipDepth = 0;
        skipCommas = commas;
        return p + <usize>ctz(bit) + 1;
      }
      brackets ^= bit;
    }
    if (depth == 1) commas += <u32>popcnt(seps);
    p += 64;
  }
  skipDepth = depth;
  skipCommas = commas;
  skipInString = strings != 0;
  return end;
}

/** A bit for each of 64 bytes: whether it is, after or with the vector at `bits`, the byte at `wanted`. */
// @ts-ignore: decorator
@inline
function maskOf(p: usize, wanted: usize, bits: usize): u64 {
  return (
    <u64>sixteenOf(v128.load(p), wanted, bits) |
    (<u64>sixteenOf(v128.load(p, 16), wanted, bits) << 16) |
    (<u64>sixteenOf(v128.load(p, 32), wanted, bits) << 32) |
    (<u64>sixteenOf(v128.load(p, 48), wanted, bits) << 48)
  );
}

// @ts-ignore: decorator
@inline
function sixteenOf(bytes: v128, wanted: usize, bits: usize): u32 {
  const compared = bits ? v128.or(bytes, v128.load(bits)) : bytes;
  return <u32>i8x16.bitmask(i8x16.eq(compared, v128.load(wanted)));
}

/** Skips an array byte by byte, for text with escapes. */
function skipSlowly(p: usize, end: usize): usize {
  for (; p < end; p++) {
    const byte: u32 = load<u8>(p);
    if (skipInString) {
      if (isEscaped) isEscaped = false;
      else if (byte == BACKSLASH) isEscaped = true;
      else if (byte == QUOTE) skipInString = false;
    } else if (byte == QUOTE) {
      skipInString = true;
    } else if (byte == COMMA) {
      if (skipDepth == 1) skipCommas += 1;
    } else if (byte == OPEN_BRACKET || byte == OPEN_BRACE) {
      skipDepth += 1;
    } else if (byte == CLOSE_BRACKET || byte == CLOSE_BRACE) {
      skipDepth -= 1;
      if (skipDepth == 0) return p + 1;
    }
  }
  return end;
}
