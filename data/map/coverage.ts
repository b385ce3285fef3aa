// The definition of the map: the unit of any point, as data/README.md says in words. Slow and simple: drawing the map
// asks it where lines run and which unit each face has.
import { FORMER_PROVINCES } from './partition.js';
import { METRES_PER_STEP, type Ring, ringArea, STEPS_PER_DEGREE } from './plane/grid.js';
import { OUTSIDE } from './plane/labelled-lines.js';
import {
  LineField,
  linesOf,
  type Nearest,
  type TaggedLines,
  type TaggedRing,
  taggedLinesOf,
} from './plane/line-field.js';
import type { Polygon } from './sources.js';

/** 12 nautical miles. */
const SEA_M = 22_224;
/** Width of the strip beyond a land border that counts as ours: the error of the sources. */
export const STRIP_M = 250;
/** Points of a zone nearer than this to foreign land are not in it; islets of the zone are not foreign. */
const ZONE_DISTANCE_M = 50_000;

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
interface Neighbourhood {
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

// Sorts the land of the sources: which of it is ours, which is foreign, which are islets of a zone, and which unit each
// island belongs to.

/** Islands that belong to another unit than the nearest one of the source. */
const ISLANDS: readonly { name: string; latDeg: number; lngDeg: number; unitName: string }[] = [
  { name: 'Cù Lao Xanh', latDeg: 13.616, lngDeg: 109.352, unitName: 'Bình Định' },
  { name: 'Hòn Ngư', latDeg: 18.803, lngDeg: 105.779, unitName: 'Nghệ An' },
  { name: 'Hòn Mắt', latDeg: 18.795, lngDeg: 105.955, unitName: 'Nghệ An' },
  { name: 'Bạch Long Vĩ', latDeg: 20.133, lngDeg: 107.729, unitName: 'Hải Phòng' },
];

/**
 * Islands inside a ring, by corners in degrees, belong to the unit, whatever polygon is nearest. Hạ Long bay: the
 * monument of 1962 and core of World Heritage 672 as inscribed in 1994, whose corners are Đầu Gỗ, lake Ba Hầm and Cống
 * Tây. Their positions were set by hand.
 */
const ISLAND_AREAS: readonly {
  name: string;
  unitName: string;
  corners: readonly (readonly [latDeg: number, lngDeg: number])[];
}[] = [
  {
    name: 'Hạ Long bay',
    unitName: 'Quảng Ninh',
    corners: [
      [20.91, 107.019],
      [20.77, 107.137],
      [20.87, 107.32],
    ],
  },
];

/** Foreign land larger than this is never an islet of a zone: so Palawan, Balabac and Banggi stay foreign. */
const ISLET_AREA_M2 = 20e6;

interface SortedLand {
  /** Islets in a zone, of whatever country in the land file, but for those near large foreign land. */
  readonly zoneIslets: readonly { readonly zone: Zone; readonly ring: Ring }[];
  readonly own: readonly Ring[];
  readonly foreign: readonly Ring[];
}

export function sortLand(countries: readonly Polygon[]): SortedLand {
  const largeLand = LineField.ofRings(
    countries.filter((p) => p.country !== 'VNM' && !mayBeIslet(p.ring)).map(({ ring }) => ({ tag: 0, ring })),
  );
  const sorted = { zoneIslets: [] as { zone: Zone; ring: Ring }[], own: [] as Ring[], foreign: [] as Ring[] };
  for (const { country, ring } of countries) {
    const zone = zoneAround(ring);
    if (zone && mayBeIslet(ring) && !largeLand.nearest(ring[0]!, ring[1]!, ZONE_DISTANCE_M))
      sorted.zoneIslets.push({ zone, ring });
    else if (country === 'VNM') sorted.own.push(ring);
    else sorted.foreign.push(ring);
  }
  return sorted;
}

/** The neighbourhood of the shipped map. */
export function neighbourhoodOf(units: readonly Polygon[], countries: readonly Polygon[]): Neighbourhood {
  const polygons: TaggedRing[] = units.map(({ unit, ring }) => ({ tag: unit, ring }));
  const field = LineField.ofRings(polygons);
  const { zoneIslets, own, foreign } = sortLand(countries);
  const islands: TaggedRing[] = [
    ...own.filter((ring) => !touches(ring, field)).map((ring) => ({ tag: nearestUnit(ring, field), ring })),
    ...zoneIslets.map(({ zone, ring }) => ({ tag: unitNamed(zone.unitName), ring })),
  ];
  const rings = islands.map(({ ring }, tag) => ({ tag, ring }));
  for (const { name, latDeg, lngDeg, unitName } of ISLANDS) {
    const place = LineField.ofRings(rings).nearest(
      lngDeg * STEPS_PER_DEGREE,
      latDeg * STEPS_PER_DEGREE,
      2000,
    );
    if (!place) throw new Error(`The land file has no island within 2 km of ${name}.`);
    islands[place.tag] = { tag: unitNamed(unitName), ring: islands[place.tag]!.ring };
  }
  for (const { name, unitName, corners } of ISLAND_AREAS) {
    const ring = Int32Array.from(
      corners.flatMap(([lat, lng]) => [lng, lat]),
      (deg) => deg * STEPS_PER_DEGREE,
    );
    const area = LineField.ofRings([{ tag: 0, ring }]);
    let count = 0;
    for (const [n, island] of islands.entries()) {
      if (area.holderOf(island.ring[0]!, island.ring[1]!) < 0) continue;
      islands[n] = { tag: unitNamed(unitName), ring: island.ring };
      count++;
    }
    if (count === 0) throw new Error(`The land file has no island in ${name}.`);
  }
  return {
    units: taggedLinesOf([...polygons, ...islands]),
    land: linesOf([...own, ...zoneIslets.map(({ ring }) => ring)]),
    foreign: linesOf(foreign),
  };
}

/** Whether an outline has a vertex inside a unit. One that only crosses a unit is an island, which it gets. */
function touches(ring: Ring, units: LineField): boolean {
  for (let i = 0; i < ring.length; i += 2) if (units.holderOf(ring[i]!, ring[i + 1]!) >= 0) return true;
  return false;
}

/** The unit nearest to any vertex of an island's outline. */
function nearestUnit(ring: Ring, units: LineField): number {
  let best: Nearest | null = null;
  for (let i = 0; i < ring.length; i += 2) {
    const found = units.nearest(ring[i]!, ring[i + 1]!, best?.distanceM ?? 1e6);
    if (found && (!best || found.distanceM < best.distanceM)) best = found;
  }
  if (!best) throw new Error('An island lies more than 1,000 km from every unit.');
  return best.tag;
}

function mayBeIslet(ring: Ring): boolean {
  return (Math.abs(ringArea(ring)) / 2) * METRES_PER_STEP ** 2 < ISLET_AREA_M2;
}

function zoneAround(ring: Ring): Zone | undefined {
  return ZONES.find((zone) => {
    for (let i = 0; i < ring.length; i += 2) if (!inZone(zone, ring[i]!, ring[i + 1]!)) return false;
    return true;
  });
}
