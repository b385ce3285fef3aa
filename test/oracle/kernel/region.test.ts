// The province of a position: made maps, the shipped map, its places and rings, its reach, and maps that are damaged.
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes, type KernelExports } from '#hexcodes';
import { writeIndexFile } from '../../../data/map/index-file.js';
import type { Partition } from '../../../data/map/partition.js';
import { type Random, randomFrom } from '../../support/random.js';
import {
  BatchWitness,
  bareKernel,
  CELL_AND_STEP,
  fieldsPartition,
  putIndex,
  retold,
  SOUTH,
  tanglePartition,
  unitAtMicro,
  WEST,
} from '../../support/region/made-partitions.js';
import {
  CheckedMap,
  checkCodes,
  INDEX_FILE,
  partitionOf,
  placesAlong,
  shippedIndex,
} from '../../support/region/map-checks.js';
import { shippedKernel } from '../../support/shipped.js';
import { rowsOf } from '../../support/vectors.js';

// The definition of a point's unit, taken literally: a segment counts when (y0 > y) ≠ (y1 > y) and
// it lies strictly east of the point; nothing is skipped and nothing is indexed.

/** Unit at whole micro-degrees by the sum over all segments. */
function unitByDefinition({ segments, left, right }: Partition, x: number, y: number): number {
  let unit = 63;
  for (let i = 0; i < left.length; ++i) {
    const x0 = segments[4 * i]!;
    const y0 = segments[4 * i + 1]!;
    const x1 = segments[4 * i + 2]!;
    const y1 = segments[4 * i + 3]!;
    if (y0 > y === y1 > y) continue;
    // Side of the point by a cross product of differences below 2^26: exact in a double.
    const cross = (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0);
    if (y1 > y0 ? cross > 0 : cross < 0) unit ^= left[i]! ^ right[i]!;
  }
  return unit;
}

