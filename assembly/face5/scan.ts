// Records of canonical text -> lattice points. A record is read as one vector: its payload is shuffled into pairs, its
// bytes become symbol values by three look-ups of sixteen, and the words of its pairs (lattice offset, digits, share of
// the check) are added up. Every other text, valid or not, is left to hexcode/reading.ts.

import { AT_ADMIN, AT_FAULT, AT_PAIRS, AT_SUM, AT_VALUES, LATTICE, RECORD_BYTES, TEXT_BYTES, TEXTS } from "../memory";
import { baseCellOf, resolutionOf } from "../h3/cell";
import { baseCellAt, FACE_5 } from "../h3/faces";
import { cellI, cellJ, setCell, stepDown, stepToCenterChild } from "../h3/lattice";
import { SYMBOLS, symbolOf } from "../hexcode/alphabet";
import { cellOfHead, digitsOf, headOf, HEADS, isRootHead, pairOf, pairsOf, reachRow } from "../hexcode/payload";
import { prefixAt, BUCKET_ADMINS, BUCKET_PREFIXES, bucketOf } from "../hexcode/admin";
import { inReach } from "../hexcode/record";
import { ADMIN_WORDS, CHECKS, PAIR_WORDS, shareOf } from "./record";

// Head, pairs and check of a text, for example of four and of five pairs:
//
//   payload   h pp pp - pp pp c     ->  lanes of 16 bits   pp pp pp pp .. hc
//             h pp pp - pp pp p - p c                      pp pp pp pp pp hc

const DASH: u32 = 0x2d;

// --- Shapes: tables by the number of pairs, 0 to 5 ---

/** Length of a payload up to its first NUL → number of pairs; 6 if no payload has that length. */
const SHAPES: usize = memory.data<u8>([6, 6, 0, 6, 1, 6, 6, 2, 6, 3, 6, 4, 6, 6, 5, 6]);

/** Number of pairs × 16 → for each byte of the lanes its offset in the payload, or 255. */
const OFFSETS: usize = memory.data(7 * 16, 16);
/** Number of pairs → a bit for each byte of the lanes that must be a symbol; 6 has one that no byte sets: a fault. */
const FILLED: usize = memory.data(7 * 4);
/** Number of pairs → a bit for each byte of the payload that must be a hyphen. */
const HYPHENS: usize = memory.data<u32>([0, 0, 1 << 5, 1 << 5, 1 << 5, 1 << 5 | 1 << 11, 0]);
/**
 * A pair of fewer than three digits is short. Only the last pair may be, and the fifth must be: number of pairs → the
 * offsets to look at, and the bits that must be there.
 */
const SHORT_MASK: usize = memory.data<u32>([31, 30, 29, 27, 23, 31]);
const SHORT_WANTED: usize = memory.data<u32>([0, 0, 0, 0, 0, 16]);

const HEAD_LANE: u32 = 10;
const CHECK_LANE: u32 = 11;

/** The byte of a payload that holds a symbol: a hyphen follows the fifth and the tenth. */
function offsetOf(symbol: u32): u32 {
  return symbol + u32(symbol >= 5) + u32(symbol >= 10);
}

for (let pairs: u32 = 0; pairs < 6; pairs++) {
  const offsets = OFFSETS + 16 * pairs;
  let filled: u32 = 1 << HEAD_LANE | 1 << CHECK_LANE;
  memory.fill(offsets, 255, 16);
  for (let n: u32 = 0; n < 2 * pairs; n++) {
    store<u8>(offsets + n, <u8>offsetOf(n + 1));
    filled |= 1 << n;
  }
  store<u8>(offsets, 0, HEAD_LANE);
  store<u8>(offsets + CHECK_LANE, <u8>offsetOf(2 * pairs + 1));
  store<u32>(FILLED + 4 * pairs, filled);
}
store<u32>(FILLED, 1 << 16, 24);

// --- Symbols: value + 1 of the characters from "2", from "C" and from "S" on, sixteen each; 0 for none ---

const FROM_2: usize = memory.data(48, 16);
const FROM_C: usize = FROM_2 + 16;
const FROM_S: usize = FROM_2 + 32;
const FIRSTS: usize = memory.data<u8>([0x32, 0x43, 0x53]);

for (let value: u32 = 0; value < 20; value++) {
  const character: u32 = load<u8>(SYMBOLS + value);
  const table: u32 = character >= 0x53 ? 2 : character >= 0x43 ? 1 : 0;
  store<u8>(FROM_2 + 16 * table + character - load<u8>(FIRSTS + table), <u8>(value + 1));
}

