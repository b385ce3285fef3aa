// The fast paths of the kernel against H3: cells of positions, and centres of cells.
import { readFileSync } from 'node:fs';
import { cellToBoundary, cellToLatLng, latLngToCell } from 'h3-js';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, type KernelExports } from '#hexcodes';
import { type Build, openKernel, randomFrom } from '../../support/open-world.js';
import { bareKernel, putIndex } from '../../support/region/made-partitions.js';
import { shippedKernel } from '../../support/shipped.js';

// Tests of the fast path share this: the exports of the open world's kernel, and points beside cell edges.

/** Every position of the domain is in a province, and every admin code is allowed everywhere. */
function fastKernel(build: Build = 'kernel'): KernelExports {
  return openKernel(build).exports;
}

type Position = readonly [latDeg: number, lngDeg: number];

type Vector = [number, number, number];
const RAD = Math.PI / 180;
const EARTH_METRES = 6_371_007;

function vectorOf([latDeg, lngDeg]: Position): Vector {
  const parallel = Math.cos(latDeg * RAD);
  return [parallel * Math.cos(lngDeg * RAD), parallel * Math.sin(lngDeg * RAD), Math.sin(latDeg * RAD)];
}

function positionOf([x, y, z]: Vector): Position {
  return [Math.atan2(z, Math.hypot(x, y)) / RAD, Math.atan2(y, x) / RAD];
}

/** A point on a random edge of the position's cell, moved across it by 0.01 nm to 1 mm, either way. */
function besideEdge(position: Position, resolution: number, next: () => number): Position {
  const corners = cellToBoundary(latLngToCell(position[0], position[1], resolution));
  const at = Math.floor(next() * corners.length);
  const from = vectorOf(corners[at] as Position);
  const to = vectorOf(corners[(at + 1) % corners.length] as Position);
  const along = next();
  const metres = 10 ** (8 * next() - 11) * (next() < 0.5 ? 1 : -1);
  const across: Vector = [
    from[1] * to[2] - from[2] * to[1],
    from[2] * to[0] - from[0] * to[2],
    from[0] * to[1] - from[1] * to[0],
  ];
  const scale = metres / EARTH_METRES / Math.hypot(...across);
  return positionOf(
    [0, 1, 2].map((k) => from[k]! + along * (to[k]! - from[k]!) + scale * across[k]!) as Vector,
  );
}

