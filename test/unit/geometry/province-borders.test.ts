// Province borders as GeoJSON: rings are closed, have the right direction, and hold the area that the kernel answers.
import { expect, test } from 'vitest';
import { ProvinceBorders } from '#dist/hexcodes/geometry/province-borders.js';
import { readIndexArcs, readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { writeIndexFile } from '../../../data/map/index-file.js';
import type { Partition } from '../../../data/map/partition.js';
import { bareKernel, putIndex } from '../../support/region/bare-kernel.js';
import { fieldsPartition, randomFrom, SOUTH, WEST } from '../../support/region/made-partitions.js';

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
  const borders = new ProvinceBorders(file);
  const outer = borders.ofAdmin(5).coordinates;
  expect(outer.map((polygon) => polygon.length)).toEqual([2, 1]);
  expect(outer[0]![0]).toContainEqual([(WEST - 300) / 1e6, (SOUTH - 300) / 1e6]);
  expect(outer[0]![1]).toContainEqual([(WEST - 200) / 1e6, (SOUTH - 200) / 1e6]);
  expect(borders.ofAdmin(6).coordinates.map((polygon) => polygon.length)).toEqual([2]);
  expect(borders.ofUnit(1)).toEqual(borders.ofAdmin(6));
  expect(borders.ofAdmin(7)).toEqual({ type: 'MultiPolygon', coordinates: [] });
});

test('units, notice, licence and source are read from the file', () => {
  expect(readIndexMeta(writeIndexFile(nested(), 'CC0-1.0'))).toEqual({
    units: [
      { name: 'a', admin: 5 },
      { name: 'b', admin: 6 },
    ],
    notice: 'a notice',
    licence: 'CC0-1.0',
    source: { name: 'squares', date: '2026-02-03' },
  });
  expect(() => readIndexMeta(new Uint8Array(200))).toThrow(/not a boundary index/);
  expect(() => readIndexArcs(writeIndexFile(nested(), '').slice(0, -1))).toThrow(/cut short/);
});

test('metadata that is damaged, incomplete or of other units is BAD_DATA', () => {
  const good = writeIndexFile(nested(), 'CC0-1.0');
  const header = new DataView(good.buffer, good.byteOffset);
  const text = new TextDecoder().decode(good.subarray(128, 128 + header.getUint32(52, true)));
  const units = readIndexMeta(good).units.length;
  expect(units).toBeGreaterThan(0);
  const fileOf = (meta: string) => {
    const bytes = new TextEncoder().encode(meta);
    const file = new Uint8Array(128 + bytes.length);
    file.set(good.subarray(0, 128));
    file.set(bytes, 128);
    new DataView(file.buffer).setUint32(8, file.length, true);
    new DataView(file.buffer).setUint32(52, bytes.length, true);
    return file;
  };
  expect(readIndexMeta(fileOf(text))).toEqual(readIndexMeta(good));
  for (const part of ['"units"', '"notice"', '"licence"', '"source"', '"name"', '"date"', '"admin"'])
    expect(() => readIndexMeta(fileOf(text.replace(part, '"other"'))), part).toThrow(
      expect.objectContaining({ code: 'BAD_DATA' }),
    );
  for (const meta of ['', 'null', '[]', '{}', text.slice(1), text.replace(/"admin":(\d+)/, '"admin":1$1')])
    expect(() => readIndexMeta(fileOf(meta)), meta).toThrow(expect.objectContaining({ code: 'BAD_DATA' }));
});

test('rings of a made-up map are closed, have the right direction and hold the area that the kernel answers', () => {
  const random = randomFrom(20261124);
  const kernel = bareKernel();
  const file = writeIndexFile(fieldsPartition(random, { columns: 6, rows: 6, field: 1_000, units: 8 }), '');
  expect(putIndex(kernel, file)).toBe(0);
  const borders = new ProvinceBorders(file);
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