// The kernel's grid against the definition (the sum over all segments), on maps that are made to be difficult:
// corners and level sides on the edges of cells, long slanting sides, islands within a cell, tangles.
describe('made maps', () => {
  const SEED = 20261121;

  /**
   * Places where an index is most likely to be wrong: beside vertices and middles of segments, on edges of cells; and
   * any place.
   */
  function* delicatePlaces(partition: Partition, random: Random, each: number): Generator<[number, number]> {
    const { segments } = partition;
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < segments.length; i += 2) {
      west = Math.min(west, segments[i]!);
      east = Math.max(east, segments[i]!);
      south = Math.min(south, segments[i + 1]!);
      north = Math.max(north, segments[i + 1]!);
    }
    const segmentCount = segments.length / 4;
    for (let n = 0; n < each; ++n) {
      const i = 4 * Math.floor(random() * segmentCount);
      const part = [0, 1, 0.5, random()][n % 4]!;
      const x = Math.round(segments[i]! + part * (segments[i + 2]! - segments[i]!));
      const y = Math.round(segments[i + 1]! + part * (segments[i + 3]! - segments[i + 1]!));
      yield [x + Math.floor(random() * 3) - 1, y + Math.floor(random() * 3) - 1];
      // Cells are counted from the south-east corner.
      const edgeX = east - 16384 * Math.floor(random() * ((east - west) / 16384 + 2));
      const edgeY = south + 16384 * Math.floor(random() * ((north - south) / 16384 + 2));
      yield [edgeX + Math.floor(random() * 3) - 1, y + Math.floor(random() * 3) - 1];
      yield [x + Math.floor(random() * 3) - 1, edgeY + Math.floor(random() * 3) - 1];
      yield [edgeX + Math.floor(random() * 3) - 1, edgeY + Math.floor(random() * 3) - 1];
      yield [
        Math.floor(west - 100 + random() * (east - west + 200)),
        Math.floor(south - 100 + random() * (north - south + 200)),
      ];
    }
  }

  function expectDefinition(kernel: KernelExports, partition: Partition, random: Random, each: number): void {
    expect(putIndex(kernel, writeIndexFile(partition, 'none'))).toBe(0);
    const batch = new BatchWitness(kernel);
    for (const [x, y] of delicatePlaces(partition, random, each)) {
      const unit = unitAtMicro(kernel, x, y);
      if (unit !== unitByDefinition(partition, x, y))
        expect.fail(
          `seed ${SEED}: at ${x}, ${y} the kernel says ${unit}, the definition ${unitByDefinition(partition, x, y)}`,
        );
      batch.add(y / 1e6, x / 1e6, unit === 63 ? 255 : unit % 34);
    }
    batch.compare();
  }

  test.each([
    ['fields as large as five cells, corners on cell corners', { jitter: 0 }],
    [
      'fields as large as a cell and less, corners on steps',
      { field: 8_190, columns: 40, rows: 40, jitter: 0 },
    ],
    ['jittered fields', { jitter: 0.45 }],
    ['jittered fields smaller than a cell', { field: 3_000, columns: 60, rows: 60 }],
    ['long fields across many cells', { field: 6 * CELL_AND_STEP, columns: 4, rows: 4, jitter: 0.49 }],
    ['one field', { columns: 1, rows: 1, empty: 0, field: 50 }],
  ])('%s', (_, options) => {
    const random = randomFrom(SEED);
    const kernel = bareKernel();
    for (let round = 0; round < 3; ++round)
      expectDefinition(kernel, fieldsPartition(random, options), random, 2_000);
  });

  test('tangles of crossing loops', () => {
    const random = randomFrom(SEED);
    const kernel = bareKernel();
    for (let round = 0; round < 60; ++round)
      expectDefinition(kernel, tanglePartition(random, { loops: 3 + (round % 20) }), random, 1_000);
  });

  test('the debug build agrees', () => {
    const random = randomFrom(SEED);
    const kernel = bareKernel('kernel.debug');
    expectDefinition(kernel, fieldsPartition(random, {}), random, 1_000);
    for (let round = 0; round < 10; ++round) expectDefinition(kernel, tanglePartition(random), random, 500);
  });

  test('order and direction of segments do not change a byte of the file', () => {
    const random = randomFrom(SEED);
    for (const partition of [fieldsPartition(random, {}), tanglePartition(random, {})]) {
      const bytes = writeIndexFile(partition, 'none');
      for (let round = 0; round < 5; ++round)
        expect(Buffer.compare(writeIndexFile(retold(partition, random), 'none'), bytes)).toBe(0);
    }
  });
});

