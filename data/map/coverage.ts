// The definition of the map: which unit a place belongs to, as data/README.md says in words. Slow and simple;
// the build asks it where lines run and what each area is, and never trusts lines over it.

import { FORMER_PROVINCES, OUTSIDE } from './partition.js';
import { LineField, type TaggedLines } from './plane/line-field.js';
import { STEPS_PER_DEGREE } from './sources.js';

/** 12 nautical miles. */
export const SEA_M = 22_224;
/** What is taken in beyond a land border: the sources' own error. */
export const STRIP_M = 250;
/** A zone keeps this far from all land that is not in a zone. */
export const ZONE_DISTANCE_M = 50_000;

export interface Zone {
  readonly name: string;
  readonly unitName: string;
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The archipelago zones in degrees: west and south edges belong to them, east and north edges do not. */
export const ZONES: readonly Zone[] = [
  { name: 'Hoàng Sa', unitName: 'Đà Nẵng', west: 111, south: 15.4, east: 113.1, north: 17.4 },
  { name: 'Trường Sa', unitName: 'Khánh Hòa', west: 111, south: 6.9, east: 118, north: 12 },
  { name: 'DK1', unitName: 'Khánh Hòa', west: 109.4, south: 7.1, east: 111, north: 8.35 },
];

/** Steps; the pieces of a shore that have one unit each. */
const SHORE_PIECE = 100;

/** No land of ours is farther from its unit. */
const FAR_M = 300_000;

export interface Definition {
  /** Unit of a place in steps, or OUTSIDE. */
  unitAt(x: number, y: number): number;
  /** Whether the place lies in a unit's own polygon and farther than this from where the polygons end. */
  deepInside(x: number, y: number, depthM: number): boolean;
  /** Whether both our land and foreign land end within this distance. */
  atLandBorder(x: number, y: number, withinM: number): boolean;
  /** Metres to the nearest land border, coast or unit line: what a line there may be simplified by. */
  clearanceM(x: number, y: number, limitM: number): number;
  /** Whether the place is on land that counts as ours. */
  onLand(x: number, y: number): boolean;
  /** The outlines of that land. */
  readonly land: Int32Array;
}

/** Closed line work; every line walks with what it bounds on its left. */
export interface Neighbourhood {
  /** Lines with a unit: places inside are the unit's, all others the nearest one's. */
  readonly units: TaggedLines;
  /** What coast, strip and sea are measured from. */
  readonly land: Int32Array;
  readonly foreign: Int32Array;
}

export function unitNamed(name: string): number {
  const unit = FORMER_PROVINCES.findIndex((u) => u.name === name);
  if (unit < 0) throw new Error(`No former province is called ${name}.`);
  return unit;
}

export const inZone = (zone: Zone, x: number, y: number) =>
  x >= Math.round(zone.west * STEPS_PER_DEGREE) &&
  x < Math.round(zone.east * STEPS_PER_DEGREE) &&
  y >= Math.round(zone.south * STEPS_PER_DEGREE) &&
  y < Math.round(zone.north * STEPS_PER_DEGREE);

export function define(
  { units, land, foreign }: Neighbourhood,
  zoneUnitOf = (zone: Zone) => unitNamed(zone.unitName),
): Definition {
  const unitField = new LineField(units.lines, units.tags);
  const endField = endsOf(units.lines);
  const landField = new LineField(land);
  const foreignField = new LineField(foreign);
  const zones = ZONES.map((zone) => ({ zone, unit: zoneUnitOf(zone) }));

  /** The unit of a place on land: the one that holds it, else the nearest. */
  function landUnitAt(x: number, y: number): number {
    const own = unitField.holderOf(x, y);
    return own >= 0 ? own : (unitField.nearest(x, y, FAR_M)?.tag ?? OUTSIDE);
  }
  const shoreField = shoresOf(land, landUnitAt);

  function unitAt(x: number, y: number): number {
    for (const { zone, unit } of zones) {
      if (!inZone(zone, x, y)) continue;
      if (foreignField.holderOf(x, y) < 0 && !foreignField.nearest(x, y, ZONE_DISTANCE_M)) return unit;
    }
    if (landField.holderOf(x, y) >= 0) return landUnitAt(x, y);
    const shore = shoreField.nearest(x, y, SEA_M);
    if (!shore) return OUTSIDE;
    if (shore.distanceM > STRIP_M) {
      if (foreignField.holderOf(x, y) >= 0 || foreignField.nearest(x, y, shore.distanceM)) return OUTSIDE;
    }
    const own = unitField.holderOf(x, y);
    return own >= 0 ? own : shore.tag;
  }

  return {
    unitAt,
    deepInside: (x, y, depthM) => unitField.holderOf(x, y) >= 0 && endField.nearest(x, y, depthM) === null,
    atLandBorder: (x, y, withinM) =>
      shoreField.nearest(x, y, withinM) !== null && foreignField.nearest(x, y, withinM) !== null,
    clearanceM: (x, y, limitM) =>
      Math.min(
        unitField.nearest(x, y, limitM)?.distanceM ?? limitM,
        shoreField.nearest(x, y, limitM)?.distanceM ?? limitM,
      ),
    onLand: (x, y) => landField.holderOf(x, y) >= 0,
    land,
  };
}

/** The outlines of land in short pieces, each with the unit of the land behind it. */
function shoresOf(land: Int32Array, unitAt: (x: number, y: number) => number): LineField {
  const lines: number[] = [];
  const tags: number[] = [];
  for (let i = 0; i < land.length; i += 4) {
    const x0 = land[i]!;
    const y0 = land[i + 1]!;
    const dx = land[i + 2]! - x0;
    const dy = land[i + 3]! - y0;
    const pieces = Math.ceil(Math.hypot(dx, dy) / SHORE_PIECE);
    for (let k = 0; k < pieces; k++) {
      lines.push(
        Math.round(x0 + (dx * k) / pieces),
        Math.round(y0 + (dy * k) / pieces),
        Math.round(x0 + (dx * (k + 1)) / pieces),
        Math.round(y0 + (dy * (k + 1)) / pieces),
      );
      tags.push(unitAt(x0 + (dx * (k + 0.5)) / pieces, y0 + (dy * (k + 0.5)) / pieces));
    }
  }
  return new LineField(Int32Array.from(lines), Int16Array.from(tags));
}

/** Lines that no other line walks back: where the units' own polygons end. */
function endsOf(lines: Int32Array): LineField {
  const ends = new Map<number, number[]>();
  const kept: number[] = [];
  for (let i = 0; i < lines.length; i += 4) {
    const from = lines[i]! * 2 ** 24 + lines[i + 1]!;
    const to = lines[i + 2]! * 2 ** 24 + lines[i + 3]!;
    const targets = ends.get(from);
    if (targets) targets.push(to);
    else ends.set(from, [to]);
  }
  for (let i = 0; i < lines.length; i += 4) {
    const from = lines[i]! * 2 ** 24 + lines[i + 1]!;
    const to = lines[i + 2]! * 2 ** 24 + lines[i + 3]!;
    if (!ends.get(to)?.includes(from)) kept.push(lines[i]!, lines[i + 1]!, lines[i + 2]!, lines[i + 3]!);
  }
  return new LineField(Int32Array.from(kept));
}
