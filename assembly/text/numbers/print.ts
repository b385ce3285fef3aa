// A double → the shortest decimal that reads back as the same double, the same bytes that JavaScript's String gives.
// The method is Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2021; the steps follow Alexander
// Bolz's Drachennest, Boost Software License 1.0). Its table covers 10^-6 <= |x| < 1024, as positions lie within ±180;
// the host prints other numbers, print-usual.ts most numbers from 8 on.

import { MINUS, POINT, ZERO } from "../chars";
import { multiplyHigh } from "./multiply-high";
import { integerTen } from "./parse";
import { DIGIT_PAIRS, MIN_SCALE, SCALES } from "./powers";
import { printUsual } from "./print-usual";

/** The longest decimal in this range: a sign, "0.00000", 17 digits. */
export const MAX_NUMBER_BYTES: u32 = 25;

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
