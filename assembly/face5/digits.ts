// Lattice points of face 5 -> words of H3 cells, base cell << 45 | fifteen digits. A look-up in FOUR_DIGITS gives four
// digits: two of them lead from resolution 13 up to 5, three from 15 up to 3. There a window of the face (FINE, COARSE)
// gives the base cell and the first five or three digits. A cell of a coarser resolution comes as its centre descendant
// at 13 or 15, whose further digits are 0.

import { baseCellAt, FACE_5 } from "../h3/faces";
import { cellI, cellJ, setCell, stepToCenterChild, stepUp } from "../h3/lattice";
import { LATTICE, LOOKUPS, LOWER, MIDDLE, QUOTIENTS_I, QUOTIENTS_J, UPPER, WORDS } from "../memory";

// Tables between lattice points of face 5 and H3 digits, made by the steps of h3/lattice.ts when the module starts.

/**
 * (i mod 49) × 64 + (j mod 49) → u16: four digits, those of an odd resolution and the three above it. Two steps up are
 * a division by 7 (their turns cancel), so four digits depend on the remainders by 49 alone. The ancestor four levels
 * up is the quotient, plus one where the way down from it has the offset "remainder less 49": bit 12 for i, bit 13 for
 * j.
 */
const FOUR_DIGITS: usize = memory.data(49 * 64 * 2);

for (let i = 0; i < 49; i++) {
  for (let j = 0; j < 49; j++) {
    setCell(i, j);
    let digits = stepUp(15);
    digits |= stepUp(14) << 3;
    digits |= stepUp(13) << 6;
    digits |= stepUp(12) << 9;
    store<u16>(FOUR_DIGITS + ((i << 6 | j) << 1), <u16>(digits | cellI << 12 | cellJ << 13));
  }
}

/** The window around the box at resolution 3: i and j from 0 on. */
const ROWS: i32 = 24;
const COLUMNS: i32 = 32;

/** i × 32 + j → u16: base cell << 9 | three digits as in the H3 index; 0 under none of the four base cells. */
const COARSE: usize = memory.data(ROWS * COLUMNS * 2);

for (let i = 0; i < ROWS; i++) {
  for (let j = 0; j < COLUMNS; j++) {
    setCell(i, j);
    let digits = stepUp(3);
    digits |= stepUp(2) << 3;
    digits |= stepUp(1) << 6;
    const base = baseCellAt(FACE_5, cellI, cellJ);
    if (base < 0) continue;
    // at home on the other face, so turned by half a turn: every digit d but 0 becomes 7 - d
    if (base & 128) digits ^= ((digits | digits >> 1 | digits >> 2) & 0o111) * 7;
    store<u16>(COARSE + ((i * COLUMNS + j) << 1), <u16>((base & 127) << 9 | digits));
  }
}

/**
 * i of a point (i, 0), at resolution 15 and at 13, that is a corner of the window, outside the box and under no base
 * cell.
 */
export const NOWHERE: i32 = (ROWS - 1) * 117649;
export const NOWHERE_FINE: i32 = (ROWS - 1) * 16807;
store<u16>(COARSE + ((ROWS - 1) * COLUMNS << 1), 0);

/** The window at resolution 5: two levels finer is seven times as many rows and columns. */
const FINE_ROWS: i32 = 7 * ROWS;
const FINE_COLUMNS: i32 = 7 * COLUMNS;

/**
 * i × 224 + j → u32: base cell << 15 | five digits; 0 where COARSE has 0, and at (0, 0), the centre of the face, which
 * is far from the box and stands for undecided points.
 */
const FINE: usize = memory.data(FINE_ROWS * FINE_COLUMNS * 4);

for (let i = 0, at = FINE; i < FINE_ROWS; i++) {
  for (let j = 0; j < FINE_COLUMNS; j++, at += 4) {
    setCell(i, j);
    let digits: u32 = stepUp(5);
    digits |= stepUp(4) << 3;
    if (<u32>cellI >= <u32>ROWS || <u32>cellJ >= <u32>COLUMNS) continue;
    const coarse: u32 = load<u16>(COARSE + ((cellI * COLUMNS + cellJ) << 1));
    if (coarse == 0) continue;
    // base cells 37 and 52 are turned by half a turn; of the four only they have bit 2
    if (coarse >> 11 & 1) digits ^= ((digits | digits >> 1 | digits >> 2) & 0o11) * 7;
    store<u32>(at, coarse << 6 | digits);
  }
}
store<u32>(FINE, 0);

