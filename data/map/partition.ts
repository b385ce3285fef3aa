// The map as the writer of the index takes it: every segment once, with the unit on either side. Segments meet at
// common end points only, so each face between them belongs to one unit or to none, and the unit of a point is found by
// counting the segments east of it, without rings.
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import type { BandPairs } from '#dist/hexcodes/kernel/index-file.js';

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

export interface PartitionSource {
  /** The source of the map, for people. */
  readonly name: string;
  /** ISO date of the youngest source. */
  readonly date: string;
}

/** The 63 provinces before the merger of 2025, the units of the shipped map, in the order of ADMIN_UNITS. */
export const FORMER_PROVINCES: readonly PartitionUnit[] = ADMIN_UNITS.flatMap(({ mergedUnits }, admin) =>
  mergedUnits.map((name) => ({ name, admin })),
);
