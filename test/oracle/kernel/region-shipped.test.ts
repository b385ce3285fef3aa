// The shipped map in the kernel against naive peers: of all regions (and of all former provinces) exactly one winds
// around a point that the kernel gives to one, and none around a point outside.
import { expect, test } from 'vitest';
import { readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { ADMIN_UNITS } from '#hexcodes';
import { writeIndexFile } from '../../../data/map/index-file.js';
import { unitAtMicro } from '../../support/region/bare-kernel.js';
import { unitByDefinition } from '../../support/region/definition.js';
import { randomFrom, retold } from '../../support/region/made-partitions.js';
import { CheckedMap } from '../../support/region/map-checks.js';
import { RingContainment, retoldRings, ringsOf } from '../../support/region/rings.js';
import { partitionOf, shippedIndex } from '../../support/region/shipped-index.js';

const SEED = 20261125;
const { file, kernel } = shippedIndex();
const map = new CheckedMap(file, kernel);

test('its units are the 63 former provinces, in the order of ADMIN_UNITS', () => {
  expect(readIndexMeta(file).units).toEqual(
    ADMIN_UNITS.flatMap(({ mergedUnits }, admin) => mergedUnits.map((name) => ({ name, admin }))),
  );
  expect(file.length).toBeLessThanOrEqual(4 * 2 ** 20);
  expect(kernel.gridEnd.value).toBeLessThanOrEqual(8 * 2 ** 20);
  // Behind the grid is space for distances to borders, which is not touched before somebody asks (border.test.ts).
  expect(kernel.memory.buffer.byteLength).toBeLessThanOrEqual(16 * 2 ** 20);
});

test('2 million points: one region inside, none outside', () => {
  map.checkAnywhere(randomFrom(SEED), 2_000_000);
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
  const partition = partitionOf(file, map);
  for (let i = 0; i < 3_000; ++i) {
    const at = 4 * Math.floor(random() * partition.left.length);
    const spread = 10 ** Math.floor(random() * 6);
    const x = partition.segments[at]! + Math.floor((random() * 2 - 1) * spread);
    const y = partition.segments[at + 1]! + Math.floor((random() * 2 - 1) * spread);
    expect(unitAtMicro(kernel, x, y), `seed ${SEED}, at ${x}, ${y}`).toBe(unitByDefinition(partition, x, y));
  }
});

test('segments in another order and direction give the same file', () => {
  const random = randomFrom(SEED);
  const partition = retold(partitionOf(file, map), random);
  expect(Buffer.compare(writeIndexFile(partition, readIndexMeta(file).licence), file)).toBe(0);
});

test('rings that start elsewhere or run the other way give the same answers', () => {
  const random = randomFrom(SEED);
  const rings = ringsOf(map.borders, 255);
  const retoldMap = new RingContainment(retoldRings(rings, 101, true));
  for (let i = 0; i < 100_000; ++i) {
    const x = Math.floor(map.box.west + random() * (map.box.east - map.box.west));
    const y = Math.floor(map.box.south + random() * (map.box.north - map.box.south));
    const windings = [...map.regions.windingsAt(x, y)].map(([region, turns]) => [region, -turns]);
    expect([...retoldMap.windingsAt(x, y)]).toEqual(windings);
  }
});

test('the debug build gives the same answers', () => {
  const debug = shippedIndex('kernel.debug').kernel;
  const random = randomFrom(SEED);
  for (let i = 0; i < 200_000; ++i) {
    const lat = 6 + random() * 18;
    const lng = 101 + random() * 18;
    if (kernel.unitOf(lat, lng) !== debug.unitOf(lat, lng)) expect.fail(`seed ${SEED}: ${lat}, ${lng}`);
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
