// Writes the answers of scanned rows as CSV or JSON, from ROWS, INPUT and OUTPUT to TEXT_OUT. A call writes rows until
// the end, until the area is full, or until a row whose answer the host writes (a fault with its message, a text to
// escape, a number to print); then the host does, and calls again for the next row.

import { INPUT, OUTPUT, RECORD_BYTES, TAILS, TAIL_BYTES, TEXT_IN, TEXT_OUT, TEXT_OUT_BYTES } from "../memory";
import { HEXCODES_HEAD, LAT_AFTER_TEXT, HEXCODES_NULL, LNG, RESOLUTION, ADMIN_CODE, OK_AFTER_TEXT, NULL } from "./words";
import { LAT_HEAD, NULLS, HEXCODES, ID } from "./words";
import { printNumber, printSmall } from "./print";
import { CODE_NEEDS_ESCAPES, LINE_END_MASK, LINE_FEED, NO_RESOLUTION, ROW_INVALID_REQUEST, ROW_OK, rowAt } from "./rows";
import { ROW_INVALID_HEXCODES, ROW_NOT_FOUND } from "./rows";

/** The first free byte of TEXT_OUT; the host moves it over what it writes itself. */
export let textEnd: usize = TEXT_OUT;

/** Besides the row's own text no answer is longer. */
const MAX_ANSWER_BYTES: u32 = 1024;

/** What the input was, for the texts that are copied from it. */
export const FROM_CSV: u32 = 0;
export const FROM_JSON: u32 = 1;
export const FROM_FRAMES: u32 = 2;

// Columns of CSV answers.
/** The input row itself comes first: CSV in, CSV out. */
export const WITH_ROW: u32 = 1;
export const WITH_ID: u32 = 2;
export const WITH_RESOLUTION: u32 = 4;

/** Counts of row statuses since the host cleared them. */
export const STATUS_COUNTS: usize = TEXT_IN + 2048 - 64;

export function setTextEnd(at: usize): void {
  textEnd = at;
}

/** Rows of `encode` as CSV from row `from` to `to`; returns the row where it stopped. */
export function writeEncodedCsv(from: u32, to: u32, flags: u32, source: u32, delimiter: u32, feed: u32, refusal: u32): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasRoom(p, row)) return stopAt(index, p);
    const record = OUTPUT + <usize>(index * RECORD_BYTES);
    const status = encodedStatus(row, record, refusal);
    const start = p;
    if (flags & WITH_ROW) {
      p = copyText(load<u32>(row), load<u32>(row, 4), p);
    } else {
      if (flags & WITH_ID) {
        p = writeCsvId(row, p, delimiter);
        if (!p) return stopAt(index, start);
        store<u8>(p++, <u8>delimiter);
      }
      // A position that was not understood is the host's to tell.
      if (status == ROW_INVALID_REQUEST && source == FROM_JSON) return stopAt(index, start);
      p = writeCoordinate(index, row, p, 0);
      if (p) {
        store<u8>(p++, <u8>delimiter);
        p = writeCoordinate(index, row, p, 1);
      }
      if (!p) return stopAt(index, start);
    }
    store<u8>(p++, <u8>delimiter);
    let letters: u32 = 0;
    if (status == ROW_OK) {
      letters = load<u8>(record, 2) == 45 ? 2 : 3;
      p = writeCode(record, p);
    }
    if (flags & WITH_RESOLUTION) {
      store<u8>(p++, <u8>delimiter);
      const resolution: u32 = load<u8>(row, 26);
      if (resolution != NO_RESOLUTION) p = printSmall(resolution, p);
    }
    store<u8>(p++, <u8>delimiter);
    if (letters) {
      store<u32>(p, load<u32>(record));
      p += letters;
    }
    store<u8>(p++, <u8>delimiter);
    p = writeStatus(status, p);
    p = writeLineEnd(row, p, feed);
    countStatus(status);
  }
  textEnd = p;
  return to;
}

