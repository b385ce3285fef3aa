// H3 equality: 300,000 seeded points, all cells of resolutions 0-6, points beside edges and beside the border of the
// two faces. The large twin is `npm run proof -- h3`.

import { cellToChildren, cellToLatLng, latLngToCell } from 'h3-js';
import { expect, test } from 'vitest';
import {
  compareWithH3,
  type Difference,
  DOMAIN,
  differenceLine,
  EDGE_TOLERANCE_M,
  faceBorderLngDeg,
  pointsByEdges,
  pointsByFaceBorder,
  uniformPoints,
} from '../../support/h3-comparison.js';
import { openKernel, randomFrom } from '../../support/open-world.js';

const SEED = 20_261_121;

const kernel = openKernel();

/**
 * Whether the code format has a head for the cell, by base cell and first digit, which is 7 for resolution 0
 * (docs/code-format.md).
 */
function hasHead(cell: string): boolean {
  const index = BigInt(`0x${cell}`);
  const base = Number((index >> 45n) & 127n);
  const digit = Number((index >> 42n) & 7n);
  const digits: Record<number, number[]> = {
    32: [7, 0, 1, 4, 5, 6],
    50: [7, 0, 2, 4, 6],
    52: [7, 0, 4, 5, 6],
  };
  return digits[base]?.includes(digit) ?? false;
}

function expectLegitimate(seed: number, differences: Difference[]): void {
  const wrong = differences.filter((d) => !(d.edgeDistanceM <= EDGE_TOLERANCE_M));
  expect(wrong.map(differenceLine), `seed ${seed}`).toEqual([]);
}

test('300,000 points of the domain', () => {
  expectLegitimate(SEED, compareWithH3(kernel, uniformPoints(randomFrom(SEED)), 300_000));
});

test('50,000 points 0.01 nm to 1 mm beside edges of cells', () => {
  expectLegitimate(SEED, compareWithH3(kernel, pointsByEdges(randomFrom(SEED)), 50_000));
});

test('50,000 points 0.01 nm to 1 mm beside the border of faces 5 and 10', () => {
  expect(faceBorderLngDeg(10)).toBeGreaterThan(DOMAIN.west);
  expect(faceBorderLngDeg(6)).toBeLessThan(DOMAIN.east);
  expectLegitimate(SEED, compareWithH3(kernel, pointsByFaceBorder(randomFrom(SEED)), 50_000));
});

test('the comparison can fail: a point that is 1 m off gives differences', () => {
  const shifted = {
    ...kernel,
    exports: {
      ...kernel.exports,
      encodeCells: (count: number, resolution: number) => {
        for (let n = 0; n < count; n++) kernel.input[2 * n] = (kernel.input[2 * n] as number) + 1e-5;
        const failed = kernel.exports.encodeCells(count, resolution);
        for (let n = 0; n < count; n++) kernel.input[2 * n] = (kernel.input[2 * n] as number) - 1e-5;
        return failed;
      },
    },
  } as unknown as typeof kernel;
  const differences = compareWithH3(shifted, uniformPoints(randomFrom(SEED)), 4096);
  expect(differences.some((d) => d.edgeDistanceM > EDGE_TOLERANCE_M)).toBe(true);
});

test('all cells of resolutions 0-6: the centre is that of h3-js, and centre to cell is the identity', () => {
  const { exports, outputFloats } = kernel;
  const wrong: string[] = [];
  let inDomain = 0;
  let level = [32, 37, 50, 52].map((base) => (0x8001fffffffffffn | (BigInt(base) << 45n)).toString(16));
  for (let resolution = 0; resolution <= 6; resolution++) {
    if (resolution > 0) level = level.flatMap((cell) => cellToChildren(cell, resolution));
    expect(level.length).toBe(4 * 7 ** resolution);
    for (const cell of level) {
      const [lat, lng] = cellToLatLng(cell);
      const status = exports.centerOf(BigInt(`0x${cell}`));
      const [ourLat, ourLng] = outputFloats as unknown as [number, number];
      if (status !== 0) {
        // beyond faces 5 and 10: far from the domain, and under no head of the code format
        if ((lat < 27 && lng < 121) || hasHead(cell))
          wrong.push(`${cell}: no centre, instead of ${lat}, ${lng}`);
        continue;
      }
      if (!(Math.abs(ourLat - lat) < 1e-12 && Math.abs(ourLng - lng) < 1e-12))
        wrong.push(`${cell}: centre ${ourLat}, ${ourLng} instead of ${lat}, ${lng}`);
      const { south, north, west, east } = DOMAIN;
      if (ourLat < south || ourLat > north || ourLng < west || ourLng > east) continue;
      inDomain++;
      const back = exports.cellOf(ourLat, ourLng, resolution).toString(16);
      if (back !== cell) wrong.push(`${cell}: its centre lies in ${back}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(inDomain).toBeGreaterThan(100_000);
});

test('100,000 random cells of all resolutions: centres are those of h3-js, and lie in their cells', () => {
  const random = randomFrom(SEED);
  const wrong: string[] = [];
  const put = (latDeg: number, lngDeg: number, resolution: number) => {
    const cell = latLngToCell(latDeg, lngDeg, resolution);
    const [lat, lng] = cellToLatLng(cell);
    const status = kernel.exports.centerOf(BigInt(`0x${cell}`));
    const [ourLat, ourLng] = kernel.outputFloats as unknown as [number, number];
    if (status !== 0 || !(Math.abs(ourLat - lat) < 1e-12 && Math.abs(ourLng - lng) < 1e-12)) wrong.push(cell);
    // a coarse cell's centre may lie outside the domain
    const { south, north, west, east } = DOMAIN;
    if (ourLat < south || ourLat > north || ourLng < west || ourLng > east) return;
    if (kernel.exports.cellOf(ourLat, ourLng, resolution).toString(16) !== cell)
      wrong.push(`${cell}, from its centre`);
  };
  const source = uniformPoints(random);
  for (let n = 0; n < 100_000; n++) source(n, put);
  expect(wrong, `seed ${SEED}`).toEqual([]);
});
