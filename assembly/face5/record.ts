// The word of a cell and an admin number -> the canonical text (docs/code-format.md) as a record of 20 bytes, by tables
// of whole pairs. Admin code, head and each pair have a word: their share of the check in the low half, their ASCII
// bytes in the high half. The shares add up, and the low nine bits of the sum choose the check symbol.

import { ADMIN_UNITS, adminLetters } from "../hexcode/admin";
import { checkLetter, checkOf, checkStep, symbolOf } from "../hexcode/alphabet";
import { headOf, NO_HEAD, pairOf, pairsOf, reachRow } from "../hexcode/payload";
import { REACH } from "../memory";

// The parts of a text as words, by one look-up each: the ASCII bytes of a head or pair, and its share of the check,
// which is a sum in GF(4) × Z/5 (hexcode/alphabet.ts) with one summand for each part.

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
const HEAD_WORDS: usize = memory.data(1024 * 8);
const FIRST_PAIR_WORDS: usize = memory.data(512 * 8);

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

const DASH: u64 = 0x2d;

/** The digits beyond the resolution, which are 7 in an H3 index. */
// @ts-ignore: decorator
@inline
export function finerDigits(resolution: u32): u64 {
  return <u64>0x1fffffffffff >> (3 * resolution);
}

const SECOND_PAIR_WORDS: usize = PAIR_WORDS + 2048;
const THIRD_PAIR_WORDS: usize = PAIR_WORDS + 4096;
const FOURTH_PAIR_WORDS: usize = PAIR_WORDS + 6144;
const FIFTH_PAIR_WORDS: usize = PAIR_WORDS + 8192;
const CHECKS_4: usize = CHECKS + 4 * 512;

/** Values of one resolution: u64 the digits beyond it as sevens, u32 the number of pairs. */
const FINER: usize = memory.data(16);
const PAIRS: usize = FINER + 8;

/**
 * Sets the resolution of the records that follow. Kept in memory: from variables V8 would compute the values for each
 * record.
 */
export function setResolution(resolution: u32): void {
  store<u64>(FINER, finerDigits(resolution));
  store<u32>(PAIRS, pairsOf(resolution));
}

/**
 * Writes the record of a cell, status OK. `word` is base cell << 45 | digits, at the resolution that was set; `admin`
 * is below ADMIN_UNITS. Returns false and writes nothing if the cell has no head or its reach does not hold the admin
 * code.
 */
// @ts-ignore: decorator
@inline
export function writeRecord(record: usize, word: u64, admin: u32): bool {
  word |= load<u64>(FINER);
  // nine bits of each pair as an offset: times eight in tables of u64, times four in tables of u32
  const headWord = load<u64>(<u32>(word >> 42) << 3, HEAD_WORDS);
  const firstWord = load<u64>(<u32>(word >> 30) & 0xff8, FIRST_PAIR_WORDS);
  const reach = load<u64>(<u32>(headWord >> 32) + <u32>(firstWord >> 32), REACH);
  if (headWord == 0 || !(reach >> admin & 1)) return false;
  const head = <u32>headWord;
  const p1 = <u32>firstWord;
  const letters = load<u64>(admin << 3, ADMIN_WORDS);
  const prefix = <u32>letters;
  const p2 = load<u32>(<u32>(word >> 22) & 0x7fc, SECOND_PAIR_WORDS);
  const p3 = load<u32>(<u32>(word >> 13) & 0x7fc, THIRD_PAIR_WORDS);
  const p4 = load<u32>(<u32>(word >> 4) & 0x7fc, FOURTH_PAIR_WORDS);
  const body = record + 3 + <usize>(prefix >= 1 << 24);
  const shares = <u32>(letters >> 32) + head + p1 + p2 + p3 + p4;
  const pairs = load<u32>(PAIRS);
  store<u32>(record, 0, 16);
  if (pairs == 4) {
    // The usual length. Words are stored whole, the last one first: each share lies before its bytes and is overwritten
    // next.
    store<u32>(body, p4, 6);
    store<u32>(body, p3, 4);
    store<u32>(body, p2, 1);
    store<u32>(body - 1, p1);
    store<u32>(record, prefix);
    store<u8>(body, head >> 16);
    store<u8>(body, <u32>DASH, 5);
    store<u32>(body, <u32>load<u8>(shares & 511, CHECKS_4), 10);
    return true;
  }
  let low = <u64>(p1 >> 16 << 8 | head >> 16 & 255) | <u64>(p2 >> 16) << 24 | <u64>(p3 >> 16) << 48;
  let high = <u64>(p4 >> 16);
  let p5: u32 = 0;
  if (pairs == 5) p5 = load<u32>(<u32>word << 5 & 0x7e0 | 28, FIFTH_PAIR_WORDS);
  const check = <u64>load<u8>(pairs << 9 | shares + p5 & 511, CHECKS);
  if (pairs > 1) low |= DASH << 40;
  if (pairs == 5) high |= <u64>(p5 >> 16 & 255) << 16 | DASH << 24 | <u64>(p5 >> 24) << 32 | check << 40;
  else if (pairs == 3) high |= check;
  else low |= check << (pairs == 2 ? 48 : pairs == 1 ? 24 : 8);
  store<u32>(record, prefix);
  store<u64>(body, low);
  store<u64>(body, high, 8);
  return true;
}

/** writeRecord() for one cell of any resolution. */
export function writeOneRecord(record: usize, word: u64, admin: u32, resolution: u32): bool {
  setResolution(resolution);
  return writeRecord(record, word, admin);
}
