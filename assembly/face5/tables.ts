// Tables between lattice points of face 5 and H3 digits, made by the steps of h3/lattice.ts when the module starts.

import { baseCellAt, FACE_5 } from "../h3/faces";
import { cellI, cellJ, setCell, stepToCenterChild, stepUp } from "../h3/lattice";

/**
 * (i mod 49) × 64 + (j mod 49) → u16: four digits, those of an odd resolution and the three above it. Two steps up are
 * a division by 7 (their turns cancel), so four digits depend on the remainders by 49 alone. The ancestor four levels
 * up is the quotient, plus one where the way down from it has the offset "remainder less 49": bit 12 for i, bit 13 for
 * j.
 */
export const FOUR_DIGITS: usize = memory.data(49 * 64 * 2);

for (let i = 0; i < 49; i++) {
  for (let j = 0; j < 49; j++) {
    setCell(i, j);
    let digits = stepUp(15);
    digits |= stepUp(14) << 3;
    digits |= stepUp(13) << 6;
    digits |= stepUp(12) << 9;
    store<u16>(FOUR_DIGITS + ((i << 6 | j) << 1), <u16>(digits | cellI << 12 | cellJ << 13));
  }
}

/** The window around the box at resolution 3: i and j from 0 on. */
const ROWS: i32 = 24;
const COLUMNS: i32 = 32;

/** i × 32 + j → u16: base cell << 9 | three digits as in the H3 index; 0 under none of the four base cells. */
export const COARSE: usize = memory.data(ROWS * COLUMNS * 2);

for (let i = 0; i < ROWS; i++) {
  for (let j = 0; j < COLUMNS; j++) {
    setCell(i, j);
    let digits = stepUp(3);
    digits |= stepUp(2) << 3;
    digits |= stepUp(1) << 6;
    const base = baseCellAt(FACE_5, cellI, cellJ);
    if (base < 0) continue;
    // at home on the other face, so turned by half a turn: every digit d but 0 becomes 7 - d
    if (base & 128) digits ^= ((digits | digits >> 1 | digits >> 2) & 0o111) * 7;
    store<u16>(COARSE + ((i * COLUMNS + j) << 1), <u16>((base & 127) << 9 | digits));
  }
}

/**
 * i of a point (i, 0), at resolution 15 and at 13, that is a corner of the window, outside the box and under no base
 * cell.
 */
export const NOWHERE: i32 = (ROWS - 1) * 117649;
export const NOWHERE_FINE: i32 = (ROWS - 1) * 16807;
store<u16>(COARSE + ((ROWS - 1) * COLUMNS << 1), 0);

/** The window at resolution 5: two levels finer is seven times as many rows and columns. */
const FINE_ROWS: i32 = 7 * ROWS;
const FINE_COLUMNS: i32 = 7 * COLUMNS;

/**
 * i × 224 + j → u32: base cell << 15 | five digits; 0 where COARSE has 0, and at (0, 0), the centre of the face, which
 * is far from the box and stands for undecided points.
 */
export const FINE: usize = memory.data(FINE_ROWS * FINE_COLUMNS * 4);

for (let i = 0, at = FINE; i < FINE_ROWS; i++) {
  for (let j = 0; j < FINE_COLUMNS; j++, at += 4) {
    setCell(i, j);
    let digits: u32 = stepUp(5);
    digits |= stepUp(4) << 3;
    if (<u32>cellI >= <u32>ROWS || <u32>cellJ >= <u32>COLUMNS) continue;
    const coarse: u32 = load<u16>(COARSE + ((cellI * COLUMNS + cellJ) << 1));
    if (coarse == 0) continue;
    // base cells 37 and 52 are turned by half a turn; of the four only they have bit 2
    if (coarse >> 11 & 1) digits ^= ((digits | digits >> 1 | digits >> 2) & 0o11) * 7;
    store<u32>(at, coarse << 6 | digits);
  }
}
store<u32>(FINE, 0);

/**
 * Whether cells of a resolution take the short way: descendants at resolution 13, two look-ups and FINE, instead of 15,
 * three look-ups and COARSE. Resolution 0 does not: there (0, 0) is a cell of the box.
 */
// @ts-ignore: decorator
@inline
export function isFine(resolution: u32): bool {
  return resolution - 1 <= 12;
}

/** Resolution × 16 → the matrix from a cell to its centre descendant at 13 or 15 (isFine): i32 m00, m01, m10, m11. */
export const TO_FINEST: usize = memory.data(16 * 16, 16);

for (let resolution = 0; resolution < 16; resolution++) {
  for (let axis = 0; axis < 2; axis++) {
    setCell(1 - axis, axis);
    for (let r = resolution + 1; r <= (isFine(resolution) ? 13 : 15); r++) stepToCenterChild(r, cellI, cellJ);
    store<i32>(TO_FINEST + 16 * resolution + 4 * axis, cellI);
    store<i32>(TO_FINEST + 16 * resolution + 4 * axis, cellJ, 8);
  }
}