/** Rows of `decode` as CSV. */
export function writeDecodedCsv(
  count: u32, from: u32, to: u32, flags: u32, source: u32, delimiter: u32, feed: u32, refusal: u32,
): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasRoom(p, row)) return stopAt(index, p);
    const status = decodedStatus(count, index, row, refusal);
    const start = p;
    if (flags & WITH_ROW) {
      p = copyText(load<u32>(row), load<u32>(row, 4), p);
    } else {
      if (source == FROM_JSON && (status == ROW_INVALID_REQUEST || !isPlainCode(row))) return stopAt(index, start);
      if (flags & WITH_ID) {
        p = writeCsvId(row, p, delimiter);
        if (!p) return stopAt(index, start);
        store<u8>(p++, <u8>delimiter);
      }
      const quotes: u32 = source == FROM_JSON ? 1 : 0;
      if (source == FROM_FRAMES && !isPlainRecord(index)) return stopAt(index, start);
      if (source == FROM_FRAMES) p = writeCode(INPUT + <usize>(index * RECORD_BYTES), p);
      else p = copyText(load<u32>(row, 8) + quotes, load<u32>(row, 12) - quotes, p);
    }
    store<u8>(p++, <u8>delimiter);
    if (status == ROW_OK) {
      p = writeDecoded(index, p, 0);
      if (p) {
        store<u8>(p++, <u8>delimiter);
        p = writeDecoded(index, p, 8);
      }
      if (!p) return stopAt(index, start);
      store<u8>(p++, <u8>delimiter);
      p = printSmall(load<u8>(OUTPUT + <usize>(count * 16 + index)), p);
    } else {
      store<u16>(p, <u16>(delimiter * 257));
      p += 2;
    }
    store<u8>(p++, <u8>delimiter);
    p = writeStatus(status, p);
    p = writeLineEnd(row, p, feed);
    countStatus(status);
  }
  textEnd = p;
  return to;
}

/** Rows of `encode` as JSON bodies, each followed by `separator`. */
export function writeEncodedJson(from: u32, to: u32, separator: u32, refusal: u32): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasRoom(p, row)) return stopAt(index, p);
    const record = OUTPUT + <usize>(index * RECORD_BYTES);
    const status = encodedStatus(row, record, refusal);
    if (status == ROW_INVALID_REQUEST) return stopAt(index, p);
    const start = p;
    let letters: u32 = 0;
    if (status == ROW_OK) {
      letters = load<u8>(record, 2) == 45 ? 2 : 3;
      p = copyWord(HEXCODES_HEAD, 13, p);
      p = writeCode(record, p);
      p = copyWord(LAT_AFTER_TEXT, 8, p);
    } else {
      p = copyWord(HEXCODES_NULL, 23, p);
    }
    p = writeCoordinate(index, row, p, 0);
    if (p) {
      p = copyWord(LNG, 7, p);
      p = writeCoordinate(index, row, p, 1);
    }
    if (!p) return stopAt(index, start);
    p = copyWord(RESOLUTION, 14, p);
    const resolution: u32 = load<u8>(row, 26);
    if (resolution == NO_RESOLUTION) p = copyWord(NULL, 4, p);
    else p = printSmall(resolution, p);
    p = copyWord(ADMIN_CODE, 14, p);
    if (letters) {
      store<u8>(p++, 34);
      store<u32>(p, load<u32>(record));
      p += letters;
      p = copyWord(OK_AFTER_TEXT, 15, p);
    } else {
      p = copyWord(NULL, 4, p);
      store<u8>(p++, 44);
      p = writeTail(status, p);
    }
    p = writeJsonEnd(row, p, separator);
    countStatus(status);
  }
  textEnd = p;
  return to;
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
          p = copyWord(LNG, 7, p);
          p = writeDecoded(index, p, 8);
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
    countStatus(status);
  }
  textEnd = p;
  return to;
}

// @ts-ignore: decorator
@inline
function hasRoom(p: usize, row: usize): bool {
  return p + <usize>(load<u32>(row, 4) - load<u32>(row) + MAX_ANSWER_BYTES) <= TEXT_OUT + <usize>TEXT_OUT_BYTES;
}

// @ts-ignore: decorator
@inline
function stopAt(index: u32, p: usize): u32 {
  textEnd = p;
  return index;
}

// @ts-ignore: decorator
@inline
function countStatus(status: u32): void {
  const count = STATUS_COUNTS + (<usize>status << 2);
  store<u32>(count, load<u32>(count) + 1);
}

// @ts-ignore: decorator
@inline
function encodedStatus(row: usize, record: usize, refusal: u32): u32 {
  const status: u32 = load<u8>(row, 27);
  if (status != ROW_OK) return status;
  if (refusal) return refusal;
  // The point statuses 0, 1, 2 are the row statuses OK, NOT_FOUND, INVALID_REQUEST.
  return load<u8>(record, 19);
}

// @ts-ignore: decorator
@inline
function decodedStatus(count: u32, index: u32, row: usize, refusal: u32): u32 {
  const status: u32 = load<u8>(row, 27);
  if (status != ROW_OK) return status;
  if (refusal) return refusal;
  return load<u8>(OUTPUT + <usize>(count * 17 + index)) ? ROW_INVALID_HEXCODES : ROW_OK;
}

/** Copies in steps of 16 bytes: what is behind `out` is free. */
// @ts-ignore: decorator
@inline
function copyText(from: usize, to: usize, out: usize): usize {
  const end = out + (to - from);
  while (out < end) {
    v128.store(out, v128.load(from));
    from += 16;
    out += 16;
  }
  return end;
}

