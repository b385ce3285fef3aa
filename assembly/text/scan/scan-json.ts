// Finds JSON items, the lines of NDJSON or the elements of an array, and has them read by json-items.ts. Only items
// that are right in every byte pass. Every other item is left to the host with its bounds, and the host's JSON parser
// decides what is wrong with it.

import { RESOLUTIONS } from "../../memory";
import {
  BACKSLASH, CARRIAGE_RETURN, CLOSE_BRACE, CLOSE_BRACKET, COMMA, LINE_FEED, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE, TAB,
} from "../chars";
import { NO_RESOLUTION, openRow, rowAt, rowStart, setRowEnd, setRowResolution } from "../row";
import { addBlankLine, clearBlankLines, clearHostRows, leaveToHost, storeNoCode, storePoint } from "./input";
import { readDecimals } from "./decimals";
import { decodeItem, encodeItem } from "./json-items";
import { lineItem, openLines } from "./json-lines";
import { lineEnd, usualItem } from "./json-usual-line";
import { isSpace, useFeedAsSpace } from "./json-values";

/** MAX_NDJSON_ROW_BYTES of src/hexcodes/wire/job.ts: longer items are left to the host, which refuses them. */
const MAX_ITEM_BYTES: usize = 65536;

/** Where the last scan stopped. */
export let jsonEnd: usize = 0;
/** Why the last scan of an array stopped: one of these three. */
export let jsonState: u32 = 0;
/** At the limit, or because no further element is whole. */
export const JSON_OPEN: u32 = 0;
/** At the array's closing bracket; jsonEnd is after it. */
export const JSON_CLOSED: u32 = 1;
/** At something that is not JSON. */
export const JSON_BROKEN: u32 = 2;

/** Bits for names: the position is named lat and lng; no name that is read, added or chosen is beyond ASCII. */
const USUAL_NAMES: u32 = 1;
const ASCII_NAMES: u32 = 2;

/**
 * Scans lines from `at` to `end`, at most `limit` items; lines of white space are none. The byte at `end` is
 * overwritten. Items without a resolution have `resolution`. Returns the number of items.
 */
export function scanNdjson(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32): u32 {
  return scanEach(at, end, limit, isDecode, resolution, 0, USUAL_NAMES);
}

/**
 * Scans lines of a file, to which members will be added: `columns` of MEMBERS are those of lat, lng and perhaps
 * of the resolution, or the code's alone, and a line with a name of LINE_NAMES is left to the host.
 */
export function scanLines(at: usize, end: usize, limit: u32, resolution: u32, columns: u32, names: u32): u32 {
  openLines(columns);
  return scanEach(at, end, limit, columns == 1, resolution, columns, names);
}

function scanEach(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32, columns: u32, names: u32): u32 {
  clearHostRows();
  clearBlankLines();
  useFeedAsSpace(false);
  store<u8>(end, <u8>LINE_FEED);
  const mayBeUsual = !isDecode && (names & USUAL_NAMES) != 0;
  let index: u32 = 0;
  let p = at;
  while (p < end && index < limit) {
    if (mayBeUsual) {
      const feed = usualItem(index, p, resolution);
      if (feed) {
        p = feed + 1;
        index++;
        continue;
      }
    }
    while (isBlank(load<u8>(p))) p++;
    if (load<u8>(p) == LINE_FEED) {
      p++;
      addBlankLine();
      continue;
    }
    // Found at once, so that the next line need not wait for what is read of this one.
    const feed = lineEnd(p);
    const row = rowAt(index);
    openRow(row, p);
    setRowResolution(row, resolution);
    let after: usize;
    if (columns) after = lineItem(index, row, p, resolution, columns, (names & ASCII_NAMES) != 0);
    else after = isDecode ? decodeItem(index, row, p) : encodeItem(index, row, p, resolution);
    if (after) while (isBlank(load<u8>(after))) after++;
    if (after != feed || feed - p > MAX_ITEM_BYTES) leaveItem(index, row, isDecode);
    setRowEnd(row, feed);
    p = feed + 1;
    index++;
  }
  if (!isDecode) readDecimals(index);
  jsonEnd = min(p, end);
  return index;
}

/**
 * Scans elements of an array from `at` to its closing bracket or `end`, at most `limit`; an element that continues
 * after `end` is not taken. `at` is after a comma, or after the opening bracket: then `mayClose` is true, as the array
 * may be empty. Returns the number of items; sets jsonEnd and jsonState.
 */
export function scanArray(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32, mayClose: bool): u32 {
  clearHostRows();
  useFeedAsSpace(true);
  store<u8>(end, 0);
  jsonState = JSON_OPEN;
  let index: u32 = 0;
  let p = at;
  while (index < limit) {
    let start = p;
    while (isSpace(load<u8>(start))) start++;
    if (start >= end) break;
    if (mayClose && load<u8>(start) == CLOSE_BRACKET) {
      jsonState = JSON_CLOSED;
      p = start + 1;
      break;
    }
    mayClose = false;
    const row = rowAt(index);
    openRow(row, start);
    setRowResolution(row, resolution);
    let after = isDecode ? decodeItem(index, row, start) : encodeItem(index, row, start, resolution);
    let rowEnd = after;
    let byte: u32 = 0;
    if (after) {
      while (isSpace(load<u8>(after))) after++;
      byte = load<u8>(after);
      if (byte != COMMA && byte != CLOSE_BRACKET) after = 0;
    }
    if (!after) {
      after = rowEnd = elementEnd(start, end);
      if (after >= end) break;
      byte = load<u8>(after);
      if (after == start || byte == CLOSE_BRACE) {
        jsonState = JSON_BROKEN;
        break;
      }
      leaveItem(index, row, isDecode);
    } else if (rowEnd - start > MAX_ITEM_BYTES) {
      leaveItem(index, row, isDecode);
    }
    setRowEnd(row, rowEnd);
    index++;
    p = after + 1;
    if (byte == CLOSE_BRACKET) {
      jsonState = JSON_CLOSED;
      break;
    }
  }
  if (!isDecode) readDecimals(index);
  jsonEnd = p;
  return index;
}

/** White space within a line. */
// @ts-ignore: decorator
@inline
function isBlank(byte: u32): bool {
  return byte == SPACE || byte == TAB || byte == CARRIAGE_RETURN;
}

/** Where an element that is not understood ends: at the comma or closing bracket after it, or at `end`. */
function elementEnd(p: usize, end: usize): usize {
  let depth = 0;
  for (; p < end; p++) {
    const byte: u32 = load<u8>(p);
    if (byte == QUOTE) {
      for (p++; p < end && load<u8>(p) != QUOTE; p++) if (load<u8>(p) == BACKSLASH) p++;
    } else if (byte == OPEN_BRACKET || byte == OPEN_BRACE) {
      depth++;
    } else if (byte == CLOSE_BRACKET || byte == CLOSE_BRACE) {
      if (depth == 0) return p;
      depth--;
    } else if (byte == COMMA && depth == 0) {
      return p;
    }
  }
  return end;
}

/** Leaves an item to the host, and clears all that was noted of it but its start. */
function leaveItem(index: u32, row: usize, isDecode: bool): void {
  const start = rowStart(row);
  openRow(row, start);
  setRowResolution(row, NO_RESOLUTION);
  if (isDecode) {
    storeNoCode(index);
  } else {
    storePoint(index, NaN, NaN);
    store<u8>(RESOLUTIONS + <usize>index, 0);
  }
  leaveToHost(index, row);
}
