// Cells of codes: families, shapes, GeoJSON, boxes, the borders of provinces, and codes found in texts.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as h3 from 'h3-js';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import {
  area,
  boundary,
  CellSet,
  cellCollection,
  cellFeature,
  centerFeature,
  children,
  distance,
  edge,
  findCode,
  findPlaces,
  lengthen,
  neighbors,
  otherText,
  parent,
  placeNear,
  radius,
  shorten,
  suggest,
} from '#hexcodes/geometry';
import { writeIndexFile } from '../../../data/map/index-file.js';
import type { Partition } from '../../../data/map/partition.js';
import { consoleCases } from '../../support/console-module.js';
import { encodeFile } from '../../support/files/convert.js';
import { openWorld, openWorldAdmin, randomFrom } from '../../support/open-world.js';
import { packByPeer } from '../../support/peers/code-format.js';
import {
  bareKernel,
  bordersOf,
  fieldsPartition,
  putIndex,
  SOUTH,
  WEST,
} from '../../support/region/made-partitions.js';
import { ownFolder } from '../../support/shared.js';

// Geometry against h3-js and a second implementation of the code format, over made-up boundaries in which every
// province occurs and the reach allows every code.
describe('families and shapes', () => {
  const hexcodes = Hexcodes.from(openWorld());
  const HOAN_KIEM = hexcodes.encode(21.0288, 105.8525).hexcodes;

  /** Codes of all resolutions. */
  function corpus(count: number, seed: number): { code: string; cell: string; adminCode: string }[] {
    console.log(`geometry corpus: seed ${seed}`);
    const random = randomFrom(seed);
    return Array.from({ length: count }, (_, i) => {
      const latDeg = 8 + random() * 15;
      const lngDeg = 102 + random() * 14;
      const { hexcodes: code, admin_code } = hexcodes.encode(latDeg, lngDeg, i % 16);
      return { code, cell: h3.latLngToCell(latDeg, lngDeg, i % 16), adminCode: admin_code };
    });
  }

  describe('family', () => {
    test("parent and children equal H3's, within the admin code", () => {
      for (const { code, cell, adminCode } of corpus(400, 1)) {
        const resolution = h3.getResolution(cell);
        for (let coarser = 0; coarser <= resolution; coarser++) {
          expect(parent(hexcodes, code, coarser)).toBe(packByPeer(h3.cellToParent(cell, coarser), adminCode));
        }
        if (resolution === 15) continue;
        const expected = h3.cellToChildren(cell, resolution + 1).map((child) => packByPeer(child, adminCode));
        // A cell of resolution 0 has children that no head covers; they have no code.
        expect(children(hexcodes, code)).toEqual(expected.filter((child) => child !== null));
        for (const child of children(hexcodes, code)) expect(parent(hexcodes, child, resolution)).toBe(code);
      }
    });

    test('children are in sort order; two steps of resolution give 49', () => {
      const all = children(hexcodes, parent(hexcodes, HOAN_KIEM, 9), 11);
      expect(all).toHaveLength(49);
      expect([...all].map((code) => code.slice(0, -1)).sort()).toEqual(all.map((code) => code.slice(0, -1)));
      expect(children(hexcodes, HOAN_KIEM, 13)).toEqual([HOAN_KIEM]);
    });

    test('neighbours are the ring of H3, each with the province of its own centre, else that of the code', () => {
      for (const { code, cell, adminCode } of corpus(400, 2)) {
        const ring = h3.gridDisk(cell, 1).filter((each) => each !== cell);
        const expected = ring.map((each) => {
          const [latDeg, lngDeg] = h3.cellToLatLng(each);
          const admin = ADMIN_UNITS[openWorldAdmin(latDeg as number, lngDeg as number)]?.code ?? adminCode;
          return packByPeer(each, admin);
        });
        expect(neighbors(hexcodes, code)).toEqual(expected.filter((each) => each !== null));
      }
    });

    test('wrong arguments throw an error with a code', () => {
      expect(() => parent(hexcodes, 'nonsense')).toThrow(
        expect.objectContaining({ code: 'INVALID_HEXCODES' }),
      );
      expect(() => parent(hexcodes, HOAN_KIEM, 14)).toThrow(
        expect.objectContaining({ code: 'BAD_RESOLUTION' }),
      );
      expect(() => children(hexcodes, HOAN_KIEM, 12)).toThrow(
        expect.objectContaining({ code: 'BAD_RESOLUTION' }),
      );
      const coarse = parent(hexcodes, HOAN_KIEM, 5);
      expect(() => children(hexcodes, coarse, 13)).toThrow(
        expect.objectContaining({ code: 'BAD_RESOLUTION' }),
      );
      expect(() => parent(hexcodes, parent(hexcodes, HOAN_KIEM, 0))).toThrow();
    });

    test('a resolution that is null is not the one that is left out', () => {
      for (const call of [parent, children])
        expect(() => call(hexcodes, HOAN_KIEM, null as never)).toThrow(
          expect.objectContaining({ code: 'BAD_RESOLUTION' }),
        );
    });

    test('neighbors refuses a number of rings, which it would ignore', () => {
      expect(() => neighbors(hexcodes, HOAN_KIEM, ...([2] as never[]))).toThrow(
        expect.objectContaining({ code: 'BAD_ARGUMENT' }),
      );
    });
  });

  describe('shape', () => {
    test("area and boundary equal H3's", () => {
      for (const { code, cell } of corpus(200, 3)) {
        expect(area(hexcodes, code)).toBe(h3.cellArea(cell, 'm2'));
        expect(boundary(hexcodes, code)).toEqual(h3.cellToBoundary(cell));
        expect(edge(hexcodes, code)).toBeGreaterThan(0);
        expect(radius(hexcodes, code)).toBeGreaterThanOrEqual(edge(hexcodes, code) * 0.8);
      }
    });

    test('encode and decode move a point by at most the radius', () => {
      console.log('seed 4');
      const random = randomFrom(4);
      for (let i = 0; i < 2000; i++) {
        const position = [9 + random() * 13, 103 + random() * 12] as const;
        const { hexcodes: code } = hexcodes.encode(position[0], position[1], i % 16);
        expect(distance(hexcodes, position, code)).toBeLessThanOrEqual(radius(hexcodes, code) * (1 + 1e-9));
      }
    });

    test('distance: Hà Nội to Huế, both ways, codes or positions', () => {
      const hue = hexcodes.encode(16.4637, 107.5909).hexcodes;
      const metres = distance(hexcodes, HOAN_KIEM, hue);
      expect(metres).toBeCloseTo(h3.greatCircleDistance([21.0288, 105.8525], [16.4637, 107.5909], 'm'), -2);
      expect(distance(hexcodes, hue, HOAN_KIEM)).toBeCloseTo(metres, 6);
      expect(distance(hexcodes, HOAN_KIEM, HOAN_KIEM)).toBe(0);
    });
  });

  describe('positions', () => {
    test('are pairs or objects', () => {
      const { lat, lng } = hexcodes.decode(HOAN_KIEM)!;
      expect(distance(hexcodes, { lat, lng }, [10, 106])).toBe(distance(hexcodes, HOAN_KIEM, [10, 106]));
      const typed = `${HOAN_KIEM.slice(0, -1)}${HOAN_KIEM.endsWith('2') ? '3' : '2'}`;
      expect(suggest(hexcodes, typed, { near: { lat, lng } })).toEqual(
        suggest(hexcodes, typed, { near: [lat, lng] }),
      );
    });

    test('anything else is NOT_A_COORDINATE, and options that are not an object are BAD_ARGUMENT', () => {
      const numbers = [
        [Number.NaN, 105],
        [105.8525, 21.0288],
        [21, 180.1],
        [1e308, -1e308],
        [21n, 105n],
      ];
      for (const given of [[21], ['21', '105'], ...numbers, { lat: 21 }, null, '21,105'] as never[]) {
        const expected = expect.objectContaining({ code: 'NOT_A_COORDINATE' });
        if (typeof given !== 'string') expect(() => distance(hexcodes, HOAN_KIEM, given)).toThrow(expected);
        expect(() => suggest(hexcodes, HOAN_KIEM, { near: given })).toThrow(expected);
        expect(() => shorten(hexcodes, HOAN_KIEM, given)).toThrow(expected);
        expect(() => findPlaces(hexcodes, 'x', { near: given })).toThrow(expected);
        expect(() => new CellSet(hexcodes, [HOAN_KIEM]).has(given)).toThrow(expected);
      }
      expect(distance(hexcodes, [90, 180], [-90, -180])).toBeGreaterThan(2e7);
      for (const given of [5, null, 'near', [], new Map([['limit', 1]]), new Date()] as never[])
        for (const call of [suggest, findPlaces])
          expect(() => call(hexcodes, HOAN_KIEM, given)).toThrow(
            expect.objectContaining({ code: 'BAD_ARGUMENT' }),
          );
    });

    test('a text that is none names nothing, and a code that is none is INVALID_HEXCODES', () => {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      for (const given of [5, undefined, null, 5n, Symbol('a'), cycle, {}] as never[]) {
        expect([findCode(hexcodes, given), otherText(given)]).toEqual([null, null]);
        expect([suggest(hexcodes, given), findPlaces(hexcodes, given)]).toEqual([[], []]);
        expect(lengthen(hexcodes, given, [21.03, 105.85])).toBeNull();
        for (const call of [parent, children, neighbors, boundary, area, cellFeature])
          expect(() => call(hexcodes, given)).toThrow(expect.objectContaining({ code: 'INVALID_HEXCODES' }));
      }
      for (const lat of [Number.NaN, 5n, Symbol('21'), '21.03', {}] as number[])
        expect(placeNear(lat, 105.85)).toBeNull();
    });
  });

  describe('GeoJSON', () => {
    test('a cell is a closed counter-clockwise polygon, longitude first', () => {
      for (const { code } of corpus(100, 5)) {
        const feature = cellFeature(hexcodes, code);
        const [ring] = feature.geometry.coordinates;
        expect(feature.id).toBe(code);
        expect(ring?.at(0)).toEqual(ring?.at(-1));
        const twiceArea = ring!.slice(1).reduce((sum, [x, y], i) => {
          const [fromX, fromY] = ring![i]!;
          return sum + (fromX * y - x * fromY);
        }, 0);
        expect(twiceArea).toBeGreaterThan(0);
      }
    });

    test('centres and collections', () => {
      const feature = centerFeature(hexcodes, HOAN_KIEM.toLowerCase());
      const { lat, lng } = hexcodes.decode(HOAN_KIEM)!;
      expect(feature.geometry).toEqual({ type: 'Point', coordinates: [lng, lat] });
      expect(feature.properties).toEqual({
        hexcodes: HOAN_KIEM,
        resolution: 13,
        admin_code: HOAN_KIEM.slice(0, HOAN_KIEM.indexOf('-')),
      });
      const all = cellCollection(hexcodes, neighbors(hexcodes, HOAN_KIEM));
      expect(all.features).toHaveLength(6);
      expect(() => cellCollection(hexcodes, [HOAN_KIEM, 'x'])).toThrow(
        expect.objectContaining({ code: 'INVALID_HEXCODES' }),
      );
    });
  });
});

