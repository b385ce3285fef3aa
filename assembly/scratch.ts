// The map of SCRATCH: the arrays through which the passes over a block of points or records hand each other their
// results. 28 of its 64 KiB are used: later passes use the bytes of arrays that are no longer needed.

import { SCRATCH } from "./memory";

// Encoding, BLOCK_POINTS points:
//
//   LATTICE          i32 i, i32 j   the cell at resolution 13 or 15, on face 5       8 bytes a point
//   WORDS            u64            base cell << 45 | fifteen digits                 8
//   ADMIN_NUMBERS    u32            admin number, NO_ADMIN outside                   4
//   then three groups that use the same bytes, one after the other:
//     VECTORS        f64 × 2, × 3   x, y and z of two points each                   24
//     QUOTIENTS_I, _J  f32          quotients by 49 between two look-ups             4, 4
//     LOOKUPS         u32            address, in a table, of the next look-up         4
//     LOWER, MIDDLE, UPPER  u32     digits 12-15, 8-11, 4-7                          4, 4, 4
//     GRID_U … CROSSINGS          locating, see below
//
// Decoding, BLOCK_RECORDS records:
//
//   LATTICE          as above, always at resolution 15
//   TEXTS            8 × u16 lanes, 16 × u8 values, u32 fault, u8 pairs, u8 admin number, u64 sum: 48 bytes a record

/** Points of a block: the arrays of its passes stay in the first-level cache. A multiple of 4. */
export const BLOCK_POINTS: u32 = 512;

export const LATTICE: usize = SCRATCH;
export const WORDS: usize = LATTICE + 8 * BLOCK_POINTS;
export const ADMIN_NUMBERS: usize = WORDS + 8 * BLOCK_POINTS;
export const VECTORS: usize = ADMIN_NUMBERS + 4 * BLOCK_POINTS;
export const QUOTIENTS_I: usize = ADMIN_NUMBERS + 4 * BLOCK_POINTS;
export const QUOTIENTS_J: usize = QUOTIENTS_I + 4 * BLOCK_POINTS;
export const LOOKUPS: usize = QUOTIENTS_J + 4 * BLOCK_POINTS;
export const LOWER: usize = LOOKUPS + 4 * BLOCK_POINTS;
export const MIDDLE: usize = LOWER + 4 * BLOCK_POINTS;
export const UPPER: usize = MIDDLE + 4 * BLOCK_POINTS;

/**
 * Locating (region/locate-block.ts). For all points: i32 distances from the grid's corner to the west and to the north,
 * u32 addresses of cell and tile. For points in mixed tiles: u32 4 × point. For points whose cells list segments, 16
 * bytes: u64 the cell and the next one, u32 4 × point, u32 that nobody reads.
 */
export const GRID_U: usize = QUOTIENTS_I;
export const GRID_V: usize = QUOTIENTS_J;
export const CELLS: usize = LOOKUPS;
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
