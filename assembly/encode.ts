// From positions to records and cells. A point must be a coordinate, lie in a province, have a cell and have a text, in
// this order; the first that fails is its status.
//
// Points go through the fast path of face5/ in blocks. Those that it leaves undecided (5 in a hundred thousand, and the
// sea beyond its box) go through the careful path, findCell(), which is the definition.

import {
  ADMIN_NUMBERS, adminsOfCells, BLOCK_POINTS, CAPACITY, EACH_ITS_OWN, INPUT, NOT_A_COORDINATE, OK, OUTPUT,
  OUTSIDE_COVERAGE, POINT_BYTES, RECORD_BYTES, recordAt, RESOLUTIONS, statusesOfCells, WORDS,
} from "./memory";
import { toWords, toWordsOneByOne } from "./face5/digits";
import { toLattice } from "./face5/lattice";
import { finerDigits, setResolution, writeOneRecord, writeRecord } from "./face5/record";
import { carefulCellAt, cellFrom, inDomain, isCell, MAX_RESOLUTION } from "./h3/cell";
import { ADMIN_UNITS, NO_ADMIN } from "./hexcode/admin";
import { headOf, NO_HEAD, reachRowOf } from "./hexcode/payload";
import { inReach, storeFailure, storeRecord } from "./hexcode/record";
import { adminOf, locateBlock, unitAt } from "./region/locate";

/** Latitude within ±90 and longitude within ±180 degrees; false for NaN and infinities. */
// @ts-ignore: decorator
@inline
function isCoordinate(latDeg: f64, lngDeg: f64): bool {
  return abs(latDeg) <= 90 && abs(lngDeg) <= 180;
}

/** Results of findCell(). */
let foundCell: u64 = 0;
let foundAdmin: u32 = NO_ADMIN;

/** Sets foundCell and foundAdmin; returns the point's status. */
function findCell(latDeg: f64, lngDeg: f64, resolution: u32): u32 {
  if (!isCoordinate(latDeg, lngDeg) || resolution > MAX_RESOLUTION) return NOT_A_COORDINATE;
  if (!inDomain(latDeg, lngDeg)) return OUTSIDE_COVERAGE;
  const admin = adminOf(unitAt(latDeg, lngDeg));
  if (admin >= ADMIN_UNITS) return OUTSIDE_COVERAGE;
  foundAdmin = admin;
  foundCell = carefulCellAt(latDeg, lngDeg, <i32>resolution);
  return foundCell == 0 ? OUTSIDE_COVERAGE : OK;
}

// @ts-ignore: decorator
@inline
function resolutionAt(index: u32, resolution: u32): u32 {
  return resolution == EACH_ITS_OWN ? load<u8>(RESOLUTIONS + index) : resolution;
}

/** One point → its record, by the careful path; the status. */
function encodeCarefully(point: usize, resolution: u32, record: usize): u32 {
  const status = findCell(load<f64>(point), load<f64>(point, 8), resolution);
  if (status == OK) return storeRecord(record, foundCell, foundAdmin);
  storeFailure(record, status);
  return status;
}

/** At most BLOCK_POINTS points of one resolution → records; how many failed. */
function encodeBlock(points: usize, count: u32, resolution: u32, records: usize): u32 {
  let failed: u32 = 0;
  if (resolution > MAX_RESOLUTION) {
    for (let n: u32 = 0; n < count; n++) storeFailure(recordAt(records, n), NOT_A_COORDINATE);
    return count;
  }
  toLattice(points, count, resolution);
  toWords(count, resolution);
  locateBlock(points, count);
  setResolution(resolution);
  // a pointer into each array: with indexes V8 multiplies for each point
  let word = WORDS;
  const end = ADMIN_NUMBERS + 4 * count;
  for (let at = ADMIN_NUMBERS; at < end; at += 4, word += 8, records += RECORD_BYTES, points += POINT_BYTES) {
    const admin = load<u32>(at);
    if (admin >= ADMIN_UNITS) {
      const isPoint = isCoordinate(load<f64>(points), load<f64>(points, 8));
      storeFailure(records, isPoint ? OUTSIDE_COVERAGE : NOT_A_COORDINATE);
      failed++;
    } else if (!writeRecord(records, load<u64>(word), admin)) {
      failed += u32(encodeCarefully(points, resolution, records) != OK);
    }
  }
  return failed;
}

/** How many points from `first` on, at most BLOCK_POINTS, have the resolution of the first one. */
function runLength(first: u32, count: u32, resolution: u32): u32 {
  const end = min(count, first + BLOCK_POINTS);
  if (resolution != EACH_ITS_OWN) return end - first;
  let n = first + 1;
  while (n < end && load<u8>(RESOLUTIONS + n) == load<u8>(RESOLUTIONS + first)) n++;
  return n - first;
}

