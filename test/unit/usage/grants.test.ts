// How many points of a quota the store gives to a process that asks.
import { expect, test } from 'vitest';
import { grantOf } from '#dist/server/usage/grants.js';

test.each([
  ['all that is needed, or nothing', { need: 5, want: 10 }, 96, 0],
  ['the last points, where they are needed', { need: 5, want: 10 }, 95, 5],
  ['no more than an eighth of what is left, unless it is needed', { need: 1, want: 50 }, 20, 10],
  ['what is wanted, where that is less', { need: 1, want: 3 }, 20, 3],
  ['nothing that is merely wanted, where less than eight are left', { need: 0, want: 64 }, 93, 0],
  ['nothing where more was taken than there is', { need: 0, want: 64 }, 180, 0],
] as const)('%s', (_, order, taken, given) => {
  expect(grantOf({ ...order, perDay: 100, perMonth: undefined }, { day: taken, month: 0 })).toBe(given);
});

test('of a day and a month the one that has less left decides', () => {
  const order = { need: 1, want: 100, perDay: 1000, perMonth: 1000 };
  expect(grantOf(order, { day: 0, month: 920 })).toBe(10);
  expect(grantOf(order, { day: 960, month: 0 })).toBe(5);
});

test('without a quota all that is wanted is given', () => {
  const order = { need: 0, want: 64, perDay: undefined, perMonth: undefined };
  expect(grantOf(order, { day: 1e12, month: 1e12 })).toBe(64);
});
