// Scans CSV (RFC 4180) rows: positions or codes go to INPUT, the rows' bounds to ROWS. A field is quoted if it starts
// with a quote; a quote elsewhere is a character like others, and text after a closing quote belongs to the field as it
// stands. Rows end at LF or CR LF outside quotes; rows without a byte are skipped.

import { HARD_NUMBER, NOT_A_NUMBER, NUMBER, numberEnd, numberIsPlain, numberKind, readNumber, readSmallInteger } from "./parse";
import { RESOLUTIONS } from "../memory";
import { CARRIAGE_RETURN, CODE_NEEDS_ESCAPES, LINE_FEED, NO_RESOLUTION, ROW_INVALID_REQUEST } from "./rows";
import { clearHostRows, leaveToHost, openRow, rowAt, storeCode, storeNoCode, storePoint } from "./rows";

const QUOTE: u32 = 34;

/** Where the last scan stopped: the start of the first row that it did not take. */
export let csvEnd: usize = 0;

// The columns that matter, and the bounds of their fields in the row being scanned. Columns count from 0, -1 is absent.
let columns: u32 = 0;
let firstColumn: i32 = -1;
let secondColumn: i32 = -1;
let resolutionColumn: i32 = -1;
let delimiter: u32 = 44;
let firstStart: usize = 0;
let firstEnd: usize = 0;
let secondStart: usize = 0;
let secondEnd: usize = 0;
let resolutionStart: usize = 0;
let resolutionEnd: usize = 0;
/** The code's field held doubled quotes; a quoted field has no end. */
let isDoubled: bool = false;
let isUnclosed: bool = false;

/** First and second are lat and lng, or the code and -1. */
export function useCsvColumns(count: u32, first: i32, second: i32, resolution: i32, delimiterByte: u32): void {
  columns = count;
  firstColumn = first;
  secondColumn = second;
  resolutionColumn = resolution;
  delimiter = delimiterByte;
}

/**
 * Scans rows from `at` until `end`, where the body or a row ends, or until `limit` rows. `resolution` is for rows
 * without one. Returns the number of rows; csvEnd, ROWS, HOST_ROWS, INPUT and RESOLUTIONS hold the rest. The byte at
 * `end` is overwritten.
 */
export function scanCsv(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32): u32 {
  clearHostRows();
  store<u8>(end, 10);
  const delimiters = i8x16.splat(<i8>delimiter);
  const quotes = i8x16.splat(<i8>QUOTE);
  const feeds = i8x16.splat(10);
  let index: u32 = 0;
  let p = at;
  while (p < end && index < limit) {
    const byte = load<u8>(p);
    if (byte == 10) {
      p++;
      continue;
    }
    if (byte == 13 && load<u8>(p + 1) == 10 && p + 1 < end) {
      p += 2;
      continue;
    }
    const row = rowAt(index);
    openRow(row, p);
    firstStart = firstEnd = secondStart = secondEnd = resolutionStart = resolutionEnd = 0;
    isDoubled = false;
    isUnclosed = false;
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
        const place = chunk + <usize>ctz(mask);
        mask &= mask - 1;
        const mark: u32 = load<u8>(place);
        if (mark == delimiter) {
          noteField(column++, field, place);
          field = place + 1;
        } else if (mark == 10) {
          feed = place;
          noteField(column++, field, withoutReturn(field, place, end));
          break;
        } else if (place == field) {
          next = quotedField(column++, field, end);
          if (load<u8>(next) == delimiter && next < end) field = ++next;
          else feed = next;
          break;
        }
      }
      chunk = next;
    } while (!feed);

    const rowEnd = withoutReturn(p, feed, end);
    store<u32>(row, <u32>rowEnd, 4);
    if (feed < end) store<u8>(row, <u8>(rowEnd == feed ? LINE_FEED : CARRIAGE_RETURN), 28);
    p = feed + 1;
    const isOdd = <u32>column != columns || isUnclosed;
    if (isDecode) takeCode(index, row, isOdd);
    else takePoint(index, row, isOdd, resolution);
    index++;
  }
  csvEnd = min(p, end);
  return index;
}

