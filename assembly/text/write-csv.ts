// Writes the answers of scanned rows as CSV, from ROWS, INPUT and OUTPUT to TEXT_OUT. A call writes rows
// until the end, until the area is full, or until a row whose answer the host writes (a fault with its message, a text to
// escape, a number to print); then the host does, and calls again for the next row.

import { INPUT, OUTPUT, RECORD_BYTES, TAILS, TAIL_BYTES } from "../memory";
import { printSmall } from "./print";
import { LINE_END_MASK, LINE_FEED, NO_RESOLUTION, ROW_INVALID_REQUEST, ROW_OK, rowAt } from "./rows";
import { hasRoom, stopAt, addStatus, encodedStatus, decodedStatus, copyText, writeCode } from "./write";
import { writeCoordinate, writeDecoded, isPlainCode, isPlainRecord, textEnd, FROM_JSON } from "./write";
import { FROM_FRAMES, WITH_ROW, WITH_ID, WITH_RESOLUTION } from "./write";

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
    addStatus(status, 1);
  }
  return stopAt(to, p);
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
    addStatus(status, 1);
  }
  return stopAt(to, p);
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

// @ts-ignore: decorator
@inline
function writeLineEnd(row: usize, out: usize, feed: u32): usize {
  const end = load<u8>(row, 28) & LINE_END_MASK;
  const isFeedOnly = end == LINE_FEED || (end == 0 && feed == 10);
  if (!isFeedOnly) store<u8>(out++, 13);
  store<u8>(out, 10);
  return out + 1;
}
