// The committed index is what the sources and this code make, its areas are those of its sources, and the reach is
// the one that codes in use rely on. Files that are drawn of the sources, and partitions that are none.

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
import { drawLandLine, drawRivers, LAND_LINE_FILE, RIVERS_FILE } from '../../../../data/map/console-map.js';
import { buildShippedMap, INDEX_FILE, LICENCE, type ShippedMap } from '../../../../data/map/draw-map.js';
import { writeIndexFile } from '../../../../data/map/index-file.js';
import { NAMES_FILE, namesModule } from '../../../../data/map/names.js';
import { checkPartition, FORMER_PROVINCES, type Partition } from '../../../../data/map/partition.js';
import { drawPicture } from '../../../../data/map/picture.js';
import { areasOfUnits, OUTSIDE } from '../../../../data/map/plane/labelled-lines.js';
import { checkWithinReach, REACH_FILE } from '../../../../data/map/reach.js';
import { readLand } from '../../../../data/map/sources.js';
import { OPEN_REACH } from '../../../support/open-world.js';

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

// Files that are drawn of the sources, and a picture of the map.

// Land line, rivers and names of the console are drawn from the sources, the same bytes each time.
describe('land, rivers and names', () => {
  test('data/land.bin is what the sources give', () => {
    const drawn = drawLandLine(readLand());
    expect(Buffer.compare(drawn, readFileSync(LAND_LINE_FILE))).toBe(0);
  });

  test('data/rivers.bin is what the source gives', () => {
    expect(Buffer.compare(drawRivers(), readFileSync(RIVERS_FILE))).toBe(0);
  });

  test('the list of names is what the sources give', async () => {
    expect(await namesModule()).toBe(readFileSync(NAMES_FILE, 'utf8'));
  });
});

// The picture of the shipped map: every province once in each layer and by name, numbers everywhere.
describe('the picture', () => {
  test('a picture of the shipped map names the 34 provinces and gives the notice', () => {
    const svg = drawPicture(readFileSync(INDEX_FILE), readLand());
    const words = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((match) => match[1]);
    expect(words.slice(0, 34)).toEqual(ADMIN_UNITS.map(({ code }) => code));
    expect(words[34]).toContain('© OpenStreetMap contributors');
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg.match(/<path fill="#[0-9a-f]{6}" d="M/g)).toHaveLength(2 * 34 + 1);
  });
});

// Partitions that are none: what `checkPartition` and `writeIndexFile` refuse, and a map outside of the reach.

type Line = readonly [west: number, south: number, east: number, north: number];

/** Lines of one unit on their left and nothing on their right; micro-degrees. */
function partitionOf(lines: readonly Line[], unit = 0): Partition {
  return {
    units: [{ name: 'unit', admin: 24 }],
    segments: Int32Array.from(lines.flat()),
    left: new Uint8Array(lines.length).fill(unit),
    right: new Uint8Array(lines.length).fill(OUTSIDE),
    notice: 'made up',
    source: { name: 'made up', date: '2026-01-01' },
  };
}

/** Counter-clockwise. */
function square(west: number, south: number, side: number): Line[] {
  const [east, north] = [west + side, south + side];
  return [
    [west, south, east, south],
    [east, south, east, north],
    [east, north, west, north],
    [west, north, west, south],
  ];
}

const WHOLE = square(106_000_000, 20_000_000, 1000);
const [FIRST] = WHOLE as [Line];

test('a square is a partition and becomes an index', () => {
  checkPartition(partitionOf(WHOLE));
  expect(writeIndexFile(partitionOf(WHOLE), '').length).toBeGreaterThan(128);
});

test.each<[string, Partition, RegExp, RegExp | undefined]>([
  [
    'crosses itself',
    partitionOf([...WHOLE, ...square(106_000_500, 20_000_500, 1000)]),
    /cross or touch/,
    undefined,
  ],
  [
    'touches itself',
    partitionOf([...WHOLE, ...square(106_000_500, 20_001_000, 100)]),
    /cross or touch/,
    undefined,
  ],
  ['has a line twice', partitionOf([...WHOLE, FIRST]), /stands twice/, /stands twice/],
  [
    'is not on the grid',
    partitionOf(square(106_000_000, 20_000_000, 1005)),
    /is not a multiple of 10/,
    /not on multiples of 10/,
  ],
  ['names a unit that is not there', partitionOf(WHOLE, 1), /has units 1 and 63/, /has units 1 and 63/],
  ['has one unit on both sides', partitionOf(WHOLE, OUTSIDE), /has units 63 and 63/, /has units 63 and 63/],
])('a map that %s is refused', (_name, partition, byCheck, byIndex) => {
  expect(() => checkPartition(partition)).toThrow(byCheck);
  if (byIndex !== undefined) expect(() => writeIndexFile(partition, '')).toThrow(byIndex);
});

test('a map is refused that is empty, too wide, or has a line of no length', () => {
  expect(() => writeIndexFile(partitionOf([]), '')).toThrow(/empty, or wider/);
  const side = 2 ** 25;
  expect(() => writeIndexFile(partitionOf(square(100_000_000, 0, side - (side % 10) + 10)), '')).toThrow(
    /wider/,
  );
  const point: Line = [106_000_000, 20_000_000, 106_000_000, 20_000_000];
  expect(() => writeIndexFile(partitionOf([...WHOLE, point]), '')).toThrow(/has no length/);
});

test('a province where no hexcode has a head is outside the reach', () => {
  const partition = partitionOf(square(118_960_000, 22_000_000, 20_000));
  const index = writeIndexFile(partition, '');
  const reach = readFileSync(REACH_FILE);
  expect(() => checkWithinReach(partition, index, reach)).toThrow(/reach is frozen/);
  // also where the reach allows every province in every cell that has a hexcode
  expect(() => checkWithinReach(partition, index, OPEN_REACH)).toThrow(/reach is frozen/);
});
