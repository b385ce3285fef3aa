// Coordinates as they are usually written: one to three digits, the first not zero, a point, more digits, at most
// fifteen bytes. Scanning notes only the shape of such a text and goes on without waiting for the number; when all rows
// are scanned, their numbers are computed, both of a row at once. Every other text is read by numbers/parse.ts.

import { isDigit, LOWER_CASE, LOWER_E, MINUS, PLUS, POINT, ZERO } from "../chars";
import { INPUT, POINT_BYTES, ROW_BYTES } from "../../memory";
import { TENS } from "../numbers/powers";
import { integerTen, nearest, numberEnd, numberIsPlain, readNumber, UNDECIDED } from "../numbers/parse";
import { coordinateText, LAT, LNG, rowAt, rowShapes, setPlainBytes } from "../row";

// Runs of decimal digits, sixteen bytes at a time: how long they are and which number they are.

/** Vectors of one number each: V8 would build a literal at every use. */
const VECTORS: usize = memory.data(10 * 16, 16);
/** Added to a byte, this makes digits, and nothing else, LOWEST_DIGIT or more as signed bytes. */
const LIFT: usize = VECTORS;
const LOWEST_DIGIT: usize = VECTORS + 16;
const ZEROS: usize = VECTORS + 32;
const LOW_BYTES: usize = VECTORS + 48;
const TENS_8: usize = VECTORS + 64;
const HUNDREDS: usize = VECTORS + 80;
const TEN_THOUSANDS: usize = VECTORS + 96;
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
function otherThanDigits(at: usize): u32 {
  return i8x16.bitmask(i8x16.lt_s(i8x16.add(v128.load(at), v128.load(LIFT)), v128.load(LOWEST_DIGIT)));
}

/** The bytes of a text as digits, in the order of `offsets`; 0 for offsets of 255. */
// @ts-ignore: decorator
@inline
function digitsIn(at: usize, offsets: usize): v128 {
  return i8x16.sub_sat_u(i8x16.swizzle(v128.load(at), v128.load(offsets)), v128.load(ZEROS));
}

/** Sixteen digits → four numbers of four digits each, i32. */
// @ts-ignore: decorator
@inline
function foursOf(digits: v128): v128 {
  const pairs = i16x8.add(
    i16x8.mul(v128.and(digits, v128.load(LOW_BYTES)), v128.load(TENS_8)),
    i16x8.shr_u(digits, 8),
  );
  return i32x4.dot_i16x8_s(pairs, v128.load(HUNDREDS));
}

/** Sixteen digits → their number. */
// @ts-ignore: decorator
@inline
function integerOf(digits: v128): u64 {
  const fours = foursOf(digits);
  const eights = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_s(fours, fours), v128.load(TEN_THOUSANDS));
  return <u64>i32x4.extract_lane(eights, 0) * 100000000 + <u64>i32x4.extract_lane(eights, 1);
}

/** The number that `count` digits from `at` on are, up to sixteen. */
// @ts-ignore: decorator
@inline
function integerAt(at: usize, count: u32): u64 {
  return integerOf(digitsIn(at, TO_END + <usize>count));
}

/**
 * A shape is digits before the point (1 to 3; 0 where there is no point) << 4 | bytes of the text (up to 15); 0 stands
 * for every other text.
 */
const MAX_WHOLE_DIGITS: u32 = 3;
const MAX_BYTES: u32 = 15;
const SIZE_MASK: u32 = 15;

/** Shape × 16 → for each of sixteen digits, aligned to the right, its offset in the text; 255 where there is none. */
const OFFSETS: usize = memory.data(4 * 256, 16);

for (let whole: u32 = 0; whole <= MAX_WHOLE_DIGITS; whole++) {
  for (let size = whole ? whole + 2 : 1; size <= MAX_BYTES; size++) {
    const offsets = OFFSETS + ((whole << 4 | size) << 4);
    memory.fill(offsets, 255, 16);
    let lane: u32 = 16;
    for (let offset = size; offset-- > 0; ) {
      if (whole == 0 || offset != whole) store<u8>(offsets + --lane, <u8>offset);
    }
  }
}