// The fast path (assembly/face5) against the careful path, which is the definition: the same cell for every point, at
// every resolution, near and far from cell edges, the edge of the fast path's box and the border of the face.
describe('encode', () => {
  const SEED = 20250701;
  const BATCH = 4096;

  /** Cells by the batch call; null where a point failed. */
  function cellsOf(
    kernel: KernelExports,
    points: readonly Position[],
    resolution: number,
  ): (bigint | null)[] {
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
    expect(compare(128, (next) => (next() < 0.75 ? inBox(next) : around(next)))).toBeGreaterThan(120 * BATCH);
  });

  test('points 0.01 nm to 1 mm beside a cell edge', () => {
    expect(compare(32, (next, resolution) => besideEdge(inBox(next), resolution, next))).toBeGreaterThan(
      28 * BATCH,
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

  test("records of both builds are equal bytes, and equal pack's", () => {
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
    const corners = shippedKernel().arcs.flatMap(({ vertices }) => Array.from(vertices));
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
});

// Batches of records against one text at a time (the careful reader) and h3-js: the same answer for canonical texts,
// for every other spelling of them and for wrong ones, in both builds, bit for bit.
describe('decode', () => {
  const SEED = 20250702;
  const BATCH = 4096;
  const RECORD_BYTES = 20;

  interface Answers {
    readonly positions: Float64Array;
    readonly resolutions: Uint8Array;
    readonly statuses: Uint8Array;
  }

  function decode(kernel: KernelExports, records: Uint8Array): Answers {
    const count = records.length / RECORD_BYTES;
    const { buffer } = kernel.memory;
    new Uint8Array(buffer).set(records, kernel.INPUT.value);
    const output = kernel.OUTPUT.value;
    const failed = kernel.decodeBatch(count);
    const statuses = new Uint8Array(buffer, output + 17 * count, count).slice();
    expect(statuses.filter((status) => status !== 0).length).toBe(failed);
    return {
      positions: new Float64Array(buffer.slice(output, output + 16 * count)),
      resolutions: new Uint8Array(buffer, output + 16 * count, count).slice(),
      statuses,
    };
  }

  /** The careful reader's answer to a record: its text is 19 bytes, up to the first NUL. */
  function readOne(kernel: KernelExports, record: Uint8Array) {
    const text = Array.from(record.subarray(0, RECORD_BYTES - 1));
    const end = text.indexOf(0);
    const units = end < 0 ? text : text.slice(0, end);
    // bytes beyond ASCII are not characters of a record
    const ascii = units.every((byte) => byte < 128);
    const { buffer } = kernel.memory;
    new Uint16Array(buffer, kernel.TEXT_IN.value, 64).set(units);
    const status = ascii ? kernel.readText(units.length) : 3;
    const [latDeg, lngDeg] = new Float64Array(buffer, kernel.OUTPUT.value, 2);
    if (status !== 0) return { status, resolution: 255, latDeg: Number.NaN, lngDeg: Number.NaN };
    const resolution = new Uint8Array(buffer, kernel.OUTPUT.value + 24, 1)[0];
    return { status, resolution, latDeg, lngDeg };
  }

  /** Compares the answers to a batch of records with those of the careful reader. */
  function expectSame(kernel: KernelExports, records: Uint8Array): void {
    const { positions, resolutions, statuses } = decode(kernel, records);
    const found: string[] = [];
    statuses.forEach((status, n) => {
      const record = records.slice(RECORD_BYTES * n, RECORD_BYTES * n + RECORD_BYTES);
      const one = readOne(kernel, record);
      const same =
        one.status === status &&
        one.resolution === resolutions[n] &&
        Object.is(one.latDeg, positions[2 * n]) &&
        Object.is(one.lngDeg, positions[2 * n + 1]);
      if (!same)
        found.push(
          `${Buffer.from(record).toString('latin1')}: ${status} ${resolutions[n]} ≠ ${JSON.stringify(one)}`,
        );
    });
    expect(found, `seed ${SEED}`).toEqual([]);
  }

  /**
   * Records of random points of the domain. The index of the tests covers all of it; points without a code give
   * failed records.
   */
  function randomRecords(kernel: KernelExports, resolution: number, next: () => number): Uint8Array {
    const points = Array.from({ length: BATCH }, (): Position => [5 + 20 * next(), 100 + 19 * next()]);
    new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * BATCH).set(points.flat());
    kernel.encodeBatch(BATCH, resolution);
    const output = kernel.OUTPUT.value;
    return new Uint8Array(kernel.memory.buffer, output, RECORD_BYTES * BATCH).slice();
  }

  test('canonical texts of every resolution, in and around the box', () => {
    const kernel = fastKernel();
    const next = randomFrom(SEED);
    for (let round = 0; round < 32; round++) expectSame(kernel, randomRecords(kernel, round % 16, next));
  });

  test('damaged texts: every byte of a record may be any other', () => {
    const kernel = fastKernel();
    const next = randomFrom(SEED);
    const alphabet = '23456789CFGHJKMPQRVX-ABDEILNOSTUWYZ01 .\0acz\x7f\x80\xff';
    for (let round = 0; round < 32; round++) {
      const records = randomRecords(kernel, round % 16, next);
      for (let n = 0; n < BATCH; n++) {
        for (let spoils = Math.floor(3 * next()); spoils >= 0; spoils--) {
          const at = RECORD_BYTES * n + Math.floor(RECORD_BYTES * next());
          const choice = next();
          if (choice < 0.9) records[at] = alphabet.charCodeAt(Math.floor(alphabet.length * next()));
          else records.copyWithin(at, at + 1, RECORD_BYTES * (n + 1));
        }
      }
      expectSame(kernel, records);
    }
  });

  test('made-up payloads, each with all twenty checks', () => {
    const kernel = fastKernel();
    const next = randomFrom(SEED);
    const symbols = '23456789CFGHJKMPQRVX';
    // reserved heads, pair value 0, short pairs before the last and full fifth pairs come up often
    const pairs = ['22', '24', '2C', '5K', '58', '83', 'XX', 'XV', '23'];
    const symbol = () => symbols[Math.floor(20 * next())]!;
    for (let round = 0; round < 32; round++) {
      const texts: string[] = [];
      while (texts.length + 20 <= BATCH) {
        const count = Math.floor(6 * next());
        const draw = () => (next() < 0.5 ? pairs[Math.floor(pairs.length * next())]! : symbol() + symbol());
        const payload = symbol() + Array.from({ length: count }, draw).join('');
        const admin = ADMIN_UNITS[Math.floor(34 * next())]!.code;
        for (const check of symbols) {
          const whole = payload + check;
          texts.push(
            [admin, whole.slice(0, 5), whole.slice(5, 10), whole.slice(10)].filter(Boolean).join('-'),
          );
        }
      }
      expectSame(
        kernel,
        Buffer.from(texts.map((text) => text.padEnd(RECORD_BYTES, '\0')).join(''), 'latin1'),
      );
    }
  });

  test('odd counts, both builds', () => {
    const [release, debug] = [fastKernel('kernel'), fastKernel('kernel.debug')];
    const next = randomFrom(SEED);
    for (const count of [1, 2, 3, 255, 256, 257, 511, 513, 1023, BATCH]) {
      const records = randomRecords(release, count % 16, next).subarray(0, RECORD_BYTES * count);
      const [a, b] = [decode(release, records), decode(debug, records)];
      expect(a).toEqual(b);
      expectSame(release, records);
    }
  });

  test("centres lie within 1e-9 degrees of h3-js's", () => {
    const kernel = fastKernel();
    const next = randomFrom(SEED);
    let farthest = 0;
    for (let resolution = 0; resolution < 16; resolution++) {
      for (let n = 0; n < 2000; n++) {
        const cell = BigInt.asUintN(64, kernel.cellOf(5 + 20 * next(), 100 + 19 * next(), resolution));
        if (kernel.centerOf(cell) !== 0) continue;
        const [latDeg, lngDeg] = new Float64Array(kernel.memory.buffer, kernel.OUTPUT.value, 2);
        const [h3Lat, h3Lng] = cellToLatLng(cell.toString(16));
        farthest = Math.max(farthest, Math.abs(latDeg! - h3Lat), Math.abs(lngDeg! - h3Lng));
      }
    }
    expect(farthest).toBeLessThan(1e-9);
  });
});
