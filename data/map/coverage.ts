// The definition of the map: the unit of any point, as data/README.md says in words. Slow and simple: drawing the map
// asks it where lines run and which unit each face has.
import { FORMER_PROVINCES } from './partition.js';
import { STEPS_PER_DEGREE } from './plane/grid.js';
import { OUTSIDE } from './plane/labelled-lines.js';
import { LineField } from './plane/line-field.js';
import type { TaggedLines } from './plane/tagged-lines.js';

/** 12 nautical miles. */
export const SEA_M = 22_224;
/** Width of the strip beyond a land border that counts as ours: the error of the sources. */
export const STRIP_M = 250;
/** Points of a zone nearer than this to foreign land are not in it; islets of the zone are not foreign. */
export const ZONE_DISTANCE_M = 50_000;

export interface Zone {
  readonly name: string;
  readonly unitName: string;
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/**
 * The archipelago zones in degrees. Their western and southern sides belong to them, the eastern and northern do not.
 */
export const ZONES: readonly Zone[] = [
  { name: 'Hoàng Sa', unitName: 'Đà Nẵng', west: 111, south: 15.4, east: 113.1, north: 17.4 },
  { name: 'Trường Sa', unitName: 'Khánh Hòa', west: 111, south: 6.9, east: 118, north: 12 },
  { name: 'DK1', unitName: 'Khánh Hòa', west: 109.4, south: 7.1, east: 111, north: 8.35 },
];

/** Steps; outlines of land are cut into pieces this long at most, each with one unit. */
const SHORE_PIECE = 100;

/** The search for the nearest unit of a point on land ends here; no land of ours is farther from its unit. */
const FAR_M = 300_000;

export interface Definition {
  /** Unit of a point in steps, or OUTSIDE. */
  unitAt(x: number, y: number): number;
  /** Whether the point lies in the polygons of the units, and farther than this from the outline around all of them. */
  deepInside(x: number, y: number, depthM: number): boolean;
  /** Whether both an outline of our land and one of foreign land are nearer than this. */
  atLandBorder(x: number, y: number, withinM: number): boolean;
  /** Metres to the nearest unit line, coast or land border, at most the limit. */
  clearanceM(x: number, y: number, limitM: number): number;
  /** Whether the point is on land that counts as ours. */
  onLand(x: number, y: number): boolean;
  /** The outlines of that land. */
  readonly land: Int32Array;
}

/** The material of a definition: closed rings as lines, each with what it bounds on its left. */
export interface Neighbourhood {
  /** Polygons of the units. Land inside one is that unit's, land outside all of them that of the nearest. */
  readonly units: TaggedLines;
  /** Outlines of our land, from which strip and sea are measured. */
  readonly land: Int32Array;
  readonly foreign: Int32Array;
}

/** Index of a former province in FORMER_PROVINCES. */
export function unitNamed(name: string): number {
  const unit = FORMER_PROVINCES.findIndex((u) => u.name === name);
  if (unit < 0) throw new Error(`No former province is called ${name}.`);
  return unit;
}

/** Whether a point in steps lies in the box of a zone. */
export const inZone = (zone: Zone, x: number, y: number) =>
  x >= Math.round(zone.west * STEPS_PER_DEGREE) &&
  x < Math.round(zone.east * STEPS_PER_DEGREE) &&
  y >= Math.round(zone.south * STEPS_PER_DEGREE) &&
  y < Math.round(zone.north * STEPS_PER_DEGREE);

/** @param zoneUnitOf the unit that a zone belongs to; a map by provinces has other units than former provinces */
export function define(
  { units, land, foreign }: Neighbourhood,
  zoneUnitOf = (zone: Zone) => unitNamed(zone.unitName),
): Definition {
  const unitField = new LineField(units.lines, units.tags);
  const endField = endsOf(units.lines);
  const landField = new LineField(land);
  const foreignField = new LineField(foreign);
  const zones = ZONES.map((zone) => ({ zone, unit: zoneUnitOf(zone) }));

  /** The unit of a point on land: the one that holds it, else the nearest. */
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

/** The outlines of land in short pieces, each with the unit of its middle. */
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

/** The lines that no line in the opposite direction covers: the outline around all units. */
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
