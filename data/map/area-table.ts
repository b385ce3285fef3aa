// The areas of provinces: of the map, of its land alone, as the units' source has them, and the official ones. The
// table of data/README.md, which `npm run data -- --areas` prints; a test compares the two.
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import type { Definition } from './coverage.js';
import type { ShippedMap } from './draw-map.js';
import { FORMER_PROVINCES, type PartitionUnit } from './partition.js';
import {
  areaOfRing,
  areasOfUnits,
  joined,
  type LabelledLines,
  OUTSIDE,
  overlayAreas,
} from './plane/labelled-lines.js';
import { LineField, taggedLinesOf } from './plane/line-field.js';
import type { Polygon } from './sources.js';

/** Resolution 202/2025/QH15 for the 23 merged provinces, the government's figures of 2025 for the other 11. */
export const OFFICIAL_KM2: Readonly<Record<string, number>> = {
  TQ: 13795.5,
  CB: 6700.39,
  LCU: 9068.73,
  LCI: 13256.92,
  TN: 8375.21,
  DB: 9539.93,
  LS: 8310.18,
  SL: 14109.83,
  PT: 9361.38,
  BN: 4718.6,
  QNH: 6207.93,
  HN: 3359.84,
  HP: 3194.72,
  HY: 2514.81,
  NB: 3942.62,
  TH: 11114.71,
  NA: 16486.49,
  HT: 5994.45,
  QT: 12700,
  HUE: 4947.11,
  DNG: 11859.59,
  QNG: 14832.55,
  GL: 21576.53,
  DLK: 18096.4,
  KH: 8555.86,
  LD: 24233.07,
  DN: 12737.18,
  TNH: 8536.44,
  HCM: 6772.59,
  DT: 5938.64,
  AG: 9888.91,
  VL: 6296.2,
  CT: 6360.83,
  CM: 7942.39,
};

const HEAD = [
  '| code | covered | land | units source | land / source | its water | land it lacks | official | land / official |',
  '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
];

/** A Markdown table in square kilometres. */
export function areaTable({ units, definition, map }: ShippedMap): string[] {
  const count = FORMER_PROVINCES.length;
  const provinces = (areas: Float64Array) => byProvince(areas, FORMER_PROVINCES);
  const covered = provinces(areasOfUnits(map, count));
  const land = provinces(landAreasOfUnits(map, definition, count));
  const source = provinces(sourceAreasOfUnits(units, count));
  const sourceLines = taggedLinesOf(units.map(({ unit, ring }) => ({ tag: unit, ring })));
  const held = new LineField(sourceLines.lines, sourceLines.tags);
  const lines = joined(joined(map.lines, definition.land), sourceLines.lines);
  const water = provinces(
    overlayAreas(lines, count, (x, y) => {
      const unit = held.holderOf(x, y);
      return unit >= 0 && !definition.onLand(x, y) ? unit : OUTSIDE;
    }),
  );
  const lacking = provinces(
    overlayAreas(lines, count, (x, y) =>
      held.holderOf(x, y) < 0 && definition.onLand(x, y) ? definition.unitAt(x, y) : OUTSIDE,
    ),
  );
  const km2 = (areas: Float64Array, admin: number) => areas[admin]!.toFixed(1);
  const percent = (part: number, whole: number) => `${((part / whole - 1) * 100).toFixed(2)} %`;
  const rows = ADMIN_UNITS.map(({ code }, admin) => [
    code,
    covered[admin]!.toFixed(0),
    km2(land, admin),
    km2(source, admin),
    percent(land[admin]!, source[admin]!),
    km2(water, admin),
    km2(lacking, admin),
    OFFICIAL_KM2[code]!.toFixed(1),
    percent(land[admin]!, OFFICIAL_KM2[code]!),
  ]);
  return [...HEAD, ...rows.map((row) => `| ${row.join(' | ')} |`)];
}

/** Area of each unit's land, without sea, zones and strip. */
export function landAreasOfUnits(
  map: LabelledLines,
  definition: Definition,
  unitCount: number,
): Float64Array {
  const lines = joined(map.lines, definition.land);
  return overlayAreas(lines, unitCount, (x, y) =>
    definition.onLand(x, y) ? definition.unitAt(x, y) : OUTSIDE,
  );
}

/** Area of each unit's polygons in the source. */
export function sourceAreasOfUnits(polygons: readonly Polygon[], unitCount: number): Float64Array {
  const areas = new Float64Array(unitCount);
  for (const { unit, ring } of polygons) {
    areas[unit]! += areaOfRing(ring);
  }
  return areas;
}

/** Areas of units added up by province, in the order of ADMIN_UNITS. */
export function byProvince(areas: Float64Array, units: readonly PartitionUnit[]): Float64Array {
  const sums = new Float64Array(ADMIN_UNITS.length);
  units.forEach(({ admin }, unit) => {
    sums[admin]! += areas[unit]!;
  });
  return sums;
}