/** Vectors of one number each: V8 would build a literal at every use. */
const VECTORS: usize = memory.data(7 * 16, 16);
const HYPHEN: usize = VECTORS;
const CHARACTER_2: usize = VECTORS + 16;
const CHARACTER_C: usize = VECTORS + 32;
const CHARACTER_S: usize = VECTORS + 48;
const LOW_BYTE: usize = VECTORS + 64;
const EIGHT_TWENTY: usize = VECTORS + 80;
/** Two symbols of value 0 in each lane of a pair: the pair of value 0, which no code has. */
const PAIR_0: usize = VECTORS + 96;

if (ASC_FEATURE_SIMD) {
  memory.fill(HYPHEN, <u8>DASH, 16);
  memory.fill(CHARACTER_2, 0x32, 16);
  memory.fill(CHARACTER_C, 0x43, 16);
  memory.fill(CHARACTER_S, 0x53, 16);
  v128.store(LOW_BYTE, i16x8.splat(255));
  v128.store(EIGHT_TWENTY, i16x8.splat(8 * 20));
  v128.store(PAIR_0, i16x8(0x101, 0x101, 0x101, 0x101, 0x101, -1, -1, -1));
}

// --- Words of pairs ---

/**
 * A lane is 8 × (20 × (first value + 1) + second value + 1), which is 8 × (the pair's value + 21); 0 where there is no
 * pair.
 */
const LANE_0: u32 = 21;
const LANES: u32 = 421;

/**
 * (Index of the pair, 0 to 4) × LANES + lane / 8 → a u64 to be added up: bits 0-10 share of the check, 11-14 number of
 * digits, 15-19 the index's bit if the pair is short, from 20 and from 42 its offset in j and i at resolution 15,
 * signed.
 */
const SUMMANDS: usize = memory.data(5 * LANES * 8);
const SUMMANDS_1: usize = SUMMANDS + LANES * 8;
const SUMMANDS_2: usize = SUMMANDS + LANES * 16;
const SUMMANDS_3: usize = SUMMANDS + LANES * 24;
const SUMMANDS_4: usize = SUMMANDS + LANES * 32;

for (let value: u32 = 1; value < 400; value++) {
  const bits = digitsOf(value);
  const length = (bits & 7) != 7 ? 3 : (bits >> 3 & 7) != 7 ? 2 : 1;
  for (let index: u32 = 0; index < 5; index++) {
    if (index == 4 && length == 3) continue;
    setCell(0, 0);
    let resolution = 2 + 3 * <i32>index;
    for (let n = 0; n < length; n++) stepDown(resolution++, bits >> (6 - 3 * n) & 7);
    for (; resolution <= 15; resolution++) stepToCenterChild(resolution, cellI, cellJ);
    let word = <u64>(load<u32>(PAIR_WORDS + 2048 * index + 4 * bits) & 0x7ff) | <u64>length << 11;
    if (length < 3) word |= <u64>1 << (15 + index);
    store<u64>(SUMMANDS + 8 * (LANES * index + LANE_0 + value), word + (<i64>cellJ << 20) + (<i64>cellI << 42));
  }
}

// --- Heads ---

/**
 * Value of the head symbol + 1 → i32 i, i32 j of its centre at resolution 15 on face 5; i32 -1 if its digits are turned
 * by half a turn (its base cell is at home on the other face), else 0; u32 share of the check, | ROOT for a cell of
 * resolution 0, or RESERVED for a symbol that is not a head.
 */
const HEAD_ROWS: usize = memory.data(21 * 16);
const HEAD_ROWS_4: usize = HEAD_ROWS + 4;
const HEAD_ROWS_8: usize = HEAD_ROWS + 8;
const HEAD_ROWS_12: usize = HEAD_ROWS + 12;
const ROOT: u32 = 1 << 16;
const RESERVED: u32 = 1 << 17;

for (let head: u32 = 0; head < 20; head++) {
  const row = HEAD_ROWS + 16 * (head + 1);
  store<u32>(row, RESERVED, 12);
  if (head >= HEADS) continue;
  const cell = cellOfHead(head, 1, 0);
  const digit = <i32>(cell >> 42) & 7;
  for (let at = 0; at < 9; at++) {
    const base = baseCellAt(FACE_5, at / 3, at % 3);
    if (base < 0 || (base & 127) != baseCellOf(cell)) continue;
    setCell(at / 3, at % 3);
    if (isRootHead(head)) stepToCenterChild(1, cellI, cellJ);
    else stepDown(1, base & 128 && digit ? 7 - digit : digit);
    store<i32>(row, base & 128 ? -1 : 0, 8);
  }
  for (let r = 2; r <= 15; r++) stepToCenterChild(r, cellI, cellJ);
  store<i32>(row, cellI);
  store<i32>(row, cellJ, 4);
  store<u32>(row, shareOf(head, 5) | (isRootHead(head) ? ROOT : 0), 12);
}

