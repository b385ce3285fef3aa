// Writes decode answers to scanned rows as CSV, from ROWS, INPUT and OUTPUT to TEXT_OUT. A call stops before a row that
// does not fit, and before one whose answer the host must write: a fault with its message, a text to be escaped, a
// number to be printed. The host writes that row and calls again for the next.

import { BACKSLASH, CARRIAGE_RETURN, escapedCharacter, escapeEnd, LINE_FEED, QUOTE } from "../chars";
import {
  CODE_HAD_ESCAPES, codeEnd, codeStart, ENDS_WITH_LF, fieldsWanted, idBytes, idStart, LAT, LINE_END_MASK, LNG,
  noteFailure, RAGGED, ROW_INVALID_REQUEST, ROW_OK, rowAt, rowEnd, rowFlags, rowStart,
} from "../row";
import { copyText, hasSpace, hasSpaceFor, stopAt, textEnd } from "./text-out";
import { INPUT, recordAt } from "../../memory";
import { printSmall } from "../numbers/print";
import {
  decodedResolution, FROM_FRAMES, FROM_JSON, isPlainCode, isPlainRecord, WITH_ID, WITH_ROW, writeCode, writeDecoded,
} from "./fields";
import { addStatus, decodedStatus, writeStatus } from "./statuses";

// A ragged row of CSV, written so that the answer stays rectangular: its first fields, as many as the header has,
// padded with empty ones; a quote that is not closed is closed.

/** Writes the row without a line end; 0 if there is no room for it and the columns after it. */
export function writeRaggedRow(row: usize, out: usize, delimiter: u32): usize {
  const start = rowStart(row);
  const end = rowEnd(row);
  const fields = fieldsWanted(row);
  if (!hasSpaceFor(out, end - start + fields)) return 0;
  let p = start;
  let isOpen = false;
  let field: u32 = 1;
  for (; ; field++) {
    if (p < end && load<u8>(p) == QUOTE) {
      p = afterQuotes(p, end);
      isOpen = p > end;
    }
    while (p < end && load<u8>(p) != delimiter) p++;
    if (p >= end || field == fields) break;
    p++;
  }
  out = copyText(start, min(p, end), out);
  if (isOpen) store<u8>(out++, <u8>QUOTE);
  for (; field < fields; field++) store<u8>(out++, <u8>delimiter);
  return out;
}

/** After the closing quote of the field that starts at `p`; after `end` if it has none. */
function afterQuotes(p: usize, end: usize): usize {
  while (++p < end) {
    if (load<u8>(p) != QUOTE) continue;
    if (p + 1 == end || load<u8>(p + 1) != QUOTE) return p + 1;
    p++;
  }
  return end + 1;
}

/**
 * Writes the decode answers of rows `from` to `to` of `count`; returns the row before which it stopped. Rows without a
 * line end get LF if `feed` is LF, else CR LF.
 */
export function writeDecodedCsv(
  count: u32, from: u32, to: u32, flags: u32, source: u32, delimiter: u32, feed: u32, refusal: u32,
): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasSpace(p, row)) return stopAt(index, p);
    const status = decodedStatus(count, index, row, refusal);
    const start = p;
    if (flags & WITH_ROW) {
      if (rowFlags(row) & RAGGED) {
        p = writeRaggedRow(row, p, delimiter);
        if (!p) return stopAt(index, start);
      } else {
        p = copyText(rowStart(row), rowEnd(row), p);
      }
    } else {
      if (source == FROM_JSON && (status == ROW_INVALID_REQUEST || !isPlainCode(row))) return stopAt(index, start);
      if (flags & WITH_ID) {
        p = writeCsvId(row, p, delimiter);
        store<u8>(p++, <u8>delimiter);
      }
      const quotes: u32 = source == FROM_JSON ? 1 : 0;
      if (source == FROM_FRAMES && !isPlainRecord(index)) return stopAt(index, start);
      if (source == FROM_FRAMES || rowFlags(row) & CODE_HAD_ESCAPES) p = writeCode(recordAt(INPUT, index), p);
      else p = copyText(codeStart(row) + quotes, codeEnd(row) - quotes, p);
    }
    store<u8>(p++, <u8>delimiter);
    if (status == ROW_OK) {
      p = writeDecoded(index, p, LAT);
      if (p) {
        store<u8>(p++, <u8>delimiter);
        p = writeDecoded(index, p, LNG);
      }
      if (!p) return stopAt(index, start);
      store<u8>(p++, <u8>delimiter);
      p = printSmall(decodedResolution(count, index), p);
    } else {
      store<u16>(p, <u16>(delimiter * 257));
      p += 2;
    }
    store<u8>(p++, <u8>delimiter);
    p = writeStatus(status, p);
    p = writeLineEnd(row, p, feed);
    if (status != ROW_OK) noteFailure(row, status, start, p);
    addStatus(status, 1);
  }
  return stopAt(to, p);
}

/** Writes the id as a CSV field. */
export function writeCsvId(row: usize, out: usize, delimiter: u32): usize {
  const size = idBytes(row);
  if (size == 0) return out;
  let p = idStart(row);
  let end = p + size;
  if (load<u8>(p) == QUOTE) {
    p++;
    end--;
  }
  for (let q = p; q < end; q++) {
    const byte: u32 = load<u8>(q);
    if (byte == BACKSLASH || byte == delimiter) return writeUnescaped(p, end, out, delimiter);
  }
  return copyText(p, end, out);
}

/** Writes the text of a JSON string as a CSV field, in quotes where it needs them. */
function writeUnescaped(p: usize, end: usize, out: usize, delimiter: u32): usize {
  let needsQuotes = false;
  let q = out + 1;
  while (p < end) {
    let unit: u32 = load<u8>(p++);
    if (unit != BACKSLASH) {
      if (unit == delimiter) needsQuotes = true;
      store<u8>(q++, <u8>unit);
      continue;
    }
    unit = escapedCharacter(p, end);
    p = escapeEnd;
    if (unit == QUOTE || unit == delimiter || unit == LINE_FEED || unit == CARRIAGE_RETURN) needsQuotes = true;
    if (unit == QUOTE) store<u8>(q++, <u8>QUOTE);
    q = writeUtf8(unit, q);
  }
  if (!needsQuotes) {
    memory.copy(out, out + 1, q - out - 1);
    return q - 1;
  }
  store<u8>(out, <u8>QUOTE);
  store<u8>(q, <u8>QUOTE);
  return q + 1;
}

/** Writes a character in UTF-8. */
function writeUtf8(character: u32, out: usize): usize {
  if (character < 0x80) {
    store<u8>(out, <u8>character);
    return out + 1;
  }
  let lead: u32 = 0xc0;
  let bits: u32 = 6;
  if (character >= 0x10000) {
    lead = 0xf0;
    bits = 18;
  } else if (character >= 0x800) {
    lead = 0xe0;
    bits = 12;
  }
  store<u8>(out++, <u8>(lead | character >> bits));
  while (bits) {
    bits -= 6;
    store<u8>(out++, <u8>(0x80 | ((character >> bits) & 0x3f)));
  }
  return out;
}

/** Writes the row's own line end, or that of the file where it has none. */
// @ts-ignore: decorator
@inline
export function writeLineEnd(row: usize, out: usize, feed: u32): usize {
  const end = rowFlags(row) & LINE_END_MASK;
  const isFeedOnly = end == ENDS_WITH_LF || (end == 0 && feed == LINE_FEED);
  if (!isFeedOnly) store<u8>(out++, <u8>CARRIAGE_RETURN);
  store<u8>(out, <u8>LINE_FEED);
  return out + 1;
}
