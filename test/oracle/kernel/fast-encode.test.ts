// The fast path (assembly/face5) against the careful path, which is the definition: the same cell for every point, at
// every resolution, near and far from cell edges, the edge of the fast path's box and the border of the face.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readIndexArcs } from '#dist/hexcodes/kernel/index-file.js';
import type { KernelExports } from '#hexcodes';
import { besideEdge, fastKernel, type Position } from '../../support/face5.js';
import { randomFrom } from '../../support/open-world.js';
import { bareKernel, putIndex } from '../../support/region/bare-kernel.js';

const SEED = 20250701;
const BATCH = 4096;

/** Cells by the batch call; null where a point failed. */
function cellsOf(kernel: KernelExports, points: readonly Position[], resolution: number): (bigint | null)[] {
  new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * points.length).set(points.flat());
  kernel.encodeCells(points.length, resolution);
  const output = kernel.OUTPUT.value;
  const cells = new BigUint64Array(kernel.memory.buffer, output, points.length);
  const statuses = new Uint8Array(kernel.memory.buffer, output + 9 * points.length, points.length);
  return Array.from(cells, (cell, n) => (statuses[n] === 0 ? cell : null));
}

/** The cell by the careful path; null where the cell has no code. */
function carefulCell(kernel: KernelExports, [latDeg, lngDeg]: Position, resolution: number): bigint | null {
  const cell = BigInt.asUintN(64, kernel.cellOf(latDeg, lngDeg, resolution));
  return kernel.pack(cell, 0) === 0 ? cell : null;
}

/** The differences between the two paths, as text; and how many points have a code. */
function differences(kernel: KernelExports, points: readonly Position[], resolution: number) {
  const found: string[] = [];
  let coded = 0;
  cellsOf(kernel, points, resolution).forEach((cell, n) => {
    const careful = carefulCell(kernel, points[n]!, resolution);
    if (cell !== careful) found.push(`${points[n]} @${resolution}: ${cell} ≠ ${careful}`);
    if (cell !== null) coded++;
  });
  return { found, coded };
}

/** Batches of points at every resolution; expects no difference and returns how many points have a code. */
function compare(batches: number, draw: (next: () => number, resolution: number) => Position): number {
  const kernel = fastKernel();
  const next = randomFrom(SEED);
  let total = 0;
  for (let batch = 0; batch < batches; batch++) {
    const resolution = batch % 16;
    const points = Array.from({ length: BATCH }, () => draw(next, resolution));
    const { found, coded } = differences(kernel, points, resolution);
    expect(found, `seed ${SEED}`).toEqual([]);
    total += coded;
  }
  return total;
}

const inBox = (next: () => number): Position => [6 + 18 * next(), 101.5 + 15.25 * next()];

test('random points', () => {
  const around = (next: () => number): Position => [5 + 20 * next(), 100 + 19 * next()];
  expect(compare(512, (next) => (next() < 0.75 ? inBox(next) : around(next)))).toBeGreaterThan(480 * BATCH);
});

test('points 0.01 nm to 1 mm beside a cell edge', () => {
  expect(compare(96, (next, resolution) => besideEdge(inBox(next), resolution, next))).toBeGreaterThan(
    85 * BATCH,
  );
});

test('the sea at the border of faces 5 and 10 and at the edge of the box', () => {
  const draw = (next: () => number): Position =>
    next() < 0.5
      ? [6 + 16 * next(), 116.74 + 1.26 * next()]
      : [6 + 16 * next(), 116.75 + 1e-9 * (next() - 0.5)];
  expect(compare(32, draw)).toBeGreaterThan(30 * BATCH);
});

test('a batch of mixed resolutions, odd counts, and one point', () => {
  const kernel = fastKernel();
  const next = randomFrom(SEED);
  for (const count of [1, 2, 3, 5, 511, 512, 513, 1023, BATCH]) {
    const points = Array.from({ length: count }, () => inBox(next));
    const resolutions = Array.from({ length: count }, () => Math.floor(16 * next() ** 2));
    new Uint8Array(kernel.memory.buffer, kernel.RESOLUTIONS.value, count).set(resolutions);
    cellsOf(kernel, points, 255).forEach((cell, n) => {
      expect(cell).toBe(carefulCell(kernel, points[n]!, resolutions[n]!));
    });
  }
});