/**
 * Encodes `count` points (at most CAPACITY) of INPUT into records at OUTPUT; returns how many failed. Resolution 0-15,
 * or EACH_ITS_OWN: one byte a point at RESOLUTIONS, where one beyond 15 fails its point as NOT_A_COORDINATE.
 */
export function encodeBatch(count: u32, resolution: u32): u32 {
  return encodeBatchTo(count, resolution, OUTPUT);
}

/** encodeBatch with its records at `records`: OUTPUT, or an address in TEXT_OUT. */
export function encodeBatchTo(count: u32, resolution: u32, records: usize): u32 {
  assert(count <= CAPACITY);
  let failed: u32 = 0;
  for (let first: u32 = 0, run: u32 = 0; first < count; first += run) {
    run = runLength(first, count, resolution);
    failed += encodeBlock(
      INPUT + first * POINT_BYTES, run, resolutionAt(first, resolution), recordAt(records, first),
    );
  }
  return failed;
}

/**
 * Encodes `count` points (at most CAPACITY) of INPUT; OUTPUT: u64 cell × count, u8 admin number × count, u8 status ×
 * count; 0 and 255 for a failed point. Returns how many failed. A point fails here exactly if it fails in encodeBatch.
 */
export function encodeCells(count: u32, resolution: u32): u32 {
  return encodeCellsTo(count, resolution, OUTPUT);
}

/** encodeCells with its answer at `cells`: OUTPUT, or an address in TEXT_OUT. */
export function encodeCellsTo(count: u32, resolution: u32, cells: usize): u32 {
  assert(count <= CAPACITY);
  let failed: u32 = 0;
  const admins = adminsOfCells(cells, count);
  const statuses = statusesOfCells(cells, count);
  for (let first: u32 = 0, run: u32 = 0; first < count; first += run) {
    run = runLength(first, count, resolution);
    const points = INPUT + first * POINT_BYTES;
    const ofRun = resolutionAt(first, resolution);
    if (ofRun <= MAX_RESOLUTION) {
      toLattice(points, run, ofRun);
      toWords(run, ofRun);
    }
    locateBlock(points, run);
    for (let n: u32 = 0; n < run; n++) {
      let admin = load<u32>(ADMIN_NUMBERS + 4 * n);
      const word = load<u64>(WORDS + 8 * n);
      let cell: u64 = 0;
      let status = OK;
      if (admin < ADMIN_UNITS && ofRun <= MAX_RESOLUTION && word >> 45 != 0) {
        cell = cellFrom(0, ofRun, word | finerDigits(ofRun));
      } else {
        const point = points + n * POINT_BYTES;
        status = findCell(load<f64>(point), load<f64>(point, 8), ofRun);
        cell = foundCell;
        admin = foundAdmin;
      }
      if (status == OK) {
        const head = headOf(cell);
        if (head == NO_HEAD || !inReach(reachRowOf(cell, head), admin)) status = OUTSIDE_COVERAGE;
      }
      store<u64>(cells + 8 * (first + n), status == OK ? cell : 0);
      store<u8>(admins + first + n, <u8>(status == OK ? admin : NO_ADMIN));
      store<u8>(statuses + first + n, <u8>status);
      failed += u32(status != OK);
    }
  }
  return failed;
}

/** The point of encodeOne, and space for another, which toLattice() reads. */
const POINT: usize = memory.data(2 * POINT_BYTES, 16);

/**
 * Encodes one position into the record at OUTPUT; returns its status. Resolution 0-15. It uses the
 * lattice without vectors: the passes of encodeBlock() work on four points at once, and would take twice as long.
 */
export function encodeOne(latDeg: f64, lngDeg: f64, resolution: u32): u32 {
  store<f64>(POINT, latDeg);
  store<f64>(POINT, lngDeg, 8);
  if (resolution <= MAX_RESOLUTION) {
    toLattice(POINT, 1, resolution);
    toWordsOneByOne(1, resolution);
    const admin = adminOf(unitAt(latDeg, lngDeg));
    if (admin < ADMIN_UNITS && writeOneRecord(OUTPUT, load<u64>(WORDS), admin, resolution)) return OK;
  }
  return encodeCarefully(POINT, resolution, OUTPUT);
}

/** The record of a cell and an admin number at OUTPUT. OUTSIDE_COVERAGE where there is no text that reading accepts. */
export function pack(cell: u64, admin: u32): u32 {
  if (isCell(cell)) return storeRecord(OUTPUT, cell, admin);
  storeFailure(OUTPUT, OUTSIDE_COVERAGE);
  return OUTSIDE_COVERAGE;
}
