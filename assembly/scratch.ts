// How the passes over a block of points use SCRATCH, 30 KiB of its 64:
//
// Encoding:
//
//   LATTICE   i32 i, i32 j      of each point at resolution 15, face 5
//   WORDS     u64               base cell << 45 | digits
//   ADMIN_NUMBERS    u32               admin number
//   VECTORS   f64 × 2, × 3       x, y and z of two points each; the same bytes as what follows
//   QUOTIENTS_I, _J     f32     quotients between two look-ups
//   PLACES    u32               where the next look-up reads
//   LOWER, MIDDLE, UPPER  u32   entries of digits 12-15, 8-11, 4-7
//
// and decoding, blocks of half the size:
//
//   LATTICE   the same
//   TEXTS     8 × u16 lanes, 16 × u8 values, u32 fault, u8 pairs, u8 admin number, 48 bytes each

import { SCRATCH } from "./memory";

/** Points of a block: its passes stay in the first-level cache. A multiple of 4. */
export const BLOCK_POINTS: u32 = 512;

export const LATTICE: usize = SCRATCH;
export const WORDS: usize = LATTICE + 8 * BLOCK_POINTS;
export const ADMIN_NUMBERS: usize = WORDS + 8 * BLOCK_POINTS;
/** x, y and z of two points each, before the quotients need the bytes. */
export const VECTORS: usize = ADMIN_NUMBERS + 4 * BLOCK_POINTS;
export const QUOTIENTS_I: usize = ADMIN_NUMBERS + 4 * BLOCK_POINTS;
export const QUOTIENTS_J: usize = QUOTIENTS_I + 4 * BLOCK_POINTS;
export const PLACES: usize = QUOTIENTS_J + 4 * BLOCK_POINTS;
export const LOWER: usize = PLACES + 4 * BLOCK_POINTS;
export const MIDDLE: usize = LOWER + 4 * BLOCK_POINTS;
export const UPPER: usize = MIDDLE + 4 * BLOCK_POINTS;

/**
 * Locating (region/block.ts) uses the same bytes after them: places, addresses of cells and tiles; 4 × point of each in a
 * mixed tile; u64 cell, u32 4 × point and 4 bytes of each with segments.
 */
export const PLACES_U: usize = QUOTIENTS_I;
export const PLACES_V: usize = QUOTIENTS_J;
export const CELLS: usize = PLACES;
export const TILES: usize = LOWER;
export const MIXED_POINTS: usize = MIDDLE;
export const CROSSINGS: usize = UPPER;

/** Records of a block. */
export const BLOCK_RECORDS: u32 = 256;

export const TEXTS: usize = WORDS;
export const TEXT_BYTES: usize = 48;
export const AT_VALUES: usize = 16;
export const AT_FAULT: usize = 32;
export const AT_PAIRS: usize = 36;
export const AT_ADMIN: usize = 37;
export const AT_SUM: usize = 40;
