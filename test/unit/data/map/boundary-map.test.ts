// The committed index is what the sources and this code make, its areas are those of its sources, and the reach
// is the one that codes in use rely on.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS } from '#hexcodes';
import {
  areaTable,
  byProvince,
  landAreasOfUnits,
  OFFICIAL_KM2,
  sourceAreasOfUnits,
} from '../../../../data/map/area-table.js';
import { buildShippedMap, INDEX_FILE, LICENCE, type ShippedMap } from '../../../../data/map/draw-map.js';
import { writeIndexFile } from '../../../../data/map/index-file.js';
import { FORMER_PROVINCES } from '../../../../data/map/partition.js';
import { areasOfUnits } from '../../../../data/map/plane/labelled-lines.js';
import { checkWithinReach, REACH_FILE } from '../../../../data/map/reach.js';

const REACH_SHA256 = '8919c2f9d13f02a159274ab8377f0186b2c1db58ff10a745774d99e21bb54db0';

let built: ShippedMap;
beforeAll(() => {
  built = buildShippedMap();
});

test('the sources make the committed index, byte for byte', () => {
  const file = writeIndexFile(built.partition, LICENCE);
  expect(Buffer.compare(file, readFileSync(INDEX_FILE))).toBe(0);
});

test('the reach has not changed, and the map stays within it', () => {
  const file = readFileSync(REACH_FILE);
  expect(createHash('sha256').update(file).digest('hex')).toBe(REACH_SHA256);
  checkWithinReach(built.partition, readFileSync(INDEX_FILE), file);
});

test('a map whose province lies elsewhere is outside the reach', () => {
  const { partition } = built;
  const units = partition.units.map(({ name, admin }) => ({
    name,
    admin: (admin + 17) % ADMIN_UNITS.length,
  }));
  const index = writeIndexFile({ ...partition, units }, LICENCE);
  const few = { latticeM: 50_000, alongM: 20_000, marginM: 1, finestResolution: 4 };
  expect(() => checkWithinReach({ ...partition, units }, index, readFileSync(REACH_FILE), few)).toThrow(
    /reach is frozen/,
  );
  checkWithinReach(partition, readFileSync(INDEX_FILE), readFileSync(REACH_FILE), few);
});

describe('land areas, before sea, zones and strip', () => {
  /** Lagoons and river mouths that the land file calls sea, islets that the units' source leaves out. */
  const COASTAL = new Map([
    ['QNH', [0.01, 0.03]],
    ['HUE', [-0.06, -0.04]],
    ['VL', [-0.06, -0.04]],
  ]);
  const provinces = (units: Float64Array) => byProvince(units, FORMER_PROVINCES);

  test('are within 1.5 % of the units source, or apart by their coast as README says', () => {
    const land = provinces(landAreasOfUnits(built.map, built.definition, FORMER_PROVINCES.length));
    const source = provinces(sourceAreasOfUnits(built.units, FORMER_PROVINCES.length));
    ADMIN_UNITS.forEach(({ code }, admin) => {
      const [least, most] = COASTAL.get(code) ?? [-0.015, 0.015];
      const off = land[admin]! / source[admin]! - 1;
      expect.soft(off, code).toBeGreaterThan(least!);
      expect.soft(off, code).toBeLessThan(most!);
    });
  });

  test('the table in README is the one this map makes', () => {
    const readme = readFileSync('data/README.md', 'utf8');
    for (const row of areaTable(built)) expect.soft(readme).toContain(row);
  });

  test('every province has an official area, and covers most of it', () => {
    const covered = provinces(areasOfUnits(built.map, FORMER_PROVINCES.length));
    ADMIN_UNITS.forEach(({ code }, admin) => {
      expect.soft(covered[admin]! / OFFICIAL_KM2[code]!, code).toBeGreaterThan(0.99);
    });
  });
});
