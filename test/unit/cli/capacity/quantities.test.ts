// Values of the flags of plan and bench: what is read, and that nothing beyond a bound is.
import { expect, test } from 'vitest';
import {
  numberFrom,
  readDuration,
  readGrowth,
  readNightly,
  readShare,
  wholeFrom,
} from '#dist/cli/capacity/plan-flags.js';

const LONG = '9'.repeat(400);

test.each([
  ['50000', 50_000],
  ['50k', 50_000],
  ['1.005k', 1005],
  ['2e9', 2e9],
  ['2e3 k', 2e6],
  ['1,234,567', 1_234_567],
  ['16G', 16e9],
])('the whole number %j', (text, value) => {
  expect(wholeFrom(1, 1e12)(text)).toBe(value);
});

test.each(['0', '-1', '0.4', '1.5', '1e13', '1e400', LONG, 'NaN', 'Infinity', '', 'k', '5 %'])(
  '%j is no whole number from 1 to 1e12',
  (text) => {
    expect(() => wholeFrom(1, 1e12)(text)).toThrow('Write a whole number from 1 to 1,000,000,000,000');
  },
);

test('0 is one where it may be', () => {
  expect(wholeFrom(0, 9)('0')).toBe(0);
});

test('numbers within bounds', () => {
  expect(numberFrom(1, 10)('2.5')).toBe(2.5);
  for (const text of ['0.1', '11', 'x']) expect(() => numberFrom(1, 10)(text)).toThrow('from 1 to 10');
});

test('durations are above 0 and not without end', () => {
  expect(readDuration('1.5min')).toBe(90_000);
  for (const text of ['0s', '5', '101y', `${LONG}s`])
    expect(() => readDuration(text)).toThrow('Write a time');
});

test('shares are at most a whole, growth may be more', () => {
  expect(readShare('40%')).toBe(0.4);
  expect(() => readShare('150%')).toThrow('Write a share');
  expect(readGrowth('30%/y:2y')).toBeCloseTo(1.69);
  expect(readGrowth('150%/y:1y')).toBe(2.5);
  expect(() => readGrowth('100%/y:10y')).toThrow('No more than 1,000 times');
  expect(() => readGrowth(`${LONG}/y:1y`)).toThrow('No more than 1,000 times');
});

test('a nightly load comes within a day', () => {
  expect(readNightly('2e9:6h')).toEqual({ points: 2e9, windowMs: 21_600_000 });
  expect(() => readNightly('2e9:25h')).toThrow('a day at most');
  expect(() => readNightly('0:6h')).toThrow('whole number');
});
