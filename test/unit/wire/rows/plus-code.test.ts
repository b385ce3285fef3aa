// Plus Codes: values recorded from the reference implementation in Python, openlocationcode 1.0.1.
import { expect, test } from 'vitest';
import { isShortPlusCode, nearestPlusCode, parsePlusCode } from '#dist/hexcodes/wire/rows/plus-code.js';

test.each([
  ['7PH72VH3+GX', 21.0288125, 105.8549375, 0.000125],
  ['7ph72vh3+gx', 21.0288125, 105.8549375, 0.000125],
  ['7PH70000+', 21.5, 105.5, 1],
  ['7P000000+', 20, 110, 20],
  ['7PH72V00+', 21.025, 105.875, 0.05],
  ['7PH72VH3+GXW', 21.0288625, 105.854953125, 0.000025],
  ['7PH72VH3+GXWRV34', 21.02887402, 105.85494024658203, 4e-8],
  ['CVXVXVXV+XV', 89.9999375, 177.8946875, 0.000125],
  ['22222222+22', -89.9999375, -179.9999375, 0.000125],
])('%s', (code, lat, lng, height) => {
  const cell = parsePlusCode(code)!;
  expect(cell.latDeg).toBeCloseTo(lat, 11);
  expect(cell.lngDeg).toBeCloseTo(lng, 11);
  expect(cell.heightDeg).toBeCloseTo(height, 12);
});

test.each([
  ['2VH3+GX', 21.03, 105.85, 21.0288125, 105.8549375],
  ['2VH3+GX', 21.6, 105.2, 22.0288125, 104.8549375],
  ['2VH3+GX', 20.4, 106.4, 20.0288125, 106.8549375],
  ['XXXX+XX', 21.001, 105.001, 20.9999375, 104.9999375],
])('%s near %d, %d', (code, nearLat, nearLng, lat, lng) => {
  expect(isShortPlusCode(code)).toBe(true);
  const cell = nearestPlusCode(code, nearLat, nearLng);
  expect(cell.latDeg).toBeCloseTo(lat, 11);
  expect(cell.lngDeg).toBeCloseTo(lng, 11);
});

test.each([
  ...['7PH72VH3', '7PH72VH3+G', '7PH72VHA+GX', '7PH70000+GX', 'F2H72VH3+GX', '7WH72VH3+GX', '0PH72VH3+GX'],
  ...['7PH72VH3++GX', '2VH3+', '2VH3+G', '2VH+GX', '7PH700H3+GX', '7PH7200+', '+GX', ''],
])('%j is neither', (code) => {
  expect(parsePlusCode(code)).toBeNull();
  expect(isShortPlusCode(code)).toBe(false);
});
