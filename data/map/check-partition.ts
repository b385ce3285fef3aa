// Proves that a partition is one: segments meet at common end points only, and all half-edges of a face, outlines and
// islands in it alike, agree on its unit. Counting segments east of a point then gives one unit for every point of the
// plane.
import type { Partition } from './partition.js';
import { type Arrangement, arrange, findCrossing } from './plane/arrangement.js';
import { findFaces } from './plane/faces.js';
import { STEPS_PER_DEGREE, VERTEX_STEP } from './plane/grid.js';
import { OUTSIDE } from './plane/labelled-lines.js';

/** Throws at the first fault, with its position. */
export function checkPartition({ segments, left, right, units }: Partition): void {
  const count = left.length;
  if (segments.length !== count * 4 || right.length !== count)
    throw new Error('The lists of a partition have different lengths.');
  for (const value of segments)
    if (value % VERTEX_STEP !== 0) throw new Error(`${value} is not a multiple of ${VERTEX_STEP}.`);
  for (let i = 0; i < count; i++) {
    const sides = [left[i]!, right[i]!];
    if (sides[0] === sides[1] || sides.some((unit) => unit >= units.length && unit !== OUTSIDE))
      throw new Error(`A line has units ${sides.join(' and ')} on its sides.`);
  }
  const lines = segments.map((micro) => micro / VERTEX_STEP);
  const crossing = findCrossing(lines);
  if (crossing) throw new Error(`Lines cross or touch at ${place(crossing.x, crossing.y)}.`);

  const arrangement = arrange(lines);
  if (arrangement.edges.length !== count * 2) throw new Error('A line of the partition stands twice.');
  const unitOf = unitsOfHalfEdges(arrangement, lines, left, right);
  const { faceOf, count: faces, outer } = findFaces(arrangement);
  const unitOfFace = new Int16Array(faces).fill(-1);
  unitOfFace[outer] = OUTSIDE;
  faceOf.forEach((face, half) => {
    if (unitOfFace[face] === -1) unitOfFace[face] = unitOf[half]!;
    else if (unitOfFace[face] !== unitOf[half]) {
      const vertex = arrangement.edges[half]!;
      const at = place(arrangement.xs[vertex]!, arrangement.ys[vertex]!);
      throw new Error(`One area has units ${unitOfFace[face]} and ${unitOf[half]} at ${at}.`);
    }
  });
}

const place = (x: number, y: number) => `${y / STEPS_PER_DEGREE} N, ${x / STEPS_PER_DEGREE} E`;

/** The unit on the left of each half-edge: the arrangement keeps the order of the lines, but directs them upward. */
function unitsOfHalfEdges(
  { xs, ys, edges }: Arrangement,
  lines: Int32Array,
  left: Uint8Array,
  right: Uint8Array,
): Uint8Array {
  const units = new Uint8Array(edges.length);
  for (let e = 0; e < left.length; e++) {
    const i = e * 4;
    const same = xs[edges[2 * e]!] === lines[i] && ys[edges[2 * e]!] === lines[i + 1];
    units[2 * e] = same ? left[e]! : right[e]!;
    units[2 * e + 1] = same ? right[e]! : left[e]!;
  }
  return units;
}
