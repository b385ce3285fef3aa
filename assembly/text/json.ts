// Scans JSON items, one a line (NDJSON) or as the elements of an array: {lat, lng, resolution?, id?}, [lat, lng],
// {hexcodes, id?} or "code". Only what is wholly right passes here. Any other item is left to the host with its bounds,
// so that the host's own JSON parser decides what is wrong with it.

import { NOT_A_NUMBER, NUMBER, isDigit, numberEnd, numberIsPlain, numberKind, readNumber } from "./parse";
import { afterSpace, isSpace, skipString, skipValue, stringHasEscapes, stringUnits, useFeedAsSpace } from "./json-values";
import { digitsAt, readDecimals, shapeAt, shapeBytes } from "./decimals";
import { INPUT, RESOLUTIONS } from "../memory";
import { NO_RESOLUTION, clearHostRows, leaveToHost, openRow, rowAt, storeCode, storeNoCode, storePoint } from "./rows";

const MAX_ID_UNITS: u32 = 128;
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

const KEY_LAT: u32 = 0x2274616c; // lat"
const KEY_LNG: u32 = 0x22676e6c; // lng"
const FIVE_BYTES: u64 = 0xffffffffff;
const SEVEN_BYTES: u64 = 0xffffffffffffff;
const SIX_BYTES: u64 = 0xffffffffffff;
const ID_FIRST: u64 = 0x3a226469227b; // {"id":
const ID_NEXT: u64 = 0x3a226469222c; // ,"id":
const LAT_NEXT: u64 = 0x3a2274616c222c; // ,"lat":
const LAT_FIRST: u64 = 0x3a2274616c227b; // {"lat":
const LAT_MEMBER: u64 = 0x3a2274616c; // lat":
const LNG_NEXT: u64 = 0x3a22676e6c222c; // ,"lng":
const KEY_ID: u32 = 0x00226469; // id"
const KEY_HEXCODES: u64 = 0x7365646f63786568;
const KEY_RESO: u32 = 0x6f736572;
const KEY_SOLUTION: u64 = 0x6e6f6974756c6f73;

/**
 * Scans lines from `at` to `end`, until `limit` items. `resolution` is for items without one. Returns the number of
 * items; lines of white space are none. The byte at `end` is overwritten.
 */
export function scanNdjson(at: usize, end: usize, limit: u32, isDecode: bool, resolution: u32): u32 {
  clearHostRows();
  useFeedAsSpace(false);
  store<u8>(end, 10);
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
    if (load<u8>(p) == 10) {
      p++;
      continue;
    }
    // Where the next line starts does not wait for what is read of this one.
    const feed = lineEnd(p);
    const row = rowAt(index);
    openRow(row, p);
    store<u8>(row, <u8>resolution, 26);
    let after = isDecode ? decodeItem(index, row, p) : encodeItem(index, row, p, resolution);
    if (after) while (isBlank(load<u8>(after))) after++;
    if (after != feed || feed - p > MAX_ITEM_BYTES) leaveItem(index, row, isDecode);
    store<u32>(row, <u32>feed, 4);
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
    if (mayClose && load<u8>(start) == 93) {
      jsonState = JSON_CLOSED;
      p = start + 1;
      break;
    }
    mayClose = false;
    const row = rowAt(index);
    openRow(row, start);
    store<u8>(row, <u8>resolution, 26);
    let after = isDecode ? decodeItem(index, row, start) : encodeItem(index, row, start, resolution);
    let rowEnd = after;
    let byte: u32 = 0;
    if (after) {
      while (isSpace(load<u8>(after))) after++;
      byte = load<u8>(after);
      if (byte != 44 && byte != 93) after = 0;
    }
    if (!after) {
      after = rowEnd = elementEnd(start, end);
      if (after >= end) break;
      byte = load<u8>(after);
      if (after == start || byte == 125) {
        jsonState = JSON_BROKEN;
        break;
      }
      leaveItem(index, row, isDecode);
    } else if (rowEnd - start > MAX_ITEM_BYTES) {
      leaveItem(index, row, isDecode);
    }
    store<u32>(row, <u32>rowEnd, 4);
    index++;
    p = after + 1;
    if (byte == 93) {
      jsonState = JSON_CLOSED;
      break;
    }
  }
  if (!isDecode) readDecimals(index);
  jsonEnd = p;
  return index;
}

