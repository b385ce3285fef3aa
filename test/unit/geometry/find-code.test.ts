// A code or a position in what people paste: a table of texts, each with the code or position that it names, or
// nothing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { findCode, otherText, shorten, suggest } from '#hexcodes/geometry';
import { consoleCases } from '../../support/console-module.js';

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

test('the order of two numbers is said where Viet Nam alone tells it', () => {
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