// @ts-ignore: decorator
@inline
function copyWord(word: usize, size: usize, out: usize): usize {
  v128.store(out, v128.load(word));
  if (size > 16) v128.store(out, v128.load(word, 16), 16);
  if (size > 32) v128.store(out, v128.load(word, 32), 32);
  return out + size;
}

/** The text of a record, which byte 18 at the latest ends. */
// @ts-ignore: decorator
@inline
function writeCode(record: usize, out: usize): usize {
  const text = v128.load(record);
  v128.store(out, text);
  const zeros = <u32>i8x16.bitmask(i8x16.eq(text, i8x16.splat(0)));
  if (zeros) return out + <usize>ctz(zeros);
  store<u32>(out, load<u32>(record, 16), 16);
  let size: usize = 16;
  while (size < 19 && load<u8>(record + size)) size++;
  return out + size;
}

/** The number as it was written where that is the shortest text, else printed; 0 if the host must print it. */
// @ts-ignore: decorator
@inline
function writeCoordinate(index: u32, row: usize, out: usize, place: usize): usize {
  const size: usize = load<u16>(row + (place << 1), 20);
  if (size == 0) return printNumber(load<f64>(INPUT + (<usize>index << 4) + (place << 3)), out);
  const text = load<u32>(row + (place << 2), 8);
  v128.store(out, v128.load(text));
  if (size > 16) store<u32>(out, load<u32>(text + 16), 16);
  return out + size;
}

// @ts-ignore: decorator
@inline
function writeDecoded(index: u32, out: usize, place: usize): usize {
  return printNumber(load<f64>(OUTPUT + (<usize>index << 4) + place), out);
}

/** The id as a CSV field, if no byte of it needs quotes or has been escaped; else 0. */
// @ts-ignore: decorator
@inline
function writeCsvId(row: usize, out: usize, delimiter: u32): usize {
  const size: usize = load<u16>(row, 24);
  if (size == 0) return out;
  let p: usize = load<u32>(row, 16);
  let end = p + size;
  if (load<u8>(p) == 34) {
    p++;
    end--;
  }
  for (let q = p; q < end; q++) {
    const byte: u32 = load<u8>(q);
    if (byte == 34 || byte == 92 || byte == delimiter) return 0;
  }
  return copyText(p, end, out);
}

/** Whether the text of the code can stand in CSV and JSON as it is: the letters, digits and signs of any code. */
function isPlainCode(row: usize): bool {
  if (load<u8>(row, 28) & CODE_NEEDS_ESCAPES) return false;
  let p: usize = load<u32>(row, 8);
  let end: usize = load<u32>(row, 12);
  if (load<u8>(p) == 34) {
    p++;
    end--;
  }
  return areCodeBytes(p, end);
}

function isPlainRecord(index: u32): bool {
  const record = INPUT + <usize>(index * RECORD_BYTES);
  let end = record;
  while (end < record + 19 && load<u8>(end)) end++;
  return areCodeBytes(record, end);
}

function areCodeBytes(p: usize, end: usize): bool {
  for (; p < end; p++) {
    const byte: u32 = load<u8>(p);
    const isPlain = byte - 48 < 10 || (byte | 32) - 97 < 26 || byte == 45 || byte == 32 || byte == 46 || byte == 95;
    if (!isPlain) return false;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function writeLineEnd(row: usize, out: usize, feed: u32): usize {
  const end = load<u8>(row, 28) & LINE_END_MASK;
  const isFeedOnly = end == LINE_FEED || (end == 0 && feed == 10);
  if (!isFeedOnly) store<u8>(out++, 13);
  store<u8>(out, 10);
  return out + 1;
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
  store<u8>(out, <u8>separator, 1);
  return out + 2;
}

/** The host keeps at TAILS, for each row status, u32 size and the text `"status":"…"`, with a message if it has one. */
// @ts-ignore: decorator
@inline
function writeTail(status: u32, out: usize): usize {
  const tail = TAILS + <usize>(status * TAIL_BYTES);
  return copyText(tail + 4, tail + 4 + <usize>load<u32>(tail), out);
}

/** The bare word of a status stands at the end of its tail's area, u32 size and text. */
// @ts-ignore: decorator
@inline
function writeStatus(status: u32, out: usize): usize {
  if (status == ROW_OK) {
    store<u16>(out, 0x4b4f);
    return out + 2;
  }
  const word = TAILS + <usize>(status * TAIL_BYTES + TAIL_BYTES - 32);
  return copyText(word + 4, word + 4 + <usize>load<u32>(word), out);
}
