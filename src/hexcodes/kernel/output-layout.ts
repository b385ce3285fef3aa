// Byte offsets in the kernel's answers: at OUTPUT, at the address given to a call, and in the bodies of binary answer
// frames, which have the same bytes. assembly/memory.ts has them inside the kernel. This module does not need
// WebAssembly, so clients read frames with it.

/** A position to encode: f64 latDeg, f64 lngDeg. */
export const POINT_BYTES = 16;

/** A record: canonical hexcode in ASCII, NUL padded, status in its last byte. */
export const RECORD_BYTES = 20;
/** The part of a record that is text. */
export const RECORD_TEXT_BYTES = 19;

/** Bytes of one whole answer of encodeCells: u64 cell, u8 admin number, u8 status. */
export const CELL_ANSWER_BYTES = 10;
const CELL_BYTES = 8;

/** Bytes of one whole answer of decodeBatch: f64 latDeg, f64 lngDeg, u8 resolution, u8 status. */
export const POSITION_ANSWER_BYTES = 18;

/** Stands for a missing resolution. */
export const NO_RESOLUTION = 255;
/** Stands for a missing admin number. */
export const NO_ADMIN = 255;

/** The record of a point, in an answer of encodeBatch. */
export function recordAt(index: number): number {
  return index * RECORD_BYTES;
}

/** The status of a point, in an answer of encodeBatch. */
export function recordStatusAt(index: number): number {
  return index * RECORD_BYTES + RECORD_TEXT_BYTES;
}

/** The u64 cell of a point, in an answer of encodeCells; index `count` is where the cells end. */
export function cellAt(index: number): number {
  return index * CELL_BYTES;
}

/** The admin number of a point, in an answer of encodeCells to `count` points. */
export function cellAdminAt(count: number, index: number): number {
  return count * CELL_BYTES + index;
}

/**
 * Length of the code at an offset, which is padded with 0 bytes.
 * @param likely length of another code: most have the same
 */
export function codeBytes(records: Uint8Array, at: number, likely = 0): number {
  const isAsLong = likely === RECORD_TEXT_BYTES || records[at + likely] === 0;
  if (likely > 0 && isAsLong && records[at + likely - 1] !== 0) return likely;
  let size = 0;
  while (size < RECORD_TEXT_BYTES && records[at + size] !== 0) size++;
  return size;
}

/** The status of a point, in an answer of encodeCells to `count` points. */
export function cellStatusAt(count: number, index: number): number {
  return count * (CELL_BYTES + 1) + index;
}

/** The f64 latDeg of a hexcode, lngDeg 8 bytes after it, in an answer of decodeBatch. */
export function positionAt(index: number): number {
  return index * POINT_BYTES;
}

/** The resolution of a hexcode, in an answer of decodeBatch to `count` records. */
export function positionResolutionAt(count: number, index: number): number {
  return count * POINT_BYTES + index;
}

/** The status of a hexcode, in an answer of decodeBatch to `count` records. */
export function positionStatusAt(count: number, index: number): number {
  return count * (POINT_BYTES + 1) + index;
}

/**
 * The answer of readText, after f64 latDeg and f64 lngDeg: u64 cell, u8 resolution, u8 admin number, canonical record.
 */
export const READ_CELL_AT = 16;
export const READ_RESOLUTION_AT = 24;
export const READ_ADMIN_AT = 25;
export const READ_RECORD_AT = 32;

// The text of one record as a string of its own: a slice of a longer text would keep that text in memory.

/**
 * A function with one argument a character is the fastest, and codes have few lengths: two or three letters of the
 * province, and one length for two or three resolutions.
 */
export function recordText(records: Uint8Array, at: number): string {
  let length = RECORD_TEXT_BYTES;
  while (length > 0 && records[at + length - 1] === 0) length--;
  const text = String.fromCharCode;
  // biome-ignore format: six in a line
  const
    a = records[at + 0]!, b = records[at + 1]!, c = records[at + 2]!, d = records[at + 3]!, e = records[at + 4]!, f = records[at + 5]!,
    g = records[at + 6]!, h = records[at + 7]!, i = records[at + 8]!, j = records[at + 9]!, k = records[at + 10]!, l = records[at + 11]!,
    m = records[at + 12]!, n = records[at + 13]!, o = records[at + 14]!, p = records[at + 15]!, q = records[at + 16]!, r = records[at + 17]!;
  // biome-ignore format: a line for each length
  switch (length) {
    case 5: return text(a, b, c, d, e);
    case 6: return text(a, b, c, d, e, f);
    case 7: return text(a, b, c, d, e, f, g);
    case 8: return text(a, b, c, d, e, f, g, h);
    case 10: return text(a, b, c, d, e, f, g, h, i, j);
    case 11: return text(a, b, c, d, e, f, g, h, i, j, k);
    case 12: return text(a, b, c, d, e, f, g, h, i, j, k, l);
    case 13: return text(a, b, c, d, e, f, g, h, i, j, k, l, m);
    case 14: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    case 15: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    case 17: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    case 18: return text(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
    default: return text(...records.subarray(at, at + length));
  }
}
