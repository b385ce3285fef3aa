// Limits of a key as they are typed: numbers from 0 to the greatest, whole ones but for rates.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyJson, readKeySettings } from '#dist/server/keys/manage/key-input.js';
import { storedKey } from '../../support/keys.js';

const BASE = { name: 'a', scopes: [], expiresMs: undefined, origins: [], cidrs: [], limits: {} };
const MEMBERS = {
  points_per_second: 'pointsPerSecond',
  requests_per_second: 'requestsPerSecond',
  points_per_day: 'pointsPerDay',
  points_per_month: 'pointsPerMonth',
} as const;
const NAMES = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];

test('every limit is a number in its range, or is named', () => {
  const values = fc.oneof(
    fc.constantFrom<unknown>(
      0,
      -0,
      -1,
      1e15,
      1e15 + 2,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '5',
      true,
      0.5,
      -0.5,
      null,
    ),
    fc.double({ noNaN: false }),
    fc.integer(),
  );
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), values, (name, value) => {
      const isRate = name.endsWith('_per_second');
      const isGood =
        value === null ||
        (typeof value === 'number' && value >= 0 && value <= 1e15 && (isRate || Number.isInteger(value)));
      let fault: string | undefined;
      let limits: unknown;
      try {
        ({ limits } = readKeySettings({ limits: { [name]: value } }, BASE, 0));
      } catch (error) {
        fault = JSON.stringify((error as { faults?: unknown }).faults);
      }
      const expected = value === null ? {} : { [MEMBERS[name]]: value };
      if (isGood) expect([fault, limits]).toEqual([undefined, expected]);
      else expect(fault).toContain(`limits.${name}`);
    }),
  );
});

test('a key has the limits in JSON that it has, by the names that are read', () => {
  const limits = { points_per_second: 1.5, requests_per_second: 2, points_per_day: 3, points_per_month: 0 };
  for (const names of [NAMES, NAMES.slice(1, 3), []]) {
    const given = Object.fromEntries(names.map((name) => [name, limits[name]]));
    const stored = Object.fromEntries(names.map((name) => [MEMBERS[name], limits[name]]));
    expect(keyJson(storedKey('a_0123456789abcdefghij', { limits: stored })).limits).toEqual(given);
  }
});
