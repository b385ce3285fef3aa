// A double → the shortest decimal that reads back as the same double, the same bytes that JavaScript's String gives.
// The method is Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2021; the steps follow Alexander
// Bolz's Drachennest, Boost Software License 1.0). Its table covers 10^-6 <= |x| < 1024, as positions lie within ±180;
// the host prints other numbers, printUsual() most numbers from 8 on.

import { MINUS, POINT, ZERO } from "../chars";
import { DIGIT_PAIRS, MIN_SCALE, multiplyHigh, SCALES } from "./powers";
import { integerTen } from "./parse";

// Prints the doubles of 8 <= x < 256, as nearly all coordinates in Viet Nam are, in exact 64-bit arithmetic. A double
// of this range is an integer plus a fraction m × 2^-49. In units of the fifteenth decimal (x < 64) or the
// fourteenth, the interval of reals that read as x is wider than one unit (1.4 at least) and narrower than ten (7.2
// at most). It holds at most one multiple of ten, which then is the shortest decimal; otherwise the nearest unit is.

/** Biased exponent of 8, the least double printed here. */
const MIN_EXPONENT: u32 = 1026;
/** Number of exponents, from MIN_EXPONENT on. */
const EXPONENTS: u32 = 5;
/** First exponent whose doubles have fourteen decimals, counted from MIN_EXPONENT. */
const FOURTEEN: u32 = 3;

const FRACTION_BITS: u64 = 49;
const FRACTION: u64 = ((<u64>1) << FRACTION_BITS) - 1;
const MANTISSA: u64 = ((<u64>1) << 52) - 1;

const FIVE_6: u64 = 15625;
const FIVE_8: u64 = 390625;
const FIVE_9: u64 = 1953125;
const FIVE_14: u64 = 6103515625;
const FIVE_15: u64 = 30517578125;

/**
 * HEADS has the integers 0 to 255, each followed by a point, in four bytes; HEAD_BYTES how many of the four are used.
 */
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

/** Vector constants lie in memory, because V8 builds vector literals again at each use. */
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
function printUsual(bits: u64, out: usize): usize {
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

/** Units of the seventh decimal in 1. */
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

/** The longest decimal in this range: a sign, "0.00000", 17 digits. */
const MAX_NUMBER_BYTES: u32 = 25;

/** Writes the number at `out`; returns the address after it, or 0 if the number is beyond the table's range. */
export function printNumber(value: f64, out: usize): usize {
  const bits = reinterpret<u64>(value);
  store<u8>(out, <u8>MINUS);
  const start = out + <usize>(bits >> 63);
  const usualEnd = printUsual(bits, start);
  if (usualEnd) return usualEnd;
  if (bits << 1 == 0) {
    store<u8>(out, <u8>ZERO);
    return out + 1;
  }
  const size = abs(value);
  // also true for NaN
  if (!(size >= 1e-6 && size < 1024)) return 0;
  out = start;

  const whole = <u32>size;
  if (<f64>whole == size) return printSmall(whole, out);

  const fraction = bits & (((<u64>1) << 52) - 1);
  const c = fraction | ((<u64>1) << 52);
  const q = <i32>((bits >> 52) & 0x7ff) - 1075;
  // The neighbour below a power of two is half as far.
  const isLowerCloser = fraction == 0;
  const odd = c & 1;
  // k = floor(log10 of the width of the rounding interval): 2^q, or 3/4 of it.
  const k = (q * 1262611 - (isLowerCloser ? 524031 : 0)) >> 22;
  const h = <u64>(q + ((-k * 1741647) >> 19) + 1);
  const row = SCALES + (<usize>(-k - MIN_SCALE) << 4);
  const high = load<u64>(row);
  const low = load<u64>(row, 8);
  const four = c << 2;
  const lower = scaled(high, low, (four - 2 + <u64>isLowerCloser) << h) + odd;
  const middle = scaled(high, low, four << h);
  const upper = scaled(high, low, (four + 2) << h) - odd;

  let s = middle >> 2;
  let decimals = <u32>-k;
  const tenth = s / 10;
  const isDownInside = lower <= 40 * tenth;
  const isUpInside = 40 * tenth + 40 <= upper;
  if (isDownInside != isUpInside) {
    s = tenth + <u64>isUpInside;
    decimals--;
  } else {
    const below = lower <= 4 * s;
    const above = 4 * s + 4 <= upper;
    if (below != above) {
      s += <u64>above;
    } else {
      const half = 4 * s + 2;
      s += <u64>(middle > half || (middle == half && (s & 1) != 0));
    }
  }
  return printDecimal(s, decimals, out);
}

/** floor(power × c), with the lowest bit set if anything was cut off: enough for exact comparisons. */
// @ts-ignore: decorator
@inline
function scaled(high: u64, low: u64, c: u64): u64 {
  const carried = multiplyHigh(low, c);
  const middle = high * c;
  const sum = middle + carried;
  return (multiplyHigh(high, c) + <u64>(sum < carried)) | <u64>(sum > 1);
}

/** Writes s × 10^-decimals, whose fraction is not zero, without trailing zeros. */
function printDecimal(s: u64, decimals: u32, out: usize): usize {
  let fraction = s;
  if (decimals < 18) {
    const ten = integerTen(decimals);
    const whole = s / ten;
    fraction = s - whole * ten;
    out = printSmall(<u32>whole, out);
  } else {
    store<u8>(out++, <u8>ZERO);
  }
  store<u8>(out++, <u8>POINT);
  // the digits from the last to the first, nine at a time in 32-bit arithmetic
  let p = out + decimals;
  let left = decimals;
  let part = <u32>(fraction % 1000000000);
  let rest = fraction / 1000000000;
  while (left > 9) {
    for (let i = 0; i < 4; i++) {
      p -= 2;
      store<u16>(p, load<u16>(DIGIT_PAIRS + (<usize>(part % 100) << 1)));
      part /= 100;
    }
    store<u8>(--p, <u8>(ZERO + part));
    left -= 9;
    part = <u32>(rest % 1000000000);
    rest /= 1000000000;
  }
  while (left >= 2) {
    p -= 2;
    store<u16>(p, load<u16>(DIGIT_PAIRS + (<usize>(part % 100) << 1)));
    part /= 100;
    left -= 2;
  }
  if (left) store<u8>(--p, <u8>(ZERO + part));
  p = out + decimals;
  while (load<u8>(p - 1) == ZERO) p--;
  return p;
}

/** Writes an integer of 0 to 9999. */
export function printSmall(value: u32, out: usize): usize {
  if (value >= 100) {
    const upper = value / 100;
    if (upper >= 10) {
      store<u16>(out, load<u16>(DIGIT_PAIRS + (<usize>upper << 1)));
      out += 2;
    } else {
      store<u8>(out++, <u8>(ZERO + upper));
    }
    store<u16>(out, load<u16>(DIGIT_PAIRS + (<usize>(value % 100) << 1)));
    return out + 2;
  }
  if (value >= 10) {
    store<u16>(out, load<u16>(DIGIT_PAIRS + (<usize>value << 1)));
    return out + 2;
  }
  store<u8>(out, <u8>(ZERO + value));
  return out + 1;
}
