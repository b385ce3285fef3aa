// Writes the answers to scanned rows as CSV, from ROWS, INPUT and OUTPUT to TEXT_OUT. A call stops before a row that
// does not fit, and before one whose answer the host must write: a fault with its message, a text to be escaped, a
// number to be printed. The host writes that row and calls again for the next.

import { INPUT, OUTPUT } from "../../memory";
import { recordAt } from "../../output-layout";
import { BACKSLASH, CARRIAGE_RETURN, escapedCharacter, escapeEnd, LINE_FEED, QUOTE } from "../chars";
import { printSmall } from "../numbers/print";
import {
  CODE_HAD_ESCAPES, codeEnd, codeStart, ENDS_WITH_LF, idBytes, idStart, LAT, LINE_END_MASK, LNG, NO_RESOLUTION, noteFailure, RAGGED, ROW_INVALID_REQUEST, ROW_OK, rowAt,
  rowEnd, rowFlags, rowResolution, rowStart,
} from "../row";
import {
  adminLetters, borderOfRow, decodedResolution, FROM_FRAMES, FROM_JSON, isPlainCode, isPlainRecord, WITH_CERTAINTY, WITH_FORMER,
  WITH_ID, WITH_RESOLUTION, WITH_ROW, writeCode, writeCoordinate, writeDecoded, writeFormer, writeMetres, writeShare,
} from "./fields";
import { writeRaggedRow } from "./ragged-row";
import { addStatus, decodedStatus, encodedStatus, writeStatus } from "./statuses";
import { copyText, hasSpace, stopAt, textEnd } from "./text-out";

/**
 * Writes the encode answers of rows `from` to `to`; returns the row before which it stopped. Rows without a line end
 * get LF if `feed` is LF, else CR LF.
 */
export function writeEncodedCsv(from: u32, to: u32, flags: u32, source: u32, delimiter: u32, feed: u32, refusal: u32): u32 {
  let p = textEnd;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (!hasSpace(p, row)) return stopAt(index, p);
    const record = recordAt(OUTPUT, index);
    const status = encodedStatus(row, record, refusal);
    const start = p;
    if (flags & WITH_ROW) {
      if (rowFlags(row) & RAGGED) {
        p = writeRaggedRow(row, p, delimiter);
        if (!p) return stopAt(index, start);
      } else {
        p = copyText(rowStart(row), rowEnd(row), p);
      }
    } else {
      if (flags & WITH_ID) {
        p = writeCsvId(row, p, delimiter);
        store<u8>(p++, <u8>delimiter);
      }
      // The host writes the message for a position that was not understood.
      if (status == ROW_INVALID_REQUEST && source == FROM_JSON) return stopAt(index, start);
      p = writeCoordinate(index, row, p, LAT);
      if (p) {
        store<u8>(p++, <u8>delimiter);
        p = writeCoordinate(index, row, p, LNG);
      }
      if (!p) return stopAt(index, start);
    }
    store<u8>(p++, <u8>delimiter);
    let letters: u32 = 0;
    if (status == ROW_OK) {
      letters = adminLetters(record);
      p = writeCode(record, p);
    }
    if (flags & WITH_RESOLUTION) {
      store<u8>(p++, <u8>delimiter);
      const resolution = rowResolution(row);
      if (resolution != NO_RESOLUTION) p = printSmall(resolution, p);
    }
    store<u8>(p++, <u8>delimiter);
    if (letters) {
      store<u32>(p, load<u32>(record));
      p += letters;
    }
    if (flags & WITH_FORMER) {
      store<u8>(p++, <u8>delimiter);
      if (status == ROW_OK) p = writeFormer(index, p);
    }
    if (flags & WITH_CERTAINTY) p = writeBorder(index, p, status, delimiter);
    store<u8>(p++, <u8>delimiter);
    p = writeStatus(status, p);
    p = writeLineEnd(row, p, feed);
    if (status != ROW_OK) noteFailure(row, status, start, p);
    addStatus(status, 1);
  }
  return stopAt(to, p);
}

/** Writes the columns border_m and certainty with a delimiter before each. */
function writeBorder(index: u32, out: usize, status: u32, delimiter: u32): usize {
  if (status != ROW_OK) {
    store<u16>(out, <u16>(delimiter * 257));
    return out + 2;
  }
  const metres = borderOfRow(index);
  store<u8>(out, <u8>delimiter);
  out = writeMetres(metres, out + 1);
  store<u8>(out, <u8>delimiter);
  return writeShare(metres, out + 1);
}

/** The same for the decode answers to `count` rows. */
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
function writeCsvId(row: usize, out: usize, delimiter: u32): usize {
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

// @ts-ignore: decorator
@inline
function writeLineEnd(row: usize, out: usize, feed: u32): usize {
  const end = rowFlags(row) & LINE_END_MASK;
  const isFeedOnly = end == ENDS_WITH_LF || (end == 0 && feed == LINE_FEED);
  if (!isFeedOnly) store<u8>(out++, <u8>CARRIAGE_RETURN);
  store<u8>(out, <u8>LINE_FEED);
  return out + 1;
}