// Province borders as GeoJSON: rings are closed, have the right direction, and hold the area that the kernel answers.
describe('borders of provinces', () => {
  function twiceArea(ring: readonly (readonly [number, number])[]): number {
    return ring.slice(1).reduce((sum, [x, y], i) => sum + ring[i]![0] * y - x * ring[i]![1], 0);
  }

  /** Unit 0 is a square with unit 1 as a square hole, which holds a square of unit 0 in turn. */
  function nested(): Partition {
    const square = (half: number): number[][] => [
      [WEST - half, SOUTH - half, WEST + half, SOUTH - half],
      [WEST + half, SOUTH - half, WEST + half, SOUTH + half],
      [WEST + half, SOUTH + half, WEST - half, SOUTH + half],
      [WEST - half, SOUTH + half, WEST - half, SOUTH - half],
    ];
    return {
      units: [
        { name: 'a', admin: 5 },
        { name: 'b', admin: 6 },
      ],
      segments: Int32Array.from([300, 200, 100].flatMap(square).flat()),
      left: Uint8Array.from([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]),
      right: Uint8Array.from([63, 63, 63, 63, 0, 0, 0, 0, 1, 1, 1, 1]),
      notice: 'a notice',
      source: { name: 'squares', date: '2026-02-03' },
    };
  }

  test('a unit inside a hole of a unit', () => {
    const file = writeIndexFile(nested(), 'CC0-1.0');
    const borders = bordersOf(file);
    const outer = borders.ofAdmin(5).coordinates;
    expect(outer.map((polygon) => polygon.length)).toEqual([2, 1]);
    expect(outer[0]![0]).toContainEqual([(WEST - 300) / 1e6, (SOUTH - 300) / 1e6]);
    expect(outer[0]![1]).toContainEqual([(WEST - 200) / 1e6, (SOUTH - 200) / 1e6]);
    expect(borders.ofAdmin(6).coordinates.map((polygon) => polygon.length)).toEqual([2]);
    expect(borders.ofUnit(1)).toEqual(borders.ofAdmin(6));
    expect(borders.ofAdmin(7)).toEqual({ type: 'MultiPolygon', coordinates: [] });
  });

  test('rings of a made-up map are closed, have the right direction and hold the area that the kernel answers', () => {
    const random = randomFrom(20261124);
    const kernel = bareKernel();
    const file = writeIndexFile(fieldsPartition(random, { columns: 6, rows: 6, field: 1_000, units: 8 }), '');
    expect(putIndex(kernel, file)).toBe(0);
    const borders = bordersOf(file);
    const counted = new Map<number, number>();
    for (let y = SOUTH - 600; y < SOUTH + 7_000; y += 10)
      for (let x = WEST - 600; x < WEST + 7_000; x += 10) {
        const unit = kernel.unitOf(y / 1e6, x / 1e6);
        counted.set(unit, (counted.get(unit) ?? 0) + 1);
      }
    for (let unit = 0; unit < 8; ++unit) {
      let area = 0;
      for (const polygon of borders.ofUnit(unit).coordinates)
        polygon.forEach((ring, i) => {
          expect(ring.at(-1)).toEqual(ring[0]);
          // In micro-degrees from the corner of the map, so that the sum is exact.
          const twice = twiceArea(
            ring.map(([x, y]) => [Math.round(x * 1e6) - WEST, Math.round(y * 1e6) - SOUTH] as const),
          );
          expect(Math.sign(twice)).toBe(i === 0 ? 1 : -1);
          area += twice / 2;
        });
      // The count of sample points differs from the area by no more than the length of the border allows.
      expect(Math.abs(area / 100 - (counted.get(unit) ?? 0))).toBeLessThan(400);
    }
  });
});

