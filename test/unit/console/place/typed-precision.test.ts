// The error of a typed position is half of the step of its last digit; zeros at the end that a program left out, and a
// few metres, are none.
import { expect, test } from 'vitest';
import { parsePosition } from '#dist/hexcodes/wire/rows/position-text.js';
import { consoleModule } from '../../../support/console-module.js';

const { typedErrorM } = await consoleModule<{
  typedErrorM(text: string, latDeg: number, lngDeg: number): number;
}>('place/typed-precision.ts');
const { resolutionFor } = await consoleModule<{ resolutionFor(errorM: number): number }>('place/place.ts');

test.each([
  [`21°1'N 105°51'E`, 928, 7],
  [`21°01'44"N 105°51'09"E`, 15, 11],
  [`21°01'43.7"N 105°51'09"E`, 0, 15],
  [`21°1.7'N, 105°51.2'E`, 93, 9],
  ['21.0288, 105.8525', 0, 15],
  ['21,03 105,85', 557, 7],
  ['21.0288, 105.85', 0, 15],
  ['21, 105.8525', 0, 15],
  ['21, 106', 55_660, 3],
  ['POINT(105.853 21.029)', 56, 10],
  ['https://maps.example/?q=21.029,105.853', 56, 10],
])('%s: %i m', (text, wantedM, finest) => {
  const { latDeg, lngDeg } = parsePosition(text)!;
  const errorM = typedErrorM(text, latDeg, lngDeg);
  expect(Math.round(errorM)).toBe(wantedM);
  if (errorM > 0) expect(resolutionFor(errorM)).toBe(finest);
});

test('a text in which the numbers do not stand says nothing', () => {
  expect(typedErrorM('HN-6GHP4-83RFR', 21.0288, 105.8525)).toBe(0);
  expect(typedErrorM('', 21, 106)).toBe(0);
});
