// Decimal text → the nearest double, correctly rounded. Exact paths: Clinger's, where the digits and the power of
// ten are both exact doubles; and the method of Daniel Lemire and Michael Eisel ("Number Parsing at a Gigabyte per
// Second", 2021; after their fast_float, Apache-2.0; NOTICE) for up to 19 digits, and with a comparison for more. A
// number that none of them covers is HARD_NUMBER: the host converts it.

import { isDigit, LOWER_CASE, LOWER_E, MINUS, PLUS, POINT, ZERO } from "../chars";
import { INTEGER_TENS, MAX_POWER_OF_FIVE, MIN_POWER_OF_FIVE, multiplyHigh, POWERS_OF_FIVE, TENS } from "./powers";

export const NUMBER: u32 = 0;
/** A number by its grammar; the host must find its value. */
export const HARD_NUMBER: u32 = 1;
export const NOT_A_NUMBER: u32 = 2;

/**
 * Results of readNumber(): the kind; the address after the text; whether the text is what printing the number gives.
 */
export let numberKind: u32 = NUMBER;
export let numberEnd: usize = 0;
export let numberIsPlain: bool = false;
/** Whether a number of JSON has neither a point nor an exponent. */
export let numberIsWhole: bool = false;

/** Decimal digits that always fit a u64. */
const MAX_DIGITS: u32 = 19;
/** A decimal of up to 15 digits is the shortest one for the double that it rounds to, so printing gives it again. */
const MAX_PLAIN_DIGITS: u32 = 15;

/** How many digits eight bytes begin with. */
// @ts-ignore: decorator
@inline
function digitCount(eight: u64): u32 {
  // A digit's lower bits are 0 to 9; a byte above 127 may carry, but only into bytes after it.
  const low = eight ^ 0x3030303030303030;
  return <u32>(ctz(((low + 0x7676767676767676) | low) & 0x8080808080808080) >> 3);
}

