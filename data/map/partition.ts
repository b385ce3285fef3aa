// The map as the writer of the index takes it: every segment once, with the unit on either side. Segments meet at
// common end points only, so each face between them belongs to one unit or to none, and the unit of a point is found by
// counting the segments east of it, without rings.
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import type { BandPairs } from '#dist/hexcodes/kernel/index-file.js';
import { type Arrangement, arrange, findCrossing, findFaces } from './plane/arrangement.js';
import { STEPS_PER_DEGREE, VERTEX_STEP } from './plane/grid.js';
import { OUTSIDE } from './plane/labelled-lines.js';

export interface Partition {
  /** At most 63; a unit's number is its index here. */
  readonly units: readonly PartitionUnit[];
  /** x0, y0, x1, y1 of each segment: longitude and latitude in micro-degrees, all multiples of VERTEX_STEP. */
  readonly segments: Int32Array;
  /** Unit on the left of each segment, seen from (x0, y0) to (x1, y1) with north up; OUTSIDE where there is none. */
  readonly left: Uint8Array;
  /** Unit on the right, never the unit on the left; OUTSIDE where there is none. */
  readonly right: Uint8Array;
  /** Credit and licence line that must be shown with the map. */
  readonly notice: string;
  readonly source: PartitionSource;
  /** Measured shares of right provinces by distance to a border of this map, where there are any. */
  readonly bands?: BandPairs;
  /** The truth that they were measured on, in words. */
  readonly bandsNote?: string;
}

export interface PartitionUnit {
  readonly name: string;
  /** Index of its province in ADMIN_UNITS. */
  readonly admin: number;
}

interface PartitionSource {
  /** The source of the map, for people. */
  readonly name: string;
  /** ISO date of the youngest source. */
  readonly date: string;
}

/** The 63 provinces before the merger of 2025, the units of the shipped map, in the order of ADMIN_UNITS. */
export const FORMER_PROVINCES: readonly PartitionUnit[] = ADMIN_UNITS.flatMap(({ mergedUnits }, admin) =>
  mergedUnits.map((name) => ({ name, admin })),
);

// Proves that a partition is one: segments meet at common end points only, and all half-edges of a face, outlines and
// islands in it alike, agree on its unit. Counting segments east of a point then gives one unit for every point of the
// plane.

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
