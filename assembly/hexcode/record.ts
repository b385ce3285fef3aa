// A cell and an admin number as a record: the canonical text in ASCII, NUL padded to 20 bytes, byte 19 = status.
//
//   admin code (2 or 3 letters)  -  head, pairs and check in groups of five, joined by -  NUL …  status
//
// The text has 18 characters at most.

import { OK, OUTSIDE_COVERAGE, REACH } from "../memory";
import { resolutionOf } from "../h3/cell";
import { ADMIN_UNITS, adminLetters } from "./admin";
import { checkLetter, checkOf, checkStep, symbolOf } from "./alphabet";
import { headOf, NO_HEAD, pairOf, pairsOf, reachRowOf } from "./payload";

/** A failed record: all NUL but its status. */
// @ts-ignore: decorator
@inline
export function storeFailure(to: usize, status: u32): void {
  store<u64>(to, 0);
  store<u64>(to, 0, 8);
  store<u32>(to, status << 24, 16);
}

/** Whether the reach of a (head, first pair) row holds the admin number. */
// @ts-ignore: decorator
@inline
export function inReach(row: u32, admin: u32): bool {
  return <bool>(<u32>(load<u64>(REACH + 8 * row) >> admin) & 1);
}

/** Writes symbol `count` of a payload, after a hyphen where it begins a group of five; returns the next address. */
// @ts-ignore: decorator
@inline
function storeSymbol(to: usize, count: u32, value: u32): usize {
  if (count == 5 || count == 10) store<u8>(to++, 0x2d);
  store<u8>(to, <u8>symbolOf(value));
  return to + 1;
}

/**
 * Writes the record of a valid cell (isCell) and returns its status: OUTSIDE_COVERAGE for a cell under no head, an
 * admin number outside the cell's reach or beyond the table, so that no text is written that reading refuses.
 */
export function storeRecord(to: usize, cell: u64, admin: u32): u32 {
  const head = headOf(cell);
  if (head == NO_HEAD || admin >= ADMIN_UNITS || !inReach(reachRowOf(cell, head), admin)) {
    storeFailure(to, OUTSIDE_COVERAGE);
    return OUTSIDE_COVERAGE;
  }
  storeFailure(to, OK);

  const letters = adminLetters(admin);
  store<u8>(to, <u8>letters);
  store<u8>(to, <u8>(letters >> 8), 1);
  let check = checkLetter(checkLetter(0, letters & 255), letters >> 8 & 255);
  const third = letters >> 16;
  let at = to + 2;
  if (third != 0) {
    store<u8>(at++, <u8>third);
    check = checkLetter(check, third);
  }
  store<u8>(at++, 0x2d);

  at = storeSymbol(at, 0, head);
  check = checkStep(check, head);
  const pairs = pairsOf(resolutionOf(cell));
  let count: u32 = 1;
  for (let n: u32 = 0; n < pairs; n++) {
    const value = pairOf(cell, n);
    const high = value / 20;
    const low = value - high * 20;
    at = storeSymbol(at, count++, high);
    at = storeSymbol(at, count++, low);
    check = checkStep(checkStep(check, high), low);
  }
  storeSymbol(at, count, checkOf(check));
  return OK;
}

