// From records, texts and cells to positions: the centre of the cell. Records go through the fast path of face5/ in
// blocks; those that it cannot read are read one by one.

import { baseCellOf, digitShift, isCell, resolutionOf } from "./h3/cell";
import { FACE_5, homeOf, homePosition } from "./h3/faces";
import { cellI, cellJ, setCell, SIN60, stepDown, stepToCenterChild } from "./h3/lattice";
import { positionLatDeg, positionLngDeg, setPosition, toPosition } from "./h3/projection";
import { centerInBox, centerLatDeg, centerLngDeg, storeCenter, storeCenters } from "./face5/center";
import {
  AT_STATUS, BLOCK_RECORDS, CAPACITY, INPUT, INVALID_HEXCODE, LATTICE, NO_RESOLUTION, OK, OUTPUT, OUTSIDE_COVERAGE,
  POINT_BYTES, READ_ADMIN, READ_CELL, READ_IS_CANONICAL, READ_RECORD, READ_RESOLUTION, RECORD_BYTES, recordAt,
  resolutionsOfPositions, statusesOfPositions, TEXT_IN,
} from "./memory";
import { writeOneRecord } from "./face5/record";
import { scanRecords, storeLattice, UNKNOWN } from "./face5/scan";
import { NO_ADMIN } from "./hexcode/admin";
import { MAX_TEXT_UNITS, readAdmin, readBytes, readCell, readUnits } from "./hexcode/reading";
import { storeFailure } from "./hexcode/record";

// The centre of a cell: from the base cell down the digits, on its home face; over the edge if the centre lies on the
// other face; and from the plane of that face to a position (_h3ToFaceIjk of h3Index.c and _adjustOverageClassII of
// faceijk.c, H3 4.5, Copyright Uber Technologies, Inc., Apache License 2.0). Inside the fast path's box face5/center.ts
// does the last step.

/**
 * f64 latDeg, f64 lngDeg of the four base cells, by their position on the home face; zeros until the first use. Their
 * centres lie too far from Vietnam for the fast path.
 */
const BASE_CENTERS: usize = memory.data(64);

/** 7^(r/2) for even r: the unit of resolution 0 in units of resolution r. */
function unitsOf(evenResolution: i32): i32 {
  let units = 1;
  for (let r = 0; r < evenResolution; r += 2) units *= 7;
  return units;
}

/**
 * Sets positionLatDeg and positionLngDeg of projection.ts. False unless a cell of base cell 32, 37, 50 or 52 with its
 * centre on face 5 or 10: every cell under a head of the code format is one.
 */
export function findCenter(cell: u64): bool {
  if (!isCell(cell)) return false;
  const base = baseCellOf(cell);
  const resolution = resolutionOf(cell);
  const home = homePosition(base);
  const baseCenter = BASE_CENTERS + ((home >> 8) << 5) + ((home & 255) << 4);
  if (resolution == 0 && load<f64>(baseCenter) != 0) {
    setPosition(load<f64>(baseCenter), load<f64>(baseCenter, 8));
    return true;
  }
  setCell(home >> 8, home & 255);
  for (let r = 1; r <= resolution; r++) stepDown(r, <i32>(cell >> digitShift(r)) & 7);

  // In an even (Class II) grid the face's triangle is i + j + k <= 2 units of resolution 0; for an odd resolution the
  // centre is taken one step finer. Beyond the IJ edge (k = 0) lies the other face, turned by 180 degrees; beyond the
  // other two edges lie faces that the domain does not touch.
  let face = homeOf(base);
  let i = cellI;
  let j = cellJ;
  const even = (resolution + 1) & ~1;
  if (even != resolution) stepToCenterChild(even, i, j);
  const k = max(0, -min(cellI, cellJ));
  if (cellI + cellJ + 3 * k > 2 * unitsOf(even)) {
    if (k > 0) return false;
    face ^= 1;
    // the translation (2, 2) of resolution 0, carried down to this resolution
    setCell(2, 2);
    for (let r = 1; r <= resolution; r++) stepDown(r, 0);
    i = cellI - i;
    j = cellJ - j;
  }
  if (face == FACE_5) {
    setCell(i, j);
    for (let r = resolution + 1; r <= 15; r++) stepToCenterChild(r, cellI, cellJ);
    if (centerInBox(cellI, cellJ)) {
      setPosition(centerLatDeg, centerLngDeg);
      return true;
    }
  }
  toPosition(face, <f64>i - 0.5 * <f64>j, <f64>j * SIN60, resolution);
  if (resolution == 0) {
    store<f64>(baseCenter, positionLatDeg);
    store<f64>(baseCenter, positionLngDeg, 8);
  }
  return true;
}

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
