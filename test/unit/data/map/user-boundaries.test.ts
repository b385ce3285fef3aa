// Boundaries that a user brings: what is refused and in which words, what is mended, the index they become, and
// `--measure`.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { writeIndexFile } from '../../../../data/map/index-file.js';
import { FORMER_PROVINCES } from '../../../../data/map/partition.js';
import { checkWithinReach, REACH_FILE } from '../../../../data/map/reach.js';
import { readUnits } from '../../../../data/map/sources.js';
import { ENDS_M, measure, measureTable } from '../../../../data/map/user/measure.js';
import { readUserFile } from '../../../../data/map/user/user-file.js';
import { buildUserMap, unitsOf } from '../../../../data/map/user/user-map.js';
import { openKernel } from '../../../support/open-world.js';
import { shippedKernel } from '../../../support/shipped.js';

type Position = [number, number];
interface Feature {
  type: 'Feature';
  properties: Record<string, unknown>;
  geometry: { type: string; coordinates: Position[][] } | null;
}

let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'boundaries-'));
  path = join(folder, 'map.geojson');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The units of the shipped sources as a user's file would have them: clean, 95 polygons, all 34 codes. */
function features(): Feature[] {
  return readUnits().map(({ unit, ring }) => {
    const positions: Position[] = [];
    for (let i = 0; i < ring.length; i += 2) positions.push([ring[i]! / 1e5, ring[i + 1]! / 1e5]);
    const { name, admin } = FORMER_PROVINCES[unit]!;
    return {
      type: 'Feature',
      properties: { ma: ADMIN_UNITS[admin]!.code, name },
      geometry: { type: 'Polygon', coordinates: [[...positions, positions[0]!]] },
    };
  });
}

function write(list: unknown, more: object = {}): void {
  writeFileSync(path, JSON.stringify({ type: 'FeatureCollection', features: list, ...more }));
}

const square = (west: number, south: number, side: number): Position[] => [
  [west, south],
  [west + side, south],
  [west + side, south + side],
  [west, south + side],
  [west, south],
];

const feature = (code: string, ring: Position[]): Feature => ({
  type: 'Feature',
  properties: { ma: code, name: `piece of ${code}` },
  geometry: { type: 'Polygon', coordinates: [ring] },
});

function faultsOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no fault';
}

describe('single features', () => {
  const read = () => faultsOf(() => readUserFile(path, 'ma'));

  test('a file that is none, and one that is not a collection', () => {
    expect(faultsOf(() => readUserFile(join(folder, 'none'), 'ma'))).toMatch(/cannot be read as JSON/);
    writeFileSync(path, '{"type": "Feature"}');
    expect(read()).toMatch(/is not a GeoJSON FeatureCollection/);
  });

  test('features that are none, and coordinates that are not a list', () => {
    write([null, 7, { type: 'Feature', properties: { ma: 'HN' }, geometry: { type: 'Polygon' } }]);
    const faults = read().split('\n');
    expect(faults[0]).toBe('Feature 0 is not a feature.');
    expect(faults[1]).toBe('Feature 1 is not a feature.');
    expect(faults[2]).toBe('Feature 2: its Polygon has no list of coordinates.');
  });

  test('degrees of another datum; WGS84 by any name, after a byte order mark', () => {
    const crs = (name: string) => ({ crs: { type: 'name', properties: { name } } });
    for (const name of ['urn:ogc:def:crs:EPSG::4756', 'EPSG:3405', 'EPSG:14326', '']) {
      write(features(), crs(name));
      expect(read()).toContain(`in "${name}": degrees of WGS84 are wanted`);
    }
    for (const name of [
      'urn:ogc:def:crs:OGC:1.3:CRS84',
      'urn:ogc:def:crs:EPSG::4326',
      'urn:ogc:def:crs:EPSG:6.9:4326',
      'EPSG:4326',
    ]) {
      write(features(), crs(name));
      expect(read()).toBe('no fault');
    }
    writeFileSync(path, `\uFEFF${JSON.stringify({ type: 'FeatureCollection', features: features() })}`);
    expect(read()).toBe('no fault');
  });

  test('codes missing, unknown or absent from the file', () => {
    const list = features().filter(({ properties }) => properties.ma !== 'HUE');
    list[0]!.properties.ma = 'HANOI';
    list[1]!.properties = {};
    write(list);
    const faults = read();
    expect(faults).toMatch(/Feature 0 \(.+\): its "ma" is "HANOI", none of the 34 codes/);
    expect(faults).toMatch(/Feature 1: its "ma" is missing/);
    expect(faults).toMatch(/No feature with a polygon has the code HUE/);
  });

  test('rings that are open, too short, crossing, or no positions; other geometries', () => {
    const list = features();
    list[0]!.geometry!.coordinates[0]!.pop();
    list[1]!.geometry!.coordinates[0] = [[105, 20]];
    list[2]!.geometry!.coordinates[0] = [
      [105, 20],
      [106, 21],
      [106, 20],
      [105, 21],
      [105, 20],
    ];
    list[3]!.geometry!.coordinates[0]![1] = ['x', 20] as unknown as Position;
    list[4]!.geometry = { type: 'Point', coordinates: [] };
    list[5]!.geometry = null;
    // open in one direction alone: its last position lies north of its first
    list[6]!.geometry!.coordinates[0] = square(105, 20, 0.1).slice(0, 4);
    write(list);
    const faults = read().split('\n');
    expect(faults[0]).toMatch(/Feature 0 .*ring 0: it is open/);
    expect(faults[1]).toMatch(/Feature 1 .*fewer than four positions/);
    expect(faults[2]).toMatch(/Feature 2 .*crosses itself near 20\.\d+ N, 105\.\d+ E/);
    expect(faults[3]).toMatch(/Feature 3 .*position 1 is not a pair of numbers/);
    expect(faults[4]).toMatch(/Feature 4 .*a Polygon or MultiPolygon is wanted, this is Point/);
    expect(faults[5]).toMatch(/Feature 5 .*this is without geometry/);
    expect(faults[6]).toMatch(/Feature 6 .*ring 0: it is open/);
  });

  test('positions in the wrong order or in metres', () => {
    const list = features();
    for (const position of list[0]!.geometry!.coordinates[0]!) position.reverse();
    for (const position of list[1]!.geometry!.coordinates[0]!) position[0] *= 100_000;
    write(list);
    expect(read()).toMatch(/Feature 0 .*longitude comes first/);
    expect(read()).toMatch(/Feature 1 .*degrees of WGS84 are wanted/);
  });
});

