// The fields of answers that both writers need: codes, coordinates, positions. And the arguments that choose among
// them.

import {
  AT_STATUS, BAND_BYTES, BANDS, INPUT, OUTPUT, RECORD_BYTES, recordAt, resolutionsOfPositions, UNIT_NAME_BYTES,
  UNIT_NAMES,
} from "../../memory";
import { borderMetres, NO_BORDER } from "../../region/border-distance";
import { unitAt } from "../../region/locate";
import { isCodeByte, MINUS, QUOTE } from "../chars";
import { printNumber, printShort, printSmall } from "../numbers/print";
import { CODE_HAD_ESCAPES, CODE_NEEDS_ESCAPES, codeEnd, codeStart, coordinateText, plainBytes, rowFlags } from "../row";

/** The kind of input, which decides how texts are copied. */
export const FROM_CSV: u32 = 0;
export const FROM_JSON: u32 = 1;
export const FROM_FRAMES: u32 = 2;
/** Lines of NDJSON that are copied with members added. */
export const FROM_LINES: u32 = 3;
/** Rows of CSV of which some fields are written: those of FIELDS. */
export const FROM_FIELDS: u32 = 4;

// Columns of decode answers in CSV; WITH_FORMER and WITH_CERTAINTY are members of JSON bodies of encode answers.
/** The input row itself comes first: CSV in, CSV out. */
export const WITH_ROW: u32 = 1;
export const WITH_ID: u32 = 2;
export const WITH_FORMER: u32 = 8;
export const WITH_CERTAINTY: u32 = 16;

/** Writes the text of a record: up to 19 bytes, to the first NUL. */
// @ts-ignore: decorator
@inline
export function writeCode(record: usize, out: usize): usize {
  const text = v128.load(record);
  v128.store(out, text);
  const zeros = <u32>i8x16.bitmask(i8x16.eq(text, i8x16.splat(0)));
  if (zeros) return out + <usize>ctz(zeros);
  store<u32>(out, load<u32>(record, 16), 16);
  let size: usize = 16;
  while (size < AT_STATUS && load<u8>(record + size)) size++;
  return out + size;
}

/**
 * Writes a coordinate of the input: its own text if that is the shortest, else printed; 0 if the host must print it.
 */
// @ts-ignore: decorator
@inline
export function writeCoordinate(index: u32, row: usize, out: usize, axis: usize): usize {
  const size = plainBytes(row, axis);
  if (size == 0) return printInput(INPUT + (<usize>index << 4) + (axis << 3), out);
  const text = coordinateText(row, axis);
  v128.store(out, v128.load(text));
  if (size > 16) store<u32>(out, load<u32>(text + 16), 16);
  return out + size;
}

/** Most input has few decimals, however it is written. */
function printInput(at: usize, out: usize): usize {
  const value = load<f64>(at);
  const end = printShort(value, out);
  return end ? end : printNumber(value, out);
}

/** The admin code at the start of a record is two letters and a hyphen, or three letters. */
// @ts-ignore: decorator
@inline
export function adminLetters(record: usize): u32 {
  return load<u8>(record, 2) == MINUS ? 2 : 3;
}

// @ts-ignore: decorator
@inline
export function decodedResolution(count: u32, index: u32): u32 {
  return load<u8>(resolutionsOfPositions(OUTPUT, count) + index);
}

/** Writes the name of the former province that holds the position of a row; nothing outside. */
export function writeFormer(index: u32, out: usize): usize {
  const point = INPUT + (<usize>index << 4);
  const name = UNIT_NAMES + <usize>(unitAt(load<f64>(point), load<f64>(point, 8)) * UNIT_NAME_BYTES);
  v128.store(out, v128.load(name, 1));
  v128.store(out, v128.load(name, 16), 15);
  return out + <usize>load<u8>(name);
}

/** Metres from the position of a row to the nearest border between two provinces, NO_BORDER beyond 5 km. */
// @ts-ignore: decorator
@inline
export function borderOfRow(index: u32): u32 {
  const point = INPUT + (<usize>index << 4);
  return borderMetres(load<f64>(point), load<f64>(point, 8));
}

/** Writes such a distance; nothing for NO_BORDER. */
export function writeMetres(metres: u32, out: usize): usize {
  return metres == NO_BORDER ? out : printSmall(metres, out);
}

/** Writes the share of right provinces at such a distance; nothing where it is unknown. */
export function writeShare(metres: u32, out: usize): usize {
  let band = BANDS;
  while (metres >= load<u32>(band)) band += BAND_BYTES;
  v128.store(out, v128.load(band, 5));
  v128.store(out, v128.load(band, 16), 11);
  return out + <usize>load<u8>(band, 4);
}

/** Writes a coordinate of a decoded position; 0 if the host must print it. */
// @ts-ignore: decorator
@inline
export function writeDecoded(index: u32, out: usize, axis: usize): usize {
  return printNumber(load<f64>(OUTPUT + (<usize>index << 4) + (axis << 3)), out);
}

/** Whether the code's text can be copied to CSV and JSON unchanged: only letters, digits and separators of codes. */
export function isPlainCode(row: usize): bool {
  if (rowFlags(row) & CODE_NEEDS_ESCAPES) return false;
  if (rowFlags(row) & CODE_HAD_ESCAPES) return true;
  let p = codeStart(row);
  let end = codeEnd(row);
  if (load<u8>(p) == QUOTE) {
    p++;
    end--;
  }
  return areCodeBytes(p, end);
}

export function isPlainRecord(index: u32): bool {
  const record = recordAt(INPUT, index);
  let end = record;
  while (end < record + AT_STATUS && load<u8>(end)) end++;
  return areCodeBytes(record, end);
}

export function areCodeBytes(p: usize, end: usize): bool {
  for (; p < end; p++) if (!isCodeByte(load<u8>(p))) return false;
  return true;
}