// The shipped map in the kernel against naive peers: of all regions (and of all former provinces) exactly one winds
// around a point that the kernel gives to one, and none around a point outside.
describe('the shipped map', () => {
  const SEED = 20261125;
  const { file, kernel } = shippedIndex();
  const map = new CheckedMap(file, kernel);

  test('its units are the 63 former provinces, in the order of ADMIN_UNITS', () => {
    expect(map.meta.units).toEqual(
      ADMIN_UNITS.flatMap(({ mergedUnits }, admin) => mergedUnits.map((name) => ({ name, admin }))),
    );
    expect(file.length).toBeLessThanOrEqual(4 * 2 ** 20);
    expect(kernel.gridEnd.value).toBeLessThanOrEqual(8 * 2 ** 20);
    // After the grid is space for distances to borders, which is not touched before somebody asks (border.test.ts).
    expect(kernel.memory.buffer.byteLength).toBeLessThanOrEqual(16 * 2 ** 20);
  });

  test('300,000 points: one region inside, none outside', () => {
    map.checkAnywhere(randomFrom(SEED), 300_000);
  });

  test('on, and one unit beside, every vertex and every middle of a segment', () => {
    expect(map.checkLines()).toBeGreaterThan(300_000);
  });

  test('rows swept from west to east have no gaps and no overlaps', () => {
    const random = randomFrom(SEED);
    for (let row = 0; row < 200; ++row)
      map.checkRow(Math.floor(map.box.south + random() * (map.box.north - map.box.south)));
    // Rows through vertices, where a half-open rule shows.
    for (let row = 0; row < 100; ++row) {
      const { vertices } = map.arcs[Math.floor(random() * map.arcs.length)]!;
      map.checkRow(vertices[1]!);
    }
  });

  test('equal to the sum over all segments, point by point', () => {
    const random = randomFrom(SEED);
    const partition = partitionOf(map);
    for (let i = 0; i < 3_000; ++i) {
      const at = 4 * Math.floor(random() * partition.left.length);
      const spread = 10 ** Math.floor(random() * 6);
      const x = partition.segments[at]! + Math.floor((random() * 2 - 1) * spread);
      const y = partition.segments[at + 1]! + Math.floor((random() * 2 - 1) * spread);
      expect(unitAtMicro(kernel, x, y), `seed ${SEED}, at ${x}, ${y}`).toBe(
        unitByDefinition(partition, x, y),
      );
    }
  });

  test('a position is rounded once, half a unit up', () => {
    // A place just west of a line that runs north: the last micro-degree of one unit beside the first of another.
    const { vertices } = map.arcs.find(({ vertices: [, y0, , y1] }) => Math.abs(y1! - y0!) > 100)!;
    const y = Math.floor((vertices[1]! + vertices[3]!) / 2);
    const crossing =
      vertices[0]! + ((vertices[2]! - vertices[0]!) * (y - vertices[1]!)) / (vertices[3]! - vertices[1]!);
    const west = Math.ceil(crossing) - 1;
    const unitAt = (x: number) => kernel.unitOf(y / 1e6, x / 1e6);
    expect(unitAt(west)).not.toBe(unitAt(west + 1));
    for (const part of [-0.4, 0, 0.4]) {
      expect(unitAt(west + part)).toBe(unitAt(west));
      expect(unitAt(west + 1 + part)).toBe(unitAt(west + 1));
    }
    // Halves that degrees hold exactly are the unit's to the east, and what is just below them the west's.
    const half = (west + 0.5) / 1e6;
    const below = half * (1 - Number.EPSILON);
    expect([half * 1e6, Math.floor(below * 1e6 + 0.5)]).toEqual([west + 0.5, west]);
    expect(kernel.unitOf(y / 1e6, half)).toBe(unitAt(west + 1));
    expect(kernel.unitOf(y / 1e6, below)).toBe(unitAt(west));
  });
});

// Known places and tracks across land borders against the shipped map; each fixture says where its figures are from.
describe('places', () => {
  const { kernel } = shippedIndex();
  const { units } = shippedKernel().meta!;

  const codeAt = (lat: number, lng: number): string => ADMIN_UNITS[kernel.regionOf(lat, lng)]?.code ?? '-';

  test('capitals, islands, airports, ports and border towns lie in their provinces, and nothing abroad in any', () => {
    const places = rowsOf('places');
    const wrong = places.filter(({ lat, lng, admin_code, former_province }) => {
      const former = units[kernel.unitOf(Number(lat), Number(lng))]?.name ?? '-';
      return codeAt(Number(lat), Number(lng)) !== admin_code || former !== former_province;
    });
    expect(wrong).toEqual([]);
    expect(places.filter(({ admin_code }) => admin_code !== '-').length).toBeGreaterThanOrEqual(120);
  });

  test('every former province has its capital among the places', () => {
    const capitals = rowsOf('places').filter(({ kind }) => kind === 'capital');
    expect(capitals.map((row) => row.former_province).sort()).toEqual(
      ADMIN_UNITS.flatMap(({ mergedUnits }) => mergedUnits).sort(),
    );
  });

  test.each(rowsOf('crossings'))('a track through $name leaves its province once, and for good', (row) => {
    const { from_lat, from_lng, to_lat, to_lng, admin_code } = row;
    const [lat, lng, toLat, toLng] = [from_lat, from_lng, to_lat, to_lng].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    // 111,320 m a degree, less for longitude: steps of at most 50 m.
    const steps = Math.ceil(Math.hypot((toLat - lat) * 111_320, (toLng - lng) * 111_320) / 50);
    const visits: { code: string; steps: number }[] = [];
    for (let i = 0; i <= steps; ++i) {
      const code = codeAt(lat + ((toLat - lat) * i) / steps, lng + ((toLng - lng) * i) / steps);
      if (visits.at(-1)?.code === code) visits.at(-1)!.steps += 1;
      else visits.push({ code, steps: 1 });
    }
    expect(visits.map(({ code }) => code)).toEqual([admin_code, '-']);
    // At least a kilometre of it lies abroad.
    expect(visits[1]!.steps).toBeGreaterThan(20);
  });
});

