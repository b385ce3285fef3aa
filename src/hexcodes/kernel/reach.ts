// The reach table as a file: which provinces a hexcode may carry that begins with a head and a first pair
// (docs/code-format.md, Reach).

import { HexcodesError } from '../errors.js';

// Format 1, all numbers little-endian:
//
//   0  u32 magic "HXRE"      16  rows, ascending, of 10 bytes:
//   4  u32 format                  u16 row = head × 401 + value of the first pair, 0 for no pair
//   8  u32 count of rows           u64 mask, bit n = admin number n; never 0
//  12  u32 CRC-32 of the rows
//
// A row that is not listed allows nothing.

const MAGIC = 0x45525848;
const FORMAT = 1;
const HEADER_BYTES = 16;
const ROW_BYTES = 10;

/** Values of a first pair: 1 to 399, 0 for none; 400 is unused. */
const VALUES = 401;
const HEADS = 16;
/** Heads that are a cell of resolution 0: no pair may follow them. */
const ROOT_HEADS = [0, 6, 11];
const ALL_PROVINCES = (1n << 34n) - 1n;
const ALL_PROVINCES_HIGH = Number(ALL_PROVINCES >> 32n);

/** Rows of the table in the kernel. */
export const REACH_ROWS = HEADS * VALUES;

/** The row of a head (0 to 15) and the value of a first pair (1 to 399, 0 for none). */
export function reachRow(head: number, firstPair: number): number {
  return head * VALUES + firstPair;
}

/** Whether a hexcode can have this row at all. */
export function isReachRow(row: number): boolean {
  const firstPair = row % VALUES;
  return (
    Number.isInteger(row) &&
    row >= 0 &&
    row < REACH_ROWS &&
    firstPair < 400 &&
    (firstPair === 0 || !ROOT_HEADS.includes(Math.floor(row / VALUES)))
  );
}

/**
 * The reach file of a table.
 * @param masks REACH_ROWS masks, bit n = index n of ADMIN_UNITS; rows that no hexcode has must be 0
 * @throws HexcodesError BAD_ARGUMENT for a wrong length, an impossible row or a bit beyond the 34 provinces
 */
export function encodeReach(masks: BigUint64Array): Uint8Array {
  if (masks.length !== REACH_ROWS)
    throw new HexcodesError('BAD_ARGUMENT', `A reach table has ${REACH_ROWS} rows, not ${masks.length}`);
  const rows = [...masks.entries()].filter(([, mask]) => mask !== 0n);
  const file = new Uint8Array(HEADER_BYTES + ROW_BYTES * rows.length);
  const view = new DataView(file.buffer);
  rows.forEach(([row, mask], n) => {
    if (!isReachRow(row)) throw new HexcodesError('BAD_ARGUMENT', `No hexcode has reach row ${row}`);
    if (mask > ALL_PROVINCES)
      throw new HexcodesError('BAD_ARGUMENT', `Reach row ${row} has a bit beyond the 34 provinces`);
    view.setUint16(HEADER_BYTES + ROW_BYTES * n, row, true);
    view.setBigUint64(HEADER_BYTES + ROW_BYTES * n + 2, mask, true);
  });
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, FORMAT, true);
  view.setUint32(8, rows.length, true);
  view.setUint32(12, crc32(file.subarray(HEADER_BYTES)), true);
  return file;
}

/**
 * The table of a reach file: REACH_ROWS masks.
 * @throws HexcodesError BAD_DATA with the reason if these bytes are not a reach file of format 1
 */
export function decodeReach(file: Uint8Array): BigUint64Array {
  const refuse = (reason: string) => new HexcodesError('BAD_DATA', `The reach cannot be used: ${reason}`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC)
    throw refuse('this is not a reach file');
  if (view.getUint32(4, true) !== FORMAT)
    throw refuse('the file has another format version than this build reads');
  const count = view.getUint32(8, true);
  if (file.length !== HEADER_BYTES + ROW_BYTES * count) throw refuse('the file is cut short or too long');
  if (view.getUint32(12, true) !== crc32(file.subarray(HEADER_BYTES)))
    throw refuse('the checksum does not match: the file is damaged');

  const masks = new BigUint64Array(REACH_ROWS);
  // halves of masks: a start pays for a thousand rows, and BigInts cost it five times as much
  const halves = new Uint32Array(masks.buffer);
  let last = -1;
  for (let at = HEADER_BYTES; at < file.length; at += ROW_BYTES) {
    const row = view.getUint16(at, true);
    const low = view.getUint32(at + 2, true);
    const high = view.getUint32(at + 6, true);
    if (row <= last || !isReachRow(row)) throw refuse(`row ${row} is impossible or out of order`);
    if ((low | high) === 0 || high > ALL_PROVINCES_HIGH)
      throw refuse(`row ${row} names no province or one beyond the 34`);
    halves[2 * row] = low;
    halves[2 * row + 1] = high;
    last = row;
  }
  return masks;
}

/** CRC-32 of zip and gzip (reflected polynomial 0xEDB88320) by a table of bytes. */
function crc32(bytes: Uint8Array): number {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    table[byte] = crc;
  }
  let crc = -1;
  // by index: before code is compiled, as at a start, an iterator takes several times as long
  for (let i = 0; i < bytes.length; i++)
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
