// How the passes over a block of points use SCRATCH, 27 KiB of its 64:
//
//   LATTICE   i32 i, i32 j      of each point at resolution 15, face 5
//   WORDS     u64               base cell << 45 | digits
//   ADMINS    u32               admin number
//   QUOTIENTS_I, _J     f32     quotients between two look-ups
//   PLACES    u32               where the next look-up reads
//   LOWER, MIDDLE, UPPER  u32   entries of digits 12-15, 8-11, 4-7

import { SCRATCH } from "../memory";

/** Points of a block: its passes stay in the first-level cache. A multiple of 4. */
export const BLOCK: u32 = 512;

export const LATTICE: usize = SCRATCH;
export const WORDS: usize = LATTICE + 8 * BLOCK;
export const ADMINS: usize = WORDS + 8 * BLOCK;
export const QUOTIENTS_I: usize = ADMINS + 4 * BLOCK;
export const QUOTIENTS_J: usize = QUOTIENTS_I + 4 * BLOCK;
export const PLACES: usize = QUOTIENTS_J + 4 * BLOCK;
export const LOWER: usize = PLACES + 4 * BLOCK;
export const MIDDLE: usize = LOWER + 4 * BLOCK;
export const UPPER: usize = MIDDLE + 4 * BLOCK;
