// former_province at random points of all 63 units, against the polygons that the boundaries are drawn from. Lines of
// the map may lie up to 80 m from those of the source (data/README.md), so points nearer than that to a line of the
// source are left out. Along the land border the polygons reach into land that the other source gives to the neighbour:
// there no unit is right, too.
import { expect, test } from 'vitest';
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