/**
 * Whether cells of a resolution take the short way: descendants at resolution 13, two look-ups and FINE, instead of 15,
 * three look-ups and COARSE. Resolution 0 does not: there (0, 0) is a cell of the box.
 */
// @ts-ignore: decorator
@inline
export function isFine(resolution: u32): bool {
  return resolution - 1 <= 12;
}

/** Resolution × 16 → the matrix from a cell to its centre descendant at 13 or 15 (isFine): i32 m00, m01, m10, m11. */
export const TO_FINEST: usize = memory.data(16 * 16, 16);

for (let resolution = 0; resolution < 16; resolution++) {
  for (let axis = 0; axis < 2; axis++) {
    setCell(1 - axis, axis);
    for (let r = resolution + 1; r <= (isFine(resolution) ? 13 : 15); r++) stepToCenterChild(r, cellI, cellJ);
    store<i32>(TO_FINEST + 16 * resolution + 4 * axis, cellI);
    store<i32>(TO_FINEST + 16 * resolution + 4 * axis, cellJ, 8);
  }
}

// A block goes through passes, each either arithmetic (four points at a time) or look-ups, with arrays in SCRATCH
// between:
//
//   i, j -> quotients by 49, index in FOUR_DIGITS -> entry -> quotients + carries, their quotients … -> FINE or COARSE
//
// The arithmetic is in f32: for all n < 6.4 million round(n × (1/49) − 24/49) is floor(n / 49), which
// test/oracle/kernel/fast-paths.test.ts tries one by one, and all products stay below 2²⁴.

/** One bit per digit of resolutions 4 to 15. */
const ONES: u64 = 0o111111111111;

/** 1.5 × 2²³: a sum with it is rounded to an integer, and the low bits of the sum are that integer. */
const ROUNDER_VALUE: f32 = 12582912;

const SEVENTH_SQUARE: usize = memory.data<f32>([1.0 / 49.0, 24.0 / 49.0, ROUNDER_VALUE, 49.0, 128.0, 2.0, 64.0, 896.0, 4.0]);
const HALF_LESS: usize = SEVENTH_SQUARE + 4;
const ROUNDER: usize = SEVENTH_SQUARE + 8;
const FORTY_NINE: usize = SEVENTH_SQUARE + 12;
const ROW: usize = SEVENTH_SQUARE + 16;
const COLUMN: usize = SEVENTH_SQUARE + 20;
const COARSE_ROW: usize = SEVENTH_SQUARE + 24;
const FINE_ROW: usize = SEVENTH_SQUARE + 28;
const FINE_COLUMN: usize = SEVENTH_SQUARE + 32;
const INDEX_MASK: usize = memory.data<i32>([0x3fff, 4095, 1, 0x3ffff]);
const FINE_MASK: usize = INDEX_MASK + 12;
const DIGITS: usize = INDEX_MASK + 4;
const ONE_BIT: usize = INDEX_MASK + 8;

// @ts-ignore: decorator
@inline
function all(constant: usize): v128 {
  return v128.load32_splat(constant);
}

// @ts-ignore: decorator
@inline
function quotient(n: v128): v128 {
  const q = f32x4.sub(f32x4.mul(n, all(SEVENTH_SQUARE)), all(HALF_LESS));
  return f32x4.sub(f32x4.add(q, all(ROUNDER)), all(ROUNDER));
}

/** Four points (i, j) → their quotients by 49 and their indexes in FOUR_DIGITS, into the arrays at `n`. */
// @ts-ignore: decorator
@inline
function divide(i: v128, j: v128, n: usize): void {
  const iUp = quotient(i);
  const jUp = quotient(j);
  const row = f32x4.mul(f32x4.sub(i, f32x4.mul(iUp, all(FORTY_NINE))), all(ROW));
  const column = f32x4.mul(f32x4.sub(j, f32x4.mul(jUp, all(FORTY_NINE))), all(COLUMN));
  const index = f32x4.add(f32x4.add(row, column), all(ROUNDER));
  v128.store(QUOTIENTS_I + n, iUp);
  v128.store(QUOTIENTS_J + n, jUp);
  v128.store(LOOKUPS + n, v128.and(index, all(INDEX_MASK)));
}

