// `--measure`: shares of right provinces by distance, for polygons whose errors are known and for positions.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { FORMER_PROVINCES } from '../../../../data/map/partition.js';
import { readUnits } from '../../../../data/map/sources.js';
import { ENDS_M, measure, measureTable } from '../../../../data/map/user/measure.js';
import { openKernel } from '../../../support/open-world.js';
import { shippedKernel } from '../../../support/shipped.js';

const kernel = shippedKernel();
const library = new Hexcodes(kernel);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'measure-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The polygons that the index is drawn from, moved to the east. */
function polygons(name: string, byDeg: number): string {
  const features = readUnits().map(({ unit, ring }) => {
    const positions: [number, number][] = [];
    for (let i = 0; i < ring.length; i += 2) positions.push([ring[i]! / 1e5 + byDeg, ring[i + 1]! / 1e5]);
    return {
      type: 'Feature',
      properties: { ma: ADMIN_UNITS[FORMER_PROVINCES[unit]!.admin]!.code },
      geometry: { type: 'Polygon', coordinates: [[...positions, positions[0]!]] },
    };
  });
  return write(name, JSON.stringify({ type: 'FeatureCollection', features }));
}

const options = { codeProperty: 'ma', points: 4000, seed: 7 };

test('the polygons of the index agree with it but for a strip along its lines', () => {
  const { bands, outside, hasTruth } = measure(kernel, { ...options, path: polygons('same.geojson', 0) });
  expect(hasTruth).toBe(true);
  expect(bands.reduce((sum, { positions }) => sum + positions, outside)).toBe(4000);
  for (const { positions, right } of bands.slice(1)) expect(right).toBe(positions);
});

test('polygons 300 m farther east: errors up to that distance, and none beyond', () => {
  const { bands } = measure(kernel, { ...options, points: 20_000, path: polygons('moved.geojson', 0.0028) });
  const [near, next, ...far] = bands;
  expect(near!.right).toBeLessThan(near!.positions);
  expect(next!.right).toBeLessThan(next!.positions);
  for (const { positions, right } of far) expect(right).toBe(positions);
});

test('positions with codes or names, and positions alone', () => {
  const rows = [
    [21.0285, 105.8542, 'Hà Nội'],
    [21.0285, 105.8542, 'HN'],
    [10.7769, 106.7009, 'Tp. Hồ Chí Minh'],
    [10.7769, 106.7009, 'Hà Nội'],
    [0, 0, 'HN'],
  ] as const;
  const path = write('places.csv', `lat,lng,tinh\n${rows.map((row) => row.join(',')).join('\n')}\n`);
  const measured = measure(kernel, { ...options, path, codeProperty: 'tinh' });
  expect(measured.outside).toBe(1);
  expect(measured.bands.at(-1)).toEqual({ positions: 4, right: 3, weight: 4 });
  expect(measured.expected).toBe(0.9999);
  expect(measureTable(measured)).toContain('| 5000 m and more | 4 | 100.00 % | 75.00 % |');
  expect(measureTable(measured)).toContain('Right of all 5: 60.00 %.');

  const near = write('near.csv', 'lat,lng\n21.0757,105.9872\n21.0285,105.8542\n');
  const alone = measure(kernel, { ...options, path: near, codeProperty: undefined });
  const certainty = library.borderOf(21.0757, 105.9872)!.certainty!;
  expect(alone.expected).toBeCloseTo((certainty + 0.9999) / 2, 12);
  expect(alone.bands.reduce((sum, { positions }) => sum + positions, 0)).toBe(2);
  expect(measureTable(alone)).not.toContain('right province');
  expect(ENDS_M.length).toBe(alone.bands.length);
  expect(measure(openKernel(), { ...options, path: near, codeProperty: undefined }).expected).toBeNull();
});

test('positions count by their people, and towns have an extent', () => {
  const path = write(
    'people.csv',
    'lat,lng,people\n21.0757,105.9872,3\n21.0285,105.8542,1\n21.0285,105.8542,0\n',
  );
  const alone = { ...options, path, codeProperty: undefined, weight: 'people' };
  const certainty = library.borderOf(21.0757, 105.9872)!.certainty!;
  const measured = measure(kernel, alone);
  expect(measured.expected).toBeCloseTo((3 * certainty + 0.9999) / 4, 12);
  expect(measured.bands.map(({ weight }) => weight)).toEqual([0, 3, 0, 0, 1]);
  expect(measureTable(measured)).toContain('| 100 to 500 m | 1 | 75.00 % |');

  const wide = measure(kernel, { ...alone, aroundKm: 5 });
  expect(wide.bands.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(4, 9);
  expect(wide.bands[0]!.weight).toBeGreaterThan(0);
  expect(wide.bands[0]!.weight).toBeLessThan(3);

  const towns = write(
    'towns.json',
    JSON.stringify({
      towns: [
        ['A', 21.0757, 105.9872, 3],
        ['B', 21.0285, 105.8542, 1],
      ],
    }),
  );
  expect(measure(kernel, { ...options, path: towns, codeProperty: undefined }).expected).toBe(
    measured.expected,
  );

  const bad = write('bad-people.csv', 'lat,lng,people\n21,105,many\n');
  expect(() => measure(kernel, { ...alone, path: bad })).toThrow(
    'Row 2: people "many" is not a number from 0 on.',
  );
});

test('points on the land of the index', () => {
  const { bands, outside, hasTruth } = measure(kernel, { ...options, path: 'land', codeProperty: undefined });
  expect(hasTruth).toBe(false);
  expect(bands.reduce((sum, { positions }) => sum + positions, outside)).toBe(4000);
  expect(outside).toBeLessThan(100);
});

test('files that cannot be used', () => {
  const path = write('bad.csv', 'lat,lng,tinh\nx,105,HN\n21,105,Paris\n');
  expect(() => measure(kernel, { ...options, path, codeProperty: 'tinh' })).toThrow(
    'Row 2: lat x and lng 105 are not a position in degrees.\nRow 3: tinh "Paris" is neither code nor name of a province.',
  );
  expect(() => measure(kernel, { ...options, path: write('none.csv', 'lat,lng\n') })).toThrow('has no rows');
  expect(() => measure(kernel, { ...options, path: 'x.geojson', codeProperty: undefined })).toThrow(
    'Polygons need --code-property NAME',
  );
});