/** The number that eight digits are: neighbours are joined to pairs, pairs to fours, fours to eight. */
// @ts-ignore: decorator
@inline
function eightDigits(eight: u64): u64 {
  let v = eight - 0x3030303030303030;
  v = v * 10 + (v >> 8);
  return ((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32;
}

/**
 * Reads the number at `at`, by JSON's grammar if `json`, else by -?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?. A byte that
 * no number holds must follow the text. Sets numberKind, numberEnd and numberIsPlain.
 */
export function readNumber(at: usize, json: bool): f64 {
  let p = at;
  const isNegative = load<u8>(p) == MINUS;
  if (isNegative) p++;
  const start = p;
  let digits: u64 = 0;
  let byte: u32 = load<u8>(p);
  while (isDigit(byte)) {
    digits = digits * 10 + (byte - ZERO);
    byte = load<u8>(++p);
  }
  const integerCount = <u32>(p - start);
  let fractionCount: u32 = 0;
  let isPlain = integerCount == 1 || (integerCount > 1 && load<u8>(start) != ZERO);
  numberKind = NOT_A_NUMBER;
  numberEnd = p;
  if (json && !isPlain) return 0;
  if (byte == POINT) {
    const fraction = ++p;
    let eight = load<u64>(p);
    let run = digitCount(eight);
    if (run == 8) {
      digits = digits * 100000000 + eightDigits(eight);
      p += 8;
      eight = load<u64>(p);
      run = digitCount(eight);
      if (run == 8) {
        digits = digits * 100000000 + eightDigits(eight);
        p += 8;
        byte = load<u8>(p);
        while (isDigit(byte)) {
          digits = digits * 10 + (byte - ZERO);
          byte = load<u8>(++p);
        }
        run = 0;
      }
    }
    if (run) {
      // The digits are moved to the end of the eight bytes, with zeros before them.
      const shift = <u64>(64 - 8 * run);
      digits = digits * integerTen(run) + eightDigits((eight << shift) | (0x3030303030303030 >> (64 - shift)));
      p += run;
    }
    byte = load<u8>(p);
    fractionCount = <u32>(p - fraction);
    if (load<u8>(p - 1) == ZERO) isPlain = false;
    if (fractionCount == 0) {
      if (json) return 0;
      isPlain = false;
    }
  }
  const count = integerCount + fractionCount;
  if (count == 0) return 0;
  let exponent: i32 = 0;
  numberIsWhole = fractionCount == 0;
  if ((byte | LOWER_CASE) == LOWER_E) {
    isPlain = false;
    numberIsWhole = false;
    byte = load<u8>(++p);
    const isBelow = byte == MINUS;
    if (isBelow || byte == PLUS) byte = load<u8>(++p);
    if (!isDigit(byte)) return 0;
    while (isDigit(byte)) {
      if (exponent < 100000) exponent = exponent * 10 + <i32>(byte - ZERO);
      byte = load<u8>(++p);
    }
    if (isBelow) exponent = -exponent;
  }
  numberEnd = p;
  numberIsPlain = false;
  if (count > MAX_DIGITS) {
    const value = longNumber(start, exponent);
    return isNegative ? -value : value;
  }
  exponent -= <i32>fractionCount;
  let value: f64;
  if (digits <= <u64>1 << 53 && exponent >= -22 && exponent <= 22) {
    // Both operands are exact, so there is one rounding (Clinger 1990).
    const ten = load<f64>(TENS + (<usize>abs(exponent) << 3));
    value = exponent < 0 ? <f64>digits / ten : <f64>digits * ten;
  } else if (digits == 0) {
    value = 0;
  } else if (exponent >= MIN_POWER_OF_FIVE && exponent <= MAX_POWER_OF_FIVE) {
    value = nearest(digits, exponent, false);
  } else {
    numberKind = HARD_NUMBER;
    return 0;
  }
  numberKind = NUMBER;
  // JavaScript prints numbers below 10^-6 with an exponent, and minus zero without its sign.
  numberIsPlain =
    isPlain && count <= MAX_PLAIN_DIGITS && (value >= 1e-6 || (digits == 0 && fractionCount == 0 && !isNegative));
  return isNegative ? -value : value;
}

/**
 * A number of more than 19 digits, which begins at `start`: its first 19 digits decide, unless one after them could
 * change the double. Then all digits are compared with those of the number half way between two doubles.
 */
function longNumber(start: usize, exponent: i32): f64 {
  let digits: u64 = 0;
  let count: u32 = 0;
  let isAfterPoint = false;
  let hasMore = false;
  for (let p = start; ; p++) {
    const byte: u32 = load<u8>(p);
    if (byte == POINT) {
      isAfterPoint = true;
      continue;
    }
    if (!isDigit(byte)) break;
    if (count < MAX_DIGITS) {
      digits = digits * 10 + (byte - ZERO);
      // Zeros before the first other digit do not count.
      if (digits) count++;
      if (isAfterPoint) exponent--;
    } else {
      if (byte != ZERO) hasMore = true;
      if (!isAfterPoint) exponent++;
    }
  }
  numberKind = NUMBER;
  if (digits == 0) return 0;
  if (exponent >= MIN_POWER_OF_FIVE && exponent <= MAX_POWER_OF_FIVE) {
    const low = nearest(digits, exponent, false);
    if (!hasMore) return low;
    const high = nearest(digits + 1, exponent, false);
    if (low == high) return low;
    const order = compareToMiddle(start, <i32>count + exponent, low);
    if (order != UNKNOWN) {
      const isHigh = order > 0 || (order == 0 && (reinterpret<u64>(low) & 1) != 0);
      return isHigh ? high : low;
    }
  }
  numberKind = HARD_NUMBER;
  return 0;
}

const UNKNOWN: i32 = 2;

/**
 * Compares the number whose text begins at `p` with the middle between `low` and the next double: -1 below, 0 equal,
 * 1 above; UNKNOWN for doubles below 2^-7 and for integers.
 * @param whole digits before its point, from the first that is not zero on
 */
function compareToMiddle(p: usize, whole: i32, low: f64): i32 {
  const bits = reinterpret<u64>(low);
  // The middle is an integer of 54 bits / 2^scale.
  const scale = 1076 - <i32>(bits >> 52);
  if (scale < 1 || scale > 60 || whole > <i32>MAX_DIGITS) return UNKNOWN;
  const middle = ((((bits & (((<u64>1) << 52) - 1)) | ((<u64>1) << 52)) << 1) | 1);
  const mask = ((<u64>1) << <u64>scale) - 1;
  let fraction = middle & mask;
  let integer: u64 = 0;
  let isWhole = whole > 0;
  let isBegun = false;
  if (!isWhole && middle >> <u64>scale) return -1;
  // Zeros between the point and the first other digit.
  for (; whole < 0; whole++) {
    fraction *= 10;
    if (fraction >> <u64>scale) return -1;
  }
  for (; ; p++) {
    const byte: u32 = load<u8>(p);
    if (byte == POINT) continue;
    if (!isDigit(byte)) break;
    const digit = <u64>(byte - ZERO);
    if (!isBegun && digit == 0) continue;
    isBegun = true;
    if (isWhole) {
      integer = integer * 10 + digit;
      if (--whole > 0) continue;
      isWhole = false;
      const other = middle >> <u64>scale;
      if (integer != other) return integer < other ? -1 : 1;
      continue;
    }
    fraction *= 10;
    const other = fraction >> <u64>scale;
    if (digit != other) return digit < other ? -1 : 1;
    fraction &= mask;
  }
  if (isWhole) return UNKNOWN;
  return fraction ? -1 : 0;
}

/** No result of nearest(). */
export const UNDECIDED: f64 = -1;

/**
 * The double nearest to digits × 10^exponent, ties to even: digits × 5^exponent from a 128-bit power, then the
 * binary exponent. The product is always decisive for exponents of -27 to 55.
 * @param exponent MIN_POWER_OF_FIVE to MAX_POWER_OF_FIVE
 * @param hasMore whether further digits follow these, so that the number is below (digits + 1) × 10^exponent:
 *   UNDECIDED where that may be another double
 */
export function nearest(digits: u64, exponent: i32, hasMore: bool): f64 {
  const shift = clz(digits);
  const w = digits << shift;
  const row = POWERS_OF_FIVE + (<usize>(exponent - MIN_POWER_OF_FIVE) << 4);
  const high5 = load<u64>(row);
  let low = w * high5;
  let high = multiplyHigh(w, high5);
  if ((high & 0x1ff) == 0x1ff) {
    const more = multiplyHigh(w, load<u64>(row, 8));
    low += more;
    if (low < more) high++;
  }
  const upper = high >> 63;
  const cut = upper + 9;
  let mantissa = high >> cut;
  if (hasMore) {
    // One more in `digits` adds at most 1 << shift to `high`, and the table's last bit one. The double is another one
    // only after a middle, which is an odd mantissa; further digits that are all zero leave the number at it.
    const aboveMiddle = (high + (<u64>1 << cut)) & ((<u64>2 << cut) - 1);
    if (aboveMiddle < 2 || aboveMiddle + (<u64>1 << shift) + 2 >= <u64>2 << cut) return UNDECIDED;
  }
  // floor(log2(10^e)) is (217706 e) >> 16 in this range.
  let power = ((217706 * exponent) >> 16) + 63 + <i32>upper - <i32>shift + 1023;
  // Exactly half way between two doubles is possible for these exponents only (digits × 5^e fits 64 bits, or 5^-e
  // divides digits).
  if (!hasMore && low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << cut == high) mantissa &= ~(<u64>1);
  mantissa += mantissa & 1;
  mantissa >>= 1;
  if (mantissa >= <u64>1 << 53) {
    mantissa = <u64>1 << 52;
    power++;
  }
  return reinterpret<f64>((mantissa & (((<u64>1) << 52) - 1)) | (<u64>power << 52));
}

/**
 * The integer of one or two digits from `at` to `end`; 255 if the text is not one, has a leading zero, or is over
 * `max`.
 */
export function readSmallInteger(at: usize, end: usize, max: u32): u32 {
  const size = end - at;
  if (size == 0 || size > 2) return 255;
  let value: u32 = load<u8>(at) - ZERO;
  if (value > 9) return 255;
  if (size == 2) {
    const second: u32 = <u32>load<u8>(at + 1) - ZERO;
    if (second > 9 || value == 0) return 255;
    value = value * 10 + second;
  }
  return value > max ? 255 : value;
}

/** 10^n, n of 0 to 19. */
// @ts-ignore: decorator
@inline
export function integerTen(n: u32): u64 {
  return load<u64>(INTEGER_TENS + (<usize>n << 3));
}
