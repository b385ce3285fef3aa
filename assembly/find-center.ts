// The centre of a cell: from the base cell down the digits, on its home face; over the edge if the centre lies on the
// other face; and from the plane of that face to a position (_h3ToFaceIjk of h3Index.c and _adjustOverageClassII of
// faceijk.c, H3 4.5, Copyright Uber Technologies, Inc., Apache License 2.0). Inside the fast path's box face5/center.ts
// does the last step.

import { baseCellOf, digitShift, isCell, resolutionOf } from "./h3/cell";
import { FACE_5, homeOf, homePosition } from "./h3/faces";
import { cellI, cellJ, setCell, SIN60, stepDown, stepToCenterChild } from "./h3/lattice";
import { positionLatDeg, positionLngDeg, setPosition, toPosition } from "./h3/projection";
import { centerInBox, centerLatDeg, centerLngDeg } from "./face5/center";

/**
 * f64 latDeg, f64 lngDeg of the four base cells, by their position on the home face; zeros until the first use. Their
 * centres lie too far from Vietnam for the fast path.
 */
const BASE_CENTERS: usize = memory.data(64);

/** 7^(r/2) for even r: the unit of resolution 0 in units of resolution r. */
function unitsOf(evenResolution: i32): i32 {
  let units = 1;
  for (let r = 0; r < evenResolution; r += 2) units *= 7;
  return units;
}

/**
 * Sets positionLatDeg and positionLngDeg of projection.ts. False unless a cell of base cell 32, 37, 50 or 52 with its
 * centre on face 5 or 10: every cell under a head of the code format is one.
 */
export function findCenter(cell: u64): bool {
  if (!isCell(cell)) return false;
  const base = baseCellOf(cell);
  const resolution = resolutionOf(cell);
  const home = homePosition(base);
  const baseCenter = BASE_CENTERS + ((home >> 8) << 5) + ((home & 255) << 4);
  if (resolution == 0 && load<f64>(baseCenter) != 0) {
    setPosition(load<f64>(baseCenter), load<f64>(baseCenter, 8));
    return true;
  }
  setCell(home >> 8, home & 255);
  for (let r = 1; r <= resolution; r++) stepDown(r, <i32>(cell >> digitShift(r)) & 7);

  // In an even (Class II) grid the face's triangle is i + j + k <= 2 units of resolution 0; for an odd resolution the
  // centre is taken one step finer. Beyond the IJ edge (k = 0) lies the other face, turned by 180 degrees; beyond the
  // other two edges lie faces that the domain does not touch.
  let face = homeOf(base);
  let i = cellI;
  let j = cellJ;
  const even = (resolution + 1) & ~1;
  if (even != resolution) stepToCenterChild(even, i, j);
  const k = max(0, -min(cellI, cellJ));
  if (cellI + cellJ + 3 * k > 2 * unitsOf(even)) {
    if (k > 0) return false;
    face ^= 1;
    // the translation (2, 2) of resolution 0, carried down to this resolution
    setCell(2, 2);
    for (let r = 1; r <= resolution; r++) stepDown(r, 0);
    i = cellI - i;
    j = cellJ - j;
  }
  if (face == FACE_5) {
    setCell(i, j);
    for (let r = resolution + 1; r <= 15; r++) stepToCenterChild(r, cellI, cellJ);
    if (centerInBox(cellI, cellJ)) {
      setPosition(centerLatDeg, centerLngDeg);
      return true;
    }
  }
  toPosition(face, <f64>i - 0.5 * <f64>j, <f64>j * SIN60, resolution);
  if (resolution == 0) {
    store<f64>(baseCenter, positionLatDeg);
    store<f64>(baseCenter, positionLngDeg, 8);
  }
  return true;
}