describe('polygons together', () => {
  const units = (list: Feature[], mend = false) => {
    write(list);
    return unitsOf(readUserFile(path, 'ma').polygons, 0, mend);
  };

  test('a clean file has nothing to mend', () => {
    expect(units(features())).toMatchObject({ filledHoles: 0, mendedSlivers: 0 });
  });

  test('overlap of two provinces, and one province twice', () => {
    const over = faultsOf(() => units([...features(), feature('HN', square(106.0, 10.8, 0.01))]));
    expect(over).toMatch(/HN, TNH overlap at 10\.80\d+ N, 106\.00\d+ E, 1\.2\d\d km²/);
    const list = features();
    expect(faultsOf(() => units([...list, list[10]!]))).toMatch(/ covers a place twice at /);
  });

  test('a hole outside its polygon, and a ring that crosses itself at one of its positions', () => {
    const list = features();
    list[10]!.geometry!.coordinates.push(square(112, 12, 0.02));
    expect(faultsOf(() => units(list))).toMatch(
      /^A hole of [A-Z]+ lies outside its polygon, .* at 12\.0\d+ N, 112\.0/,
    );
    const crossing: Position[] = [
      [112, 12],
      [112.1, 12.1],
      [112.3, 12.3],
      [112.3, 12],
      [112.1, 12.1],
      [112, 12.2],
      [112, 12],
    ];
    expect(faultsOf(() => units([...features(), feature('KH', crossing)]))).toMatch(
      /or a ring crosses itself, at 12\./,
    );
    // rings that only touch themselves at a position are as good as any
    const touching: Position[] = [
      [112, 12],
      [112.1, 12.1],
      [112.3, 12],
      [112.3, 12.3],
      [112.1, 12.1],
      [112, 12.2],
      [112, 12],
    ];
    expect(units([...features(), feature('KH', touching)])).toMatchObject({
      filledHoles: 0,
      mendedSlivers: 0,
    });
  });

  test('a gap between two provinces, unless mending is wanted', () => {
    const list = features();
    const ring = list.find(({ properties }) => properties.name === 'Hà Nội')!.geometry!.coordinates[0]!;
    // One vertex of Hà Nội alone moves inward: a gap to its neighbour.
    const [lng, lat] = ring[20]!;
    ring[20] = [lng + (105.7 - lng) * 0.05, lat + (21 - lat) * 0.05];
    expect(faultsOf(() => units(list))).toMatch(/A gap between .*HN.* at /);
    expect(units(list, true).map.left.length).toBeGreaterThan(0);
  });

  test('an overlap of 4.4 m is a sliver, one of 5.4 m a fault', () => {
    const besides = (overlapDeg: number) => [
      ...features(),
      feature('KH', square(112, 12, 0.1)),
      feature('KH', square(112.1 - overlapDeg, 12, 0.1)),
    ];
    expect(units(besides(0.00004))).toMatchObject({ filledHoles: 0, mendedSlivers: 1 });
    expect(faultsOf(() => units(besides(0.00005)))).toMatch(/^KH covers a place twice at 12\.0/);
  });

  test('a hole inside one province is filled, a sliver mended', () => {
    const list = features();
    const inner = square(105.2, 22.2, 0.02).reverse();
    const around = list.find(({ properties }) => properties.name === 'Tuyên Quang')!;
    around.geometry!.coordinates.push(inner);
    expect(units(list)).toMatchObject({ filledHoles: 1, mendedSlivers: 0 });
    const ring = list.find(({ properties }) => properties.name === 'Hà Nội')!.geometry!.coordinates[0]!;
    ring[20] = [ring[20]![0] + 0.00003, ring[20]![1] + 0.00003];
    const mended = units(list);
    expect(mended.filledHoles).toBe(1);
    expect(mended.mendedSlivers).toBeGreaterThan(0);
  });
});