// All borders walked at all 16 resolutions: what can be encoded can be read, so every code is within the frozen
// reach.
const hexcodes = await Hexcodes.load();

describe('the reach', () => {
  const places = placesAlong(shippedKernel().arcs, 1_000);

  test.each(Array.from({ length: 16 }, (_, resolution) => resolution))('resolution %i', (resolution) => {
    expect(checkCodes(hexcodes, places, resolution)).toBeGreaterThan(100_000);
  });

  test('read as text, a code gives the province and the cell of its position', () => {
    const { exports } = hexcodes.kernel;
    for (let i = 0; i < places.length / 2; i += 7) {
      const [lat, lng] = [places[2 * i]!, places[2 * i + 1]!];
      const province = hexcodes.adminCodeOf(lat, lng);
      if (province === null) continue;
      const resolution = i % 16;
      const cell = BigInt.asUintN(64, exports.cellOf(lat, lng, resolution));
      const read = hexcodes.read(hexcodes.encode(lat, lng, resolution).hexcodes);
      if (read?.cell !== cell || read.admin_code !== province || read.resolution !== resolution)
        expect.fail(
          `${lat}, ${lng} at resolution ${resolution}: ${JSON.stringify(read, (_, v) => String(v))}`,
        );
    }
  });
});

// Damaged index files: refused with a number, or harmless. Nothing traps, and a kernel that refused a file has no
// index and takes the next one.
describe('damaged maps', () => {
  const SEED = 20261123;
  const random = randomFrom(SEED);
  const good = writeIndexFile(fieldsPartition(random, { columns: 5, rows: 5, field: 9_000 }), 'none');
  const page = readFileSync('docs/reference/kernel.md', 'utf8');
  const REFUSALS = [...page.matchAll(/^- (\d+): /gm)].map(([, number]) => Number(number));
  let kernel: KernelExports;

  beforeAll(() => {
    kernel = bareKernel();
  });

  /** Puts size and checksum of a damaged file right, so that the kernel reads on after them. */
  function sealed(file: Uint8Array): Uint8Array {
    const header = new DataView(file.buffer, file.byteOffset, file.byteLength);
    if (file.length >= 16) {
      header.setUint32(8, file.length, true);
      header.setUint32(12, crc32(file.subarray(16)), true);
    }
    return file;
  }

  /** Queries inside, on the edge of and far from the map: admin numbers or none, and no trap. */
  function expectHarmless(): void {
    const batch = new BatchWitness(kernel);
    for (let i = 0; i < 50; ++i) {
      const x = i % 2 ? WEST + Math.floor(random() * 60_000) : Math.floor((random() * 2 - 1) * 180e6);
      const y = i % 2 ? SOUTH + Math.floor(random() * 60_000) : Math.floor((random() * 2 - 1) * 90e6);
      const region = kernel.regionOf(y / 1e6, x / 1e6);
      if (region !== 255 && region >= 34) expect.fail(`seed ${SEED}: region ${region} at ${x}, ${y}`);
      batch.add(y / 1e6, x / 1e6, region);
    }
    batch.compare();
  }

  function expectRefused(file: Uint8Array, why?: number): void {
    const refusal = putIndex(kernel, file);
    expect(REFUSALS).toContain(refusal);
    if (why !== undefined) expect(refusal).toBe(why);
    expect(kernel.regionOf((SOUTH + 20_000) / 1e6, (WEST + 20_000) / 1e6)).toBe(255);
  }

  test('every file that is cut short is refused, even with its size and checksum put right', () => {
    for (let size = 0; size < good.length; ++size) {
      expectRefused(good.slice(0, size));
      expectRefused(sealed(good.slice(0, size)));
    }
    expectRefused(Uint8Array.from([...good, 0]), 1);
    expectRefused(sealed(Uint8Array.from([...good, 0])));
  });

  test('a size beyond the memory is refused', () => {
    expect(putIndex(kernel, good)).toBe(0);
    for (const size of [0, 15, 127, good.length - 1, good.length + 1, 2 ** 20, 2 ** 26 + 1, 2 ** 32 - 1])
      expect(kernel.useIndex(size)).toBe(1);
  });

  test('one changed byte is refused for its checksum, magic, version or size', () => {
    for (let at = 0; at < good.length; ++at) {
      const file = good.slice();
      file[at]! ^= 1 + Math.floor(random() * 255);
      expectRefused(file, at < 4 ? 2 : at < 8 ? 3 : at < 12 ? 1 : 4);
    }
  });

  test('changed bytes after a right checksum are refused or harmless', () => {
    const seen = new Set<number>();
    for (let round = 0; round < 10_000; ++round) {
      const file = good.slice();
      for (let changes = 1 + (round % 3); changes > 0; --changes) {
        // Every other change hits header or the first arcs.
        const at = 16 + Math.floor(random() * (round % 2 ? file.length - 16 : 48));
        file[at] = random() < 0.5 ? Math.floor(random() * 256) : file[at]! ^ (1 << Math.floor(random() * 8));
      }
      seen.add(putIndex(kernel, sealed(file)));
      expectHarmless();
    }
    expect([...seen].sort()).toEqual([0, 5, 6, 7]);
  });

  test('the shipped map with changed bytes after a right checksum is refused or harmless', () => {
    const shipped = readFileSync(INDEX_FILE);
    for (let round = 0; round < 200; ++round) {
      const file = Uint8Array.from(shipped);
      file[128 + Math.floor(random() * (file.length - 128))]! ^= 1 << Math.floor(random() * 8);
      putIndex(kernel, sealed(file));
      const batch = new BatchWitness(kernel);
      for (let i = 0; i < 500; ++i) {
        const [lat, lng] = [6 + random() * 18, 101 + random() * 18];
        const region = kernel.regionOf(lat, lng);
        if (region !== 255 && region >= 34) expect.fail(`seed ${SEED}: region ${region} at ${lat}, ${lng}`);
        batch.add(lat, lng, region);
      }
      batch.compare();
    }
  });

  test('numbers at their limits', () => {
    const offsets = [16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60];
    for (const offset of offsets)
      for (const value of [
        0,
        1,
        63,
        64,
        2 ** 25,
        2 ** 25 - 2,
        180_000_000,
        -180_000_000,
        2 ** 31 - 1,
        -(2 ** 31),
        -10,
      ]) {
        const file = good.slice();
        new DataView(file.buffer).setInt32(offset, value, true);
        putIndex(kernel, sealed(file));
        expectHarmless();
      }
  });

  test('after all that the same kernel takes the good file and answers as a fresh one', () => {
    const fresh = bareKernel();
    expect(putIndex(fresh, good)).toBe(0);
    expect(putIndex(kernel, good)).toBe(0);
    for (let i = 0; i < 20_000; ++i) {
      const [lat, lng] = [(SOUTH + random() * 60_000) / 1e6, (WEST + random() * 60_000) / 1e6];
      expect(kernel.unitOf(lat, lng)).toBe(fresh.unitOf(lat, lng));
    }
  });

  test('NaN, infinities and numbers beyond degrees are outside', () => {
    expect(putIndex(kernel, good)).toBe(0);
    const numbers = [
      0,
      -0,
      90,
      180,
      -180,
      1e9,
      -1e9,
      2147.483647,
      -2147.483648,
      4294.967296,
      1e300,
      Infinity,
      -Infinity,
      NaN,
    ];
    for (const lat of numbers) for (const lng of numbers) expect(kernel.regionOf(lat, lng)).toBe(255);
    for (const number of numbers) {
      expect(kernel.regionOf(number, (WEST + 20_000) / 1e6)).toBe(255);
      expect(kernel.regionOf((SOUTH + 20_000) / 1e6, number)).toBe(255);
    }
  });
});
