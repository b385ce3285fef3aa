// Positions in the spellings that people bring.
import { describe, expect, test } from 'vitest';
import { parseAngle } from '#dist/hexcodes/wire/rows/angle-text.js';
import { parsePosition } from '#dist/hexcodes/wire/rows/position-text.js';

const PLACE =
  'https://www.google.com/maps/place/H/@21.0,105.8,17z/data=!3m1!4b1!4m5!8m2!3d21.0288!4d105.8525';

describe('21.0288, 105.8525', () => {
  test.each([
    ...[
      '21.0288,105.8525',
      ' 21.0288 105.8525 ',
      '21.0288;105.8525',
      '(21.0288, 105.8525)',
      '[21.0288 105.8525]',
    ],
    ...[
      '21,0288 105,8525',
      '21,0288; 105,8525',
      '21,0288, 105,8525',
      '+21.0288, 1.058525e2',
      '21.0288°, 105.8525°',
    ],
    ...['21.0288N 105.8525E', 'N21.0288 E105.8525', 'N 21.0288, E 105.8525', '21.0288° N, 105.8525° E'],
    ...['105.8525E 21.0288N', "21°01.728'N 105°51.150'E", '21.0288B 105.8525Đ'],
    ...['POINT(105.8525 21.0288)', 'SRID=4326;POINT (105.8525 21.0288)', 'point z (105.8525 21.0288 7)'],
    ...['0101000000c3f5285c8f765a40f31fd26f5f073540', '0101000020E6100000C3F5285C8F765A40F31FD26F5F073540'],
    '0000000001405a768f5c28f5c34035075f6fd21ff3',
    ...['geo:21.0288,105.8525', 'geo:21.0288,105.8525,7;crs=wgs84;u=35', 'geo:21.0288,105.8525?z=11'],
    ...[
      PLACE,
      'https://maps.google.com/?q=21.0288,105.8525',
      'https://www.google.com/maps/@21.0288,105.8525,17z',
    ],
    'https://www.google.com/maps/search/?api=1&query=21.0288%2C105.8525',
    'https://www.google.com/maps/place/21.0288,105.8525',
    'https://www.openstreetmap.org/?mlat=21.0288&mlon=105.8525#map=18/21.02/105.85',
    'https://www.openstreetmap.org/#map=18/21.0288/105.8525',
    'https://maps.apple.com/?ll=21.0288,105.8525&q=x',
  ])('%s', (text) => {
    const { latDeg, lngDeg } = parsePosition(text)!;
    expect(latDeg).toBeCloseTo(21.0288, 12);
    expect(lngDeg).toBeCloseTo(105.8525, 12);
  });
});

test.each([
  `21°01'43.7"N 105°51'09.0"E`,
  '21°01′43.7″N, 105°51′09.0″E',
  '21º 01’ 43,7” N; 105º 51’ 09” E',
  `105°51'09"E 21°01'43.7"N`,
  `N21°01'43.7" E105°51'9"`,
  '21 01 43.7 N 105 51 09 E',
  `21°01'43.7"B 105°51'09.0"Đ`,
  `21°1'43.7" 105°51'9"`,
])('degrees, minutes and seconds: %s', (text) => {
  const { latDeg, lngDeg } = parsePosition(text)!;
  expect(latDeg).toBeCloseTo(21 + 1 / 60 + 43.7 / 3600, 12);
  expect(lngDeg).toBeCloseTo(105 + 51 / 60 + 9 / 3600, 12);
});

test.each([
  ...[
    'N21 01.728 E105 51.150',
    '21 01.728N 105 51.15E',
    'N 21 01.728, E 105 51.150',
    'N21°01.728 E105°51.150',
  ],
  ...['21°01.728N 105°51.150E', '21°01.728, 105°51.150', '21 01.728 N 105 51.150 E', '21°01,728N 105°51,15E'],
])('degrees and minutes of which no mark says so: %s', (text) => {
  const { latDeg, lngDeg } = parsePosition(text)!;
  expect(latDeg).toBeCloseTo(21.0288, 12);
  expect(lngDeg).toBeCloseTo(105.8525, 12);
});

test('a number never takes the unit of the next one', () => {
  for (const text of ['21° 43.7" N 105° 9" E', "21' N 105' E", '21.5° 30 N 105 30 E', '21 60N 105 51E'])
    expect(parsePosition(text), text).toBeNull();
  expect(parseAngle('21°01.728', 'lat')).toBeCloseTo(21.0288, 12);
  for (const text of [
    `21°43.7"`,
    "30'",
    '30"',
    '21.5°30',
    '21 01.728',
    `21'01"`,
    "21°01'43.7s",
    '21 1 43 7N',
  ])
    expect(parseAngle(text, 'lat'), text).toBeNull();
});

test('a text with two meanings is none', () => {
  for (const text of ['N21 01 10 51E', '21°01,105°51,2', '21D01M43.7S', '28,106,93N 105E', 'N21 E105 N20'])
    expect(parsePosition(text), text).toBeNull();
});

test('south and west are negative', () => {
  expect(parsePosition('10.5S 20.25W')).toEqual({ latDeg: -10.5, lngDeg: -20.25 });
  expect(parsePosition('-10.5, -20.25')).toEqual({ latDeg: -10.5, lngDeg: -20.25 });
});

test.each([
  ...[
    '',
    '21.0288',
    '21.0288,',
    '1 2 3',
    '21.0288,105.8525,7',
    '1,2,3',
    'HN-6GHP4-83RFR',
    'shops.csv',
    '12/5',
    'id,1',
  ],
  ...[
    'https://maps.app.goo.gl/abc123',
    'https://example.com/',
    'POINT(105.8525)',
    'POINT EMPTY',
    'SRID=3857;POINT(1 2)',
  ],
  ...[`21D01'43S 105D51'09E`, `21 deg 01 min 43S, 105 deg 51 min 09E`, `105 51'09,5s 21`],
  ...[`21°61'00"N 105°00'00"E`, '21N 105N', '21N 105', 'geo:21.0288', '21°', 'x'.repeat(5000)],
])('%j is none', (text) => {
  expect(parsePosition(text)).toBeNull();
});

test('one angle', () => {
  expect(parseAngle(`21°30'00"`, 'lat')).toBe(21.5);
  expect(parseAngle('E105.25', 'lng')).toBe(105.25);
  expect(parseAngle(`1°30'S`, 'lat')).toBe(-1.5);
  expect(parseAngle('21 01 30', 'lat')).toBeCloseTo(21.025, 12);
  for (const text of ['', '21.5', 'x', '21.5 30', 'N', '21 61 30', '21 028 800'])
    expect(parseAngle(text, 'lat')).toBeNull();
});

test('an angle with a side of the other axis, or a number whose exponent was cut off, is none', () => {
  for (const text of ['20E', '21.0288E', 'E21.0288', '21.0288W', '21.0288Đ', '20.99999e', '2.1e'])
    expect(parseAngle(text, 'lat'), text).toBeNull();
  for (const text of ['105.8525N', '105S', '105.8525B', '1.058e'])
    expect(parseAngle(text, 'lng'), text).toBeNull();
  expect(parseAngle('21.0288N', 'lat')).toBe(21.0288);
  expect(parseAngle('105.8525E', 'lng')).toBe(105.8525);
});
