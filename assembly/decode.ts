// From records and texts back to cells and positions. A position is the centre of the cell.

import { CAPACITY, INPUT, INVALID_HEXCODE, OK, OUTPUT, OUTSIDE_COVERAGE, RECORD_BYTES, TEXT_IN } from "./memory";
import { isCell, resolutionOf } from "./h3/cell";
import { findCenter } from "./h3/center";
import { positionLatDeg, positionLngDeg } from "./h3/projection";
import { NO_ADMIN } from "./hexcode/admin";
import { readAdmin, readBytes, readCell, readUnits } from "./hexcode/reading";
import { storeFailure, storeRecord } from "./hexcode/record";

/** The one NaN that answers carry. */
const NAN_BITS: u64 = 0x7ff8000000000000;
const NO_RESOLUTION: u8 = 255;

/** Where readText puts the canonical record. */
const READ_RECORD: usize = OUTPUT + 32;

/**
 * Decodes `count` records (at most CAPACITY) of INPUT; OUTPUT: (f64 latDeg, f64 lngDeg) × count, u8 resolution × count,
 * u8 status × count; NaN, NaN and 255 for what is no hexcode. The bytes of a record are read up to the first NUL, byte
 * 19 is ignored. Returns how many failed.
 */
export function decodeBatch(count: u32): u32 {
  assert(count <= CAPACITY);
  let failed: u32 = 0;
  let resolutions = OUTPUT + 16 * count;
  let statuses = resolutions + count;
  for (let n: u32 = 0; n < count; n++) {
    let position = OUTPUT + 16 * n;
    if (readBytes(INPUT + n * RECORD_BYTES, RECORD_BYTES - 1) && findCenter(readCell)) {
      store<f64>(position, positionLatDeg);
      store<f64>(position, positionLngDeg, 8);
      store<u8>(resolutions + n, <u8>resolutionOf(readCell));
      store<u8>(statuses + n, <u8>OK);
    } else {
      store<u64>(position, NAN_BITS);
      store<u64>(position, NAN_BITS, 8);
      store<u8>(resolutions + n, NO_RESOLUTION);
      store<u8>(statuses + n, <u8>INVALID_HEXCODE);
      failed++;
    }
  }
  return failed;
}

/**
 * Reads one text of `units` UTF-16 units at TEXT_IN; longer than 64 units is invalid before any work. Returns the
 * status. OUTPUT: f64 latDeg, f64 lngDeg, u64 cell, u8 resolution, u8 admin number; the canonical record at OUTPUT + 32.
 */
export function readText(units: u32): u32 {
  if (readUnits(TEXT_IN, units) && findCenter(readCell)) {
    store<f64>(OUTPUT, positionLatDeg);
    store<f64>(OUTPUT, positionLngDeg, 8);
    store<u64>(OUTPUT, readCell, 16);
    store<u8>(OUTPUT, <u8>resolutionOf(readCell), 24);
    store<u8>(OUTPUT, <u8>readAdmin, 25);
    return storeRecord(READ_RECORD, readCell, readAdmin);
  }
  store<u64>(OUTPUT, NAN_BITS);
  store<u64>(OUTPUT, NAN_BITS, 8);
  store<u64>(OUTPUT, 0, 16);
  store<u8>(OUTPUT, NO_RESOLUTION, 24);
  store<u8>(OUTPUT, <u8>NO_ADMIN, 25);
  storeFailure(READ_RECORD, INVALID_HEXCODE);
  return INVALID_HEXCODE;
}

/** The centre of a cell at OUTPUT: f64 latDeg, f64 lngDeg. OUTSIDE_COVERAGE (and NaN) for what the kernel does not know. */
export function centerOf(cell: u64): u32 {
  if (findCenter(cell)) {
    store<f64>(OUTPUT, positionLatDeg);
    store<f64>(OUTPUT, positionLngDeg, 8);
    return OK;
  }
  store<u64>(OUTPUT, NAN_BITS);
  store<u64>(OUTPUT, NAN_BITS, 8);
  return OUTSIDE_COVERAGE;
}

/** The record of a cell and an admin number at OUTPUT. OUTSIDE_COVERAGE where there is no text that reading accepts. */
export function pack(cell: u64, admin: u32): u32 {
  if (isCell(cell)) return storeRecord(OUTPUT, cell, admin);
  storeFailure(OUTPUT, OUTSIDE_COVERAGE);
  return OUTSIDE_COVERAGE;
}
