// From text to cell: every rule of docs/code-format.md, Read, in one pass over UTF-16 units or ASCII bytes, then the
// payload. At most 15 characters of a text are kept, A-Z and 2-9.

import { inReach } from "./record";
import { adminAt, NO_ADMIN } from "./admin";
import { checkLetter, checkOf, checkStep, NO_VALUE, valueOf } from "./alphabet";
import { cellOfHead, digitsOf, HEADS, isRootHead, reachRow } from "./payload";

// Letters with marks: U+00C0-0233 and U+1E00-1EF9, each as the upper-case ASCII letter that its canonical decomposition
// begins with, "." where that is not an ASCII letter; and Đ đ Ð ð as D. No letter of U+0234-1DFF has one.
// test/conformance/kernel/reading.test.ts compares every UTF-16 unit with String.prototype.normalize.

const LATIN_FIRST: u32 = 0xc0;
const LATIN_LAST: u32 = 0x233;
const LATIN: string =
  "AAAAAA.CEEEEIIIIDNOOOOO..UUUUY..AAAAAA.CEEEEIIIIDNOOOOO..UUUUY.YAAAAAACCCCCCCCDDDDEEEEEEEEEEGGGGGGGGHH..IIIIIIIII...JJKK.LLLLLL....NNNNNN...OOOOOO..RRRRRRSSSSSSSSTTTT..UUUUUUUUUUUUWWYYYZZZZZZ.................................OO.............UU............................AAIIOOUUUUUUUUUU.AAAA....GGKKOOOO..J...GG..NNAA....AAAAEEEEIIIIOOOORRRRUUUUSSTT..HH......AAEEOOOOOOOOYY";

const ADDITIONAL_FIRST: u32 = 0x1e00;
const ADDITIONAL_LAST: u32 = 0x1ef9;
const ADDITIONAL: string =
  "AABBBBBBCCDDDDDDDDDDEEEEEEEEEEFFGGHHHHHHHHHHIIIIKKKKKKLLLLLLLLMMMMMMNNNNNNNNOOOOOOOOPPPPRRRRRRRRSSSSSSSSSSTTTTTTTTUUUUUUUUUUVVVVWWWWWWWWWWXXXXYYZZZZZZHTWY......AAAAAAAAAAAAAAAAAAAAAAAAEEEEEEEEEEEEEEEEIIIIOOOOOOOOOOOOOOOOOOOOOOOOUUUUUUUUUUUUUUYYYYYYYY";

/** Longer texts are refused before any work. */
export const MAX_TEXT_UNITS: u32 = 64;

/** Three admin letters, a head, five pairs and a check. */
const MAX_CHARACTERS: u32 = 15;
const MIN_CHARACTERS: u32 = 4;

/** The kept characters. */
const KEPT: usize = memory.data(16);

/** Results of readUnits() and readBytes(). */
export let readCell: u64 = 0;
export let readAdmin: u32 = NO_ADMIN;

/** The class of a character is the character that is kept of it, or one of these three. */
const REFUSED: u32 = 0;
const SEPARATOR: u32 = 1;
/** A combining mark: dropped, and no separator. */
const DROPPED: u32 = 2;

const ASCII_CLASSES: usize = memory.data(128);
for (let c: u32 = 0; c < 128; c++) {
  let kept = REFUSED;
  if ((c >= 0x41 && c <= 0x5a) || (c >= 0x32 && c <= 0x39)) kept = c;
  else if (c >= 0x61 && c <= 0x7a) kept = c - 0x20;
  else if ((c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x2d || c == 0x2e || c == 0x5f) kept = SEPARATOR;
  store<u8>(ASCII_CLASSES + c, <u8>kept);
}

// @ts-ignore: decorator
@inline
function classOfAscii(character: u32): u32 {
  return load<u8>(ASCII_CLASSES + character);
}

/** The class of a UTF-16 unit from 128 on. */
function classOf(unit: u32): u32 {
  if (unit >= 0xff01 && unit <= 0xff5e) return classOfAscii(unit - 0xfee0);
  if (unit == 0xa0 || unit == 0xad) return SEPARATOR;
  let letter: u32 = 0x2e;
  if (unit >= LATIN_FIRST && unit <= LATIN_LAST) {
    letter = load<u16>(changetype<usize>(LATIN) + ((unit - LATIN_FIRST) << 1));
  } else if (unit >= 0x300 && unit <= 0x36f) {
    return DROPPED;
  } else if (unit >= ADDITIONAL_FIRST && unit <= ADDITIONAL_LAST) {
    letter = load<u16>(changetype<usize>(ADDITIONAL) + ((unit - ADDITIONAL_FIRST) << 1));
  } else if (
    (unit >= 0x2000 && unit <= 0x2015) || unit == 0x202f || unit == 0x205f || unit == 0x2060
    || unit == 0x2212 || unit == 0x3000 || unit == 0xfeff
  ) {
    return SEPARATOR;
  }
  return letter == 0x2e ? REFUSED : letter;
}

/** Reads `count` UTF-16 units. True for a hexcode: readCell and readAdmin are set. */
export function readUnits(text: usize, count: u32): bool {
  if (count > MAX_TEXT_UNITS) return false;
  let kept: u32 = 0;
  let beforeSeparator: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const unit: u32 = load<u16>(text + (i << 1));
    const c = unit < 128 ? classOfAscii(unit) : classOf(unit);
    if (c > DROPPED) {
      if (kept == MAX_CHARACTERS) return false;
      store<u8>(KEPT + kept++, <u8>c);
    } else if (c == SEPARATOR) {
      if (beforeSeparator == 0) beforeSeparator = kept;
    } else if (c == REFUSED) {
      return false;
    }
  }
  return readKept(kept, beforeSeparator);
}

