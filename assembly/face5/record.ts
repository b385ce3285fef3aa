// The word of a cell and an admin number -> the canonical text (docs/code-format.md) as a record of 20 bytes, by tables
// of whole pairs. Admin code, head and each pair have a word: their share of the check in the low half, their ASCII
// bytes in the high half. The shares add up, and the low nine bits of the sum choose the check symbol (symbols.ts).

import { ADMIN_WORDS, CHECKS, FIRST_PAIR_WORDS, HEAD_WORDS, PAIR_WORDS } from "./symbols";
import { pairsOf } from "../hexcode/payload";
import { REACH } from "../memory";

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