/** A line as most are, {"lat":…,"lng":…} with an id before, behind or nowhere: its end; 0 if it is another. */
// @ts-ignore: decorator
@inline
function usualItem(index: u32, p: usize, resolution: u32): usize {
  let lat = p + 7;
  let id: usize = 0;
  let idBytes: usize = 0;
  const head = load<u64>(p);
  if ((head & SEVEN_BYTES) != LAT_FIRST) {
    if ((head & SIX_BYTES) != ID_FIRST) return 0;
    id = p + 6;
    idBytes = usualIdBytes(id);
    if (idBytes == 0 || (load<u64>(id + idBytes) & SEVEN_BYTES) != LAT_NEXT) return 0;
    lat = id + idBytes + 7;
  }
  // Where the next line starts does not wait for what is read of this one.
  const feed = lineEnd(lat);
  const latShape = shapeAt(lat);
  const next = lat + <usize>shapeBytes(latShape);
  const lng = next + 7;
  const lngShape = shapeAt(lng);
  if (latShape == 0 || lngShape == 0 || (load<u64>(next) & SEVEN_BYTES) != LNG_NEXT) return 0;
  let close = lng + <usize>shapeBytes(lngShape);
  if (id == 0 && (load<u64>(close) & SIX_BYTES) == ID_NEXT) {
    id = close + 6;
    idBytes = usualIdBytes(id);
    close = id + idBytes;
    if (idBytes == 0) return 0;
  }
  if (close + 1 != feed || load<u8>(close) != 125) return 0;
  const row = rowAt(index);
  store<u32>(row, <u32>p);
  store<u32>(row, <u32>feed, 4);
  store<u32>(row, <u32>lat, 8);
  store<u32>(row, <u32>lng, 12);
  store<u32>(row, <u32>id, 16);
  store<u32>(row, 0, 20);
  store<u64>(row, <u64>(<u32>idBytes | resolution << 16) | <u64>(latShape | lngShape << 8) << 40, 24);
  store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  return feed;
}

/** Bytes of an id that is a short string of ASCII without escapes, or a whole number; 0 if it is another. */
// @ts-ignore: decorator
@inline
function usualIdBytes(id: usize): usize {
  const first: u32 = load<u8>(id);
  if (first == 34) {
    const text = v128.load(id, 1);
    const odd = v128.or(
      i8x16.lt_s(text, i8x16.splat(32)),
      v128.or(i8x16.eq(text, i8x16.splat(34)), i8x16.eq(text, i8x16.splat(92))),
    );
    const stop = <usize>ctz(i8x16.bitmask(odd));
    if (stop >= 16 || load<u8>(id + 1 + stop) != 34) return 0;
    return stop + 2;
  }
  const size = digitsAt(id);
  return first == 48 && size > 1 ? 0 : size;
}

/** White space within a line. */
// @ts-ignore: decorator
@inline
function isBlank(byte: u32): bool {
  return byte == 32 || byte == 9 || byte == 13;
}

// @ts-ignore: decorator
@inline
function lineEnd(p: usize): usize {
  const feeds = i8x16.splat(10);
  while (true) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p), feeds));
    if (mask) return p + <usize>ctz(mask);
    p += 16;
  }
}

/** Where an element that is not understood ends: at the comma or bracket behind it. `end` if it is not there. */
function elementEnd(p: usize, end: usize): usize {
  let depth = 0;
  for (; p < end; p++) {
    const byte: u32 = load<u8>(p);
    if (byte == 34) {
      for (p++; p < end && load<u8>(p) != 34; p++) if (load<u8>(p) == 92) p++;
    } else if (byte == 91 || byte == 123) {
      depth++;
    } else if (byte == 93 || byte == 125) {
      if (depth == 0) return p;
      depth--;
    } else if (byte == 44 && depth == 0) {
      return p;
    }
  }
  return end;
}

/** The host reads the item; what was noted of it is forgotten. */
function leaveItem(index: u32, row: usize, isDecode: bool): void {
  const start = load<u32>(row);
  openRow(row, start);
  store<u8>(row, <u8>NO_RESOLUTION, 26);
  if (isDecode) {
    storeNoCode(index);
  } else {
    storePoint(index, NaN, NaN);
    store<u8>(RESOLUTIONS + <usize>index, 0);
  }
  leaveToHost(index, row);
}

// @ts-ignore: decorator
@inline
function encodeItem(index: u32, row: usize, p: usize, resolution: u32): usize {
  store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  let byte: u32 = load<u8>(p);
  if (byte == 91) {
    p = coordinate(index, row, afterSpace(p + 1), 0);
    if (!p) return 0;
    p = afterSpace(p);
    if (load<u8>(p) != 44) return 0;
    p = coordinate(index, row, afterSpace(p + 1), 1);
    if (!p) return 0;
    p = afterSpace(p);
    return load<u8>(p) == 93 ? p + 1 : 0;
  }
  if (byte != 123) return 0;
  let seen: u32 = 0;
  do {
    p = afterSpace(p + 1);
    if (load<u8>(p) != 34) return 0;
    const name = load<u64>(p, 1);
    const key = <u32>name;
    let member: u32 = 0;
    // Mostly a position's two members follow each other, and no space is between them.
    if ((name & FIVE_BYTES) == LAT_MEMBER && !(seen & 3)) {
      p = coordinate(index, row, p + 6, 0);
      if (!p) return 0;
      seen |= 1;
      if ((load<u64>(p) & SEVEN_BYTES) == LNG_NEXT) {
        p = coordinate(index, row, p + 7, 1);
        if (!p) return 0;
        seen |= 2;
      }
      p = afterSpace(p);
      byte = load<u8>(p);
      continue;
    }
    if (key == KEY_LAT) {
      member = 1;
      p += 5;
    } else if (key == KEY_LNG) {
      member = 2;
      p += 5;
    } else if ((key & 0xffffff) == KEY_ID) {
      member = 4;
      p += 4;
    } else if (key == KEY_RESO && load<u64>(p, 3) == KEY_SOLUTION && load<u8>(p, 11) == 34) {
      member = 8;
      p += 12;
    } else {
      p = otherKey(p);
      if (!p) return 0;
    }
    // A member named twice: the last counts, which the host finds.
    if (seen & member) return 0;
    seen |= member;
    p = afterSpace(p);
    if (load<u8>(p) != 58) return 0;
    p = afterSpace(p + 1);
    if (member == 1) p = coordinate(index, row, p, 0);
    else if (member == 2) p = coordinate(index, row, p, 1);
    else if (member == 4) p = idValue(row, p);
    else if (member == 8) p = resolutionValue(index, row, p);
    else p = skipValue(p, 0);
    if (!p) return 0;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == 44);
  return byte == 125 && (seen & 3) == 3 ? p + 1 : 0;
}

