// Writes the answers to scanned rows as JSON bodies, from ROWS, INPUT and OUTPUT to TEXT_OUT. A call stops before a row
// that does not fit, and before one whose answer the host must write: a fault with its message, a text to be escaped, a
// number to be printed. The host writes that row and calls again for the next.

import { CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE, ZERO } from "../chars";
import { INPUT, OUTPUT, RECORD_BYTES, recordAt, ROW_BYTES } from "../../memory";
import { printSmall } from "../numbers/print";
import {
  CODE_HAD_ESCAPES, codeEnd, codeStart, idBytes, idStart, LAT, LNG, NO_RESOLUTION, ROW_INVALID_HEXCODES,
  ROW_INVALID_REQUEST, ROW_OK, rowAt, rowFlags, rowResolution,
} from "../row";
import {
  adminLetters, borderOfRow, decodedResolution, FROM_CSV, FROM_FRAMES, FROM_JSON, isPlainCode, isPlainRecord,
  WITH_CERTAINTY, WITH_FORMER, writeCode, writeCoordinate, writeDecoded, writeFormer, writeMetres, writeShare,
} from "./fields";
import { addStatus, decodedStatus, encodedStatus, writeTail } from "./statuses";
import { copyText, copyWord, hasSpace, stopAt, textEnd } from "./text-out";

// Pieces of JSON bodies as bytes, padded to whole vectors so that they are copied without a loop.

/** {"hexcodes":" */
const HEXCODES_HEAD: usize = memory.data<u8>([
  123, 34, 104, 101, 120, 99, 111, 100, 101, 115, 34, 58, 34, 0, 0, 0,
], 16);

/** ","lat": as eight bytes. */
const LAT_AFTER_TEXT: u64 = 0x3a2274616c222c22;

