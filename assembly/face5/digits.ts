// Lattice coordinates of face 5 at resolution 15 -> the word of an H3 cell: four digits per table look-up, three
// look-ups down to resolution 3, where a window of the face gives base cell and the first three digits. Cells of
// coarser resolutions come as their centre descendant of resolution 15, whose digits beyond theirs are 0.

import { COARSE, COARSE_COLUMNS, COARSE_ROWS, FOUR_DIGITS } from "./tables";

/** One bit per digit of resolutions 4 to 15. */
const ONES: u64 = 0o111111111111;

/** n div 49 for n < 2²⁸: ⌈2³² / 49⌉ is 87652394. */
// @ts-ignore: decorator
@inline
function by49(n: u32): u32 {
  return <u32>(<u64>n * 87652394 >> 32);
}

// @ts-ignore: decorator
@inline
function fourDigits(i: u32, j: u32): u32 {
  return <u32>load<u16>(FOUR_DIGITS + ((i << 6 | j) << 1));
}

/**
 * Base cell << 45 | fifteen digits, as the H3 index has them, of a lattice point (both coordinates not
 * negative); 0 if it lies under none of base cells 32, 50 and 52.
 */
// @ts-ignore: decorator
@inline
export function cellWord(i: u32, j: u32): u64 {
  let iUp = by49(i);
  let jUp = by49(j);
  let entry = fourDigits(i - iUp * 49, j - jUp * 49);
  let digits = <u64>(entry & 4095);
  i = iUp + (entry >> 12 & 1);
  j = jUp + (entry >> 13);
  iUp = by49(i);
  jUp = by49(j);
  entry = fourDigits(i - iUp * 49, j - jUp * 49);
  digits |= <u64>(entry & 4095) << 12;
  i = iUp + (entry >> 12 & 1);
  j = jUp + (entry >> 13);
  iUp = by49(i);
  jUp = by49(j);
  entry = fourDigits(i - iUp * 49, j - jUp * 49);
  digits |= <u64>(entry & 4095) << 24;
  i = iUp + (entry >> 12 & 1);
  j = jUp + (entry >> 13);
  if (i >= COARSE_ROWS || j >= COARSE_COLUMNS) return 0;
  let coarse = <u64>load<u16>(COARSE + ((i * COARSE_COLUMNS + j) << 1));
  // base cell 52 = 0b110100 stands half a turn: every digit d but 0 is 7 - d; 32 and 50 have no bit 2
  digits ^= ((digits | digits >> 1 | digits >> 2) & ONES) * ((coarse >> 11 & 1) * 7);
  return coarse << 36 | digits;
}

/** The H3 index of resolution `resolution` from a cell word. */
// @ts-ignore: decorator
@inline
export function cellIndex(word: u64, resolution: u32): u64 {
  return <u64>1 << 59 | <u64>resolution << 52 | word | 0x1fffffffffff >> (3 * resolution);
}