// Boxes of cells in sorted files: every position of a cell lies in its box, and the box is no larger than that needs.
describe('the box of a cell', () => {
  const EXACT = 1e-9;
  const ROUNDING = 1e-7 + EXACT;
  const folder = ownFolder('boxes');

  /** Points on the great circle between two corners. */
  function arc([latA, lngA]: number[], [latB, lngB]: number[], steps: number): [number, number][] {
    const vector = (lat: number, lng: number): number[] => {
      const [phi, lambda] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180];
      return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
    };
    const [a, b] = [vector(latA!, lngA!), vector(latB!, lngB!)];
    return Array.from({ length: steps + 1 }, (_, i) => {
      const [x, y, z] = a.map((part, axis) => part * (1 - i / steps) + b[axis]! * (i / steps));
      return [(Math.atan2(z!, Math.hypot(x!, y!)) * 180) / Math.PI, (Math.atan2(y!, x!) * 180) / Math.PI];
    });
  }

  test('every resolution, the sea and the islands', async () => {
    const random = randomFrom(33);
    const rows = Array.from(
      { length: 12_000 },
      (_, n) => `${4 + 22 * random()},${99 + 21 * random()},${n % 16}\n`,
    );
    writeFileSync(join(folder, 'in.csv'), `lat,lng,resolution\n${rows.join('')}`);
    const output = join(folder, 'out.parquet');
    await encodeFile(Hexcodes.from(openWorld()), join(folder, 'in.csv'), output, {
      sort: { memoryBytes: 2 ** 20 },
    });
    const { buffer } = new Uint8Array(readFileSync(output));
    const found = await parquetReadObjects({ file: buffer });
    for (const { status, h3: cell, resolution, xmin, ymin, xmax, ymax } of found) {
      if (status !== 'OK') continue;
      // Between two of its points the outline of a coarse cell rises a little more.
      const [steps, missed] = resolution < 6 ? [200, 1e-5 / 7 ** resolution] : [30, 0];
      const corners = h3.cellToBoundary((cell as bigint).toString(16));
      const outline = corners.flatMap((corner, at) =>
        arc(corner, corners[(at + 1) % corners.length]!, steps),
      );
      const [lats, lngs] = [outline.map(([lat]) => lat), outline.map(([, lng]) => lng)];
      const spare = [
        ...[Math.min(...lngs) - xmin, xmax - Math.max(...lngs)],
        ...[Math.min(...lats) - ymin - missed, ymax - Math.max(...lats) - missed],
      ];
      expect(Math.min(...spare), cell).toBeGreaterThan(-EXACT - 2 * missed);
      expect(Math.max(...spare), cell).toBeLessThan(ROUNDING);
    }
    expect(found.filter(({ status }) => status === 'OK').length).toBeGreaterThan(9000);
  });
});

