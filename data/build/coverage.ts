// The definition of the map: which unit a place belongs to, as data/README.md says in words. Slow and simple;
// the build asks it where lines run and what each area is, and never trusts lines over it.
import { LineField, METRES_PER_STEP, type TaggedRing } from './line-field.js';
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

/** Sorts the sources' polygons: which land counts as ours, which as foreign, which islands have a unit by hand. */
export function neighbourhoodOf(units: readonly Polygon[], countries: readonly Polygon[]): Neighbourhood {
  const tagged: TaggedRing[] = units.map(({ unit, ring }) => ({ tag: unit, ring }));
  const land: Ring[] = [];
  const foreign: Ring[] = [];
  const mainland = new LineField(
    countries.filter((p) => p.country !== 'VNM' && !mayBeIslet(p.ring)).map(({ ring }) => ({ tag: 0, ring })),
  );
  for (const { country, ring } of countries) {
    const zone = zoneAround(ring);
    if (zone && mayBeIslet(ring) && !mainland.nearest(ring[0]!, ring[1]!, ZONE_DISTANCE_M)) {
      land.push(ring);
      tagged.push({ tag: unitNamed(zone.unitName), ring });
    } else if (country === 'VNM') {
      land.push(ring);
    } else {
      foreign.push(ring);
    }
  }
  for (const island of ISLANDS) {
    const field = new LineField(
      land.map((ring, tag) => ({ tag, ring })).filter(({ ring }) => ring.length < 400 && near(ring, island)),
    );
    const place = field.nearest(island.lngDeg * STEPS_PER_DEGREE, island.latDeg * STEPS_PER_DEGREE, 2000);
    if (!place) throw new Error(`The land file has no island within 2 km of ${island.name}.`);
    tagged.push({ tag: unitNamed(island.unitName), ring: land[place.tag]! });
  }
  return { units: tagged, land, foreign };
}

function near(ring: Ring, { latDeg, lngDeg }: { latDeg: number; lngDeg: number }): boolean {
  const far = STEPS_PER_DEGREE / 4;
  return (
    Math.abs(ring[0]! - lngDeg * STEPS_PER_DEGREE) < far &&
    Math.abs(ring[1]! - latDeg * STEPS_PER_DEGREE) < far
  );
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
  const unitField = new LineField(units);
  const landField = new LineField(land.map((ring) => ({ tag: 0, ring })));
  const foreignField = new LineField(foreign.map((ring) => ({ tag: 0, ring })));
  const endField = new LineField(endsOf(units));
  const zones = ZONES.map((zone) => ({ zone, unit: zoneUnitOf(zone) }));

  const landDistanceM = (x: number, y: number) =>
    landField.holderOf(x, y) >= 0 ? 0 : (landField.nearest(x, y, SEA_M)?.distanceM ?? Infinity);

  function foreignIsNearer(x: number, y: number, landM: number): boolean {
    return foreignField.holderOf(x, y) >= 0 || foreignField.nearest(x, y, landM) !== null;
  }

  function unitAt(x: number, y: number): number {
    for (const { zone, unit } of zones) {
      if (!inZone(zone, x, y)) continue;
      if (foreignField.holderOf(x, y) < 0 && !foreignField.nearest(x, y, ZONE_DISTANCE_M)) return unit;
    }
    const landM = landDistanceM(x, y);
    if (landM > SEA_M || (landM > STRIP_M && foreignIsNearer(x, y, landM))) return OUTSIDE;
    const own = unitField.holderOf(x, y);
    return own >= 0 ? own : (unitField.nearest(x, y, 10 * SEA_M)?.tag ?? OUTSIDE);
  }

  return {
    unitAt,
    deepInside: (x, y, depthM) => unitField.holderOf(x, y) >= 0 && endField.nearest(x, y, depthM) === null,
    clearanceM: (x, y, limitM) =>
      Math.min(
        unitField.nearest(x, y, limitM)?.distanceM ?? limitM,
        landField.nearest(x, y, limitM)?.distanceM ?? limitM,
      ),
    onLand: (x, y) => landField.holderOf(x, y) >= 0,
    land,
  };
}

/** Lines that only one unit has, each as a ring of two vertices. */
function endsOf(units: readonly TaggedRing[]): TaggedRing[] {
  const lines = new Map<string, { tag: number; ring: Ring; times: number }>();
  for (const { tag, ring } of units) {
    for (let i = 0; i < ring.length; i += 2) {
      const j = (i + 2) % ring.length;
      const line = [ring[i]!, ring[i + 1]!, ring[j]!, ring[j + 1]!];
      const [x0, y0, x1, y1] = line as [number, number, number, number];
      const key = (x0 < x1 || (x0 === x1 && y0 < y1) ? [x0, y0, x1, y1] : [x1, y1, x0, y0]).join();
      const known = lines.get(key);
      if (known) known.times++;
      else lines.set(key, { tag, ring: Int32Array.from(line), times: 1 });
    }
  }
  return [...lines.values()].filter(({ times }) => times === 1);
}
