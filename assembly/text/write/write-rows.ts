// Writes the answers to scanned rows by pieces: a row of CSV, or a line of NDJSON up to its closing brace, and after it
// what a list says. A call stops before a row that does not fit, and before one that the host must write: it writes
// that row and calls again for the next.

import { FIELDS, FIELDS_BYTES, MEMBERS, OUTPUT, PIECE_LIST_BYTES, PIECES, recordAt } from "../../memory";
import { CARRIAGE_RETURN, CLOSE_BRACE, COMMA, LINE_FEED, OPEN_BRACE, QUOTE, SPACE, TAB } from "../chars";
import { NO_COLUMN, noteStart, startOf } from "../scan/json-lines";
import { afterSpace, skipName, skipValue } from "../scan/json-values";
import { COLUMN_BYTES, isNamed } from "../scan/scan-members";
import { copyText, hasSpaceFor, stopAt, textEnd } from "./text-out";
import { NO_BORDER } from "../../region/border-distance";
import { printSmall } from "../numbers/print";
import {
  FIELDS_LEFT, LAT, LEFT_TO_HOST, LNG, NO_RESOLUTION, noteFailure, RAGGED, ROW_INVALID_REQUEST, ROW_OK, rowAt, rowEnd,
  rowFlags, rowResolution, rowStart, setRowResolution,
} from "../row";
import {
  adminLetters, borderOfRow, decodedResolution, FROM_CSV, FROM_FIELDS, FROM_JSON, FROM_LINES, writeCode,
  writeCoordinate, writeDecoded, writeFormer, writeMetres, writeShare,
} from "./fields";
import { fieldLimit, fieldOrigin } from "../scan/scan-csv";
import { writeCsvId, writeLineEnd, writeRaggedRow } from "./write-csv";
import { addStatus, decodedStatus, encodedStatus, writeStatus } from "./statuses";

// The members of a line of NDJSON but for those that are left out, each as it is in the line. Columns of MEMBERS, after
// those of the scan, have the names of members that are kept, which are written in the order of these columns, or of
// members that are left out. json-lines.ts has scanned the line: it is JSON, and a name with escapes is in no column.

/** In a column: bounds of the member in the line; 0 where there is none. */
const AT_START: usize = 8;
const AT_END: usize = 12;

/** The first column whose name may start so, by startOf. */
const STARTS: usize = memory.data(64, 8);

let first: usize = 0;
let end: usize = 0;
let keeps: bool = false;

/** Whether members of lines are left out. */
let choosesMembers: bool = false;

/**
 * Sets which members of lines are written: with `isKeep` those that columns `from` to `to` of MEMBERS name, else all
 * others.
 */
export function chooseMembers(from: u32, to: u32, isKeep: bool): void {
  choosesMembers = isKeep || from < to;
  first = columnAt(from);
  end = columnAt(to);
  keeps = isKeep;
  memory.fill(STARTS, NO_COLUMN, 64);
  for (let column = from; column < to; column++) noteStart(STARTS, <usize>load<u32>(columnAt(column)) + 1, <u8>(column - from));
}

// @ts-ignore: decorator
@inline
function columnAt(column: u32): usize {
  return MEMBERS + <usize>column * COLUMN_BYTES;
}

/** Writes the chosen members of the line at `p`, each after an opening brace or a comma; returns `out` for none. */
function writeMembers(p: usize, out: usize): usize {
  for (let column = first; keeps && column < end; column += COLUMN_BYTES) store<u32>(column, 0, AT_START);
  let mark: u8 = <u8>OPEN_BRACE;
  // Members come in the order of the columns, mostly.
  let next = first;
  do {
    p = afterSpace(p + 1);
    const name = p;
    let column = next;
    if (column >= end || !isNamed(column, name)) {
      column = first + <usize>load<u8>(STARTS + startOf(name + 1)) * COLUMN_BYTES;
      while (column < end && !isNamed(column, name)) column += COLUMN_BYTES;
    }
    p = skipValue(afterSpace(afterSpace(skipName(name)) + 1));
    if (column < end) next = column + COLUMN_BYTES;
    if (keeps && column < end) {
      store<u32>(column, <u32>name, AT_START);
      store<u32>(column, <u32>p, AT_END);
    } else if (!keeps && column >= end) {
      store<u8>(out, mark);
      out = copyText(name, p, out + 1);
      mark = <u8>COMMA;
    }
    p = afterSpace(p);
  } while (load<u8>(p) == COMMA);
  for (let column = first; keeps && column < end; column += COLUMN_BYTES) {
    const start = <usize>load<u32>(column, AT_START);
    if (!start) continue;
    store<u8>(out, mark);
    out = copyText(start, <usize>load<u32>(column, AT_END), out + 1);
    mark = <u8>COMMA;
  }
  return out;
}