// A code or a position in what people paste: a table of texts, each with the code or position that it names, or
// nothing.

const library = await Hexcodes.load();
const rows = consoleCases('text');

function named(text: string): string {
  const found = findCode(library, text);
  if (found === null || found.kind === 'several') return '';
  return found.kind === 'code' ? found.hexcodes : `${+found.lat.toFixed(6)},${+found.lng.toFixed(6)}`;
}

test('the table has 40 texts that name something', () => {
  expect(rows.filter(([, wanted]) => wanted !== '').length).toBeGreaterThanOrEqual(40);
});

test.each(rows)('%s', (text, wanted) => {
  expect(named(text)).toBe(wanted);
});

test('the order of two numbers is stated where only Viet Nam decides it', () => {
  expect(findCode(library, '105.8525, 21.0288')).toMatchObject({ isSwapped: true });
  expect(findCode(library, '21.0288, 105.8525')).toMatchObject({ isSwapped: false });
  expect(findCode(library, '48.85, 2.35')).toEqual({
    kind: 'position',
    lat: 48.85,
    lng: 2.35,
    isSwapped: false,
  });
});

test('a text of any length and any bytes is answered', () => {
  expect(findCode(library, 'HN-6GHP4-83RFR '.repeat(1000))).toBeNull();
  for (const text of [
    '',
    '#',
    '%',
    'https://%',
    '#%zz',
    '°'.repeat(4000),
    '9 '.repeat(2000),
    'a1 '.repeat(1300),
  ])
    expect(findCode(library, text)).toBeNull();
});