/** The sum of a text's words → the lattice point at resolution 15 of a code with this row of HEAD_ROWS. */
// @ts-ignore: decorator
@inline
function storeSum(sum: u64, row: u32, lattice: usize): void {
  const turn = load<i32>(row, HEAD_ROWS_8);
  const i = <i32>(<i64>(sum + (<u64>1 << 41)) >> 42);
  const j = <i32>(<i64>(sum << 22) >> 42);
  store<i32>(lattice, load<i32>(row, HEAD_ROWS) + (i ^ turn) - turn);
  store<i32>(lattice, load<i32>(row, HEAD_ROWS_4) + (j ^ turn) - turn, 4);
}

/** Writes the lattice point of a cell under a head: its centre descendant at resolution 15. */
export function storeLattice(cell: u64, lattice: usize): void {
  let sum: u64 = 0;
  const pairs = pairsOf(resolutionOf(cell));
  for (let n: u32 = 0; n < pairs; n++) sum += load<u64>(SUMMANDS + 8 * (LANES * n + LANE_0 + pairOf(cell, n)));
  storeSum(sum, headOf(cell) + 1 << 4, lattice);
}

// --- The passes ---

/** Instead of a resolution: the record must be read by hexcode/reading.ts. */
export const UNKNOWN: u32 = 255;

/**
 * Records → TEXTS: lanes, symbol values, number of pairs, admin number, and a fault that is 0 only for canonical form.
 */
function splitTexts(records: usize, count: u32): void {
  if (!ASC_FEATURE_SIMD) return splitTextsOneByOne(records, count);
  let text = TEXTS;
  for (const end = records + <usize>count * RECORD_BYTES; records < end; records += RECORD_BYTES, text += TEXT_BYTES) {
    const prefix = prefixAt(records);
    const two = prefix >> 24 == 0;
    const bucket = bucketOf(prefix);
    let fault = load<u32>(bucket << 2, BUCKET_PREFIXES) ^ prefix;

    const payload = v128.load(records + 4 - <usize>two);
    const nuls = i8x16.bitmask(i8x16.eq(payload, i8x16.splat(0)));
    const pairs: u32 = load<u8>(ctz(nuls | 0x8000), SHAPES);
    fault |= load<u32>(pairs << 2, HYPHENS) & ~i8x16.bitmask(i8x16.eq(payload, v128.load(HYPHEN)));
    const symbols = i8x16.swizzle(payload, v128.load(pairs << 4, OFFSETS));
    let values = v128.or(
      v128.or(
        i8x16.swizzle(v128.load(FROM_2), i8x16.sub(symbols, v128.load(CHARACTER_2))),
        i8x16.swizzle(v128.load(FROM_C), i8x16.sub(symbols, v128.load(CHARACTER_C))),
      ),
      i8x16.swizzle(v128.load(FROM_S), i8x16.sub(symbols, v128.load(CHARACTER_S))),
    );
    // stored and loaded again: V8 would otherwise compute them again for every use
    v128.store(text, values, AT_VALUES);
    values = v128.load(text, AT_VALUES);
    const symbolsFound = v128.andnot(values, i16x8.eq(values, v128.load(PAIR_0)));
    fault |= i8x16.bitmask(i8x16.eq(symbolsFound, i8x16.splat(0))) ^ 0xffff ^ load<u32>(pairs << 2, FILLED);
    const lanes = i16x8.add(
      i16x8.mul(v128.and(values, v128.load(LOW_BYTE)), v128.load(EIGHT_TWENTY)),
      i16x8.shl(i16x8.shr_u(values, 8), 3),
    );
    v128.store(text, lanes);
    store<u32>(text, fault, AT_FAULT);
    store<u8>(text, <u8>pairs, AT_PAIRS);
    store<u8>(text, load<u8>(bucket, BUCKET_ADMINS), AT_ADMIN);
  }
}

/** Without vectors: value + 1 of a character, 0 for none. */
const VALUES: usize = memory.data(ASC_FEATURE_SIMD ? 1 : 256);
if (!ASC_FEATURE_SIMD) {
  for (let value: u32 = 0; value < 20; value++) store<u8>(VALUES + load<u8>(SYMBOLS + value), <u8>(value + 1));
}

/** Value + 1 of the character at an address, 0 for none. */
// @ts-ignore: decorator
@inline
function valueAt(address: usize): u32 {
  return load<u8>(<usize>load<u8>(address), VALUES);
}