/** i of the ancestors four levels up: the quotients at `n` plus bit 12 of the entries. */
// @ts-ignore: decorator
@inline
function ancestorI(entries: v128, n: usize): v128 {
  return f32x4.add(
    v128.load(QUOTIENTS_I + n), f32x4.convert_i32x4_s(v128.and(i32x4.shr_u(entries, 12), all(ONE_BIT))),
  );
}

/** j of the ancestors: the quotients plus bit 13. */
// @ts-ignore: decorator
@inline
function ancestorJ(entries: v128, n: usize): v128 {
  return f32x4.add(v128.load(QUOTIENTS_J + n), f32x4.convert_i32x4_s(i32x4.shr_u(entries, 13)));
}

/** LOOKUPS → entries of FOUR_DIGITS, four at a time; `bytes` is 4 × points. */
// @ts-ignore: decorator
@inline
function lookUp(bytes: usize, entries: usize): void {
  for (let n: usize = 0; n < bytes; n += 16) {
    store<u32>(entries + n, load<u16>(load<u32>(LOOKUPS + n), FOUR_DIGITS));
    store<u32>(entries + n, load<u16>(load<u32>(LOOKUPS + n, 4), FOUR_DIGITS), 4);
    store<u32>(entries + n, load<u16>(load<u32>(LOOKUPS + n, 8), FOUR_DIGITS), 8);
    store<u32>(entries + n, load<u16>(load<u32>(LOOKUPS + n, 12), FOUR_DIGITS), 12);
  }
}

/**
 * LATTICE -> WORDS: base cell << 45 | fifteen digits, as in the H3 index. A word is below 1 << 45 where the point is
 * undecided or lies under none of the four base cells. Works on whole fours of points.
 */
export function toWords(count: u32, resolution: u32): void {
  if (!ASC_FEATURE_SIMD) return toWordsOneByOne(count, resolution);
  const bytes = <usize>(count + 3 & ~3) << 2;
  for (let n: usize = 0; n < bytes; n += 16) {
    const first = v128.load(LATTICE + (n << 1));
    const second = v128.load(LATTICE + (n << 1), 16);
    const i = v128.shuffle<i32>(first, second, 0, 2, 4, 6);
    const j = v128.shuffle<i32>(first, second, 1, 3, 5, 7);
    divide(f32x4.convert_i32x4_s(i), f32x4.convert_i32x4_s(j), n);
  }
  lookUp(bytes, LOWER);
  for (let n: usize = 0; n < bytes; n += 16) {
    const entries = v128.load(LOWER + n);
    divide(ancestorI(entries, n), ancestorJ(entries, n), n);
  }
  lookUp(bytes, MIDDLE);
  if (isFine(resolution)) fromFine(bytes);
  else fromCoarse(bytes);
}

/** The indexes of four points' ancestors in a window of the face → LOOKUPS. */
// @ts-ignore: decorator
@inline
function indexInWindow(entries: v128, n: usize, rowBytes: usize, columnBytes: usize, bits: usize): void {
  const row = f32x4.mul(ancestorI(entries, n), all(rowBytes));
  const column = f32x4.mul(ancestorJ(entries, n), all(columnBytes));
  const index = f32x4.add(f32x4.add(row, column), all(ROUNDER));
  v128.store(LOOKUPS + n, v128.and(index, all(bits)));
}

/** Entries of two look-ups → words: digits 6 to 13 are known, FINE has the first five. */
// @ts-ignore: decorator
@inline
function fromFine(bytes: usize): void {
  for (let n: usize = 0; n < bytes; n += 16) {
    const entries = v128.load(MIDDLE + n);
    indexInWindow(entries, n, FINE_ROW, FINE_COLUMN, FINE_MASK);
    const digits = v128.or(
      v128.and(v128.load(LOWER + n), all(DIGITS)), i32x4.shl(v128.and(entries, all(DIGITS)), 12),
    );
    v128.store(LOWER + n, digits);
  }
  for (let n: usize = 0; n < bytes; n += 16) {
    storeFineWord(n);
    storeFineWord(n + 4);
    storeFineWord(n + 8);
    storeFineWord(n + 12);
  }
}

