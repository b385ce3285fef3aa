// The area table of data/README.md: `npm run data -- --areas` prints it, a test holds the two together.
import { ADMIN_UNITS } from '#dist/admin-units.js';
import { joined } from './map.js';
import { FORMER_PROVINCES, OUTSIDE } from './partition.js';
import {
  areasOfUnits,
  byProvince,
  landAreasOfUnits,
  OFFICIAL_KM2,
  overlayAreas,
  sourceAreasOfUnits,
} from './plane/areas.js';
import { LineField, taggedLinesOf } from './plane/line-field.js';
import type { ShippedMap } from './shipped-map.js';

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
