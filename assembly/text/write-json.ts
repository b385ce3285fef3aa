// Writes the answers of scanned rows as JSON bodies, from ROWS, INPUT and OUTPUT to TEXT_OUT. A call writes rows
// until the end, until the area is full, or until a row whose answer the host writes (a fault with its message, a text to
// escape, a number to print); then the host does, and calls again for the next row.

import { INPUT, OUTPUT, RECORD_BYTES, ROW_BYTES, TAILS, TAIL_BYTES } from "../memory";
import { printSmall } from "./print";
import { NO_RESOLUTION, ROW_INVALID_HEXCODES, ROW_INVALID_REQUEST, ROW_OK, rowAt } from "./rows";
import { HEXCODES_HEAD, LAT_AFTER_TEXT, HEXCODES_NULL, LNG, RESOLUTION, ADMIN_CODE } from "./json-pieces";
import { MIDDLES, MIDDLE_BYTES, OK_END, NULL, LAT_HEAD, NULLS, HEXCODES, ID } from "./json-pieces";
import { hasRoom, stopAt, addStatus, encodedStatus, decodedStatus, copyText, copyWord } from "./write";
import { writeCode, writeCoordinate, writeDecoded, isPlainCode, isPlainRecord, textEnd } from "./write";
import { FROM_CSV, FROM_JSON, FROM_FRAMES } from "./write";

/** Rows of `encode` as JSON bodies, each followed by `separator`. */
export function writeEncodedJson(from: u32, to: u32, separator: u32, refusal: u32): u32 {
  let p = textEnd;
  let row = rowAt(from);
  let record = OUTPUT + <usize>(from * RECORD_BYTES);
  let index = from;
  let written: u32 = 0;
  for (; index < to; index++, row += ROW_BYTES, record += RECORD_BYTES) {
    if (!hasRoom(p, row)) break;
    const status = encodedStatus(row, record, refusal);
    if (status != ROW_OK) {
      if (status == ROW_INVALID_REQUEST) break;
      const end = writeUnencoded(index, row, p, status, separator);
      if (!end) break;
      p = end;
      continue;
    }
    let q = copyWord(HEXCODES_HEAD, 13, p);
    q = writeCode(record, q);
    store<u64>(q, LAT_AFTER_TEXT);
    q = writeCoordinates(index, row, q + 8);
    if (!q) break;
    const resolution: usize = load<u8>(row, 26);
    q = copyWord(MIDDLES + (resolution << 5), 32, q) - (32 - MIDDLE_BYTES) + usize(resolution > 9);
    // Two letters and a hyphen, or three.
    store<u32>(q, load<u32>(record));
    q += load<u8>(record, 2) == 45 ? 2 : 3;
    q = copyWord(OK_END, 16, q);
    p = load<u16>(row, 24) ? writeJsonEnd(row, q - 1, separator) : writeSeparator(q, separator);
    written++;
  }
  addStatus(ROW_OK, written);
  return stopAt(index, p);
}

/** The two numbers with what stands between; 0 if the host must print one. */
// @ts-ignore: decorator
@inline
function writeCoordinates(index: u32, row: usize, out: usize): usize {
  out = writeCoordinate(index, row, out, 0);
  if (!out) return 0;
  store<u64>(out, LNG);
  return writeCoordinate(index, row, out + 7, 1);
}

/** A row of `encode` that has no hexcode; 0 if the host must print a number of it. */
function writeUnencoded(index: u32, row: usize, out: usize, status: u32, separator: u32): usize {
  let p = writeCoordinates(index, row, copyWord(HEXCODES_NULL, 23, out));
  if (!p) return 0;
  p = copyWord(RESOLUTION, 14, p);
  const resolution: u32 = load<u8>(row, 26);
  if (resolution == NO_RESOLUTION) p = copyWord(NULL, 4, p);
  else p = printSmall(resolution, p);
  p = copyWord(ADMIN_CODE, 14, p);
  p = copyWord(NULL, 4, p);
  store<u8>(p++, 44);
  p = writeTail(status, p);
  addStatus(status, 1);
  return writeJsonEnd(row, p, separator);
}

/** Rows of `decode` as JSON bodies, each followed by `separator`. */
export function writeDecodedJson(count: u32, from: u32, to: u32, source: u32, separator: u32, refusal: u32): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasRoom(p, row)) return stopAt(index, p);
    const status = decodedStatus(count, index, row, refusal);
    if (status == ROW_INVALID_REQUEST) return stopAt(index, p);
    const start = p;
    if (status == ROW_OK || status == ROW_INVALID_HEXCODES) {
      if (source == FROM_FRAMES ? !isPlainRecord(index) : source == FROM_CSV && !isPlainCode(row)) {
        return stopAt(index, start);
      }
      p = copyWord(LAT_HEAD, 7, p);
      if (status == ROW_OK) {
        p = writeDecoded(index, p, 0);
        if (p) {
          store<u64>(p, LNG);
          p = writeDecoded(index, p + 7, 8);
        }
        if (!p) return stopAt(index, start);
        p = copyWord(RESOLUTION, 14, p);
        p = printSmall(load<u8>(OUTPUT + <usize>(count * 16 + index)), p);
      } else {
        p = copyWord(NULLS, 33, p);
      }
      p = copyWord(HEXCODES, 12, p);
      if (source == FROM_JSON) {
        p = copyText(load<u32>(row, 8), load<u32>(row, 12), p);
      } else {
        store<u8>(p++, 34);
        if (source == FROM_FRAMES) p = writeCode(INPUT + <usize>(index * RECORD_BYTES), p);
        else p = copyText(load<u32>(row, 8), load<u32>(row, 12), p);
        store<u8>(p++, 34);
      }
      store<u8>(p++, 44);
    } else {
      store<u8>(p++, 123);
    }
    p = writeTail(status, p);
    p = writeJsonEnd(row, p, separator);
    addStatus(status, 1);
  }
  return stopAt(to, p);
}

// @ts-ignore: decorator
@inline
function writeJsonEnd(row: usize, out: usize, separator: u32): usize {
  const size: usize = load<u16>(row, 24);
  if (size) {
    out = copyWord(ID, 6, out);
    const id: usize = load<u32>(row, 16);
    out = copyText(id, id + size, out);
  }
  store<u8>(out, 125);
  return writeSeparator(out + 1, separator);
}

// @ts-ignore: decorator
@inline
function writeSeparator(out: usize, separator: u32): usize {
  store<u8>(out, <u8>separator);
  return out + 1;
}

/** The host keeps at TAILS, for each row status, u32 size and the text `"status":"…"`, with a message if it has one. */
// @ts-ignore: decorator
@inline
function writeTail(status: u32, out: usize): usize {
  const tail = TAILS + <usize>(status * TAIL_BYTES);
  return copyText(tail + 4, tail + 4 + <usize>load<u32>(tail), out);
}