/** The word of a point, from the address in FINE and the digits 6 to 13. */
// @ts-ignore: decorator
@inline
function fineWord(index: u32, digits: u32): u64 {
  const fine = load<u32>(index, FINE);
  digits ^= ((digits | digits >> 1 | digits >> 2) & <u32>ONES) * ((fine >> 17 & 1) * 7);
  return <u64>fine << 30 | <u64>digits << 6;
}

// @ts-ignore: decorator
@inline
function storeFineWord(n: usize): void {
  store<u64>(WORDS + (n << 1), fineWord(load<u32>(LOOKUPS + n), load<u32>(LOWER + n)));
}

/** Entries of two look-ups → words: digits 8 to 15 are known; a third look-up gives 4 to 7, COARSE the first three. */
// @ts-ignore: decorator
@inline
function fromCoarse(bytes: usize): void {
  for (let n: usize = 0; n < bytes; n += 16) {
    const entries = v128.load(MIDDLE + n);
    divide(ancestorI(entries, n), ancestorJ(entries, n), n);
    const digits = v128.or(
      v128.and(v128.load(LOWER + n), all(DIGITS)), i32x4.shl(v128.and(entries, all(DIGITS)), 12),
    );
    v128.store(LOWER + n, digits);
  }
  lookUp(bytes, UPPER);
  for (let n: usize = 0; n < bytes; n += 16) {
    const entries = v128.load(UPPER + n);
    indexInWindow(entries, n, COARSE_ROW, COLUMN, INDEX_MASK);
    v128.store(UPPER + n, v128.and(entries, all(DIGITS)));
  }
  for (let n: usize = 0; n < bytes; n += 16) {
    storeWord(n);
    storeWord(n + 4);
    storeWord(n + 8);
    storeWord(n + 12);
  }
}

/** The word of a point, from the address in COARSE and the digits 4 to 15. */
// @ts-ignore: decorator
@inline
function coarseWord(index: u32, digits: u64): u64 {
  const coarse = <u64>load<u16>(index, COARSE);
  // base cells 37 and 52 are turned by half a turn: every digit d but 0 becomes 7 - d. Only these two of the four have
  // bit 2.
  digits ^= ((digits | digits >> 1 | digits >> 2) & ONES) * ((coarse >> 11 & 1) * 7);
  return coarse << 36 | digits;
}

// @ts-ignore: decorator
@inline
function storeWord(n: usize): void {
  const digits = <u64>load<u32>(UPPER + n) << 24 | load<u32>(LOWER + n);
  store<u64>(WORDS + (n << 1), coarseWord(load<u32>(LOOKUPS + n), digits));
}

/** The entry of FOUR_DIGITS of one point. */
// @ts-ignore: decorator
@inline
function entryOf(i: i32, j: i32): u32 {
  return load<u16>(FOUR_DIGITS + (<usize>(i % 49 << 6 | j % 49) << 1));
}

/** toWords() without vectors. */
export function toWordsOneByOne(count: u32, resolution: u32): void {
  const isShortWay = isFine(resolution);
  for (let n: usize = 0, end = <usize>count << 3; n < end; n += 8) {
    let i = load<i32>(LATTICE + n);
    let j = load<i32>(LATTICE + n, 4);
    const lower = entryOf(i, j);
    i = i / 49 + <i32>(lower >> 12 & 1);
    j = j / 49 + <i32>(lower >> 13);
    const middle = entryOf(i, j);
    i = i / 49 + <i32>(middle >> 12 & 1);
    j = j / 49 + <i32>(middle >> 13);
    const digits = lower & 4095 | (middle & 4095) << 12;
    if (isShortWay) {
      store<u64>(WORDS + n, fineWord(i * 896 + j * 4, digits));
    } else {
      const upper = entryOf(i, j);
      i = i / 49 + <i32>(upper >> 12 & 1);
      j = j / 49 + <i32>(upper >> 13);
      store<u64>(WORDS + n, coarseWord(i * 64 + j * 2, <u64>(upper & 4095) << 24 | digits));
    }
  }
}