// A list is a sequence of pieces, each at a multiple of 16, up to one of kind END or LINE_END:
//
// 0  u8   kind         the value after the text
//    1  u8   absentBytes  4 where `null` is written for a value that there is not, 0 where nothing is
//    2  u16  column       of a FIELD
//    4  u32  textBytes
//   16  the text, before the value

const AT_ABSENT: usize = 1;
const AT_COLUMN: usize = 2;
const AT_TEXT_BYTES: usize = 4;
const AT_TEXT: usize = 16;

/** Kinds of values; src/hexcodes/kernel/text-memory.ts has the same. */
const END: u32 = 0;
const CODE: u32 = 1;
const ADMIN: u32 = 2;
const FORMER: u32 = 3;
const METRES: u32 = 4;
/** After METRES. */
const SHARE: u32 = 5;
const RESOLUTION: u32 = 6;
const STATUS: u32 = 7;
/** Ends a list, as END does. */
const LINE_END: u32 = 8;
const ID: u32 = 9;
const LAT_TEXT: u32 = 10;
const LNG_TEXT: u32 = 11;
const FIELD: u32 = 12;
const CENTRE_LAT: u32 = 13;
const CENTRE_LNG: u32 = 14;

/** null */
const NULL: u32 = 0x6c6c756e;

/**
 * Writes rows `from` to `to`; returns the row before which it stopped. Rows of CSV without a line end get LF if `feed`
 * is LF, else CR LF.
 */
export function writeRows(from: u32, to: u32, source: u32, delimiter: u32, feed: u32, refusal: u32): u32 {
  return writeAnswers(0, from, to, source, delimiter, feed, refusal);
}

/** @param decoded rows of a decode answer; 0 for one of encode */
function writeAnswers(decoded: u32, from: u32, to: u32, source: u32, delimiter: u32, feed: u32, refusal: u32): u32 {
  let p = textEnd;
  // Pieces, fields whose quotes are doubled, and the room that is not free.
  const isOfFields = source == FROM_FIELDS;
  const spare = <usize>(PIECE_LIST_BYTES + (isOfFields ? FIELDS_BYTES : 0));
  // Most lists begin with a code and an admin code.
  const usual = afterUsual();
  const codeTextEnd = PIECES + AT_TEXT + <usize>load<u32>(PIECES, AT_TEXT_BYTES);
  const adminText = after(PIECES) + AT_TEXT;
  const adminTextEnd = adminText + <usize>load<u32>(after(PIECES), AT_TEXT_BYTES);
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    const rowBytes = rowEnd(row) - rowStart(row);
    if (!hasSpaceFor(p, spare + (isOfFields ? 2 * rowBytes : rowBytes))) return stopAt(index, p);
    const record = recordAt(OUTPUT, index);
    let status: u32;
    if (decoded) {
      status = decodedStatus(decoded, index, row, refusal);
      setRowResolution(row, decodedResolution(decoded, index));
    } else {
      status = encodedStatus(row, record, refusal);
    }
    const start = p;
    if (source == FROM_CSV) {
      if (rowFlags(row) & RAGGED) p = writeRaggedRow(row, p, delimiter);
      else p = copyText(rowStart(row), rowEnd(row), p);
    } else if (source == FROM_LINES) {
      if (rowFlags(row) & LEFT_TO_HOST) p = 0;
      else p = choosesMembers ? writeMembers(rowStart(row), p) : writeOpenLine(row, p);
    } else if (isOfFields) {
      if (rowFlags(row) & (LEFT_TO_HOST | FIELDS_LEFT)) p = 0;
    } else if (source == FROM_JSON && status == ROW_INVALID_REQUEST) {
      // The host writes the message for a position that was not understood.
      p = 0;
    }
    if (p) {
      let piece = status == ROW_OK ? PIECES : PIECES + <usize>PIECE_LIST_BYTES;
      if (usual && status == ROW_OK) {
        p = writeCode(record, copyText(PIECES + AT_TEXT, codeTextEnd, p));
        p = copyText(adminText, adminTextEnd, p);
        store<u32>(p, load<u32>(record));
        p += adminLetters(record);
        piece = usual;
      }
      p = writePieces(index, row, record, status, piece, p, delimiter, feed);
    }
    if (!p) return stopAt(index, start);
    // Our members begin with a comma, in a line that keeps none as in any other.
    if (source == FROM_LINES) store<u8>(start, <u8>OPEN_BRACE);
    if (status != ROW_OK) noteFailure(row, status, start, p);
    addStatus(status, 1);
  }
  return stopAt(to, p);
}

/** Writes rows `from` to `to` of a decode answer to `count` rows, as writeRows does. */
export function writeDecodedRows(count: u32, from: u32, to: u32, source: u32, delimiter: u32): u32 {
  return writeAnswers(count, from, to, source, delimiter, LINE_FEED, 0);
}

/** Copies a line up to the blanks before its closing brace. */
// @ts-ignore: decorator
@inline
function writeOpenLine(row: usize, out: usize): usize {
  // After the brace are blanks at most.
  let close = rowEnd(row) - 1;
  while (load<u8>(close) != CLOSE_BRACE) close--;
  while (<u32>load<u8>(close - 1) <= SPACE) close--;
  return copyText(rowStart(row), close, out);
}

