// An allowance lets through rows, and slow rows with their bytes, shared first and then the piece's own.
import { expect, test } from 'vitest';
import { RowAllowance } from '#dist/hexcodes/wire/rows/row-allowance.js';

test('a slow row costs one more for every 64 bytes', () => {
  for (const [sizeBytes, cost] of [
    [0, 1],
    [63, 1],
    [64, 2],
    [6400, 101],
  ] as const) {
    const shared = { left: 1000 };
    expect(new RowAllowance(1, shared, 0).takeSlow(sizeBytes)).toBe(true);
    expect([sizeBytes, 1000 - shared.left]).toEqual([sizeBytes, cost]);
  }
});

test('when the shared ones are used up the own ones count, then nothing more is let through', () => {
  const shared = { left: 2 };
  const allowance = new RowAllowance(1, shared, 3);
  expect([1, 1, 1, 100, 1].map((sizeBytes) => allowance.takeSlow(sizeBytes))).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
  expect([shared.left, allowance.isSlowSpent]).toEqual([0, true]);
  expect(new RowAllowance(1, shared, 1).takeSlow(64)).toBe(false);
});

test('rows do not fall below none', () => {
  const allowance = new RowAllowance(5, { left: 0 }, 0);
  allowance.takeRows(3);
  expect(allowance.rows).toBe(2);
  allowance.takeRows(3);
  expect(allowance.rows).toBe(0);
});