/** Reads bytes of ASCII up to the first NUL, at most `limit`. True for a hexcode: readCell and readAdmin are set. */
export function readBytes(text: usize, limit: u32): bool {
  let kept: u32 = 0;
  let beforeSeparator: u32 = 0;
  for (let i: u32 = 0; i < limit; i++) {
    const byte: u32 = load<u8>(text + i);
    if (byte == 0) break;
    const c = byte < 128 ? classOfAscii(byte) : REFUSED;
    if (c > DROPPED) {
      if (kept == MAX_CHARACTERS) return false;
      store<u8>(KEPT + kept++, <u8>c);
    } else if (c == SEPARATOR) {
      if (beforeSeparator == 0) beforeSeparator = kept;
    } else {
      return false;
    }
  }
  return readKept(kept, beforeSeparator);
}

/** The kept characters as admin code, head, pairs and check. */
function readKept(count: u32, beforeSeparator: u32): bool {
  if (count < MIN_CHARACTERS) return false;
  const letters: u32 = 2 + (count & 1);
  // a first separator after two or three characters claims that these are the admin code
  if ((beforeSeparator == 2 || beforeSeparator == 3) && beforeSeparator != letters) return false;
  const admin = adminAt(KEPT, letters);
  if (admin == NO_ADMIN) return false;
  let state: u32 = 0;
  for (let i: u32 = 0; i < letters; i++) state = checkLetter(state, load<u8>(KEPT + i));

  const head = valueOf(load<u8>(KEPT + letters));
  if (head >= HEADS) return false;
  state = checkStep(state, head);

  // an even number of symbols is between head and check: the pairs
  const last = count - 1;
  let resolution: u32 = isRootHead(head) ? 0 : 1;
  if (resolution == 0 && letters + 1 != last) return false;
  let digits: u64 = 0;
  let pairs: u32 = 0;
  let firstPair: u32 = 0;
  for (let i = letters + 1; i < last; i += 2, pairs++) {
    const high = valueOf(load<u8>(KEPT + i));
    const low = valueOf(load<u8>(KEPT + i, 1));
    if (high == NO_VALUE || low == NO_VALUE) return false;
    state = checkStep(checkStep(state, high), low);
    const value = high * 20 + low;
    // a pair without digits, or one after a pair that was not full
    if (value == 0 || resolution != 1 + 3 * pairs) return false;
    if (pairs == 0) firstPair = value;
    const bits = digitsOf(value);
    resolution += (bits & 7) != 7 ? 3 : (bits & 56) != 56 ? 2 : 1;
    digits = digits << 9 | bits;
  }
  if (resolution > 15) return false;
  // digits 2 to 15 are 42 bits: fill what is finer, or drop the fifth pair's missing third digit
  if (pairs == 5) digits >>= 3;
  else digits = digits << (42 - 9 * pairs) | (<u64>1 << (42 - 9 * pairs)) - 1;
  const check = valueOf(load<u8>(KEPT + last));
  if (check != checkOf(state)) return false;
  if (!inReach(reachRow(head, firstPair), admin)) return false;
  readAdmin = admin;
  readCell = cellOfHead(head, resolution, digits);
  return true;
}