/** The end of the text before the line feed at `feed`. The feed at `end` is our own. */
// @ts-ignore: decorator
@inline
function withoutReturn(from: usize, feed: usize, end: usize): usize {
  return feed > from && feed != end && load<u8>(feed - 1) == 13 ? feed - 1 : feed;
}

// @ts-ignore: decorator
@inline
function noteField(column: i32, start: usize, end: usize): void {
  if (column == firstColumn) {
    firstStart = start;
    firstEnd = end;
  } else if (column == secondColumn) {
    secondStart = start;
    secondEnd = end;
  }
  if (column == resolutionColumn) {
    resolutionStart = start;
    resolutionEnd = end;
  }
}

/** Notes the field that starts with the quote at `field`; returns the place of the delimiter or line feed behind it. */
function quotedField(column: i32, field: usize, end: usize): usize {
  let p = field + 1;
  let hasDoubled = false;
  for (; ; p++) {
    if (p >= end) {
      isUnclosed = true;
      noteField(column, field, end);
      return end;
    }
    if (load<u8>(p) != QUOTE) continue;
    if (p + 1 >= end || load<u8>(p + 1) != QUOTE) break;
    hasDoubled = true;
    p++;
  }
  const after = p + 1;
  let stop = after;
  while (stop < end && load<u8>(stop) != delimiter && load<u8>(stop) != 10) stop++;
  const textEnd = stop < end && load<u8>(stop) == 10 ? withoutReturn(after, stop, end) : stop;
  if (textEnd == after) {
    noteField(column, field + 1, p);
    if (hasDoubled && column == firstColumn) isDoubled = true;
  } else {
    noteField(column, field, textEnd);
  }
  return stop;
}

// @ts-ignore: decorator
@inline
function takePoint(index: u32, row: usize, isOdd: bool, resolution: u32): void {
  if (resolutionColumn >= 0) {
    if (isOdd) {
      resolution = NO_RESOLUTION;
    } else if (resolutionStart != resolutionEnd) {
      resolution = readSmallInteger(resolutionStart, resolutionEnd, 15);
    }
    store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  }
  store<u8>(row, <u8>resolution, 26);
  if (isOdd) {
    refuse(index, row);
    return;
  }
  const latDeg = readNumber(firstStart, false);
  let kind = numberEnd == firstEnd ? numberKind : NOT_A_NUMBER;
  if (kind == NUMBER && numberIsPlain) store<u16>(row, <u16>(firstEnd - firstStart), 20);
  const lngDeg = readNumber(secondStart, false);
  const secondKind = numberEnd == secondEnd ? numberKind : NOT_A_NUMBER;
  if (secondKind == NUMBER && numberIsPlain) store<u16>(row, <u16>(secondEnd - secondStart), 22);
  store<u32>(row, <u32>firstStart, 8);
  store<u32>(row, <u32>secondStart, 12);
  storePoint(index, latDeg, lngDeg);
  kind |= secondKind;
  if (kind == NUMBER && resolution != NO_RESOLUTION) return;
  if (kind == HARD_NUMBER && resolution != NO_RESOLUTION) {
    leaveToHost(index, row);
    storePoint(index, NaN, NaN);
    return;
  }
  refuse(index, row);
}

/** The row is not understood: nothing is converted for it. */
function refuse(index: u32, row: usize): void {
  store<u8>(row, <u8>ROW_INVALID_REQUEST, 27);
  store<u8>(RESOLUTIONS + <usize>index, 0);
  storePoint(index, NaN, NaN);
}

// @ts-ignore: decorator
@inline
function takeCode(index: u32, row: usize, isOdd: bool): void {
  store<u8>(row, <u8>NO_RESOLUTION, 26);
  store<u32>(row, <u32>firstStart, 8);
  store<u32>(row, <u32>firstEnd, 12);
  if (isOdd || firstStart == firstEnd) {
    store<u8>(row, <u8>ROW_INVALID_REQUEST, 27);
    storeNoCode(index);
    return;
  }
  if (isDoubled) {
    // A code holds no quote.
    store<u8>(row, <u8>(load<u8>(row, 28) | CODE_NEEDS_ESCAPES), 28);
    storeNoCode(index);
    return;
  }
  if (!storeCode(index, firstStart, <u32>(firstEnd - firstStart))) {
    storeNoCode(index);
    leaveToHost(index, row);
  }
}
