// The short way for lines of NDJSON as most are: {"lat":…,"lng":…} with an id before, after or nowhere, and either no
// blank or, as json.dumps and jsonb write them, one after each colon and comma. Names are compared as words, numbers
// only get their shapes. Every other line is left to json-items.ts.

import { RESOLUTIONS } from "../../memory";
import { BACKSLASH, CLOSE_BRACE, LINE_FEED, LOWER_L, QUOTE, SPACE, ZERO } from "../chars";
import { fillRow, rowAt } from "../row";
import { digitsAt, shapeAt, shapeBytes } from "./decimals";
import {
  ID_AFTER_BLANK, ID_FIRST, ID_NEXT, LAT_AFTER_BLANK, LAT_FIRST, LAT_NEXT, LNG_AFTER_BLANK, LNG_NEXT, SEVEN_BYTES,
  SIX_BYTES,
} from "./json-items";

/** Notes the line at `p` and returns its end; 0 if it is another kind of line. */
// @ts-ignore: decorator
@inline
export function usualItem(index: u32, p: usize, resolution: u32): usize {
  let lat = p + 7;
  let id: usize = 0;
  let idBytes: usize = 0;
  const head = load<u64>(p);
  if ((head & SEVEN_BYTES) != LAT_FIRST) {
    if ((head & SIX_BYTES) != ID_FIRST) return 0;
    id = p + 6;
    if (load<u8>(id) == SPACE) return spacedItem(index, p, resolution);
    idBytes = usualIdBytes(id);
    if (idBytes == 0 || (load<u64>(id + idBytes) & SEVEN_BYTES) != LAT_NEXT) return 0;
    lat = id + idBytes + 7;
  } else if (load<u8>(lat) == SPACE) {
    return spacedItem(index, p, resolution);
  }
  // Found at once, so that the next line need not wait for the numbers of this one.
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
  if (close + 1 != feed || load<u8>(close) != CLOSE_BRACE) return 0;
  fillRow(rowAt(index), p, feed, lat, lng, id, idBytes, resolution, latShape, lngShape);
  store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  return feed;
}

/** The shape of a line that has a blank after its first colon. */
function spacedItem(index: u32, p: usize, resolution: u32): usize {
  let lat = p + 8;
  let id: usize = 0;
  let idBytes: usize = 0;
  if (load<u8>(p, 2) != LOWER_L) {
    id = p + 7;
    idBytes = usualIdBytes(id);
    const next = id + idBytes;
    if (idBytes == 0 || load<u64>(next) != LAT_AFTER_BLANK || load<u8>(next, 8) != SPACE) return 0;
    lat = next + 9;
  }
  const feed = lineEnd(lat);
  const latShape = shapeAt(lat);
  const next = lat + <usize>shapeBytes(latShape);
  const lng = next + 9;
  const lngShape = shapeAt(lng);
  if (latShape == 0 || lngShape == 0 || load<u64>(next) != LNG_AFTER_BLANK || load<u8>(next, 8) != SPACE) return 0;
  let close = lng + <usize>shapeBytes(lngShape);
  if (id == 0 && (load<u64>(close) & SEVEN_BYTES) == ID_AFTER_BLANK && load<u8>(close, 7) == SPACE) {
    id = close + 8;
    idBytes = usualIdBytes(id);
    close = id + idBytes;
    if (idBytes == 0) return 0;
  }
  if (close + 1 != feed || load<u8>(close) != CLOSE_BRACE) return 0;
  fillRow(rowAt(index), p, feed, lat, lng, id, idBytes, resolution, latShape, lngShape);
  store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  return feed;
}

/** Bytes of an id that is a short ASCII string without escapes, or a whole number; 0 for another id. */
// @ts-ignore: decorator
@inline
function usualIdBytes(id: usize): usize {
  const first: u32 = load<u8>(id);
  if (first == QUOTE) {
    const text = v128.load(id, 1);
    const odd = v128.or(
      i8x16.lt_s(text, i8x16.splat(<i8>SPACE)),
      v128.or(i8x16.eq(text, i8x16.splat(<i8>QUOTE)), i8x16.eq(text, i8x16.splat(<i8>BACKSLASH))),
    );
    const stop = <usize>ctz(i8x16.bitmask(odd));
    if (stop >= 16 || load<u8>(id + 1 + stop) != QUOTE) return 0;
    return stop + 2;
  }
  const size = digitsAt(id);
  return first == ZERO && size > 1 ? 0 : size;
}

/** The address of the next LF; there is one, as the scan has put it after the text. */
// @ts-ignore: decorator
@inline
export function lineEnd(p: usize): usize {
  const feeds = i8x16.splat(<i8>LINE_FEED);
  while (true) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p), feeds));
    if (mask) return p + <usize>ctz(mask);
    p += 16;
  }
}
