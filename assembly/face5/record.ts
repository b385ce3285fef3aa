// A cell word and an admin number -> the canonical text as a record of 20 bytes (code-format.md), from tables of
// whole pairs. Each part's word holds its share of the check in the low half, its bytes in the high half; the shares
// add up in counters, and the low nine bits of the sum choose the check symbol.

import { ADMIN_PREFIXES, ADMIN_SHARES, CHECKS, FIRST_HEAD, HEAD_PLACES, HEAD_WORDS, PAIR_WORDS } from "./symbols";
import { pairOf, reachRow } from "../hexcode/payload";
import { inReach } from "../hexcode/record";

const DASH: u64 = 0x2d;

/** Digits finer than the resolution, as sevens. */
// @ts-ignore: decorator
@inline
export function finerDigits(resolution: u32): u64 {
  return <u64>0x1fffffffffff >> (3 * resolution);
}

/** The word of pair `place`, 0 the leftmost. */
// @ts-ignore: decorator
@inline
function pairWord(word: u64, place: u32): u32 {
  return load<u32>(PAIR_WORDS + <usize>(2048 * place) + ((<usize>(word >> (33 - 9 * place)) & 511) << 2));
}

/**
 * Writes the record, status OK. `word` is base cell << 45 | digits with sevens beyond the resolution, `pairs` what
 * its resolution has, `admin` below ADMIN_UNITS. False, and nothing written, if the cell lies under no head or beyond the
 * reach of the admin code.
 */
// @ts-ignore: decorator
@inline
export function writeRecord(record: usize, word: u64, pairs: u32, admin: u32): bool {
  let place = <u32>(word >> 42) - FIRST_HEAD;
  if (place >= HEAD_PLACES) return false;
  let head = load<u32>(HEAD_WORDS + (<usize>place << 2));
  if (head == 0) return false;
  if (!inReach(reachRow(head >> 24, pairOf(word, 0)), admin)) return false;
  let prefix = load<u32>(ADMIN_PREFIXES + (<usize>admin << 2));
  let p1 = pairWord(word, 0);
  let p2 = pairWord(word, 1);
  let p3 = pairWord(word, 2);
  let p4 = pairWord(word, 3);
  let shares = load<u32>(ADMIN_SHARES + (<usize>admin << 2)) + head + p1 + p2 + p3 + p4;
  let low = <u64>(p1 >> 16 << 8 | head >> 16 & 255) | <u64>(p2 >> 16) << 24 | <u64>(p3 >> 16) << 48;
  let high = <u64>(p4 >> 16);
  if (pairs == 4) {
    low |= DASH << 40;
    high |= <u64>load<u8>(CHECKS + 4 * 512 + (shares & 511)) << 16;
  } else {
    let p5: u32 = 0;
    if (pairs == 5) p5 = load<u32>(PAIR_WORDS + 4 * 2048 + ((<usize>word << 3 & 511 | 7) << 2));
    let check = <u64>load<u8>(CHECKS + pairs * 512 + (shares + p5 & 511));
    if (pairs > 1) low |= DASH << 40;
    if (pairs == 5) high |= <u64>(p5 >> 16 & 255) << 16 | DASH << 24 | <u64>(p5 >> 24) << 32 | check << 40;
    else if (pairs == 3) high |= check;
    else low |= check << (pairs == 2 ? 48 : pairs == 1 ? 24 : 8);
  }

  let body = record + 3 + <usize>(prefix >= 1 << 24);
  store<u32>(record, 0, 16);
  store<u32>(record, prefix);
  store<u64>(body, low);
  store<u64>(body, high, 8);
  return true;
}
