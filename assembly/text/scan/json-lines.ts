// Reads one line of a file of NDJSON: an object with lat, lng and perhaps a resolution, or with a code, under the names
// of the file, to which members will be added. Returns the address after it, or 0 where the host must read the line.

import { LINE_NAME_COUNT, LINE_NAMES, MEMBERS, RESOLUTIONS } from "../../memory";
import { BACKSLASH, CLOSE_BRACE, COLON, COMMA, hexDigit, LOWER_U, OPEN_BRACE, QUOTE } from "../chars";
import { ROW_INVALID_REQUEST, setRowShapes, setRowStatus } from "../row";
import { storeNoCode, storePoint } from "./input";
import { codeValue, coordinate, resolutionValue, sameCoordinate } from "./json-items";
import { afterSpace, clearDeep, isDeep, skipName, skipValue, stringHasEscapes } from "./json-values";
import { AT_NAME_BYTES, COLUMN_BYTES, isNamed } from "./scan-members";

/** Columns of MEMBERS, and bits of those that were read; a code is the only one. */
const LAT: u32 = 0;
const LNG: u32 = 1;
const RESOLUTION: u32 = 2;
const BOTH: u32 = 3;
const CODE_BIT: u32 = 1;

/** null */
const NULL: u32 = 0x6c6c756e;

/** The first column of MEMBERS whose name may start so, by the starts of names (`startOf`); or one of these. */
const STARTS: usize = memory.data(64, 8);
export const NO_COLUMN: u8 = 255;
/** After the columns: it may be a name of LINE_NAMES. */
const ADDED: u8 = 254;

/** The first two bytes of a name as a number below 64. */
// @ts-ignore: decorator
@inline
export function startOf(name: usize): usize {
  return <usize>((<u32>load<u8>(name) + 7 * <u32>load<u8>(name, 1)) & 63);
}

/** Notes the start of the name of a column in a table of starts; the columns come in their order. */
export function noteStart(starts: usize, name: usize, column: u8): void {
  // Any byte may follow an empty name.
  if (load<u8>(name) == QUOTE) memory.fill(starts, 0, 64);
  const start = starts + startOf(name);
  if (column < load<u8>(start)) store<u8>(start, column);
}

/** Bytes of the names that are read. */
let latBytes: usize = 0;
let lngBytes: usize = 0;
let resolutionBytes: usize = 0;

// @ts-ignore: decorator
@inline
function nameBytes(column: u32): usize {
  return load<u32>(MEMBERS + <usize>column * COLUMN_BYTES, AT_NAME_BYTES);
}

/** Notes how the names that are read or added start; called before lines are read. */
export function openLines(columns: u32): void {
  latBytes = nameBytes(LAT);
  lngBytes = nameBytes(LNG);
  resolutionBytes = nameBytes(RESOLUTION);
  memory.fill(STARTS, NO_COLUMN, 64);
  for (let column: u32 = 0; column < columns; column++)
    noteStart(STARTS, <usize>load<u32>(MEMBERS + <usize>column * COLUMN_BYTES) + 1, <u8>column);
  for (let name = LINE_NAMES; name < LINE_NAMES + LINE_NAME_COUNT * 16; name += 16)
    if (load<u64>(name, 8) != 0) noteStart(STARTS, name, ADDED);
}

/** @param isAscii whether no name that is read, added or chosen has a character beyond ASCII */
export function lineItem(index: u32, row: usize, p: usize, resolution: u32, columns: u32, isAscii: bool): usize {
  store<u8>(RESOLUTIONS + <usize>index, <u8>resolution);
  if (load<u8>(p) != OPEN_BRACE) return 0;
  const isDecode = columns == 1;
  let seen: u32 = 0;
  let empty: u32 = 0;
  let byte: u32;
  clearDeep();
  do {
    p = afterSpace(p + 1);
    if (load<u8>(p) != QUOTE) return 0;
    const name = p + 1;
    let column: u32 = load<u8>(STARTS + startOf(name));
    const isOther = column == NO_COLUMN;
    while (column < columns && !isNamed(MEMBERS + <usize>column * COLUMN_BYTES, p)) column++;
    // Branches, so that what is after the name need not wait for the name itself.
    if (column == LAT) p += latBytes;
    else if (column >= columns) {
      p = skipName(p);
      if (!p || (stringHasEscapes ? !isAscii || !isBeyondAscii(name) : !isOther && isLineName(name))) return 0;
    } else if (column == LNG) p += lngBytes;
    else p += resolutionBytes;
    p = afterSpace(p);
    if (load<u8>(p) != COLON) return 0;
    p = afterSpace(p + 1);
    if (column >= columns) {
      p = skipValue(p);
    } else {
      const bit: u32 = 1 << column;
      if (empty & bit) return 0;
      if (load<u32>(p) == NULL) {
        if (seen & bit) return 0;
        empty |= bit;
        p += 4;
      } else {
        // The host compares a code that is given twice.
        if (isDecode) p = seen & bit ? 0 : codeValue(index, row, p);
        else if (column > LNG) p = resolutionValue(index, row, p, seen & bit);
        else if (seen & bit) p = sameCoordinate(row, p, column);
        else p = coordinate(index, row, p, column);
        seen |= bit;
      }
    }
    if (!p) return 0;
    p = afterSpace(p);
    byte = load<u8>(p);
  } while (byte == COMMA);
  if (byte != CLOSE_BRACE || isDeep) return 0;
  if (isDecode) {
    if (seen != CODE_BIT) {
      storeNoCode(index);
      setRowStatus(row, ROW_INVALID_REQUEST);
    }
  } else if ((seen & BOTH) != BOTH) {
    storePoint(index, NaN, NaN);
    setRowShapes(row, 0, 0);
    setRowStatus(row, ROW_INVALID_REQUEST);
  }
  return p + 1;
}

/** Whether a name that has escapes has one for a character beyond ASCII. */
function isBeyondAscii(p: usize): bool {
  for (; load<u8>(p) != QUOTE; p++) {
    if (load<u8>(p) != BACKSLASH) continue;
    p++;
    if (load<u8>(p) == LOWER_U && (load<u16>(p, 1) != 0x3030 || hexDigit(load<u8>(p, 3)) > 7)) return true;
  }
  return false;
}

/** Whether a name begins as one of LINE_NAMES. */
// @ts-ignore: decorator
@inline
function isLineName(p: usize): bool {
  const eight = load<u64>(p);
  for (let name = LINE_NAMES; name < LINE_NAMES + LINE_NAME_COUNT * 16; name += 16) {
    const mask = load<u64>(name, 8);
    if (mask == 0) return false;
    if ((eight & mask) == load<u64>(name)) return true;
  }
  return false;
}