const HUNDRED_MILLIONS: usize = memory.data(16, 16);
v128.store(HUNDRED_MILLIONS, f64x2.splat(100000000));

/** The shape of the number at `at`, or 0. The caller looks after it: an exponent would make it another number. */
// @ts-ignore: decorator
@inline
export function shapeAt(at: usize): u32 {
  const others = otherThanDigits(at);
  const whole = ctz(others);
  if (whole - 1 >= MAX_WHOLE_DIGITS) return 0;
  if (load<u8>(at + whole) != POINT || load<u8>(at) == ZERO) return 0;
  const size = ctz(others & (others - 1));
  return size - whole - 2 <= MAX_BYTES ? whole << 4 | size : 0;
}

/**
 * The shape of the number at `at`, also of one without a point or with 0 before it; or 0. The caller looks after it, as
 * above.
 */
// @ts-ignore: decorator
@inline
export function numberShapeAt(at: usize): u32 {
  const others = otherThanDigits(at);
  const whole = ctz(others);
  // No digit, or a zero before another digit.
  if (whole - 1 >= MAX_BYTES || (whole > 1 && load<u8>(at) == ZERO)) return 0;
  if (load<u8>(at + whole) != POINT) return whole;
  const size = ctz(others & (others - 1));
  return whole <= MAX_WHOLE_DIGITS && size - whole - 2 <= MAX_BYTES ? whole << 4 | size : 0;
}

/** Result of readLonger(): the address after the number, 0 where it has read none. */
export let longerEnd: usize = 0;

/** Digits that fit a u64, with any of them. */
const MAX_DIGITS: u32 = 19;

/**
 * Reads a number that is like one with a shape, but has an exponent or more decimals. @param comma COMMA where that may
 * be its point, too, else POINT
 */
export function readLonger(at: usize, comma: u32): f64 {
  longerEnd = 0;
  // A bit for each of 21 bytes; those from the fifth on may be decimals.
  const others = otherThanDigits(at) | otherThanDigits(at + 5) << 5;
  const whole = ctz(others);
  if (whole - 1 >= MAX_WHOLE_DIGITS || load<u8>(at) == ZERO) return 0;
  const point: u32 = load<u8>(at + whole);
  if (point != POINT && point != comma) return 0;
  const fraction = at + <usize>whole + 1;
  const size = ctz(others & (others - 1));
  let run = size - whole - 1;
  if (run == 0) return 0;
  let p = at + <usize>size;
  let hasMore = false;
  // The integer's digits are moved to the end of four bytes.
  const shift = 32 - 8 * whole;
  const bytes = (load<u32>(at) << shift) & (0x0f0f0f0f << shift);
  let digits = <u64>((bytes >> 24) + 10 * ((bytes >> 16) & 15) + 100 * ((bytes >> 8) & 15));
  if (run <= 16) {
    digits = digits * integerTen(run) + integerAt(fraction, run);
  } else {
    digits = digits * 10000000000000000 + integerAt(fraction, 16);
    run = 16;
    p = fraction + 16;
    let next: u32 = load<u8>(p);
    while (isDigit(next) && whole + run < MAX_DIGITS) {
      digits = digits * 10 + (next - ZERO);
      run++;
      next = load<u8>(++p);
    }
    if (isDigit(next)) {
      hasMore = true;
      while (true) {
        const after = otherThanDigits(p);
        p += after ? <usize>ctz(after) : 16;
        if (after) break;
      }
    }
  }
  let exponent = -<i32>run;
  if ((<u32>load<u8>(p) | LOWER_CASE) == LOWER_E) {
    const sign: u32 = load<u8>(++p);
    if (sign == MINUS || sign == PLUS) p++;
    const first = <u32>load<u8>(p) - ZERO;
    if (first > 9) return 0;
    let power = <i32>first;
    const second: u32 = load<u8>(++p);
    if (isDigit(second)) {
      power = power * 10 + second - ZERO;
      p++;
    }
    exponent += sign == MINUS ? -power : power;
    if (isDigit(load<u8>(p)) || exponent < -22 || exponent > 22) return 0;
  }
  let value: f64;
  if (digits <= <u64>1 << 53) {
    // Both operands are exact, so there is one rounding.
    const ten = load<f64>(TENS + (<usize>abs(exponent) << 3));
    value = exponent < 0 ? <f64>digits / ten : <f64>digits * ten;
  } else {
    value = nearest(digits, exponent, hasMore);
    if (value == UNDECIDED) return 0;
  }
  longerEnd = p;
  return value;
}

