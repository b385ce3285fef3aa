// The description of an index: its units and sources, and its bands, which ones can be used and what they say of a
// distance.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { writeIndexFile } from '../../../data/map/index-file.js';
import { openKernel, openWorld } from '../../support/open-world.js';
import { randomFrom } from '../../support/random.js';
import { fieldsPartition, SOUTH, WEST } from '../../support/region/made-partitions.js';
import { shippedKernel } from '../../support/shipped.js';

/** Tells that no border is near. */
const NO_BORDER = 65_535;
const partition = fieldsPartition(randomFrom(1));

/** The library over a made map with such bands. */
function libraryWith(bands: unknown): Hexcodes {
  const index = writeIndexFile({ ...partition, bands: bands as [] }, 'none');
  return Hexcodes.from({ ...openWorld(), index });
}

test('units, notice, licence and source are read, none where a part is damaged, missing or of other units', () => {
  const file = writeIndexFile(partition, 'CC0-1.0');
  const { units, notice, source } = partition;
  expect(Hexcodes.from({ ...openWorld(), index: file }).kernel.meta).toEqual({
    ...{ units, notice, licence: 'CC0-1.0', source },
  });
  const names = ['units', 'notice', 'licence', 'source', 'name', 'date', 'admin'];
  const parts = [...names, '"source":{"name', '{', '"admin":1'];
  for (const part of parts) {
    const index = Buffer.from(file);
    const at = index.indexOf(part);
    expect(at, part).toBeGreaterThan(0);
    index[at + part.length - 1]! ^= 1;
    index.writeUInt32LE(crc32(index.subarray(16)), 12);
    expect([part, Hexcodes.from({ ...openWorld(), index }).kernel.meta]).toEqual([part, null]);
  }
});

test('a band begins where the one before ends', () => {
  const random = randomFrom(3);
  const plain = libraryWith([[null, 1]]);
  const near = Array.from({ length: 400 }, () => [SOUTH / 1e6 + random(), WEST / 1e6 + random()] as const)
    .map(([lat, lng]) => ({ lat, lng, metres: plain.borderOf(lat, lng)?.border_m }))
    .filter((each): each is { lat: number; lng: number; metres: number } => typeof each.metres === 'number')
    .toSorted((one, other) => one.metres - other.metres);
  const [first, second] = [
    near[Math.floor(near.length / 3)]!.metres,
    near[Math.floor(near.length / 2)]!.metres,
  ];
  expect(first).toBeLessThan(second);
  const library = libraryWith([
    [first, 0.5],
    [second, 0.75],
    [null, 1],
  ]);
  for (const { lat, lng, metres } of near)
    expect(library.borderOf(lat, lng)!.certainty).toBe(metres < first ? 0.5 : metres < second ? 0.75 : 1);
});

test.each([
  ['no array', {}],
  ['none', []],
  ['no end', [[100, 0.5]]],
  [
    'an end too early',
    [
      [null, 0.5],
      [100, 1],
    ],
  ],
  [
    'not ascending',
    [
      [100, 0.5],
      [100, 0.6],
      [null, 1],
    ],
  ],
  [
    'no whole metres',
    [
      [99.5, 0.5],
      [null, 1],
    ],
  ],
  ['a share above 1', [[null, 1.1]]],
  ['a share that is a text', [[null, '1']]],
  ['three numbers', [[null, 1, 1]]],
  ['seventeen of them', [...Array.from({ length: 16 }, (_, n) => [n + 1, 0.5]), [null, 1]]],
])('bands that cannot be used: %s', (_, bands) => {
  const library = libraryWith(bands);
  expect([library.kernel.meta, library.kernel.bands]).toEqual([null, []]);
});

test('the shipped index has the bands that data/README.md names, in ascending shares', () => {
  const { bands } = shippedKernel();
  const ends = [25, 50, 100, 200, 300, 500, 800, 1200, 2000, 3000, 5000, Infinity];
  expect(bands.map(({ belowM }) => belowM)).toEqual(ends);
  for (const { share } of bands) expect(share).toBeLessThan(1);
  expect(bands.map(({ share }) => share)).toEqual(bands.map(({ share }) => share).toSorted((a, b) => a - b));
});

test('without bands the distance is known and the certainty is not', () => {
  const library = new Hexcodes(openKernel());
  expect(library.kernel.bands).toEqual([]);
  const encoded = library.encode(21.4999, 105.5, { certainty: true });
  expect(encoded).toMatchObject({ border_m: 11, certainty: null });
});

test('the library: at a border, in the middle of a province, outside', () => {
  const library = new Hexcodes(shippedKernel());
  // 400 m from the line between Hà Nội and Bắc Ninh on the bank of the Đuống
  const near = library.borderOf(21.0757, 105.9872);
  const own = library.adminCodeOf(21.0757, 105.9872);
  expect(near?.neighbour_code).not.toBeNull();
  expect(near?.neighbour_code).not.toBe(own);
  const { border_m, certainty } = library.encode(21.0757, 105.9872, { certainty: true });
  expect({ border_m, certainty }).toEqual({ border_m: near?.border_m, certainty: near?.certainty });
  expect(library.borderOf(12.6667, 108.05)).toEqual({
    border_m: null,
    certainty: 0.9999,
    neighbour_code: null,
  });
  expect(library.borderOf(0, 0)).toBeNull();
  expect(library.encode(21.0757, 105.9872)).not.toHaveProperty('border_m');
  const both = library.encode(21.0757, 105.9872, { certainty: true, former: true, resolution: 9 });
  expect(Object.keys(both)).toEqual([
    ...['hexcodes', 'lat', 'lng', 'resolution', 'admin_code'],
    ...['former_province', 'border_m', 'certainty'],
  ]);
});

test('the library: many positions', () => {
  const library = new Hexcodes(shippedKernel());
  const random = randomFrom(2);
  const latLng = Float64Array.from({ length: 2 * 5000 }, (_, i) =>
    i % 2 === 0 ? 9 + random() * 14 : 103 + random() * 6,
  );
  latLng[0] = Number.NaN;
  const metres = library.borderBatch(latLng);
  expect(metres.length).toBe(5000);
  for (let n = 0; n < 5000; n++)
    expect(metres[n]).toBe(library.kernel.exports.borderOf(latLng[2 * n]!, latLng[2 * n + 1]!));
  expect(metres[0]).toBe(NO_BORDER);
  expect(() => library.borderBatch(new Float64Array(3))).toThrow(
    expect.objectContaining({ code: 'BAD_ARGUMENT' }),
  );
  expect(() => library.borderBatch([21, 105] as unknown as Float64Array)).toThrow(
    expect.objectContaining({ code: 'BAD_ARGUMENT' }),
  );
});
