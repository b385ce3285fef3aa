// Scans rows of CSV (RFC 4180): positions or codes go to INPUT, the bounds of rows to ROWS. A field is quoted if it
// starts with a quote; elsewhere a quote is a character like any other. A field with text after its closing quote is
// kept as it is, quotes included. Rows end at LF or CR LF outside quotes; rows without a byte are skipped.

import { CARRIAGE_RETURN, COMMA, LINE_FEED, MINUS, POINT, QUOTE, SPACE, TAB } from "../chars";
import {
  HARD_NUMBER, NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber, readSmallInteger,
} from "../numbers/parse";
import {
  addRowFlags, CODE_NEEDS_ESCAPES, ENDS_WITH_CRLF, ENDS_WITH_LF, FIELDS_LEFT, LAT, LNG, markRagged, NO_RESOLUTION,
  openRow, ROW_INVALID_REQUEST, rowAt, setCodeText, setCoordinateText, setPlainBytes, setRowEnd, setRowResolution,
  setRowShapes, setRowStatus,
} from "../row";
import { longerEnd, readDecimals, readLonger, shapeAt, shapeBytes } from "./decimals";
import { FIELDS, RESOLUTIONS } from "../../memory";
import { clearHostRows, leaveToHost, storeCode, storeNoCode, storePoint } from "./input";

// Numbers of CSV fields that are not written as usual (decimals.ts): with blanks around them, or with a decimal comma,
// as spreadsheets write them under Vietnamese settings. A coordinate with one comma and no point has no other meaning.

/** Result of readCoordinate(): NUMBER, HARD_NUMBER or NOT_A_NUMBER. */
let coordinateKind: u32 = 0;

/** Reads the coordinate in a field without blanks around it. */
function readCoordinate(row: usize, axis: usize, start: usize, end: usize): f64 {
  setCoordinateText(row, axis, start);
  const isNegative = load<u8>(start) == MINUS;
  let value = readLonger(start + <usize>isNegative, COMMA);
  if (longerEnd == end) {
    coordinateKind = NUMBER;
    return isNegative ? -value : value;
  }
  value = readNumber(start, false);
  const comma = numberEnd;
  const hasComma = comma > start && comma < end && load<u8>(comma) == COMMA;
  if (hasComma) {
    // The text itself must stay, for it is passed through.
    store<u8>(comma, <u8>POINT);
    value = readNumber(start, false);
    store<u8>(comma, <u8>COMMA);
  }
  coordinateKind = numberEnd == end ? numberKind : NOT_A_NUMBER;
  if (coordinateKind == NUMBER && numberIsPlain && !hasComma) setPlainBytes(row, axis, end - start);
  return value;
}

/** The resolution in a field; 255 if it holds none. */
function readResolution(start: usize, end: usize): u32 {
  start = afterBlanks(start, end);
  return readSmallInteger(start, beforeBlanks(start, end), 15);
}

/** The start of a field after its blanks. */
function afterBlanks(start: usize, end: usize): usize {
  while (start < end && isBlankByte(load<u8>(start))) {
    const size = blankAt(start, end);
    if (size == 0) break;
    start += size;
  }
  return start;
}

/** The end of a field before its blanks. */
function beforeBlanks(start: usize, end: usize): usize {
  while (end > start && isBlankByte(load<u8>(end - 1))) {
    let size: usize = 1;
    while (size <= 3 && (end - start < size || blankAt(end - size, end) != size)) size++;
    if (size > 3) break;
    end -= size;
  }
  return end;
}

/** Whether a byte may belong to a blank. */
// @ts-ignore: decorator
@inline
function isBlankByte(byte: u32): bool {
  return byte <= SPACE || byte >= 0x80;
}

/** Bytes of the blank that begins here; 0 where none does. Blanks are also U+00A0 and characters of no width. */
function blankAt(at: usize, end: usize): usize {
  const first: u32 = load<u8>(at);
  if (first == SPACE || first == TAB) return 1;
  if (first < 0xc2 || end - at < 2) return 0;
  const second: u32 = load<u8>(at + 1);
  if (first == 0xc2) return second == 0xa0 ? 2 : 0;
  if (end - at < 3) return 0;
  const rest: u32 = (second << 8) | load<u8>(at + 2);
  if (first == 0xef) return rest == 0xbbbf ? 3 : 0;
  if (first != 0xe2) return 0;
  // U+200B to U+200F, U+202A to U+202E, U+2060, U+2066 to U+2069.
  const isInvisible =
    rest - 0x808b <= 4 || rest - 0x80aa <= 4 || rest == 0x81a0 || rest - 0x81a6 <= 3;
  return isInvisible ? 3 : 0;
}