/** All digits of a text of this shape as one integer. */
// @ts-ignore: decorator
@inline
export function digitsAsInteger(at: usize, shape: u32): i64 {
  return <i64>integerOf(digitsOf(at, shape));
}

/** The power of ten by which these digits are divided. */
// @ts-ignore: decorator
@inline
export function shapeDivisor(shape: u32): f64 {
  const whole = shape >> 4;
  const decimals: u32 = whole ? shapeBytes(shape) - whole - 1 : 0;
  return load<f64>(TENS + (<usize>decimals << 3));
}

/** How many digits there are from `at` on; 0 if more than fifteen. */
// @ts-ignore: decorator
@inline
export function digitsAt(at: usize): u32 {
  const size = ctz(otherThanDigits(at));
  return size <= MAX_BYTES ? size : 0;
}

// @ts-ignore: decorator
@inline
export function shapeBytes(shape: u32): u32 {
  return shape & SIZE_MASK;
}

/** The digits of a text of this shape as sixteen bytes, aligned to the right. */
// @ts-ignore: decorator
@inline
function digitsOf(at: usize, shape: u32): v128 {
  return digitsIn(at, OFFSETS + (shape << 4));
}

/** How many bytes of the text printing would give: zeros at its end are left out, and a point that nothing follows. */
// @ts-ignore: decorator
@inline
function plainSize(digits: v128, shape: u32): u32 {
  const used = <u32>i8x16.bitmask(i8x16.ne(digits, i64x2.splat(0)));
  const size = shape & SIZE_MASK;
  const whole = shape >> 4;
  const left = size + 16 - clz(used);
  return left > whole + 1 ? left : whole;
}

/** Computes the numbers of the rows whose shapes were noted, and stores them in INPUT. */
export function readDecimals(count: u32): void {
  let point = INPUT;
  for (let row = rowAt(0), end = rowAt(count); row < end; row += ROW_BYTES, point += POINT_BYTES) {
    const shapes = rowShapes(row);
    if (!shapes) continue;
    const latShape = shapes & 255;
    const lngShape = shapes >> 8;
    if (latShape == 0 || lngShape == 0) {
      readOne(row, point, latShape ? LAT : LNG);
      continue;
    }
    const lat = digitsOf(coordinateText(row, LAT), latShape);
    const lng = digitsOf(coordinateText(row, LNG), lngShape);
    const eights = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_s(foursOf(lat), foursOf(lng)), v128.load(TEN_THOUSANDS));
    // At most 14 digits, 13 of them after the point: all operands are exact, so the division alone rounds.
    const digits = f64x2.add(
      f64x2.mul(f64x2.convert_low_i32x4_s(v128.shuffle<i32>(eights, eights, 0, 2, 0, 2)), v128.load(HUNDRED_MILLIONS)),
      f64x2.convert_low_i32x4_s(v128.shuffle<i32>(eights, eights, 1, 3, 1, 3)),
    );
    const tens = v128.load64_lane(
      TENS + (<usize>((lngShape & SIZE_MASK) - (lngShape >> 4) - 1) << 3),
      v128.load64_zero(TENS + (<usize>((latShape & SIZE_MASK) - (latShape >> 4) - 1) << 3)),
      1,
    );
    v128.store(point, f64x2.div(digits, tens));
    setPlainBytes(row, LAT, plainSize(lat, latShape));
    setPlainBytes(row, LNG, plainSize(lng, lngShape));
  }
}

/** Reads the one coordinate of a row that has a shape; scanning has read the other. */
function readOne(row: usize, point: usize, axis: usize): void {
  const text = coordinateText(row, axis);
  store<f64>(point + (axis << 3), readNumber(text, true));
  if (numberIsPlain) setPlainBytes(row, axis, numberEnd - text);
}
