// Sorts the land of the sources: which of it is ours, which is foreign, which are islets of a zone, and which unit each
// island belongs to.
import { inZone, type Neighbourhood, unitNamed, ZONE_DISTANCE_M, ZONES, type Zone } from './coverage.js';
import { METRES_PER_STEP, type Ring, ringArea, STEPS_PER_DEGREE } from './plane/grid.js';
import { LineField, type Nearest } from './plane/line-field.js';
import { linesOf, type TaggedRing, taggedLinesOf } from './plane/tagged-lines.js';
import type { Polygon } from './sources.js';

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

export interface SortedLand {
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
