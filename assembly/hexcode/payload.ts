// Heads and pairs: the H3 cell as values of symbols (docs/code-format.md, Write, 3 and 4). A pair holds three digits as
// they are in the index, nine bits with 7 for "none", so both tables below are plain look-ups.

import { baseCellOf, cellFrom, resolutionOf } from "../h3/cell";

export const HEADS: u32 = 16;
export const NO_HEAD: u32 = 255;

/** The first digit of a head that is the resolution-0 cell itself. */
const NO_DIGIT: i32 = 7;

/** Head 0 to 15 → base cell, first digit. */
const HEAD_CELLS: usize = memory.data<u8>([
  32, 7, 32, 0, 32, 1, 32, 4, 32, 5, 32, 6,
  50, 7, 50, 0, 50, 2, 50, 4, 50, 6,
  52, 7, 52, 0, 52, 4, 52, 5, 52, 6,
]);
/** base cell × 8 + first digit → head or NO_HEAD. */
const HEAD_OF: usize = memory.data(1024);

memory.fill(HEAD_OF, <u8>NO_HEAD, 1024);
for (let head: u32 = 0; head < HEADS; head++) {
  store<u8>(HEAD_OF + (<u32>load<u8>(HEAD_CELLS + 2 * head) << 3 | load<u8>(HEAD_CELLS + 2 * head, 1)), <u8>head);
}

/** Nine bits of three digits → value 1 to 399 of the pair, 0 where a digit follows a missing one. */
const PAIR_VALUES: usize = memory.data(1024);
/** Value 1 to 399 → nine bits of its digits. */
const PAIR_DIGITS: usize = memory.data(800);

/** Enters a pair in both tables. Its value is the pre-order number in a tree of 400 (57 = 1 + 7 + 49, 8 = 1 + 7). */
function setPair(a: i32, b: i32, c: i32): void {
  let value = 1 + 57 * a;
  if (b != NO_DIGIT) value += 1 + 8 * b;
  if (c != NO_DIGIT) value += 1 + c;
  const bits = a << 6 | b << 3 | c;
  store<u16>(PAIR_VALUES + 2 * bits, <u16>value);
  store<u16>(PAIR_DIGITS + 2 * value, <u16>bits);
}
for (let a = 0; a < 7; a++) {
  setPair(a, NO_DIGIT, NO_DIGIT);
  for (let b = 0; b < 7; b++) for (let c = 0; c < 8; c++) setPair(a, b, c);
}

/** The head of a cell, or NO_HEAD. */
// @ts-ignore: decorator
@inline
export function headOf(cell: u64): u32 {
  return load<u8>(HEAD_OF + (<u32>baseCellOf(cell) << 3 | <u32>(cell >> 42) & 7));
}

/** How many pairs a cell of `resolution` has. */
// @ts-ignore: decorator
@inline
export function pairsOf(resolution: u32): u32 {
  // ⌈(resolution - 1) / 3⌉, and 0 for resolution 0
  return (resolution + 1) / 3;
}

/** The value of pair `n` (0 to 4) of a cell: digits 2 + 3n to 4 + 3n. */
// @ts-ignore: decorator
@inline
export function pairOf(cell: u64, n: u32): u32 {
  // digit 4 ends at bit 33, digit 13 at bit 6; the last pair has no third digit
  const bits = n < 4 ? <u32>(cell >> (33 - 9 * n)) & 511 : <u32>cell << 3 & 511 | 7;
  return load<u16>(PAIR_VALUES + 2 * bits);
}

/** Nine bits of digits of a pair's value 1 to 399. */
// @ts-ignore: decorator
@inline
export function digitsOf(pairValue: u32): u32 {
  return load<u16>(PAIR_DIGITS + 2 * pairValue);
}

/** Row of the reach table: a head and the value of the first pair, 0 for none. */
// @ts-ignore: decorator
@inline
export function reachRow(head: u32, firstPair: u32): u32 {
  return head * 401 + firstPair;
}

/** The row of a cell with a head. */
// @ts-ignore: decorator
@inline
export function reachRowOf(cell: u64, head: u32): u32 {
  return reachRow(head, resolutionOf(cell) > 1 ? pairOf(cell, 0) : 0);
}

/** Whether a head is a resolution-0 cell, which no pair may follow. */
// @ts-ignore: decorator
@inline
export function isRootHead(head: u32): bool {
  return load<u8>(HEAD_CELLS + 2 * head, 1) == NO_DIGIT;
}

/** The cell of a head, its resolution and the bits of digits 2-15 (7 where finer). */
// @ts-ignore: decorator
@inline
export function cellOfHead(head: u32, resolution: u32, digits: u64): u64 {
  return cellFrom(load<u8>(HEAD_CELLS + 2 * head), resolution, <u64>load<u8>(HEAD_CELLS + 2 * head, 1) << 42 | digits);
}