test('a whole file becomes a partition of 34 provinces with its own notice, and a report', () => {
  // Two islets off An Giang and one off Palawan lie where no code may name their provinces.
  const beyond = [
    feature('AG', square(102.89, 9.92, 0.012)),
    feature('AG', square(102.93, 9.91, 0.013)),
    feature('KH', square(118.5, 9, 0.01)),
  ];
  write([...features(), ...beyond], { notice: 'Boundaries by the test' });
  const { partition, report, warnings } = buildUserMap({
    path,
    codeProperty: 'ma',
    toleranceM: 500,
    mend: false,
    notice: undefined,
    name: 'test',
    date: '2026-01-01',
  });
  expect(partition.units.map(({ name }) => name)).toEqual(ADMIN_UNITS.map(({ name }) => name));
  expect(partition.notice).toMatch(/^Boundaries by the test; .*OpenStreetMap/);
  expect(partition.source).toEqual({ name: 'test', date: '2026-01-01' });
  const left = warnings.map((text) =>
    /^(Feature \d+) .*: (\d+\.\d+) km² at (.*) left out: .* ([A-Z]+) /.exec(text)?.slice(1),
  );
  expect(left).toEqual([
    ['Feature 95', '1.75', '9.9200 N, 102.8900 E', 'AG'],
    ['Feature 96', '2.06', '9.9100 N, 102.9300 E', 'AG'],
    ['Feature 97', '1.22', '9.0000 N, 118.5000 E', 'KH'],
  ]);
  checkWithinReach(partition, writeIndexFile(partition, 'none'), readFileSync(REACH_FILE));
  expect(report).toMatch(/98 features, \d+ vertices/);
  expect(report).toMatch(/^HN +33\d\d\.\d +3359\.8 +33\d\d\.\d +3364\.7 /m);
  expect(report).toMatch(/moved, of 0\.05 km² and more: \d+\.\d km²/);
});

test('a file in which a province has no area left is refused', () => {
  const list = features().filter(({ properties }) => properties.ma !== 'CB');
  write([...list, feature('CB', square(102.89, 9.92, 0.01))]);
  const options = {
    path,
    codeProperty: 'ma',
    toleranceM: 500,
    mend: true,
    notice: 'x',
    name: 'x',
    date: 'x',
  };
  expect(faultsOf(() => buildUserMap(options))).toMatch(/left out: .*CB.*\nNothing is left of CB\.$/);
});

// `--measure`: shares of right provinces by distance, for polygons whose errors are known and for positions.

describe('--measure', () => {
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
    const { bands } = measure(kernel, {
      ...options,
      points: 20_000,
      path: polygons('moved.geojson', 0.0028),
    });
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
    const { bands, outside, hasTruth } = measure(kernel, {
      ...options,
      path: 'land',
      codeProperty: undefined,
    });
    expect(hasTruth).toBe(false);
    expect(bands.reduce((sum, { positions }) => sum + positions, outside)).toBe(4000);
    expect(outside).toBeLessThan(100);
  });

  test('files that cannot be used', () => {
    const path = write('bad.csv', 'lat,lng,tinh\nx,105,HN\n21,105,Paris\n');
    expect(() => measure(kernel, { ...options, path, codeProperty: 'tinh' })).toThrow(
      'Row 2: lat x and lng 105 are not a position in degrees.\nRow 3: tinh "Paris" is neither code nor name of a province.',
    );
    expect(() => measure(kernel, { ...options, path: write('none.csv', 'lat,lng\n') })).toThrow(
      'has no rows',
    );
    expect(() => measure(kernel, { ...options, path: 'x.geojson', codeProperty: undefined })).toThrow(
      'Polygons need --code-property NAME',
    );
  });
});
