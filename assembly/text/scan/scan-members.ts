// Reads lines of NDJSON for a table. Of each member in a known column: of which kind its value is, where that lies, and
// which number it is. A line that it is not certain of is left to the host.

import { INPUT, MEMBERS, TEXT_OUT } from "../../memory";
import {
  BACKSLASH, CARRIAGE_RETURN, CLOSE_BRACE, COLON, COMMA, isDigit, LINE_FEED, LOWER_CASE, LOWER_E, MINUS, OPEN_BRACE,
  OPEN_BRACKET, QUOTE, SPACE, ZERO,
} from "../chars";
import { NUMBER, numberEnd, numberIsPlain, numberIsWhole, numberKind, readNumber } from "../numbers/parse";
import { openRow, rowAt, setRowEnd } from "../row";
import { addBlankLine, clearBlankLines, clearHostRows, leaveToHost, storePoint } from "./input";
import { digitsAsInteger, numberShapeAt, shapeBytes, shapeDivisor } from "./decimals";
import { lineEnd } from "./json-usual-line";
import { afterSpace, clearDeep, isDeep, skipEscape, skipValue, useFeedAsSpace } from "./json-values";

// A column is 32 bytes in MEMBERS, set by src/hexcodes/kernel/member-memory.ts but for its kinds:
//
//    0  u32  name       address of the name in JSON, with its quotes
//    4  u32  nameBytes
//    8  u8   role       what becomes of its values
//    9  u8   axis       1 for latitudes and 2 for longitudes, which go to INPUT, too
//   10  u8   kinds      all that the last scan met
//   11  u8   everywhere 1 if no row of the last scan lacked it
//   12  u32  base       where the host keeps its numbers, in the bytes that starts and ends count
//   16  v128 mask       of the first bytes of the name
//
// In TEXT_OUT a column has, for as many rows as the limit of the scan: values of eight bytes, then i32 starts (-1 where
// there is no value), i32 ends and u8 kinds.

export const COLUMN_BYTES: usize = 32;
export const AT_NAME_BYTES: usize = 4;
const AT_ROLE: usize = 8;
const AT_AXIS: usize = 9;
const AT_KINDS: usize = 10;
const AT_EVERYWHERE: usize = 11;
const AT_BASE: usize = 12;
const AT_MASK: usize = 16;
const ROW_PART_BYTES: u32 = 17;

/**
 * Roles. RAW keeps the quotes of texts. Where the host keeps numbers, numbers and booleans lie among them (`base`).
 */
const RAW: u32 = 1;
const DOUBLE: u32 = 2;
const LONG: u32 = 3;
const BOOLEAN: u32 = 4;

/** Kinds of values. An ODD number is one whose text differs from its printed value. */
const TEXT: u32 = 1;
const ESCAPED: u32 = 2;
const INTEGER: u32 = 4;
const FRACTION: u32 = 8;
const ODD: u32 = 16;
const TRUE_OR_FALSE: u32 = 32;
const NULL: u32 = 64;
/** Lists and objects. */
const NESTED: u32 = 128;

/** Numbers below it are printed with an exponent. */
const MIN_PLAIN: f64 = 1e-6;
/** Shapes up to it belong to integers and are their lengths. */
const MAX_SHAPE_OF_INTEGER: u32 = 15;
const MAX_SAFE: f64 = 9007199254740991;
/** A number of fewer bytes has at most fifteen digits. */
const MAX_USUAL_BYTES: usize = 16;
/** Most comparisons of names in a line: a line in another order than the columns costs the square of its members. */
const MAX_TRIES: u32 = 1024;

/** Where the last scan stopped. */
export let membersEnd: usize = 0;

/** Arguments of the current scan. */
let columnCount: u32 = 0;
let rowLimit: u32 = 0;
let textOrigin: usize = 0;
let kindsOnly: bool = false;

/**
 * Scans lines from `at` to `end`, at most `limit` of them, a multiple of 16; the byte at `end` is overwritten. Starts
 * and ends count from `origin`. With `isKindsOnly`, only kinds are stored. Returns the number of rows.
 */
