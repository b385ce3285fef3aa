// The status of an answer: how it is found, counted, and written with the texts that the host has put at TAILS.

import {
  ADMIN_COUNTS, AT_STATUS, INPUT, OUTPUT, RECORD_BYTES, recordAt, ROW_BYTES, STATUS_COUNTS, statusesOfPositions,
  TAIL_BYTES, TAILS,
} from "../../memory";
import { ROW_INVALID_HEXCODES, ROW_OK, rowAt, rowStatus } from "../row";
import { copyText } from "./text-out";
import { BUCKET_ADMINS, BUCKET_PREFIXES, bucketOf, prefixAt } from "../../hexcode/admin";
import { readAdmin, readBytes } from "../../hexcode/reading";

/** The bare word of a status is at the end of its tail, u32 size and text. */
const AT_WORD: u32 = TAIL_BYTES - 32;

/** "OK". */
const OK_WORD: u16 = 0x4b4f;

// @ts-ignore: decorator
@inline
export function addStatus(status: u32, rows: u32): void {
  const count = STATUS_COUNTS + (<usize>status << 2);
  store<u32>(count, load<u32>(count) + rows);
}

// @ts-ignore: decorator
@inline
export function encodedStatus(row: usize, record: usize, refusal: u32): u32 {
  const status = rowStatus(row);
  if (status != ROW_OK) return status;
  if (refusal) return refusal;
  // The point statuses 0, 1, 2 are the row statuses OK, NOT_FOUND, INVALID_REQUEST.
  return load<u8>(record, AT_STATUS);
}

// @ts-ignore: decorator
@inline
export function decodedStatus(count: u32, index: u32, row: usize, refusal: u32): u32 {
  const status = rowStatus(row);
  if (status != ROW_OK) return status;
  if (refusal) return refusal;
  return load<u8>(statusesOfPositions(OUTPUT, count) + index) ? ROW_INVALID_HEXCODES : ROW_OK;
}

/** The bare word of a status. */
// @ts-ignore: decorator
@inline
export function writeStatus(status: u32, out: usize): usize {
  if (status == ROW_OK) {
    store<u16>(out, OK_WORD);
    return out + 2;
  }
  const word = TAILS + <usize>(status * TAIL_BYTES + AT_WORD);
  return copyText(word + 4, word + 4 + <usize>load<u32>(word), out);
}

/**
 * The JSON members of a status, `"status":"…"` with a message if it has one; a tail begins with their u32 size and
 * text.
 */
// @ts-ignore: decorator
@inline
export function writeTail(status: u32, out: usize): usize {
  const tail = TAILS + <usize>(status * TAIL_BYTES);
  return copyText(tail + 4, tail + 4 + <usize>load<u32>(tail), out);
}

// Counts rows by province, once their answers are written. A pass of its own for the callers that want it: inside the
// loops of the writers it would cost all others 2 to 4 in a hundred.

// @ts-ignore: decorator
@inline
function add(admin: u32): void {
  const count = ADMIN_COUNTS + (<usize>admin << 2);
  store<u32>(count, load<u32>(count) + 1);
}

/** Adds the OK rows of `encode` to ADMIN_COUNTS, by the prefixes of their records in OUTPUT. */
export function countEncoded(count: u32): void {
  let row = rowAt(0);
  let record = OUTPUT;
  for (const end = rowAt(count); row < end; row += ROW_BYTES, record += RECORD_BYTES) {
    if (rowStatus(row) != ROW_OK || load<u8>(record, AT_STATUS)) continue;
    add(load<u8>(bucketOf(prefixAt(record)), BUCKET_ADMINS));
  }
}

/** Adds the OK rows of `decode` to ADMIN_COUNTS, by the codes that they gave: records in INPUT, in any spelling. */
export function countDecoded(count: u32): void {
  const statuses = statusesOfPositions(OUTPUT, count);
  for (let index: u32 = 0; index < count; index++) {
    if (rowStatus(rowAt(index)) != ROW_OK || load<u8>(statuses + index)) continue;
    const record = recordAt(INPUT, index);
    const prefix = prefixAt(record);
    const bucket = bucketOf(prefix);
    // A prefix with its hyphen can be read in one way only.
    if (load<u32>(bucket << 2, BUCKET_PREFIXES) == prefix) add(load<u8>(bucket, BUCKET_ADMINS));
    else if (readBytes(record, <u32>AT_STATUS)) add(readAdmin);
  }
}
