// The points of a converted file as the map draws them: where they are, and in the colour of which province.
import { expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BlockBuffers } from '#dist/hexcodes/wire/bulk/block-buffers.js';
import {
  FileConversion,
  PointList,
  type PointsToDraw,
  requestFor,
} from '../../../support/console-conversion.js';

const NOWHERE = 255;
const hexcodes = await Hexcodes.load();

function drawn(csv: string): PointsToDraw {
  const bytes = Buffer.from(csv);
  const conversion = new FileConversion(hexcodes.kernel, requestFor(bytes, 'csv', 9), new BlockBuffers());
  conversion.push(bytes);
  conversion.end();
  return conversion.points.take();
}

/** A position in each province, found on a grid of 0.1°. */
const positions = new Map<number, string>();
for (let lat = 8.5; lat < 23.4; lat += 0.1)
  for (let lng = 102.2; lng < 109.5; lng += 0.1) {
    const code = hexcodes.adminCodeOf(lat, lng);
    const admin = ADMIN_UNITS.findIndex((unit) => unit.code === code);
    if (admin >= 0 && !positions.has(admin)) positions.set(admin, `${lat.toFixed(2)},${lng.toFixed(2)}`);
  }
const inAll = ADMIN_UNITS.map((_, admin) => positions.get(admin)!);

test('every province has its own number, also where two letters are the beginning of three', () => {
  expect(positions.size).toBe(ADMIN_UNITS.length);
  expect(new Set(ADMIN_UNITS.map(({ code }) => code.slice(0, 2))).size).toBeLessThan(ADMIN_UNITS.length);
  const all = ADMIN_UNITS.map((_, admin) => admin);
  expect([...drawn(`lat,lng\n${inAll.join('\n')}\n`).groups]).toEqual(all);
  const codes = inAll.map((text) => {
    const [lat, lng] = text.split(',').map(Number);
    return hexcodes.encode(lat!, lng!, 9).hexcodes;
  });
  expect([...drawn(`hexcodes\n${codes.join('\n')}\n`).groups]).toEqual(all);
});

test('a position abroad is drawn without a province; a row without one is not drawn', () => {
  const { groups, box } = drawn('lat,lng\n21.03,105.85\n48.8,2.3\nx,y\n10.78,106.7\n');
  expect([groups.length, groups[1]]).toEqual([3, NOWHERE]);
  expect(box).toEqual({ west: 105.85, south: 10.78, east: 106.7, north: 21.03 });
  expect(drawn('hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-83RFQ\n').groups.length).toBe(1);
});

test('the box is around the points in provinces, and what Mercator cannot show is left out', () => {
  const points = new PointList();
  expect(points.take().box).toBeUndefined();
  for (const [lat, lng, admin] of [
    [21, 105, 1],
    [10, 107, 2],
    [12, 109, 3],
    [50, 2, NOWHERE],
    [86, 100, 1],
    [10, 181, 1],
    [Number.NaN, 100, 1],
  ] as const)
    points.add(lat, lng, admin);
  const { groups, box, left, offsets } = points.take();
  expect([...groups]).toEqual([1, 2, 3, NOWHERE]);
  expect(box).toEqual({ west: 105, south: 10, east: 109, north: 21 });
  expect([left, offsets.length]).toEqual([0, 8]);
});

test('more points than the first buffers hold keep their places; beyond two million they are counted', () => {
  const points = new PointList();
  for (let i = 0; i < 2_000_003; i++) points.add(10, 100 + (i % 10), i % 34);
  const { groups, offsets, left } = points.take();
  expect([groups.length, offsets.length, left]).toEqual([2_000_000, 4_000_000, 3]);
  expect([groups[0], groups[69_999], offsets[0]]).toEqual([0, 69_999 % 34, offsets[20]]);
  expect(offsets[2 * 69_999]).toBe(offsets[18]);
});

test('points keep their zones, also beyond the first buffers; without zones there are none', () => {
  const [zoned, plain] = [new PointList(), new PointList()];
  for (let i = 0; i < 70_000; i++) {
    zoned.add(10, 100, 1, i % 251);
    plain.add(10, 100, 1);
  }
  const zones = zoned.takeZones();
  expect([zones.length, zones[0], zones[250], zones[69_999]]).toEqual([70_000, 0, 250, 69_999 % 251]);
  expect(plain.takeZones()).toHaveLength(0);
});
