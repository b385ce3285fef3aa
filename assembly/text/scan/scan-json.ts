// Finds JSON items, one a line (NDJSON) or as the elements of an array, and has them read (json-items.ts). Only what is
// wholly right passes. Any other item is left to the host with its bounds, so that the host's own JSON parser decides what
// is wrong with it.

import { RESOLUTIONS } from "../../memory";
import {
  BACKSLASH, CARRIAGE_RETURN, CLOSE_BRACE, CLOSE_BRACKET, COMMA, LINE_FEED, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE, TAB,
} from "../chars";
import { NO_RESOLUTION, openRow, rowAt, rowStart, setRowEnd, setRowResolution } from "../row";
import { readDecimals } from "./decimals";
import { clearHostRows, leaveToHost } from "./host-rows";
import { storeNoCode, storePoint } from "./input";
import { decodeItem, encodeItem } from "./json-items";
import { lineEnd, usualItem } from "./json-usual-line";
import { isSpace, useFeedAsSpace } from "./json-values";

/** MAX_NDJSON_ROW_BYTES of src/wire/job.ts: longer items are the host's to refuse. */
const MAX_ITEM_BYTES: usize = 65536;

/** Where the last scan stopped, and what it stopped at. */
export let jsonEnd: usize = 0;
export let jsonState: u32 = 0;
/** The end of the bytes, or of an item that they hold whole, or the limit. */
export const JSON_OPEN: u32 = 0;
/** The array's closing bracket: jsonEnd is behind it. */
export const JSON_CLOSED: u32 = 1;
/** No JSON. */
export const JSON_BROKEN: u32 = 2;

/**
 * Scans lines from `at` to `end`, until `limit` items. `resolution` is for items without one. Returns the number of
 * items; lines of white space are none. The byte at `end` is overwritten.
 */
export function scanNdjson(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32): u32 {
  clearHostRows();
  useFeedAsSpace(false);
  store<u8>(end, <u8>LINE_FEED);
  let index: u32 = 0;
  let p = at;
  while (p < end && index < limit) {
    if (!isDecode) {
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
      continue;
    }
    // Where the next line starts does not wait for what is read of this one.
    const feed = lineEnd(p);
    const row = rowAt(index);
    openRow(row, p);
    setRowResolution(row, resolution);
    let after = isDecode ? decodeItem(index, row, p) : encodeItem(index, row, p, resolution);
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
 * Scans elements of an array from `at`, until its closing bracket, `end` or `limit` elements. An element that goes on
 * behind `end` is not taken. `mayClose`: nothing stands between the opening bracket and `at`. Returns the number of
 * items and sets jsonEnd and jsonState; `at` of the next scan follows a comma.
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

/** Where an element that is not understood ends: at the comma or bracket behind it. `end` if it is not there. */
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

/** The host reads the item; what was noted of it is forgotten. */
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
