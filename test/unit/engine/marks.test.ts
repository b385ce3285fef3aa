// How far something had come a time ago: by marks, which a server that has forgotten something makes void.
import { expect, test } from 'vitest';
import { Marks } from '#dist/bus/nats/give-back.js';

test('the last value that was reached so long ago; nothing where that is not known', () => {
  const marks = new Marks();
  expect(marks.before(0, 0)).toBeUndefined();
  for (const [value, atMs] of [
    [5, 0],
    [9, 1000],
    [9, 2000],
    [12, 3000],
  ] as const)
    marks.add(value, atMs);
  expect(marks.before(4000, 3500)).toBeUndefined();
  expect(marks.before(3500, 3500)).toBe(5);
  expect(marks.before(2000, 3500)).toBe(9);
  expect(marks.before(500, 3500)).toBe(12);
  expect(marks.before(2000, 3500)).toBeUndefined();
});

test('a value that falls, and a time without marks, make what was before void', () => {
  const fallen = new Marks();
  fallen.add(9, 0);
  fallen.add(7, 1000);
  expect(fallen.before(2000, 2000)).toBeUndefined();
  expect(fallen.before(1000, 2000)).toBe(7);
  const away = new Marks();
  away.add(9, 0);
  away.add(9, 20_000);
  expect(away.before(10_000, 25_000)).toBeUndefined();
  expect(away.before(5000, 25_000)).toBe(9);
});
