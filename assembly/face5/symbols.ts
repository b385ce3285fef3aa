// The parts of a text as words, by one look-up each: the ASCII bytes of a head or pair, and its share of the check,
// which is a sum in GF(4) × Z/5 (hexcode/check.ts) with one summand for each part.

import { ADMIN_UNITS, adminLetters } from "../hexcode/admin";
import { symbolOf } from "../hexcode/alphabet";
import { checkLetter, checkOf, checkStep } from "../hexcode/check";
import { headOf, NO_HEAD, pairOf, reachRow } from "../hexcode/payload";

// A word is u32:
//
//   bits 0-10   the share as three counters that add up without carry: bits 0-4 the element of Z/5 (7 × 4 at most),
//               5-7 and 8-10 the two bits of the element of GF(4), whose sums matter only as odd or even
//   bits 16-31  two ASCII bytes; for a head one, then its number
//
// A part's summand is multiplied by g² for each pair to its right. The tables assume a text of five pairs; g² has order
// 6, so CHECKS can undo the factors that a shorter text has too many.

const MAX_PAIRS: i32 = 5;

/** An element of GF(4) × Z/5 times gⁿ. */
function timesG(element: u32, n: i32): u32 {
  for (; n > 0; n--) element = checkStep(element, 0);
  return element;
}

/** The share of a part's element that has `pairsToTheRight`. */
export function shareOf(element: u32, pairsToTheRight: i32): u32 {
  element = timesG(element, 2 * pairsToTheRight);
  return element % 5 | (element & 1) << 5 | (element >> 1 & 1) << 8;
}

/** (Index of the pair, 0 to 4) × 512 + nine bits of digits (7 for none) → its word; 0 if no pair has these digits. */
export const PAIR_WORDS: usize = memory.data(MAX_PAIRS * 2048);

for (let bits: u32 = 0; bits < 512; bits++) {
  const value = pairOf(<u64>bits << 33, 0);
  if (value == 0) continue;
  const high = value / 20;
  const low = value - 20 * high;
  const element = checkStep(checkStep(0, high), low);
  for (let index = 0; index < MAX_PAIRS; index++) {
    const word = shareOf(element, MAX_PAIRS - 1 - index) | symbolOf(high) << 16 | symbolOf(low) << 24;
    store<u32>(PAIR_WORDS + 2048 * index + 4 * bits, word);
  }
}

/**
 * Base cell × 8 + first digit → u32 word of the head, u32 offset of its rows in the reach table; 0 where there is no
 * head. Nine bits of digits 2 to 4 → u32 word of the first pair, u32 offset of its row from there. All offsets are
 * bytes.
 */
export const HEAD_WORDS: usize = memory.data(1024 * 8);
export const FIRST_PAIR_WORDS: usize = memory.data(512 * 8);

for (let index: u32 = 0; index < 1024; index++) {
  const head = headOf(<u64>index << 42);
  if (head == NO_HEAD) continue;
  store<u32>(HEAD_WORDS + 8 * index, shareOf(head, MAX_PAIRS) | symbolOf(head) << 16 | head << 24);
  store<u32>(HEAD_WORDS + 8 * index, 8 * reachRow(head, 0), 4);
}
for (let bits: u32 = 0; bits < 512; bits++) {
  store<u32>(FIRST_PAIR_WORDS + 8 * bits, load<u32>(PAIR_WORDS + 4 * bits));
  store<u32>(FIRST_PAIR_WORDS + 8 * bits, 8 * pairOf(<u64>bits << 33, 0), 4);
}

/** Admin number → its letters and "-" as four bytes, then u32 the share of the letters. */
export const ADMIN_WORDS: usize = memory.data(ADMIN_UNITS * 8);

for (let admin: u32 = 0; admin < ADMIN_UNITS; admin++) {
  const letters = adminLetters(admin);
  let element = checkLetter(checkLetter(0, letters & 255), letters >> 8 & 255);
  if (letters >> 16) element = checkLetter(element, letters >> 16);
  store<u32>(ADMIN_WORDS + 8 * admin, letters | 0x2d << (letters >> 16 ? 24 : 16));
  store<u32>(ADMIN_WORDS + 8 * admin, shareOf(timesG(element, 1), MAX_PAIRS), 4);
}

/** Number of pairs × 512 + the low nine bits of the sum of shares → the check symbol in ASCII. */
export const CHECKS: usize = memory.data(6 * 512);

for (let pairs: u32 = 0; pairs < 6; pairs++) {
  for (let sum: u32 = 0; sum < 512; sum++) {
    const x = sum >> 5 & 1 | (sum >> 8) << 1;
    const y = (sum & 31) % 5;
    // Each of the 5 - pairs missing pairs has brought one g² too many; (g²)⁶ is 1, so 1 + pairs more undo them.
    const element = timesG((5 * x + 16 * y) % 20, 2 * <i32>(1 + pairs));
    store<u8>(CHECKS + 512 * pairs + sum, <u8>symbolOf(checkOf(element)));
  }
}
