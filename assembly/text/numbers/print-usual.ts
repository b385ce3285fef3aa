// Prints the doubles of 8 <= x < 256, as nearly all coordinates here are, in exact 64-bit arithmetic. Such a double is
// an integer and a fraction m × 2^-49. In units of the fifteenth decimal (x < 64) or the fourteenth, the reals that
// read as x lie in an interval that is wider than one unit (1.4 at least) and narrower than ten (7.2 at most). So a
// multiple of ten in it is the only one there, and the shortest decimal; where there is none, the nearest unit is.

import { MINUS, POINT, ZERO } from "../chars";

/** Biased exponent of 8, the least double printed here. */
const MIN_EXPONENT: u32 = 1026;
/** Exponents from there on. */
const EXPONENTS: u32 = 5;
/** The first of them whose doubles have fourteen decimals. */
const FOURTEEN: u32 = 3;

const FRACTION_BITS: u64 = 49;
const FRACTION: u64 = ((<u64>1) << FRACTION_BITS) - 1;
const MANTISSA: u64 = ((<u64>1) << 52) - 1;

const FIVE_6: u64 = 15625;
const FIVE_8: u64 = 390625;
const FIVE_9: u64 = 1953125;
const FIVE_14: u64 = 6103515625;
const FIVE_15: u64 = 30517578125;

/** The integers 0 to 255 with a point after it, four bytes each; and how many of the four are used. */
const HEADS: usize = memory.data(256 * 4, 16);
const HEAD_BYTES: usize = memory.data(256, 16);

for (let value: u32 = 0; value < 256; value++) {
  let text: u32 = POINT;
  let left = value;
  let size: u8 = 1;
  do {
    text = (text << 8) | (ZERO + (left % 10));
    left /= 10;
    size++;
  } while (left);
  store<u32>(HEADS + (<usize>value << 2), text);
  store<u8>(HEAD_BYTES + <usize>value, size);
}

/** Constants of the digits' vectors: V8 makes literals again at each use. */
const VECTORS: usize = memory.data<u32>([
  5243, 5243, 5243, 5243,
  6553599, 6553599, 6553599, 6553599,
  0x00670067, 0x00670067, 0x00670067, 0x00670067,
  0x09ff09ff, 0x09ff09ff, 0x09ff09ff, 0x09ff09ff,
  0x30303030, 0x30303030, 0x30303030, 0x30303030,
], 16);

/**
 * Writes the double with these bits, its sign left out, at `out`; overwrites up to 20 bytes. Returns the address after
 * it, or 0 for an integer and for a double of another size.
 */
// @ts-ignore: decorator
@inline
export function printUsual(bits: u64, out: usize): usize {
  const k = (<u32>(bits >> 52) & 0x7ff) - MIN_EXPONENT;
  if (k >= EXPONENTS) return 0;
  const fixed = ((bits & MANTISSA) | ((<u64>1) << 52)) << <u64>k;
  const m = fixed & FRACTION;
  if (m == 0) return 0;
  const whole = <usize>(fixed >> FRACTION_BITS);

  // Six decimals, then nine or eight, and what is left, a fraction of the last unit: each product fits 64 bits.
  const first = m * FIVE_6;
  let six = <u32>(first >> (FRACTION_BITS - 6));
  const rest = first & ((1 << (FRACTION_BITS - 6)) - 1);
  let nine: u32;
  if (k < FOURTEEN) {
    const product = rest * FIVE_9;
    nine = rounded(<u32>(product >> 34), product & ((1 << 34) - 1), 34, FIVE_15 << <u64>k);
  } else {
    const product = rest * FIVE_8;
    nine = rounded(<u32>(product >> 35), product & ((1 << 35) - 1), 35, FIVE_14 << <u64>k) * 10;
  }
  if (nine >= 1000000000) {
    nine -= 1000000000;
    six++;
  }

  store<u32>(out, load<u32>(HEADS + (whole << 2)));
  out += <usize>load<u8>(HEAD_BYTES + whole);
  return storeDecimals(six, nine, out);
}

/** A decimal of up to seven decimals in units of the last one. */
const SEVEN_DECIMALS: f64 = 10000000;
/** 2^52. */
const WHOLE: f64 = 4503599627370496;

