// Dates and times as text: as Date writes them where Date can, and right beyond its years.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dateText,
  durationText,
  intervalText,
  timestampText,
  timeText,
} from '#dist/files/formats/values/calendar.js';

const MAX_DAYS = 100_000_000;

test('every day that Date knows', () => {
  fc.assert(
    fc.property(fc.integer({ min: -MAX_DAYS, max: MAX_DAYS }), (days) => {
      expect(dateText(days)).toBe(new Date(days * 86_400_000).toISOString().slice(0, -14));
    }),
  );
  for (const [days, text] of [
    [0, '1970-01-01'],
    [-1, '1969-12-31'],
    [11_016, '2000-02-29'],
    [-25_567, '1900-01-01'],
    [-719_528, '0000-01-01'],
    [-719_529, '-000001-12-31'],
    [2_932_896, '9999-12-31'],
    [2_932_897, '+010000-01-01'],
  ] as const) {
    expect(dateText(days)).toBe(text);
  }
});

test('timestamps to the millisecond as Date, and the ends of 64 bits in every unit', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (ms) => {
      expect(timestampText(BigInt(ms), 'ms', true)).toBe(new Date(ms).toISOString());
    }),
  );
  const least = -(2n ** 63n);
  expect(timestampText(least, 'ns', false)).toBe('1677-09-21T00:12:43.145224192');
  expect(timestampText(2n ** 63n - 1n, 'us', true)).toBe('+294247-01-10T04:00:54.775807Z');
  expect(timestampText(least, 'us', false)).toBe('-290308-12-21T19:59:05.224192');
  expect(timestampText(-1n, 's', false)).toBe('1969-12-31T23:59:59');
  expect(timestampText(2n ** 53n + 1n, 's', false)).toBe('+285428751-11-12T07:36:33');
});

test('times, durations and intervals', () => {
  expect(timeText(0n, 's')).toBe('00:00:00');
  expect(timeText(86_399_999_999_999n, 'ns')).toBe('23:59:59.999999999');
  expect(durationText(-500n, 'ms')).toBe('PT-0.500S');
  expect(durationText(90_061n, 's')).toBe('PT90061S');
  expect(intervalText(-1, 0, 1n)).toBe('P-1M0DT0.000000001S');
});
