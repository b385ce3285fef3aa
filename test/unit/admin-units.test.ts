// The list of the provinces: 34, made of 63 former ones.

import { expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';

test('34 distinct codes of two or three letters', () => {
  expect(ADMIN_UNITS).toHaveLength(34);
  expect(new Set(ADMIN_UNITS.map((u) => u.code)).size).toBe(34);
  for (const { code } of ADMIN_UNITS) expect(code).toMatch(/^[A-Z]{2,3}$/);
});

test('the 63 former provinces each stand in one row', () => {
  const former = ADMIN_UNITS.flatMap((u) => u.mergedUnits);
  expect(former).toHaveLength(63);
  expect(new Set(former).size).toBe(63);
});