/**
 * Writes a double of 1 <= |x| < 256 with at most seven decimals, as most positions in any spelling are; overwrites up
 * to 12 bytes. Returns the address after it, or 0 for another double: the quotient of two integers that are exact
 * doubles is the double nearest to the decimal, and a decimal of up to fifteen digits is the shortest one.
 */
// @ts-ignore: decorator
@inline
export function printShort(value: f64, out: usize): usize {
  const size = abs(value);
  if (!(size >= 1 && size < 256)) return 0;
  // A sum of this size is an integer, in the lower bits of its mantissa.
  const sum = size * SEVEN_DECIMALS + WHOLE;
  if ((sum - WHOLE) / SEVEN_DECIMALS != size) return 0;
  const units = <u32>reinterpret<u64>(sum);
  const whole = units / 10000000;
  const seven = units - whole * 10000000;
  store<u8>(out, <u8>MINUS);
  out += usize(value < 0);
  store<u32>(out, load<u32>(HEADS + (<usize>whole << 2)));
  out += <usize>load<u8>(HEAD_BYTES + <usize>whole);
  if (seven == 0) return out - 1;
  // Two groups of four digits, the second followed by a 0; then pairs, then digits, as in storeDecimals.
  const upper = seven / 1000;
  const groups = <u64>upper | (<u64>((seven - upper * 1000) * 10) << 32);
  const hundreds = ((groups * 5243) >> 19) & 0x0000007f0000007f;
  const pairs = (groups << 16) - hundreds * 6553599;
  const tens = ((pairs * 103) >> 10) & 0x000f000f000f000f;
  const digits = (pairs << 8) - tens * 2559;
  store<u64>(out, digits | 0x3030303030303030);
  return out + (8 - <usize>(clz(digits) >> 3));
}

/**
 * The last decimals of a number of `units` and a fraction of `bits` bits, shortened by one where that reads as the
 * same double: within half of `interval`, which has the same bits, on each side. An end of the interval is never a
 * multiple of a unit: divided by the spacing of the doubles, 2 × `down` is even and the interval a power of five.
 */
// @ts-ignore: decorator
@inline
function rounded(units: u32, fraction: u64, bits: u64, interval: u64): u32 {
  const digit = units % 10;
  const down = (((<u64>digit) << bits) | fraction) << 1;
  const isDown = <u32>(down < interval);
  const isUp = <u32>(((<u64>20) << bits) - down < interval);
  const half = (<u64>1) << (bits - 1);
  // ties to even
  const nearest = <u32>(fraction + (<u64>(units & 1)) > half);
  return units + (isUp * 10) - (digit & -(isDown | isUp)) + (nearest & ~(isDown | isUp));
}

/** Stores fifteen decimals, six and nine, and returns the address after the last one that is not 0. */
// @ts-ignore: decorator
@inline
function storeDecimals(six: u32, nine: u32, out: usize): usize {
  // four groups of four digits, the last of them followed by a 0
  const a = six / 100;
  const seven = nine % 10000000;
  const b = (six - a * 100) * 100 + nine / 10000000;
  const c = seven / 1000;
  const d = (seven - c * 1000) * 10;
  const groups = i64x2.replace_lane(i64x2.splat((<u64>a) | ((<u64>b) << 32)), 1, (<u64>c) | ((<u64>d) << 32));
  // the upper two digits of each group, then the lower two after them
  const upper = i32x4.shr_u(i32x4.mul(groups, v128.load(VECTORS)), 19);
  const pairs = i32x4.sub(i32x4.shl(groups, 16), i32x4.mul(upper, v128.load(VECTORS, 16)));
  const tens = i16x8.shr_u(i16x8.mul(pairs, v128.load(VECTORS, 32)), 10);
  const digits = i16x8.sub(i16x8.shl(pairs, 8), i16x8.mul(tens, v128.load(VECTORS, 48)));
  v128.store(out, v128.or(digits, v128.load(VECTORS, 64)));
  const zeros = <u32>i8x16.bitmask(i8x16.eq(digits, i8x16.splat(0)));
  return out + (32 - <usize>clz(~zeros & 0xffff));
}