function decodeItem(index: u32, row: usize, p: usize): usize {
  store<u8>(row, <u8>NO_RESOLUTION, 26);
  let byte: u32 = load<u8>(p);
  if (byte == 34) return codeValue(index, row, p);
  if (byte != 123) return 0;
  let seen: u32 = 0;
  do {
    p = afterSpace(p + 1);
    if (load<u8>(p) != 34) return 0;
    let member: u32 = 0;
    if (load<u64>(p, 1) == KEY_HEXCODES && load<u8>(p, 9) == 34) {
      member = 1;
      p += 10;
    } else if ((load<u32>(p, 1) & 0xffffff) == KEY_ID) {
      member = 4;
      p += 4;
    } else {
      p = otherKey(p);
      if (!p) return 0;
    }
    if (seen & member) return 0;
    seen |= member;
    p = afterSpace(p);
    if (load<u8>(p) != 58) return 0;
    p = afterSpace(p + 1);
    if (member == 1) p = codeValue(index, row, p);
    else if (member == 4) p = idValue(row, p);
    else p = skipValue(p, 0);
    if (!p) return 0;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == 44);
  return byte == 125 && (seen & 1) ? p + 1 : 0;
}

/** A key that we do not read. One with escapes may be any key: the host's. */
// @ts-ignore: decorator
@inline
function otherKey(p: usize): usize {
  const after = skipString(p);
  return stringHasEscapes ? 0 : after;
}

// @ts-ignore: decorator
@inline
function coordinate(index: u32, row: usize, p: usize, place: usize): usize {
  store<u32>(row + (place << 2), <u32>p, 8);
  const shape = shapeAt(p);
  if (shape) {
    store<u8>(row + place, <u8>shape, 29);
    return p + shapeBytes(shape);
  }
  const value = readNumber(p, true);
  if (numberKind != NUMBER) return 0;
  store<f64>(pointAt(index) + (place << 3), value);
  if (numberIsPlain) store<u16>(row + (place << 1), <u16>(numberEnd - p), 20);
  return numberEnd;
}

// @ts-ignore: decorator
@inline
function resolutionValue(index: u32, row: usize, p: usize): usize {
  let value: u32 = <u32>load<u8>(p) - 48;
  if (value > 9) return 0;
  const second: u32 = <u32>load<u8>(p + 1) - 48;
  if (second <= 9) {
    value = value * 10 + second;
    if (value < 10 || value > 15) return 0;
    p++;
  }
  p++;
  // A fraction or an exponent is the host's matter.
  const byte: u32 = load<u8>(p);
  if (byte == 46 || (byte | 32) == 101 || isDigit(byte)) return 0;
  store<u8>(row, <u8>value, 26);
  store<u8>(RESOLUTIONS + <usize>index, <u8>value);
  return p;
}

// @ts-ignore: decorator
@inline
function idValue(row: usize, p: usize): usize {
  let after: usize;
  if (load<u8>(p) == 34) {
    after = skipString(p);
    if (!after || stringUnits > MAX_ID_UNITS) return 0;
  } else {
    readNumber(p, true);
    after = numberEnd;
    if (numberKind == NOT_A_NUMBER || after - p > MAX_ID_UNITS) return 0;
  }
  store<u32>(row, <u32>p, 16);
  store<u16>(row, <u16>(after - p), 24);
  return after;
}

// @ts-ignore: decorator
@inline
function codeValue(index: u32, row: usize, p: usize): usize {
  if (load<u8>(p) != 34) return 0;
  const after = skipString(p);
  if (!after) return 0;
  const size = <u32>(after - p - 2);
  // As many units as bytes: ASCII without escapes.
  if (stringUnits != size || !storeCode(index, p + 1, size)) return 0;
  store<u32>(row, <u32>p, 8);
  store<u32>(row, <u32>after, 12);
  return after;
}

// @ts-ignore: decorator
@inline
function pointAt(index: u32): usize {
  return INPUT + (<usize>index << 4);
}
