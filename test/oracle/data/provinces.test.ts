// Provinces against sources that do not ship with the index. First former_province at random points of all 63 units,
// against the polygons that the boundaries are drawn from. Lines of the map may lie up to 80 m from those of the
// source (data/README.md), so points nearer than that to a line of the source are left out. Along the land border the
// polygons reach into land that the other source gives to the neighbour: there no unit is right, too.

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { FORMER_PROVINCES } from '../../../data/map/partition.js';
import { STEPS_PER_DEGREE } from '../../../data/map/plane/grid.js';
import { LineField } from '../../../data/map/plane/line-field.js';
import { readLand, readUnits } from '../../../data/map/sources.js';
import { randomFrom } from '../../support/open-world.js';
import { shippedKernel } from '../../support/shipped.js';

const SEED = 20261122;
const POINTS = 300;
const MARGIN_M = 100;

/** Whether a ray to the east crosses the ring an odd number of times. */
function isInside(ring: ArrayLike<number>, x: number, y: number): boolean {
  let inside = false;
  for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
    const [x0, y0, x1, y1] = [ring[j]!, ring[j + 1]!, ring[i]!, ring[i + 1]!];
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) * (x1 - x0)) / (y1 - y0)) inside = !inside;
  }
  return inside;
}

test(`${POINTS} points of each of the 63 units have its name`, () => {
  const library = new Hexcodes(shippedKernel());
  const polygons = readUnits();
  const lines = LineField.ofRings(polygons.map(({ unit, ring }) => ({ tag: unit, ring })));
  const land = readLand().flatMap(({ country, ring }) => (country === 'VNM' ? [ring] : []));
  const random = randomFrom(SEED);
  const wrong: string[] = [];
  FORMER_PROVINCES.forEach(({ name }, unit) => {
    const rings = polygons.filter((polygon) => polygon.unit === unit).map(({ ring }) => ring);
    const xs = rings.flatMap((ring) => [...ring].filter((_, i) => i % 2 === 0));
    const ys = rings.flatMap((ring) => [...ring].filter((_, i) => i % 2 === 1));
    const [west, east] = [Math.min(...xs), Math.max(...xs)];
    const [south, north] = [Math.min(...ys), Math.max(...ys)];
    for (let found = 0; found < POINTS; ) {
      const x = west + random() * (east - west);
      const y = south + random() * (north - south);
      if (!rings.some((ring) => isInside(ring, x, y)) || lines.nearest(x, y, MARGIN_M) !== null) continue;
      found++;
      const [lat, lng] = [y / STEPS_PER_DEGREE, x / STEPS_PER_DEGREE];
      const seen = library.formerProvinceOf(lat, lng);
      const isAbroad = seen === null && !land.some((ring) => isInside(ring, x, y));
      if (seen !== name && !isAbroad) wrong.push(`${lat}, ${lng}: ${seen}, not ${name}`);
    }
  });
  expect(wrong, `seed ${SEED}`).toEqual([]);
});

// The shares that the shipped index promises, against a truth: positions on land with the code of their province by
// ward polygons of 2025, drawn evenly within bands of distance. The file does not ship; HEXCODES_TRUTH is its path.

const path = process.env.HEXCODES_TRUTH ?? '';

/** The most that promise and count may differ, in standard errors. */
const MAX_ERRORS = 3;

/** A row of the table: land, province, province of its codes, latitudes, longitudes, positions, distance. */
const AREA_ROW =
  /^\|[^|]+\| ([A-Z]{2,3}) \| ([A-Z]{2,3}) \| ([\d.]+ to [\d.]+) \| ([\d.]+ to [\d.]+) \| (\d+) \|/gm;

const isIn = ([from, to]: [number, number], value: number): boolean => value >= from && value <= to;

describe.skipIf(!existsSync(path))('(not on a machine without HEXCODES_TRUTH)', () => {
  test('each band promises what the even rows show; the odd ones were fitted', async () => {
    const library = await Hexcodes.load();
    const { bands } = library.kernel;
    const counts = bands.map(() => ({ positions: 0, right: 0 }));
    const [header, ...rows] = readFileSync(path, 'utf8').trim().split('\n');
    expect(header).toBe('lat,lng,code');
    for (const [i, row] of rows.entries()) {
      if (i % 2 === 0) continue;
      const [lat, lng, code] = row.split(',');
      const border = library.borderOf(Number(lat), Number(lng));
      // Positions without a code have no certainty.
      if (border === null) continue;
      const metres = border.border_m ?? Number.POSITIVE_INFINITY;
      const at = bands.findIndex(({ belowM }) => metres < belowM);
      const count = counts.at(at)!;
      count.positions++;
      if (library.adminCodeOf(Number(lat), Number(lng)) === code) count.right++;
    }
    const wrong = bands.flatMap(({ belowM, share }, n) => {
      const { positions, right } = counts[n]!;
      expect(positions, `below ${belowM} m`).toBeGreaterThan(1000);
      // Both halves are samples of the same size.
      const error = Math.sqrt((2 * share * (1 - share)) / positions);
      const found = right / positions;
      return Math.abs(found - share) > MAX_ERRORS * error ? [{ belowM, share, found, positions }] : [];
    });
    expect(wrong).toEqual([]);
  });

  test('positions more than 2 km on the wrong side are listed in docs/accuracy.md', async () => {
    const library = await Hexcodes.load();
    const range = (text: string): [number, number] => text.split(' to ').map(Number) as [number, number];
    const listed = [...readFileSync('docs/accuracy.md', 'utf8').matchAll(AREA_ROW)].map(
      ([, right, said, lats, lngs, count]) => {
        return { right, said, lats: range(lats!), lngs: range(lngs!), wanted: Number(count), positions: 0 };
      },
    );
    expect(listed.length).toBeGreaterThan(0);
    const others: string[] = [];
    for (const row of readFileSync(path, 'utf8').trim().split('\n').slice(1)) {
      const [lat, lng, code] = row.split(',') as [string, string, string];
      const border = library.borderOf(Number(lat), Number(lng));
      const said = library.adminCodeOf(Number(lat), Number(lng));
      if (border === null || said === code || (border.border_m ?? 5000) < 2000) continue;
      const area = listed.find(
        ({ right, said: wrong, lats, lngs }) =>
          right === code && wrong === said && isIn(lats, Number(lat)) && isIn(lngs, Number(lng)),
      );
      if (area === undefined) others.push(`${row}, said ${said}`);
      else area.positions++;
    }
    expect(others).toEqual([]);
    expect(listed.map(({ positions }) => positions)).toEqual(listed.map(({ wanted }) => wanted));
  });
});