/** After the first two pieces of the list of rows that are OK, where these are a code and an admin code; else 0. */
function afterUsual(): usize {
  const admin = after(PIECES);
  return load<u8>(PIECES) == CODE && load<u8>(admin) == ADMIN ? after(admin) : 0;
}

// @ts-ignore: decorator
@inline
function after(piece: usize): usize {
  return piece + AT_TEXT + ((<usize>load<u32>(piece, AT_TEXT_BYTES) + 15) & ~15);
}

/** Writes the list of a status; 0 if the host must write a value of it. */
// @ts-ignore: decorator
@inline
function writePieces(index: u32, row: usize, record: usize, status: u32, piece: usize, p: usize, delimiter: u32, feed: u32): usize {
  let metres: u32 = 0;
  while (true) {
    const size = <usize>load<u32>(piece, AT_TEXT_BYTES);
    v128.store(p, v128.load(piece, AT_TEXT));
    if (size > 16) copyText(piece + AT_TEXT + 16, piece + AT_TEXT + size, p + 16);
    p += size;
    switch (<u32>load<u8>(piece)) {
      case CODE:
        p = writeCode(record, p);
        break;
      case ADMIN:
        store<u32>(p, load<u32>(record));
        p += adminLetters(record);
        break;
      case FORMER:
        p = writeFormer(index, p);
        break;
      case METRES:
        metres = borderOfRow(index);
        if (metres == NO_BORDER) p = writeAbsent(piece, p);
        else p = writeMetres(metres, p);
        break;
      case SHARE: {
        const end = writeShare(metres, p);
        p = end == p ? writeAbsent(piece, p) : end;
        break;
      }
      case RESOLUTION: {
        const resolution = rowResolution(row);
        p = resolution == NO_RESOLUTION ? writeAbsent(piece, p) : printSmall(resolution, p);
        break;
      }
      case STATUS:
        p = writeStatus(status, p);
        break;
      case LINE_END:
        return writeLineEnd(row, p, feed);
      case ID:
        p = writeCsvId(row, p, delimiter);
        break;
      case LAT_TEXT:
        p = writeCoordinate(index, row, p, LAT);
        if (!p) return 0;
        break;
      case LNG_TEXT:
        p = writeCoordinate(index, row, p, LNG);
        if (!p) return 0;
        break;
      case CENTRE_LAT:
        p = writeDecoded(index, p, LAT);
        if (!p) return 0;
        break;
      case CENTRE_LNG:
        p = writeDecoded(index, p, LNG);
        if (!p) return 0;
        break;
      case FIELD: {
        const starts = FIELDS + (<usize>load<u16>(piece, AT_COLUMN) * <usize>fieldLimit << 3) + (<usize>index << 2);
        const end = fieldOrigin + <usize>load<u32>(starts + (<usize>fieldLimit << 2));
        p = writeField(fieldOrigin + <usize>load<u32>(starts), end, p, delimiter);
        break;
      }
      case END:
        return p;
    }
    piece = after(piece);
  }
}

// @ts-ignore: decorator
@inline
function writeAbsent(piece: usize, out: usize): usize {
  store<u32>(out, NULL);
  return out + <usize>load<u8>(piece, AT_ABSENT);
}

/** Copies a field, in quotes where it needs them. */
// @ts-ignore: decorator
@inline
function writeField(start: usize, end: usize, out: usize, delimiter: u32): usize {
  let met: u32 = 0;
  let q = out;
  // Tables of commas and of tabs are read for each other.
  const other: u32 = delimiter == COMMA ? TAB : delimiter == TAB ? COMMA : delimiter;
  for (let p = start; p < end; p += 16, q += 16) {
    const bytes = v128.load(p);
    v128.store(q, bytes);
    const odd = v128.or(
      v128.or(
        i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)),
        v128.or(i8x16.eq(bytes, i8x16.splat(<i8>delimiter)), i8x16.eq(bytes, i8x16.splat(<i8>other))),
      ),
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>LINE_FEED)), i8x16.eq(bytes, i8x16.splat(<i8>CARRIAGE_RETURN))),
    );
    const size = end - p;
    met |= <u32>i8x16.bitmask(odd) & (size < 16 ? (1 << <u32>size) - 1 : 0xffff);
  }
  return met ? writeQuoted(start, end, out) : out + (end - start);
}

function writeQuoted(p: usize, end: usize, out: usize): usize {
  store<u8>(out++, <u8>QUOTE);
  for (; p < end; p++) {
    const byte: u32 = load<u8>(p);
    if (byte == QUOTE) store<u8>(out++, <u8>QUOTE);
    store<u8>(out++, <u8>byte);
  }
  store<u8>(out, <u8>QUOTE);
  return out + 1;
}