/** Where the last scan stopped: the start of the first row that it did not take. */
export let csvEnd: usize = 0;
/** Fields that the rows of the last scan lack, all together: the writer pads these rows. */
export let csvMissing: u32 = 0;

let columns: u32 = 0;
let delimiter: u32 = COMMA;
/** Whether the code's field, in the row being scanned, holds a doubled quote. */
let isDoubled: bool = false;
/** Whether a quoted field of that row has no closing quote, or one below its line, and text after it. */
let isTorn: bool = false;

/** Columns whose fields go to FIELDS: for each, i32 starts of as many rows as the limit, then i32 ends. */
let fieldColumns: u32 = 0;
export let fieldLimit: u32 = 0;
export let fieldOrigin: usize = 0;
let hasLeftField: bool = false;

/** The wanted columns as i32, counted from 0, ascending; after them NO_COLUMN. */
const WANTED: usize = memory.data(4 * 4, 16);
const NO_COLUMN: i32 = -1;
/** u32 start and u32 end of their fields in the row being scanned, in the same order. */
const FOUND: usize = memory.data(4 * 8, 16);
/** Offset in FOUND of fields that nobody wants. */
const UNWANTED: usize = 24;
/**
 * Addresses in FOUND: of lat or the code, of lng, of the row's own resolution. Absent ones have the address UNWANTED.
 */
let first: usize = FOUND;
let second: usize = FOUND;
let own: usize = FOUND;
let hasOwnResolution: bool = false;

/** Sets the columns: how many a row has; those of lat and lng, or of the code and -1; that of the resolution, or -1. */
export function useCsvColumns(count: u32, firstColumn: i32, secondColumn: i32, resolutionColumn: i32, delimiterByte: u32): void {
  columns = count;
  delimiter = delimiterByte;
  fieldColumns = 0;
  hasOwnResolution = resolutionColumn >= 0;
  memory.fill(WANTED, 255, 16);
  memory.fill(FOUND, 0, 32);
  let used: i32 = 0;
  for (let column = -1; ; ) {
    let next = <i32>0x7fffffff;
    if (firstColumn > column) next = min(next, firstColumn);
    if (secondColumn > column) next = min(next, secondColumn);
    if (resolutionColumn > column) next = min(next, resolutionColumn);
    if (next == 0x7fffffff) break;
    store<i32>(WANTED + (<usize>used << 2), next);
    column = next;
    used++;
  }
  first = addressOf(firstColumn);
  second = addressOf(secondColumn);
  own = addressOf(resolutionColumn);
}

/** Has the next scan note where the fields of at most `limit` rows are, counted from `origin`. */
export function useCsvFields(limit: u32, origin: usize): void {
  fieldColumns = columns;
  fieldLimit = limit;
  fieldOrigin = origin;
}

// @ts-ignore: decorator
@inline
function storeField(column: i32, index: u32, start: usize, end: usize): void {
  if (<u32>column >= fieldColumns) return;
  const at = FIELDS + (<usize>(<u32>(2 * column) * fieldLimit + index) << 2);
  store<u32>(at, <u32>(start - fieldOrigin));
  store<u32>(at + (<usize>fieldLimit << 2), <u32>(end - fieldOrigin));
}

function addressOf(column: i32): usize {
  for (let at: usize = 0; at < 3; at++) if (column >= 0 && load<i32>(WANTED + (at << 2)) == column) return FOUND + (at << 3);
  return FOUND + UNWANTED;
}

/**
 * Scans rows from `at` to `end`, at most `limit`. A row or the body ends at `end`; the byte there is overwritten. Rows
 * without a resolution of their own have `resolution`. Returns the number of rows, and fills csvEnd, ROWS, HOST_ROWS,
 * INPUT and RESOLUTIONS.
 */
