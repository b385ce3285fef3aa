// The batch loops from positions to records and cells. A point is checked, located, indexed and written in that
// order; the first that fails is its status.

import { CAPACITY, EACH_ITS_OWN, INPUT, NOT_A_COORDINATE, OK, OUTPUT, OUTSIDE_COVERAGE, RECORD_BYTES, RESOLUTIONS } from "./memory";
import { carefulCellAt, inDomain, MAX_RESOLUTION } from "./h3/cell";
import { ADMIN_UNITS, NO_ADMIN } from "./hexcode/admin";
import { headOf, NO_HEAD, reachRowOf } from "./hexcode/payload";
import { inReach, storeFailure, storeRecord } from "./hexcode/record";
import { adminOf, unitAt } from "./region/locate";

/** Bytes of a point: f64 latDeg, f64 lngDeg. */
const POINT_BYTES: u32 = 16;

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
  let admin = adminOf(unitAt(latDeg, lngDeg));
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

/**
 * Encodes `count` points (at most CAPACITY) of INPUT into records at OUTPUT; returns how many failed. Resolution 0-15,
 * or EACH_ITS_OWN: one byte a point at RESOLUTIONS, of which one beyond 15 fails its point as NOT_A_COORDINATE.
 */
export function encodeBatch(count: u32, resolution: u32): u32 {
  assert(count <= CAPACITY);
  let failed: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    let point = INPUT + n * POINT_BYTES;
    let to = OUTPUT + n * RECORD_BYTES;
    let status = findCell(load<f64>(point), load<f64>(point, 8), resolutionAt(n, resolution));
    if (status == OK) status = storeRecord(to, foundCell, foundAdmin);
    else storeFailure(to, status);
    failed += u32(status != OK);
  }
  return failed;
}

/**
 * Encodes `count` points (at most CAPACITY) of INPUT; OUTPUT: u64 cell × count, u8 admin number × count, u8 status ×
 * count; 0 and 255 for a failed point. Returns how many failed. A point fails here exactly if it fails in encodeBatch.
 */
export function encodeCells(count: u32, resolution: u32): u32 {
  assert(count <= CAPACITY);
  let failed: u32 = 0;
  let admins = OUTPUT + 8 * count;
  let statuses = admins + count;
  for (let n: u32 = 0; n < count; n++) {
    let point = INPUT + n * POINT_BYTES;
    let status = findCell(load<f64>(point), load<f64>(point, 8), resolutionAt(n, resolution));
    if (status == OK) {
      let head = headOf(foundCell);
      if (head == NO_HEAD || !inReach(reachRowOf(foundCell, head), foundAdmin)) status = OUTSIDE_COVERAGE;
    }
    store<u64>(OUTPUT + 8 * n, status == OK ? foundCell : 0);
    store<u8>(admins + n, <u8>(status == OK ? foundAdmin : NO_ADMIN));
    store<u8>(statuses + n, <u8>status);
    failed += u32(status != OK);
  }
  return failed;
}

/** Encodes one position into the record at OUTPUT; returns its status. Resolution 0-15. */
export function encodeOne(latDeg: f64, lngDeg: f64, resolution: u32): u32 {
  let status = findCell(latDeg, lngDeg, resolution);
  if (status == OK) return storeRecord(OUTPUT, foundCell, foundAdmin);
  storeFailure(OUTPUT, status);
  return status;
}
