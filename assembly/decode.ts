// From records, texts and cells to positions: the centre of the cell. Records go through the fast path of face5/ in
// blocks; those that it cannot read are read one by one.

import { CAPACITY, INPUT, INVALID_HEXCODE, OK, OUTPUT, OUTSIDE_COVERAGE, POINT_BYTES, RECORD_BYTES, TEXT_IN } from "./memory";
import { AT_STATUS, NO_RESOLUTION, READ_ADMIN, READ_CELL, READ_RECORD, READ_RESOLUTION } from "./output-layout";
import { READ_IS_CANONICAL, recordAt, resolutionsOfPositions, statusesOfPositions } from "./output-layout";
import { BLOCK_RECORDS, LATTICE } from "./scratch";
import { centerInBox, centerLatDeg, centerLngDeg, storeCenter, storeCenters } from "./face5/center";
import { writeOneRecord } from "./face5/record";
import { scanRecords, storeLattice, UNKNOWN } from "./face5/scan";
import { resolutionOf } from "./h3/cell";
import { findCenter } from "./find-center";
import { positionLatDeg, positionLngDeg, setPosition } from "./h3/projection";
import { NO_ADMIN } from "./hexcode/admin";
import { MAX_TEXT_UNITS, readAdmin, readBytes, readCell, readUnits } from "./hexcode/reading";
import { storeFailure } from "./hexcode/record";

/** NaN as answers carry it, the same bits on every machine. */
const NAN_BITS: u64 = 0x7ff8000000000000;

/** Writes the position of a failed record. */
// @ts-ignore: decorator
@inline
function storeNowhere(position: usize): void {
  store<u64>(position, NAN_BITS);
  store<u64>(position, NAN_BITS, 8);
}

/** Two positions, where the last point of an odd count is computed. */
const LAST: usize = memory.data(32, 16);

/** Makes a resolution UNKNOWN; 1 if it was known before, else 0. */
function forget(resolution: usize): u32 {
  const known = u32(load<u8>(resolution) != UNKNOWN);
  store<u8>(resolution, <u8>UNKNOWN);
  return known;
}

/** LATTICE → positions. The resolutions of points outside the box become UNKNOWN; returns how many were known. */
function centerBlock(count: u32, positions: usize, resolutions: usize): u32 {
  let unknown: u32 = 0;
  let lattice = LATTICE;
  if (!ASC_FEATURE_SIMD) {
    for (let n: u32 = 0; n < count; n++, lattice += 8, positions += POINT_BYTES) {
      if (!storeCenter(load<i32>(lattice), load<i32>(lattice, 4), positions)) unknown += forget(resolutions + n);
    }
    return unknown;
  }
  for (const end = LATTICE + 8 * (count & ~1); lattice < end; lattice += 16, positions += 32, resolutions += 2) {
    const inside = storeCenters(v128.load(lattice), positions);
    if (inside != 3) {
      if (!(inside & 1)) unknown += forget(resolutions);
      if (!(inside & 2)) unknown += forget(resolutions + 1);
    }
  }
  if (count & 1) {
    const inside = storeCenters(v128.load(lattice), LAST);
    v128.store(positions, v128.load(LAST));
    if (!(inside & 1)) unknown += forget(resolutions);
  }
  return unknown;
}

/**
 * Decodes `count` records (at most CAPACITY) of INPUT; OUTPUT: (f64 latDeg, f64 lngDeg) × count, u8 resolution × count,
 * u8 status × count; NaN, NaN and 255 for a record that is not a hexcode. A record is read up to its first NUL; byte 19
 * is ignored. Returns how many failed.
 */
export function decodeBatch(count: u32): u32 {
  return decodeBatchTo(count, OUTPUT);
}