/** splitTexts() without vectors; of the values it writes those of head and check alone. */
function splitTextsOneByOne(records: usize, count: u32): void {
  let text = TEXTS;
  for (const end = records + <usize>count * RECORD_BYTES; records < end; records += RECORD_BYTES, text += TEXT_BYTES) {
    const prefix = prefixAt(records);
    const bucket = bucketOf(prefix);
    const payload = records + 4 - <usize>(prefix >> 24 == 0);
    let length: u32 = 0;
    while (length < 15 && load<u8>(payload + length) != 0) length++;
    const pairs: u32 = load<u8>(length, SHAPES);
    if (pairs > 5) {
      store<u32>(text, 1, AT_FAULT);
      continue;
    }
    let fault = load<u32>(bucket << 2, BUCKET_PREFIXES) ^ prefix;
    if (pairs >= 2) fault |= load<u8>(payload, 5) ^ DASH;
    if (pairs == 5) fault |= load<u8>(payload, 11) ^ DASH;
    store<u64>(text, 0);
    store<u16>(text, 0, 8);
    for (let n: u32 = 0; n < pairs; n++) {
      const first = valueAt(payload + offsetOf(2 * n + 1));
      const second = valueAt(payload + offsetOf(2 * n + 2));
      // no symbol, or the pair of value 0, which no code has
      fault |= u32(first == 0) | u32(second == 0) | u32(first + second == 2);
      store<u16>(text + (n << 1), <u16>(8 * (20 * first + second)));
    }
    const head = valueAt(payload);
    const check = valueAt(payload + offsetOf(2 * pairs + 1));
    fault |= u32(head == 0) | u32(check == 0);
    store<u8>(text, <u8>head, AT_VALUES + HEAD_LANE);
    store<u8>(text, <u8>check, AT_VALUES + CHECK_LANE);
    store<u32>(text, fault, AT_FAULT);
    store<u8>(text, <u8>pairs, AT_PAIRS);
    store<u8>(text, load<u8>(bucket, BUCKET_ADMINS), AT_ADMIN);
  }
}

/** Writes the lattice point of a text of canonical form; returns its resolution, or UNKNOWN if it is not a code. */
// @ts-ignore: decorator
@inline
function addUp(text: usize, lattice: usize): u32 {
  let sum = load<u64>(load<u16>(text), SUMMANDS) + load<u64>(load<u16>(text, 2), SUMMANDS_1)
    + load<u64>(load<u16>(text, 4), SUMMANDS_2) + load<u64>(load<u16>(text, 6), SUMMANDS_3)
    + load<u64>(load<u16>(text, 8), SUMMANDS_4);
  store<u64>(text, sum, AT_SUM);
  sum = load<u64>(text, AT_SUM);
  const pairs: u32 = load<u8>(text, AT_PAIRS);
  const admin: u32 = load<u8>(text, AT_ADMIN);
  const headValue: u32 = load<u8>(text, AT_VALUES + HEAD_LANE);
  const row: u32 = headValue << 4;
  const head = load<u32>(row, HEAD_ROWS_12);
  const digits = <u32>(sum >> 11) & 15;
  const short = <u32>(sum >> 15) & load<u32>(pairs << 2, SHORT_MASK) ^ load<u32>(pairs << 2, SHORT_WANTED);
  const check = symbolOf(<u32>load<u8>(text, AT_VALUES + CHECK_LANE) - 1);
  const wanted: u32 = load<u8>(pairs << 9 | <u32>sum + head + load<u32>((admin << 3) + 4, ADMIN_WORDS) & 511, CHECKS);
  const first = pairs == 0 ? 0 : (<u32>load<u16>(text) >> 3) - LANE_0;
  const root = head >> 16;
  if (short | (check ^ wanted) | root >> 1 || (root && pairs) || !inReach(reachRow(headValue - 1, first), admin)) {
    return UNKNOWN;
  }

  storeSum(sum, row, lattice);
  return digits + 1 - root;
}

/**
 * At most BLOCK_RECORDS records -> LATTICE, each cell's centre descendant at resolution 15, and their resolutions. A
 * record other than the canonical text of a valid code gets the point (0, 0) and UNKNOWN; returns how many did. Fills
 * LATTICE up to an even count.
 */
export function scanRecords(records: usize, count: u32, resolutions: usize): u32 {
  splitTexts(records, count);
  let unknown: u32 = 0;
  let lattice = LATTICE;
  let text = TEXTS;
  for (let n: u32 = 0; n < count; n++, lattice += 8, text += TEXT_BYTES) {
    const resolution = load<u32>(text, AT_FAULT) ? UNKNOWN : addUp(text, lattice);
    if (resolution == UNKNOWN) {
      store<u64>(lattice, 0);
      unknown++;
    }
    store<u8>(resolutions + n, <u8>resolution);
  }
  store<u64>(lattice, 0);
  return unknown;
}