export function scanCsv(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32): u32 {
  clearHostRows();
  csvMissing = 0;
  store<u8>(end, <u8>LINE_FEED);
  const delimiters = i8x16.splat(<i8>delimiter);
  const quotes = i8x16.splat(<i8>QUOTE);
  const feeds = i8x16.splat(<i8>LINE_FEED);
  let index: u32 = 0;
  let p = at;
  while (p < end && index < limit) {
    const byte = load<u8>(p);
    if (byte == LINE_FEED) {
      p++;
      continue;
    }
    if (byte == CARRIAGE_RETURN && load<u8>(p + 1) == LINE_FEED && p + 1 < end) {
      p += 2;
      continue;
    }
    const row = rowAt(index);
    openRow(row, p);
    let found: usize = 0;
    let wanted = load<i32>(WANTED);
    isDoubled = false;
    isTorn = false;
    hasLeftField = false;
    let column: i32 = 0;
    let field = p;
    let feed: usize = 0;
    let chunk = p;
    do {
      const bytes = v128.load(chunk);
      const marks = v128.or(v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, feeds)), i8x16.eq(bytes, quotes));
      let mask = <u32>i8x16.bitmask(marks);
      let next = chunk + 16;
      while (mask) {
        const byteAt = chunk + <usize>ctz(mask);
        mask &= mask - 1;
        const mark: u32 = load<u8>(byteAt);
        if (mark == delimiter) {
          if (column == wanted) {
            found = noteField(found, field, byteAt);
            wanted = load<i32>(found >> 1, WANTED);
          }
          storeField(column, index, field, byteAt);
          column++;
          field = byteAt + 1;
        } else if (mark == LINE_FEED) {
          feed = byteAt;
          const fieldEnd = withoutReturn(field, byteAt, end);
          if (column == wanted) noteField(found, field, fieldEnd);
          storeField(column, index, field, fieldEnd);
          column++;
          break;
        } else if (byteAt == field) {
          const target = column == wanted ? found : UNWANTED;
          // Most quoted fields close in this vector, at the end of the field: no other mark counts up to it.
          const inside = <u32>i8x16.bitmask(i8x16.eq(bytes, quotes)) & mask;
          const close = chunk + <usize>ctz(inside);
          const after: u32 = load<u8>(close + 1);
          let stop = close + 1;
          if (inside && stop < end && (after == delimiter || after == LINE_FEED)) noteField(target, field + 1, close);
          else stop = quotedField(target, field, end);
          storeField(column, index, <usize>load<u32>(target, FOUND), <usize>load<u32>(target, FOUND + 4));
          if (column == wanted) {
            found += 8;
            wanted = load<i32>(found >> 1, WANTED);
          }
          column++;
          if (stop >= end || load<u8>(stop) != delimiter) {
            feed = stop;
            break;
          }
          field = stop + 1;
          if (field <= chunk + 16) {
            mask &= <u32>-1 << <u32>(field - chunk);
            continue;
          }
          next = field;
          break;
        }
      }
      chunk = next;
    } while (!feed);

    const rowEnd = withoutReturn(p, feed, end);
    setRowEnd(row, rowEnd);
    if (feed < end) addRowFlags(row, rowEnd == feed ? ENDS_WITH_LF : ENDS_WITH_CRLF);
    p = feed + 1;
    const isOdd = <u32>column != columns || isTorn;
    if (isOdd) {
      markRagged(row, columns);
      if (<u32>column < columns) csvMissing += columns - <u32>column;
    }
    if (isOdd || hasLeftField) addRowFlags(row, FIELDS_LEFT);
    if (isDecode) takeCode(index, row, isOdd);
    else takePoint(index, row, isOdd, resolution);
    index++;
  }
  if (!isDecode) readDecimals(index);
  csvEnd = min(p, end);
  return index;
}

/**
 * Where the text ends whose line feed is at `feed`: before CR LF or LF. The LF at `end` is the scan's own; a CR before
 * it is text.
 */
// @ts-ignore: decorator
@inline
function withoutReturn(from: usize, feed: usize, end: usize): usize {
  return feed > from && feed != end && load<u8>(feed - 1) == CARRIAGE_RETURN ? feed - 1 : feed;
}

// @ts-ignore: decorator
@inline
function noteField(found: usize, start: usize, end: usize): usize {
  store<u32>(found, <u32>start, FOUND);
  store<u32>(found, <u32>end, FOUND + 4);
  return found + 8;
}

/**
 * Notes the field that starts with the quote at `field`; returns the address of the delimiter or line feed after it.
 */
function quotedField(target: usize, field: usize, end: usize): usize {
  let p = field + 1;
  let hasDoubled = false;
  while (true) {
    const quotes = <u32>i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(<i8>QUOTE)));
    p += quotes ? <usize>ctz(quotes) : 16;
    if (p >= end) {
      isTorn = true;
      return end;
    }
    if (!quotes) continue;
    if (p + 1 >= end || load<u8>(p + 1) != QUOTE) break;
    hasDoubled = true;
    p += 2;
  }
  const after = p + 1;
  let stop = after;
  while (stop < end && load<u8>(stop) != delimiter && load<u8>(stop) != LINE_FEED) stop++;
  const textEnd = stop < end && load<u8>(stop) == LINE_FEED ? withoutReturn(after, stop, end) : stop;
  if (hasDoubled || textEnd != after) hasLeftField = true;
  if (textEnd == after) {
    noteField(target, field + 1, p);
    if (hasDoubled && FOUND + target == first) isDoubled = true;
  } else {
    noteField(target, field, textEnd);
    // The quotes of two rows, where another program escapes them by backslashes.
    if (afterBlanks(after, textEnd) < textEnd)
      for (let at = field; at < p && !isTorn; at++) isTorn = load<u8>(at) == LINE_FEED;
  }
  return stop;
}