export function scanMembers(at: usize, end: usize, limit: u32, columns: u32, origin: usize, isKindsOnly: bool): u32 {
  clearHostRows();
  useFeedAsSpace(false);
  store<u8>(end, <u8>LINE_FEED);
  columnCount = columns;
  rowLimit = limit;
  textOrigin = origin;
  kindsOnly = isKindsOnly;
  clearBlankLines();
  for (let c: u32 = 0; c < columns; c++) {
    const area = areaOf(c);
    memory.fill(area + <usize>(16 * limit), 0, limit);
    if (!isKindsOnly) memory.fill(area + <usize>(8 * limit), 255, 4 * limit);
  }
  let index: u32 = 0;
  let p = at;
  while (p < end && index < limit) {
    const byte: u32 = load<u8>(p);
    if (byte == LINE_FEED || (byte == CARRIAGE_RETURN && load<u8>(p, 1) == LINE_FEED)) {
      p += byte == LINE_FEED ? 1 : 2;
      addBlankLine();
      continue;
    }
    const row = rowAt(index);
    openRow(row, p);
    if (!isKindsOnly) storePoint(index, NaN, NaN);
    let feed = readLine(p, index);
    if (!feed) {
      feed = lineEnd(p);
      forget(index);
      leaveToHost(index, row);
    }
    setRowEnd(row, feed);
    p = feed + 1;
    index++;
  }
  for (let c: u32 = 0; c < columns; c++) noteKinds(c, index);
  membersEnd = min(p, end);
  return index;
}

// @ts-ignore: decorator
@inline
function areaOf(column: u32): usize {
  return TEXT_OUT + <usize>(column * ROW_PART_BYTES * rowLimit);
}

/** Returns the line end; 0 for a line that is left to the host. */
function readLine(at: usize, index: u32): usize {
  let p = afterSpace(at);
  if (load<u8>(p) != OPEN_BRACE) return 0;
  p = afterSpace(p + 1);
  if (load<u8>(p) == CLOSE_BRACE) return lineEndAt(p + 1);
  let tries = MAX_TRIES;
  let column: u32 = 0;
  while (true) {
    // Members mostly come in the order of the columns; some are missing.
    let record = MEMBERS + COLUMN_BYTES * <usize>column;
    if (column >= columnCount || !isNamed(record, p)) {
      for (let left = columnCount; ; left--) {
        if (left == 0 || tries-- == 0) return 0;
        if (++column >= columnCount) column = 0;
        record = MEMBERS + COLUMN_BYTES * <usize>column;
        if (isNamed(record, p)) break;
      }
    }
    p = afterSpace(p + <usize>load<u32>(record, AT_NAME_BYTES));
    if (load<u8>(p) != COLON) return 0;
    p = readValue(afterSpace(p + 1), record, areaOf(column), index);
    if (!p) return 0;
    p = afterSpace(p);
    const byte: u32 = load<u8>(p);
    if (byte != COMMA) return byte == CLOSE_BRACE ? lineEndAt(p + 1) : 0;
    p = afterSpace(p + 1);
    column++;
  }
}

// @ts-ignore: decorator
@inline
function lineEndAt(p: usize): usize {
  p = afterSpace(p);
  return load<u8>(p) == LINE_FEED ? p : 0;
}

// @ts-ignore: decorator
@inline
export function isNamed(record: usize, p: usize): bool {
  const name = <usize>load<u32>(record);
  const differs = v128.and(v128.xor(v128.load(p), v128.load(name)), v128.load(record, AT_MASK));
  if (v128.any_true(differs)) return false;
  const size = <usize>load<u32>(record, AT_NAME_BYTES);
  for (let i: usize = 16; i < size; i++) if (load<u8>(p + i) != load<u8>(name + i)) return false;
  return true;
}

/**
 * Reads the value at `p` and returns the address after it; 0 if the line is left to the host, or has the member
 * twice.
 */
