// The definition of the map: which unit a place belongs to, as data/README.md says in words. Slow and simple;
// the build asks it where lines run and what each area is, and never trusts lines over it.
import { LineField, METRES_PER_STEP, type Nearest, type TaggedRing } from './line-field.js';
import { FORMER_PROVINCES, OUTSIDE } from './partition.js';
import { type Polygon, type Ring, STEPS_PER_DEGREE } from './sources.js';

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

/** Islands whose nearest unit in the source is not their own. */
const ISLANDS: readonly { name: string; latDeg: number; lngDeg: number; unitName: string }[] = [
  { name: 'Cù Lao Xanh', latDeg: 13.616, lngDeg: 109.352, unitName: 'Bình Định' },
  { name: 'Hòn Ngư', latDeg: 18.803, lngDeg: 105.779, unitName: 'Nghệ An' },
  { name: 'Bạch Long Vĩ', latDeg: 20.133, lngDeg: 107.729, unitName: 'Hải Phòng' },
];

/** Steps; the pieces of a shore that have one unit each. */
const SHORE_PIECE = 100;

/** No land of ours is farther from its unit. */
const FAR_M = 300_000;

/** Foreign land larger than this is never an islet of a zone: Palawan, Balabac, Banggi are, with their coasts. */
const ISLET_AREA_M2 = 20e6;

export interface Definition {
  /** Unit of a place in steps, or OUTSIDE. */
  unitAt(x: number, y: number): number;
  /** Whether the place lies in a unit's own polygon and farther than this from where the polygons end. */
  deepInside(x: number, y: number, depthM: number): boolean;
  /** Metres to the nearest land border, coast or unit line: what a line there may be simplified by. */
  clearanceM(x: number, y: number, limitM: number): number;
  /** Whether the place is on land that counts as ours. */
  onLand(x: number, y: number): boolean;
  /** The rings of that land. */
  readonly land: readonly Ring[];
}

export interface Neighbourhood {
  /** Rings with a unit: these places are the unit's, all others the nearest one's. */
  readonly units: readonly TaggedRing[];
  /** What coast, strip and sea are measured from. */
  readonly land: readonly Ring[];
  readonly foreign: readonly Ring[];
}

export function unitNamed(name: string): number {
  const unit = FORMER_PROVINCES.findIndex((u) => u.name === name);
  if (unit < 0) throw new Error(`No former province is called ${name}.`);
  return unit;
}

/** Sorts the sources' polygons: which land counts as ours, which as foreign, and whose each island is. */
export function neighbourhoodOf(units: readonly Polygon[], countries: readonly Polygon[]): Neighbourhood {
  const own: TaggedRing[] = units.map(({ unit, ring }) => ({ tag: unit, ring }));
  const ownField = LineField.ofRings(own);
  const mainland = LineField.ofRings(
    countries.filter((p) => p.country !== 'VNM' && !mayBeIslet(p.ring)).map(({ ring }) => ({ tag: 0, ring })),
  );
  const islands: TaggedRing[] = [];
  const land: Ring[] = [];
  const foreign: Ring[] = [];
  for (const { country, ring } of countries) {
    const zone = zoneAround(ring);
    if (zone && mayBeIslet(ring) && !mainland.nearest(ring[0]!, ring[1]!, ZONE_DISTANCE_M)) {
      land.push(ring);
      islands.push({ tag: unitNamed(zone.unitName), ring });
    } else if (country === 'VNM') {
      land.push(ring);
      if (!touches(ring, ownField)) islands.push({ tag: nearestUnit(ring, ownField), ring });
    } else {
      foreign.push(ring);
    }
  }
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
  return { units: [...own, ...islands], land, foreign };
}

/** Whether an outline has a vertex inside a unit; the few that only cross one without are islands of it anyway. */
function touches(ring: Ring, units: LineField): boolean {
  for (let i = 0; i < ring.length; i += 2) if (units.holderOf(ring[i]!, ring[i + 1]!) >= 0) return true;
  return false;
}

/** The unit that an island's outline comes nearest to. */
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
  let twice = 0;
  for (let i = 0; i < ring.length; i += 2) {
    const j = (i + 2) % ring.length;
    twice +=
      (ring[i]! - ring[0]!) * (ring[j + 1]! - ring[1]!) - (ring[j]! - ring[0]!) * (ring[i + 1]! - ring[1]!);
  }
  return (Math.abs(twice) / 2) * METRES_PER_STEP ** 2 < ISLET_AREA_M2;
}

const inZone = (zone: Zone, x: number, y: number) =>
  x >= Math.round(zone.west * STEPS_PER_DEGREE) &&
  x < Math.round(zone.east * STEPS_PER_DEGREE) &&
  y >= Math.round(zone.south * STEPS_PER_DEGREE) &&
  y < Math.round(zone.north * STEPS_PER_DEGREE);

function zoneAround(ring: Ring): Zone | undefined {
  return ZONES.find((zone) => {
    for (let i = 0; i < ring.length; i += 2) if (!inZone(zone, ring[i]!, ring[i + 1]!)) return false;
    return true;
  });
}

export function define(
  { units, land, foreign }: Neighbourhood,
  zoneUnitOf = (zone: Zone) => unitNamed(zone.unitName),
): Definition {
  const unitField = LineField.ofRings(units);
  const endField = endsOf(units);
  const landField = LineField.ofRings(land.map((ring) => ({ tag: 0, ring })));
  const foreignField = LineField.ofRings(foreign.map((ring) => ({ tag: 0, ring })));
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
function shoresOf(land: readonly Ring[], unitAt: (x: number, y: number) => number): LineField {
  const lines: number[] = [];
  const tags: number[] = [];
  for (const ring of land) {
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length;
      const dx = ring[j]! - ring[i]!;
      const dy = ring[j + 1]! - ring[i + 1]!;
      const pieces = Math.ceil(Math.hypot(dx, dy) / SHORE_PIECE);
      for (let k = 0; k < pieces; k++) {
        lines.push(
          Math.round(ring[i]! + (dx * k) / pieces),
          Math.round(ring[i + 1]! + (dy * k) / pieces),
          Math.round(ring[i]! + (dx * (k + 1)) / pieces),
          Math.round(ring[i + 1]! + (dy * (k + 1)) / pieces),
        );
        tags.push(unitAt(ring[i]! + (dx * (k + 0.5)) / pieces, ring[i + 1]! + (dy * (k + 0.5)) / pieces));
      }
    }
  }
  return new LineField(Int32Array.from(lines), Int16Array.from(tags));
}

/** Lines that only one unit has: where the units' own polygons end. */
function endsOf(units: readonly TaggedRing[]): LineField {
  const ends = new Map<string, [number, number, number, number]>();
  for (const { ring } of units) {
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length;
      const [x0, y0, x1, y1] = [ring[i]!, ring[i + 1]!, ring[j]!, ring[j + 1]!];
      const key = x0 < x1 || (x0 === x1 && y0 < y1) ? `${x0},${y0},${x1},${y1}` : `${x1},${y1},${x0},${y0}`;
      if (!ends.delete(key)) ends.set(key, [x0, y0, x1, y1]);
    }
  }
  return new LineField(Int32Array.from([...ends.values()].flat()), new Int16Array(ends.size));
}