// @ts-ignore: decorator
@inline
function takePoint(index: u32, row: usize, isOdd: bool, resolution: u32): void {
  if (hasOwnResolution) {
    if (isOdd) resolution = NO_RESOLUTION;
    else if (load<u32>(own) != load<u32>(own, 4)) resolution = readResolution(load<u32>(own), load<u32>(own, 4));
    store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  }
  setRowResolution(row, resolution);
  // A row with too few fields leaves fields of the row before in FOUND.
  if (isOdd) {
    refuse(index, row);
    return;
  }
  if (resolution == NO_RESOLUTION) {
    refuse(index, row);
    return;
  }
  const firstStart = <usize>load<u32>(first);
  const firstEnd = <usize>load<u32>(first, 4);
  const secondStart = <usize>load<u32>(second);
  const secondEnd = <usize>load<u32>(second, 4);
  if (!takeShapes(row, firstStart, firstEnd, secondStart, secondEnd)) takeUnusual(index, row, firstStart, firstEnd, secondStart, secondEnd);
}

/** Notes both coordinates where they are written as usual. */
// @ts-ignore: decorator
@inline
function takeShapes(row: usize, firstStart: usize, firstEnd: usize, secondStart: usize, secondEnd: usize): bool {
  const latShape = shapeAt(firstStart);
  const lngShape = shapeAt(secondStart);
  if (!latShape || !lngShape || firstStart + shapeBytes(latShape) != firstEnd || secondStart + shapeBytes(lngShape) != secondEnd)
    return false;
  setCoordinateText(row, LAT, firstStart);
  setCoordinateText(row, LNG, secondStart);
  setRowShapes(row, latShape, lngShape);
  return true;
}

/** Reads coordinates with blanks around them, or in another spelling. */
function takeUnusual(index: u32, row: usize, firstStart: usize, firstEnd: usize, secondStart: usize, secondEnd: usize): void {
  const size = firstEnd - firstStart + secondEnd - secondStart;
  firstStart = afterBlanks(firstStart, firstEnd);
  firstEnd = beforeBlanks(firstStart, firstEnd);
  secondStart = afterBlanks(secondStart, secondEnd);
  secondEnd = beforeBlanks(secondStart, secondEnd);
  const hadBlanks = firstEnd - firstStart + secondEnd - secondStart != size;
  if (hadBlanks && takeShapes(row, firstStart, firstEnd, secondStart, secondEnd)) return;
  const latDeg = readCoordinate(row, LAT, firstStart, firstEnd);
  const latKind = coordinateKind;
  const lngDeg = readCoordinate(row, LNG, secondStart, secondEnd);
  const kind = latKind | coordinateKind;
  if (kind == NUMBER) {
    storePoint(index, latDeg, lngDeg);
  } else if (kind == HARD_NUMBER) {
    leaveToHost(index, row);
    storePoint(index, NaN, NaN);
  } else {
    refuse(index, row);
  }
}

/** Marks a row that is not understood, and makes its position one that fails. */
function refuse(index: u32, row: usize): void {
  setRowStatus(row, ROW_INVALID_REQUEST);
  store<u8>(RESOLUTIONS + <usize>index, 0);
  storePoint(index, NaN, NaN);
}

// @ts-ignore: decorator
@inline
function takeCode(index: u32, row: usize, isOdd: bool): void {
  setRowResolution(row, NO_RESOLUTION);
  const firstStart: usize = isOdd ? <usize>0 : load<u32>(first);
  const firstEnd: usize = isOdd ? <usize>0 : load<u32>(first, 4);
  setCodeText(row, firstStart, firstEnd);
  if (firstStart == firstEnd) {
    setRowStatus(row, ROW_INVALID_REQUEST);
    storeNoCode(index);
    return;
  }
  if (isDoubled) {
    // No code holds a quote.
    addRowFlags(row, CODE_NEEDS_ESCAPES);
    storeNoCode(index);
    return;
  }
  if (!storeCode(index, firstStart, <u32>(firstEnd - firstStart))) {
    storeNoCode(index);
    leaveToHost(index, row);
  }
}