// @ts-ignore: decorator
@inline
function readValue(p: usize, record: usize, area: usize, index: u32): usize {
  const kindAt = area + <usize>(16 * rowLimit + index);
  // JSON takes the last of two members with one name, so the host reads this line.
  if (load<u8>(kindAt)) return 0;
  const first: u32 = load<u8>(p);
  const role: u32 = load<u8>(record, AT_ROLE);
  let start = p;
  let end: usize;
  let after: usize;
  let kind: u32;
  if (isDigit(first) || first == MINUS) {
    const digits = first == MINUS ? p + 1 : p;
    const shape = numberShapeAt(digits);
    after = end = digits + <usize>shapeBytes(shape);
    let value: f64 = 0;
    let isPlain = true;
    if (shape && (<u32>load<u8>(end) | LOWER_CASE) != LOWER_E) {
      kind = shape <= MAX_SHAPE_OF_INTEGER ? INTEGER : FRACTION;
      if (!kindsOnly) {
        // Both numbers are exact, so only the division rounds.
        value = <f64>digitsAsInteger(digits, shape) / shapeDivisor(shape);
        isPlain =
          kind == INTEGER ? value != 0 || digits == p : load<u8>(end - 1) != ZERO && value >= MIN_PLAIN;
        if (digits != p) value = -value;
      }
    } else {
      value = readNumber(p, true);
      if (numberKind != NUMBER) return 0;
      after = end = numberEnd;
      kind = INTEGER;
      if (!numberIsWhole) {
        kind = FRACTION;
        // A fraction of many digits that rounds to an integer would be inferred as an integer.
        if (end - p > MAX_USUAL_BYTES && floor(value) == value) return 0;
      } else if (abs(value) > MAX_SAFE) return 0;
      isPlain = numberIsPlain;
    }
    store<u8>(kindAt, <u8>(isPlain ? kind : kind | ODD));
    if (kindsOnly) return after;
    const axis: u32 = load<u8>(record, AT_AXIS);
    if (axis) store<f64>(INPUT + (<usize>index << 4) + (<usize>axis << 3) - 8, value);
    const valueAt = area + (<usize>index << 3);
    if (role == LONG && kind == INTEGER) store<i64>(valueAt, <i64>value);
    else store<f64>(valueAt, value);
    if (role == DOUBLE || (role == LONG && kind == INTEGER)) {
      start = textOrigin + <usize>load<u32>(record, AT_BASE) + (<usize>index << 3);
      end = start + 8;
    }
  } else if (first == QUOTE) {
    kind = TEXT;
    end = p + 1;
    while (true) {
      const bytes = v128.load(end);
      const mask = i8x16.bitmask(
        v128.or(
          i8x16.lt_u(bytes, i8x16.splat(<i8>SPACE)),
          v128.or(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH))),
        ),
      );
      if (!mask) {
        end += 16;
        continue;
      }
      end += <usize>ctz(mask);
      const byte: u32 = load<u8>(end);
      if (byte == QUOTE) break;
      if (byte != BACKSLASH) return 0;
      kind = ESCAPED;
      end = skipEscape(end);
      if (!end) return 0;
    }
    after = end + 1;
    store<u8>(kindAt, <u8>kind);
    if (role == RAW) end++;
    else start++;
  } else if (first == OPEN_BRACE || first == OPEN_BRACKET) {
    clearDeep();
    after = end = skipValue(p);
    if (!end || isDeep) return 0;
    store<u8>(kindAt, <u8>NESTED);
  } else {
    const word = load<u32>(p);
    const isTrue = word == 0x65757274; // true
    if (word == 0x6c6c756e) {
      store<u8>(kindAt, <u8>NULL);
      return p + 4;
    }
    // fals
    if (!isTrue && (word != 0x736c6166 || load<u8>(p, 4) != LOWER_E)) return 0;
    after = end = isTrue ? p + 4 : p + 5;
    store<u8>(kindAt, <u8>TRUE_OR_FALSE);
    if (role == BOOLEAN && !kindsOnly) {
      store<u8>(area + (<usize>index << 3), <u8>isTrue);
      start = textOrigin + <usize>load<u32>(record, AT_BASE) + (<usize>index << 3);
      end = start + 1;
    }
  }
  if (!kindsOnly) {
    const startAt = area + (<usize>(2 * rowLimit + index) << 2);
    store<u32>(startAt, <u32>(start - textOrigin));
    store<u32>(startAt + (<usize>rowLimit << 2), <u32>(end - textOrigin));
  }
  return after;
}

/** Clears what was stored for a line that is left to the host. */
function forget(index: u32): void {
  for (let c: u32 = 0; c < columnCount; c++) {
    const area = areaOf(c);
    store<u8>(area + <usize>(16 * rowLimit + index), 0);
    if (!kindsOnly) store<i32>(area + (<usize>(2 * rowLimit + index) << 2), -1);
  }
  if (!kindsOnly) storePoint(index, NaN, NaN);
}

function noteKinds(column: u32, rows: u32): void {
  const kinds = areaOf(column) + <usize>(16 * rowLimit);
  const empty = i8x16.splat(<i8>NULL);
  let met = i64x2.splat(0);
  let without: u32 = 0;
  // The area ends with whole vectors, in which the bytes after the last row are 0.
  for (let row: u32 = 0; row < rows; row += 16) {
    const vector = v128.load(kinds + <usize>row);
    met = v128.or(met, vector);
    const isWithout = v128.or(i8x16.eq(vector, i64x2.splat(0)), i8x16.eq(vector, empty));
    without |= <u32>i8x16.bitmask(isWithout) & (rows - row < 16 ? (1 << (rows - row)) - 1 : 0xffff);
  }
  let word = i64x2.extract_lane(met, 0) | i64x2.extract_lane(met, 1);
  word |= word >> 32;
  word |= word >> 16;
  word |= word >> 8;
  const record = MEMBERS + COLUMN_BYTES * <usize>column;
  store<u8>(record, <u8>word, AT_KINDS);
  store<u8>(record, <u8>(without == 0), AT_EVERYWHERE);
}
