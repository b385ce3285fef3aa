// Names of provinces, towns and landmarks by what people type, and the nearest town of a position.
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { findPlaces, placeNear } from '#dist/hexcodes/geometry.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { placeNames } from '#dist/hexcodes/library/places.js';

const library = await Hexcodes.load();
const first = (text: string): string | undefined => findPlaces(library, text)[0]?.name;

test.each([
  ['Hà Nội', 'Hà Nội'],
  ['ha noi', 'Hà Nội'],
  ['HANOI', 'Hà Nội'],
  ['Ha\u0300 No\u0323\u0302i', 'Hà Nội'],
  ['tp. Đà Nẵng', 'Đà Nẵng'],
  ['danang', 'Đà Nẵng'],
  ['TP Hồ Chí Minh', 'TP. Hồ Chí Minh'],
  ['sài gòn', 'TP. Hồ Chí Minh'],
  ['tphcm', 'TP. Hồ Chí Minh'],
  ['Phường Hoàn Kiếm', 'Hoàn Kiếm'],
  ['p. hoan kiem', 'Hoàn Kiếm'],
  ['tỉnh Bắc Giang', 'Bắc Giang'],
  ['thị xã Sa Pa', 'Sa Pa'],
  ['q1', 'Quận 1'],
  ['Quận 3', 'Quận 3'],
  ['ha long', 'Hạ Long'],
  ['cho ben thanh', 'Chợ Bến Thành'],
  ['hồ gươm', 'Hồ Hoàn Kiếm'],
  ['nha trnag', 'Nha Trang'],
  ['đông hà', 'Đông Hà'],
])('%s', (text, wanted) => {
  expect(first(text)).toBe(wanted);
});

test('nothing is found in what is no name', () => {
  for (const text of ['', ' ', '!', 'x', 'qwertyuiop', 'Hà Nội'.repeat(30)])
    expect(findPlaces(library, text)).toEqual([]);
});

test('all 34 provinces and those before them are found by name, each in its province', () => {
  for (const { code, name, mergedUnits } of ADMIN_UNITS) {
    expect(findPlaces(library, name)[0]).toMatchObject({ name, kind: 'province', admin_code: code });
    for (const former of mergedUnits) {
      const found = findPlaces(library, former).filter(({ kind }) => kind !== 'landmark');
      expect(found[0]?.admin_code, former).toBe(code);
    }
  }
});

test('every name of the list lies in Viet Nam', () => {
  expect(placeNames().length).toBeGreaterThan(690);
  const abroad = placeNames().filter(({ lat, lng }) => library.adminCodeOf(lat, lng) === null);
  expect(abroad.map(({ name }) => name)).toEqual([]);
});

test('near and large ones come first', () => {
  const near = [10.78, 106.7] as const;
  const found = findPlaces(library, 'Tân', { near, limit: 5 });
  expect(found[0]).toMatchObject({ name: 'Tân Phú', admin_code: 'HCM' });
  expect(found[0]!.distance_m).toBeLessThan(8000);
});

test('the limit and the options are checked', () => {
  expect(findPlaces(library, 'an', { limit: 3 })).toHaveLength(3);
  for (const limit of [0, 101, 1.5]) expect(() => findPlaces(library, 'an', { limit })).toThrow('limit');
  expect(() => findPlaces(library, 'an', null as never)).toThrow('object');
});

describe('the nearest town', () => {
  test.each([
    [10.8486, 106.79, 'Thủ Đức', 'E'],
    [21.0288, 105.8525, 'Hoàn Kiếm', 'E'],
    [16.0678, 108.2208, 'Đà Nẵng', 'N'],
    [21.06, 105.85064, 'Hà Nội', 'N'],
  ])('%d, %d', (lat, lng, name, direction) => {
    expect(placeNear(lat, lng)).toMatchObject({ name, direction });
  });

  test('none where no town is within 100 km', () => {
    expect(placeNear(8.6436, 111.92)).toBeNull();
  });
});