test('a right rest under a wrong province is proposed', () => {
  for (const text of ['HCM-6GHP4-83RFR', 'hcm 6ghp4 83rfr', 'HCM6GHP483RFR', 'LS-6GHP4-83RFR']) {
    const found = suggest(library, text);
    expect(found.map(({ hexcodes, slip }) => [hexcodes, slip])).toContainEqual([
      'HN-6GHP4-83RFR',
      'province',
    ]);
  }
});

test('a right rest without a province is proposed', () => {
  for (const text of ['6GHP4-83RFR', '6ghp483rfr', ' 6GHP4 83RFR '])
    expect(suggest(library, text).map(({ hexcodes }) => hexcodes)).toContain('HN-6GHP4-83RFR');
  expect(suggest(library, '6GHP4-83RFV')).toEqual([]);
  expect(suggest(library, '12345')).toEqual([]);
});

test('the end of a code is proposed as a whole to people who are near', () => {
  const place = fc.record({
    lat: fc.double({ min: 9, max: 22, noNaN: true }),
    lng: fc.double({ min: 104.5, max: 108, noNaN: true }),
    resolution: fc.integer({ min: 10, max: 15 }),
  });
  let proposed = 0;
  fc.assert(
    fc.property(place, ({ lat, lng, resolution }) => {
      if (library.adminCodeOf(lat, lng) === null) return;
      const near = [lat, lng] as const;
      const { hexcodes } = library.encode(lat, lng, { resolution });
      const end = shorten(library, hexcodes, near);
      // Ends of letters alone, and ends that are codes or slips of codes by themselves, may be anything.
      if (end === null || !/\d/.test(end) || suggest(library, end).length > 0) return;
      proposed++;
      expect(suggest(library, end, { near }).map((each) => each.hexcodes)).toEqual([hexcodes]);
    }),
    { numRuns: 300 },
  );
  expect(proposed).toBeGreaterThan(30);
});

test.each([
  ['7PH7QVH3+GX', 'plus_code'],
  ['QVH3+GX Hoàn Kiếm, Hà Nội', 'plus_code'],
  ['https://plus.codes/7PH7QVH3+GX', 'plus_code'],
  ['///tiền.giấy.bút', 'three_words'],
  ['https://w3w.co/filled.count.soap', 'three_words'],
  ['https://maps.app.goo.gl/abcDEF123', 'link'],
  ['xem maps.app.goo.gl/abc nhé', 'link'],
  ['588702 2325601', 'metres'],
  ['X=2325601.12; Y=588702.34', 'metres'],
  ['VN-2000 2325601.12 588702.34', 'metres'],
  ['UTM 48 588702 2325601', 'metres'],
  ['48S 588702 2325601', 'metres'],
  ['48QWJ8870225601', 'metres'],
  ['0912 345 678', 'phone'],
  ['0912345678 0987654321', null],
  ['+84 912 345 678', 'phone'],
  ['12 Hàng Khay, Hoàn Kiếm, Hà Nội', 'address'],
  ['số 5 ngõ 72 Nguyễn Trãi', 'address'],
  ['72/15A Lê Lợi', 'address'],
  ['chung cư Sky, tầng 3', 'address'],
  ['P. Bến Nghé, Q.1', 'address'],
  ['83RFR', 'part_of_code'],
  ['6ghp4', 'part_of_code'],
  ['-M9P', 'part_of_code'],
  ['12345', null],
  ['hello world', null],
  ['Hà Nội', null],
  ['HN-6GHP4-83RFV', null],
  ['xyz', null],
  ['9 '.repeat(3000), null],
])('%s is %s', (text, kind) => {
  expect(otherText(text)).toBe(kind);
});
