// The status of an answer: how it is found, counted, and written with the texts that the host has put at TAILS.

import { OUTPUT, STATUS_COUNTS, TAIL_BYTES, TAILS } from "../../memory";
import { AT_STATUS, statusesOfPositions } from "../../output-layout";
import { ROW_INVALID_HEXCODES, ROW_OK, rowStatus } from "../row";
import { copyText } from "./text-out";

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