/** {"hexcodes":null,"lat": */
const HEXCODES_NULL: usize = memory.data<u8>([
  123, 34, 104, 101, 120, 99, 111, 100, 101, 115, 34, 58, 110, 117, 108, 108,
  44, 34, 108, 97, 116, 34, 58, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** ,"lng": as seven bytes and a NUL that the number overwrites. */
const LNG_MEMBER: u64 = 0x003a22676e6c222c;

/** ,"resolution": */
export const RESOLUTION: usize = memory.data<u8>([
  44, 34, 114, 101, 115, 111, 108, 117, 116, 105, 111, 110, 34, 58, 0, 0,
], 16);

/** ,"admin_code": */
const ADMIN_CODE: usize = memory.data<u8>([
  44, 34, 97, 100, 109, 105, 110, 95, 99, 111, 100, 101, 34, 58, 0, 0,
], 16);

/** ","former_province":" of FORMER_BYTES, or without its first and last byte and before null */
export const FORMER: usize = memory.data<u8>([
  34, 44, 34, 102, 111, 114, 109, 101, 114, 95, 112, 114, 111, 118, 105, 110,
  99, 101, 34, 58, 34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);
const FORMER_BYTES: usize = 21;

/** ","border_m": of BORDER_BYTES */
const BORDER: usize = memory.data<u8>([
  34, 44, 34, 98, 111, 114, 100, 101, 114, 95, 109, 34, 58, 0, 0, 0, 0,
], 16);
const BORDER_BYTES: usize = 13;

/** ,"certainty": of CERTAINTY_BYTES */
const CERTAINTY: usize = memory.data<u8>([
  44, 34, 99, 101, 114, 116, 97, 105, 110, 116, 121, 34, 58, 0, 0, 0,
], 16);
const CERTAINTY_BYTES: usize = 13;

/** ","status":"OK"} */
const OK_END: usize = memory.data<u8>([
  34, 44, 34, 115, 116, 97, 116, 117, 115, 34, 58, 34, 79, 75, 34, 125, 0,
], 16);

/** null */
export const NULL: usize = memory.data<u8>([
  110, 117, 108, 108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** {"lat": */
const LAT_HEAD: usize = memory.data<u8>([
  123, 34, 108, 97, 116, 34, 58, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** null,"lng":null,"resolution":null */
const NULLS: usize = memory.data<u8>([
  110, 117, 108, 108, 44, 34, 108, 110, 103, 34, 58, 110, 117, 108, 108, 44,
  34, 114, 101, 115, 111, 108, 117, 116, 105, 111, 110, 34, 58, 110, 117, 108,
  108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** ,"hexcodes": */
const HEXCODES: usize = memory.data<u8>([
  44, 34, 104, 101, 120, 99, 111, 100, 101, 115, 34, 58, 0, 0, 0, 0,
], 16);

/** ,"id": */
export const ID: usize = memory.data<u8>([
  44, 34, 105, 100, 34, 58, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** Resolution × 32 → ,"resolution":…,"admin_code":" of MIDDLE_BYTES, or one more from resolution 10 on. */
const MIDDLES: usize = memory.data(16 * 32, 16);
const MIDDLE_BYTES: usize = 30;

for (let resolution: usize = 0; resolution < 16; resolution++) {
  let p = MIDDLES + (resolution << 5);
  memory.copy(p, RESOLUTION, 14);
  p += 14;
  if (resolution > 9) store<u8>(p++, <u8>ZERO + 1);
  store<u8>(p, <u8>(ZERO + <u32>(resolution % 10)));
  memory.copy(p + 1, ADMIN_CODE, 14);
  store<u8>(p + 15, <u8>QUOTE);
}

/**
 * Writes the encode answers of rows `from` to `to`, each followed by `separator`; returns the row before which it
 * stopped. Only WITH_FORMER and WITH_CERTAINTY are read of the flags.
 */
export function writeEncodedJson(from: u32, to: u32, flags: u32, separator: u32, refusal: u32): u32 {
  let p = textEnd;
  let row = rowAt(from);
  let record = recordAt(OUTPUT, from);
  let index = from;
  let written: u32 = 0;
  for (; index < to; index++, row += ROW_BYTES, record += RECORD_BYTES) {
    if (!hasSpace(p, row)) break;
    const status = encodedStatus(row, record, refusal);
    if (status != ROW_OK) {
      if (status == ROW_INVALID_REQUEST) break;
      const end = writeUnencoded(index, row, p, flags, status, separator);
      if (!end) break;
      p = end;
      continue;
    }
    let q = copyWord(HEXCODES_HEAD, 13, p);
    q = writeCode(record, q);
    store<u64>(q, LAT_AFTER_TEXT);
    q = writeCoordinates(index, row, q + 8);
    if (!q) break;
    const resolution = <usize>rowResolution(row);
    q = copyWord(MIDDLES + (resolution << 5), 32, q) - (32 - MIDDLE_BYTES) + usize(resolution > 9);
    store<u32>(q, load<u32>(record));
    q += adminLetters(record);
    if (flags & WITH_FORMER) q = writeFormer(index, copyWord(FORMER, FORMER_BYTES, q));
    if (flags & WITH_CERTAINTY) q = writeBorder(index, copyWord(BORDER, BORDER_BYTES, q));
    else q = copyWord(OK_END, 16, q);
    p = idBytes(row) ? writeJsonEnd(row, q - 1, separator) : writeSeparator(q, separator);
    written++;
  }
  addStatus(ROW_OK, written);
  return stopAt(index, p);
}

/** Writes the value of border_m, certainty, and OK_END without its quote. */
function writeBorder(index: u32, out: usize): usize {
  const metres = borderOfRow(index);
  let p = writeMetres(metres, out);
  if (p == out) p = copyWord(NULL, 4, p);
  const share = copyWord(CERTAINTY, CERTAINTY_BYTES, p);
  p = writeShare(metres, share);
  if (p == share) p = copyWord(NULL, 4, p);
  return copyWord(OK_END + 1, 15, p);
}

/** Writes lat, the name of lng, and lng; 0 if the host must print one of them. */
// @ts-ignore: decorator
@inline
function writeCoordinates(index: u32, row: usize, out: usize): usize {
  out = writeCoordinate(index, row, out, LAT);
  if (!out) return 0;
  store<u64>(out, LNG_MEMBER);
  return writeCoordinate(index, row, out + 7, LNG);
}

/** Writes the encode answer of a row without a hexcode; 0 if the host must print a number of it. */
function writeUnencoded(index: u32, row: usize, out: usize, flags: u32, status: u32, separator: u32): usize {
  let p = writeCoordinates(index, row, copyWord(HEXCODES_NULL, 23, out));
  if (!p) return 0;
  p = copyWord(RESOLUTION, 14, p);
  const resolution = rowResolution(row);
  if (resolution == NO_RESOLUTION) p = copyWord(NULL, 4, p);
  else p = printSmall(resolution, p);
  p = copyWord(ADMIN_CODE, 14, p);
  p = copyWord(NULL, 4, p);
  if (flags & WITH_FORMER) {
    p = copyWord(FORMER + 1, FORMER_BYTES - 2, p);
    p = copyWord(NULL, 4, p);
  }
  if (flags & WITH_CERTAINTY) {
    p = copyWord(NULL, 4, copyWord(BORDER + 1, BORDER_BYTES - 1, p));
    p = copyWord(NULL, 4, copyWord(CERTAINTY, CERTAINTY_BYTES, p));
  }
  store<u8>(p++, <u8>COMMA);
  p = writeTail(status, p);
  addStatus(status, 1);
  return writeJsonEnd(row, p, separator);
}

/** Writes the decode answers to `count` rows as JSON. */
export function writeDecodedJson(count: u32, from: u32, to: u32, source: u32, separator: u32, refusal: u32): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasSpace(p, row)) return stopAt(index, p);
    const status = decodedStatus(count, index, row, refusal);
    if (status == ROW_INVALID_REQUEST) return stopAt(index, p);
    const start = p;
    if (status == ROW_OK || status == ROW_INVALID_HEXCODES) {
      if (source == FROM_FRAMES ? !isPlainRecord(index) : source == FROM_CSV && !isPlainCode(row)) {
        return stopAt(index, start);
      }
      p = copyWord(LAT_HEAD, 7, p);
      if (status == ROW_OK) {
        p = writeDecoded(index, p, LAT);
        if (p) {
          store<u64>(p, LNG_MEMBER);
          p = writeDecoded(index, p + 7, LNG);
        }
        if (!p) return stopAt(index, start);
        p = copyWord(RESOLUTION, 14, p);
        p = printSmall(decodedResolution(count, index), p);
      } else {
        p = copyWord(NULLS, 33, p);
      }
      p = copyWord(HEXCODES, 12, p);
      const isInRecord = source == FROM_FRAMES || (rowFlags(row) & CODE_HAD_ESCAPES) != 0;
      if (source == FROM_JSON && !isInRecord) {
        p = copyText(codeStart(row), codeEnd(row), p);
      } else {
        store<u8>(p++, <u8>QUOTE);
        if (isInRecord) p = writeCode(recordAt(INPUT, index), p);
        else p = copyText(codeStart(row), codeEnd(row), p);
        store<u8>(p++, <u8>QUOTE);
      }
      store<u8>(p++, <u8>COMMA);
    } else {
      store<u8>(p++, <u8>OPEN_BRACE);
    }
    p = writeTail(status, p);
    p = writeJsonEnd(row, p, separator);
    addStatus(status, 1);
  }
  return stopAt(to, p);
}

/** Writes the id, if there is one, the closing brace and the separator. */
// @ts-ignore: decorator
@inline
function writeJsonEnd(row: usize, out: usize, separator: u32): usize {
  const size = idBytes(row);
  if (size) {
    out = copyWord(ID, 6, out);
    const id = idStart(row);
    out = copyText(id, id + size, out);
  }
  store<u8>(out, <u8>CLOSE_BRACE);
  return writeSeparator(out + 1, separator);
}

// @ts-ignore: decorator
@inline
function writeSeparator(out: usize, separator: u32): usize {
  store<u8>(out, <u8>separator);
  return out + 1;
}
