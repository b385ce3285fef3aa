// What a build hands to the writer of the index: every line of the map once, with the unit on either side.
// The lines touch at common end points only, so they cut the plane into areas that each belong to one unit or
// to none; a point's unit is found by counting lines east of it, without ever knowing rings.
import { ADMIN_UNITS } from '#dist/admin-units.js';

export interface Partition {
  /** Unit id = place; `admin` = place in table 2.4. At most 63 of them. */
  readonly units: readonly PartitionUnit[];
  /** Four numbers a segment, x0, y0, x1, y1: longitude and latitude in micro-degrees, all multiples of 10. */
  readonly segments: Int32Array;
  /** Unit id on the left hand walking from (x0, y0) to (x1, y1) with north up; OUTSIDE = none. */
  readonly left: Uint8Array;
  /** The same for the right hand; never equal to the left. */
  readonly right: Uint8Array;
  /** Credit and licence line that must stand wherever the map is shown. */
  readonly notice: string;
  readonly source: PartitionSource;
}

export interface PartitionUnit {
  readonly name: string;
  readonly admin: number;
}

export interface PartitionSource {
  /** What the map was made from, for people. */
  readonly name: string;
  /** ISO date of the youngest source. */
  readonly date: string;
}

/** The unit id of everything that no unit claims. */
export const OUTSIDE = 63;

/** Micro-degrees between neighbouring places of a vertex: all vertices lie on multiples of it. */
export const VERTEX_STEP = 10;

/** The 63 provinces before the merger of 2025, in the order of table 2.4: the units of the shipped map. */
export const FORMER_PROVINCES: readonly PartitionUnit[] = ADMIN_UNITS.flatMap(({ mergedUnits }, admin) =>
  mergedUnits.map((name) => ({ name, admin })),
);