test('points that are none, are outside or have an impossible resolution, among good ones', () => {
  const kernel = fastKernel();
  const good: Position = [21.0288, 105.8525];
  const rows: [Position, number][] = [
    [good, 0],
    [[Number.NaN, 105], 2],
    [[21, Number.POSITIVE_INFINITY], 2],
    [[90.001, 105], 2],
    [good, 0],
    [[48.2, 16.4], 1],
    [[21, 1e300], 2],
    [[-90, 180], 1],
    [good, 0],
  ];
  const input = new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * rows.length);
  input.set(rows.flatMap(([point]) => point));
  const records = new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, 20 * rows.length);
  expect(kernel.encodeBatch(rows.length, 13)).toBe(6);
  rows.forEach(([[latDeg, lngDeg], status], n) => {
    const record = Array.from(records.subarray(20 * n, 20 * n + 20));
    expect(record[19]).toBe(status);
    if (status !== 0) expect(record.slice(0, 19).every((byte) => byte === 0)).toBe(true);
    else expect(Buffer.from(record.slice(0, 14)).toString()).toMatch(/^[A-Z]{2,3}-6GHP4-83RF?/);
    expect(kernelOne(latDeg, lngDeg, 13)).toBe(status);
  });
  for (const resolution of [16, 254]) expect(kernel.encodeBatch(rows.length, resolution)).toBe(rows.length);
  expect(kernelOne(...good, 16)).toBe(2);

  function kernelOne(latDeg: number, lngDeg: number, resolution: number): number {
    const other = fastKernel();
    return other.encodeOne(latDeg, lngDeg, resolution);
  }
});

test('records of both builds are the same bytes, and those of pack', () => {
  const [release, debug] = [fastKernel('kernel'), fastKernel('kernel.debug')];
  const next = randomFrom(SEED);
  for (let resolution = 0; resolution < 16; resolution++) {
    const points = Array.from({ length: BATCH }, () => inBox(next));
    const cells = cellsOf(release, points, resolution);
    const [records, same] = [release, debug].map((kernel) => {
      new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * BATCH).set(points.flat());
      kernel.encodeBatch(BATCH, resolution);
      return new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, 20 * BATCH).slice();
    });
    expect(Buffer.compare(records!, same!)).toBe(0);
    const packed = new Uint8Array(release.memory.buffer, release.OUTPUT.value, 20);
    for (let n = 0; n < BATCH; n += 16) {
      const cell = cells[n] ?? null;
      if (cell === null) continue;
      release.pack(cell, release.regionOf(...points[n]!));
      expect(Buffer.from(records!.subarray(20 * n, 20 * n + 20))).toEqual(Buffer.from(packed));
    }
  }
});

test('containment by blocks is containment one by one, on the shipped map', () => {
  const kernel = bareKernel();
  putIndex(kernel, readFileSync('data/index.bin'));
  const next = randomFrom(SEED);
  const corners = readIndexArcs(readFileSync('data/index.bin')).flatMap(({ vertices }) =>
    Array.from(vertices),
  );
  const strange = [Number.NaN, Number.POSITIVE_INFINITY, -1e300, 4294.967296, 1e10, 90, -180];
  const draw = (): Position => {
    const choice = next();
    if (choice < 0.3) return inBox(next);
    if (choice < 0.35)
      return [strange[Math.floor(7 * next())]!, next() < 0.5 ? 105 : strange[Math.floor(7 * next())]!];
    const at = 2 * Math.floor((corners.length / 2) * next());
    const near = () => Math.round(3 * (next() - 0.5)) + (next() - 0.5);
    return [(corners[at + 1]! + near()) / 1e6, (corners[at]! + near()) / 1e6];
  };
  for (const count of [1, 2, 3, 4, 5, 511, 513, ...Array.from({ length: 40 }, () => BATCH)]) {
    const points = Array.from({ length: count }, draw);
    new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * count).set(points.flat());
    kernel.locateBatch(count);
    const admins = new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, count);
    const wrong = points.filter((point, n) => kernel.regionOf(...point) !== admins[n]);
    expect(wrong, `seed ${SEED}`).toEqual([]);
  }
});

test('without an index every point is outside', () => {
  const kernel = bareKernel();
  kernel.locateBatch(5);
  expect(Array.from(new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, 5))).toEqual(
    Array(5).fill(255),
  );
});

test('the quotient by 49 in f32 is exact for every lattice coordinate', () => {
  const [seventhSquare, less, rounder] = [Math.fround(1 / 49), Math.fround(24 / 49), 12582912];
  let wrong = 0;
  // 24 rows of the window, 7⁶ to each
  for (let n = 0; n < 24 * 117649; n++) {
    const q = Math.fround(Math.fround(Math.fround(n * seventhSquare) - less) + rounder) - rounder;
    if (q !== Math.floor(n / 49)) wrong++;
  }
  expect(wrong).toBe(0);
});
