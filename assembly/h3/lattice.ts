// The hexagon lattice of a face. A cell is (i, j), H3's ijk with k taken off both: unit vectors i = (1, 0),
// j = (0, 1), k = (-1, -1). Rounding from the plane and the aperture-7 steps are H3's (coordijk.c, H3 4.5,
// Copyright Uber Technologies, Inc., Apache License 2.0); ours are exact integer forms of the same.

/** Results of roundToCell() and of the steps. */
export let cellI: i32 = 0;
export let cellJ: i32 = 0;

/** 1 / sin 60° and sin 60°. */
const RSIN60: f64 = 1.1547005383792515;
export const SIN60: f64 = 0.8660254037844386467637231707529361834714;

/** Sets cellI, cellJ: the hexagon that holds (x, y) of the plane; comparisons in H3's order, ties included. */
export function roundToCell(x: f64, y: f64): void {
  // the ij system of the first sextant pair
  const x2 = abs(y) * RSIN60;
  const x1 = abs(x) + x2 * 0.5;
  const m1 = <i32>x1;
  const m2 = <i32>x2;
  const r1 = x1 - <f64>m1;
  const r2 = x2 - <f64>m2;

  let i = m1;
  let j = m2;
  if (r1 < 0.5) {
    if (r1 < 1.0 / 3.0) {
      if (!(r2 < (1.0 + r1) * 0.5)) j++;
    } else {
      if (!(r2 < 1.0 - r1)) j++;
      if (1.0 - r1 <= r2 && r2 < 2.0 * r1) i++;
    }
  } else if (r1 < 2.0 / 3.0) {
    if (!(r2 < 1.0 - r1)) j++;
    if (!(2.0 * r1 - 1.0 < r2 && r2 < 1.0 - r1)) i++;
  } else {
    i++;
    if (!(r2 < r1 * 0.5)) j++;
  }

  // fold back across the axes
  if (x < 0) {
    if (j & 1) i -= 2 * (i - (j + 1) / 2) + 1;
    else i -= 2 * (i - j / 2);
  }
  if (y < 0) {
    i -= j;
    j = -j;
  }
  cellI = i;
  cellJ = j;
}

/** n / 7 rounded to the nearest integer; there are no ties. */
// @ts-ignore: decorator
@inline
function seventh(n: i32): i32 {
  // floor((n + 3) / 7), shifted so that the dividend is never negative: |n| < 7 · 2²⁶, and 3 · 2²³ occurs
  return (n + 3 + 7 * 0x4000000) / 7 - 0x4000000;
}

/** Steps (cellI, cellJ) of `resolution` to its parent; returns the digit that leads back. */
export function stepUp(resolution: i32): i32 {
  const i = cellI;
  const j = cellJ;
  let parentI: i32;
  let parentJ: i32;
  let di: i32;
  let dj: i32;
  if (resolution & 1) {
    parentI = seventh(3 * i - j);
    parentJ = seventh(i + 2 * j);
    di = i - (2 * parentI + parentJ);
    dj = j - (3 * parentJ - parentI);
  } else {
    parentI = seventh(2 * i + j);
    parentJ = seventh(3 * j - i);
    di = i - (3 * parentI - parentJ);
    dj = j - (parentI + 2 * parentJ);
  }
  cellI = parentI;
  cellJ = parentJ;
  return digitOf(di, dj);
}

/** Steps (cellI, cellJ) of `resolution` - 1 to its child `digit` of `resolution`. */
export function stepDown(resolution: i32, digit: i32): void {
  const i = cellI;
  const j = cellJ;
  stepToCenterChild(resolution, i, j);
  cellI += digitI(digit);
  cellJ += digitJ(digit);
}

/** Sets cellI, cellJ to the centre child of `resolution` of (i, j). */
// @ts-ignore: decorator
@inline
export function stepToCenterChild(resolution: i32, i: i32, j: i32): void {
  if (resolution & 1) {
    cellI = 2 * i + j;
    cellJ = 3 * j - i;
  } else {
    cellI = 3 * i - j;
    cellJ = i + 2 * j;
  }
}

/** Sets cellI, cellJ: a start for the steps, or a point seen from another face. */
// @ts-ignore: decorator
@inline
export function setCell(i: i32, j: i32): void {
  cellI = i;
  cellJ = j;
}

// Digits are ijk read as binary: K = 1, J = 2, JK = 3, I = 4, IK = 5, IJ = 6. As (i - k, j - k):
//
//   K (-1, -1)   J (0, 1)   JK (-1, 0)   I (1, 0)   IK (0, -1)   IJ (1, 1)

// @ts-ignore: decorator
@inline
function digitI(digit: i32): i32 { return (digit >> 2) - (digit & 1); }
// @ts-ignore: decorator
@inline
function digitJ(digit: i32): i32 { return (digit >> 1 & 1) - (digit & 1); }

/** The digit of a unit vector: k is what lifts the smaller of both to 0. */
// @ts-ignore: decorator
@inline
function digitOf(di: i32, dj: i32): i32 {
  const k = max(0, -min(di, dj));
  return (di + k) << 2 | (dj + k) << 1 | k;
}