/** decodeBatch with its answer at `positions`: OUTPUT, or an address in TEXT_OUT. */
export function decodeBatchTo(count: u32, positions: usize): u32 {
  assert(count <= CAPACITY);
  const resolutions = resolutionsOfPositions(positions, count);
  const statuses = statusesOfPositions(positions, count);
  let unknown: u32 = 0;
  memory.fill(statuses, <u8>OK, count);
  for (let first: u32 = 0; first < count; first += BLOCK_RECORDS) {
    const size = min(BLOCK_RECORDS, count - first);
    unknown += scanRecords(recordAt(INPUT, first), size, resolutions + first);
    unknown += centerBlock(size, positions + POINT_BYTES * first, resolutions + first);
  }
  let failed: u32 = 0;
  for (let n: u32 = 0; unknown > 0; n++) {
    if (load<u8>(resolutions + n) != UNKNOWN) continue;
    unknown--;
    const position = positions + POINT_BYTES * n;
    if (readBytes(recordAt(INPUT, n), <u32>AT_STATUS) && storeCenterOf(readCell, position)) {
      store<u8>(resolutions + n, <u8>resolutionOf(readCell));
    } else {
      storeNowhere(position);
      store<u8>(resolutions + n, NO_RESOLUTION);
      store<u8>(statuses + n, <u8>INVALID_HEXCODE);
      failed++;
    }
  }
  return failed;
}

/** The bits of a cell that are a word: base cell and digits. */
const WORD_MASK: u64 = (1 << 52) - 1;

/** The centre of a cell under a head, by the fast path where it can; the careful one is findCenter(). */
function storeCenterOf(cell: u64, position: usize): bool {
  storeLattice(cell, LATTICE);
  if (centerInBox(load<i32>(LATTICE), load<i32>(LATTICE, 4))) setPosition(centerLatDeg, centerLngDeg);
  else if (!findCenter(cell)) return false;
  store<f64>(position, positionLatDeg);
  store<f64>(position, positionLngDeg, 8);
  return true;
}

/**
 * Reads one text of `units` UTF-16 units at TEXT_IN; longer than 64 units is invalid before any work. Returns the
 * status. OUTPUT: f64 latDeg, f64 lngDeg, u64 cell, u8 resolution, u8 admin number; the canonical record at OUTPUT +
 * 32.
 */
export function readText(units: u32): u32 {
  return storeRead(readUnits(TEXT_IN, units));
}

/**
 * Reads one text of `length` bytes of ASCII at TEXT_IN, with the limit and the answer of readText(). After it at OUTPUT
 * + 26: u8, 1 where the text is its own canonical record, else 0.
 */
export function readAscii(length: u32): u32 {
  if (length > MAX_TEXT_UNITS) length = 0;
  const status = storeRead(readBytes(TEXT_IN, length));
  let isCanonical: u32 = u32(status == OK);
  for (let i: u32 = 0; i < length; i++) {
    const byte = load<u8>(TEXT_IN + i);
    // readBytes() ends at a NUL
    if (byte == 0) return storeRead(false);
    if (i >= RECORD_BYTES || byte != load<u8>(READ_RECORD + i)) isCanonical = 0;
  }
  store<u8>(READ_IS_CANONICAL, <u8>isCanonical);
  return status;
}

/** The answer of readText(), of what readUnits() or readBytes() read. */
function storeRead(isRead: bool): u32 {
  store<u8>(READ_IS_CANONICAL, 0);
  if (isRead && storeCenterOf(readCell, OUTPUT)) {
    const resolution = resolutionOf(readCell);
    store<u64>(READ_CELL, readCell);
    store<u8>(READ_RESOLUTION, <u8>resolution);
    store<u8>(READ_ADMIN, <u8>readAdmin);
    writeOneRecord(READ_RECORD, readCell & WORD_MASK, readAdmin, resolution);
    return OK;
  }
  storeNowhere(OUTPUT);
  store<u64>(READ_CELL, 0);
  store<u8>(READ_RESOLUTION, NO_RESOLUTION);
  store<u8>(READ_ADMIN, <u8>NO_ADMIN);
  storeFailure(READ_RECORD, INVALID_HEXCODE);
  return INVALID_HEXCODE;
}

/** The centre of a cell at OUTPUT: f64 latDeg, f64 lngDeg. OUTSIDE_COVERAGE, with NaN, where findCenter() fails. */
export function centerOf(cell: u64): u32 {
  if (findCenter(cell)) {
    store<f64>(OUTPUT, positionLatDeg);
    store<f64>(OUTPUT, positionLngDeg, 8);
    return OK;
  }
  storeNowhere(OUTPUT);
  return OUTSIDE_COVERAGE;
}
