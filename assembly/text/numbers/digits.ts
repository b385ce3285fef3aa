// Runs of decimal digits, sixteen bytes at a time: how long they are and which number they are.

import { ZERO } from "../chars";

/** Vectors of one number each: V8 would build a literal at every use. */
const VECTORS: usize = memory.data(10 * 16, 16);
/** Added to a byte, this makes digits, and nothing else, LOWEST_DIGIT or more as signed bytes. */
const LIFT: usize = VECTORS;
const LOWEST_DIGIT: usize = VECTORS + 16;
const ZEROS: usize = VECTORS + 32;
const LOW_BYTES: usize = VECTORS + 48;
const TENS_8: usize = VECTORS + 64;
const HUNDREDS: usize = VECTORS + 80;
export const TEN_THOUSANDS: usize = VECTORS + 96;
/** Offsets that move the first n of sixteen bytes to the end: those from here + n on. */
const TO_END: usize = VECTORS + 112;

memory.fill(LIFT, 127 - 57, 16);
memory.fill(LOWEST_DIGIT, 127 - 9, 16);
memory.fill(ZEROS, <u8>ZERO, 16);
v128.store(LOW_BYTES, i16x8.splat(255));
v128.store(TENS_8, i16x8.splat(10));
v128.store(HUNDREDS, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
v128.store(TEN_THOUSANDS, i16x8(10000, 1, 10000, 1, 10000, 1, 10000, 1));
memory.fill(TO_END, 255, 16);
for (let offset: usize = 0; offset < 16; offset++) store<u8>(TO_END + 16 + offset, <u8>offset);

/** A bit for each of sixteen bytes; 1 where it is not a digit. */
// @ts-ignore: decorator
@inline
export function otherThanDigits(at: usize): u32 {
  return i8x16.bitmask(i8x16.lt_s(i8x16.add(v128.load(at), v128.load(LIFT)), v128.load(LOWEST_DIGIT)));
}

/** The bytes of a text as digits, in the order of `offsets`; 0 for offsets of 255. */
// @ts-ignore: decorator
@inline
export function digitsIn(at: usize, offsets: usize): v128 {
  return i8x16.sub_sat_u(i8x16.swizzle(v128.load(at), v128.load(offsets)), v128.load(ZEROS));
}

/** Sixteen digits → four numbers of four digits each, i32. */
// @ts-ignore: decorator
@inline
export function foursOf(digits: v128): v128 {
  const pairs = i16x8.add(
    i16x8.mul(v128.and(digits, v128.load(LOW_BYTES)), v128.load(TENS_8)),
    i16x8.shr_u(digits, 8),
  );
  return i32x4.dot_i16x8_s(pairs, v128.load(HUNDREDS));
}

/** Sixteen digits → their number. */
// @ts-ignore: decorator
@inline
export function integerOf(digits: v128): u64 {
  const fours = foursOf(digits);
  const eights = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_s(fours, fours), v128.load(TEN_THOUSANDS));
  return <u64>i32x4.extract_lane(eights, 0) * 100000000 + <u64>i32x4.extract_lane(eights, 1);
}

/** The number that `count` digits from `at` on are, up to sixteen. */
// @ts-ignore: decorator
@inline
export function integerAt(at: usize, count: u32): u64 {
  return integerOf(digitsIn(at, TO_END + <usize>count));
}
