// Days, months and hours of a time zone, and a clock that is set forward and back.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Calendar } from '#dist/server/usage/calendar.js';

const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(text);
const isoOf = (ms: number): string => new Date(ms).toISOString();

test('days and months of Ho Chi Minh City begin at 17:00 UTC', () => {
  const { day, month } = new Calendar('Asia/Ho_Chi_Minh', at('2026-11-30T18:00:00Z')).periods;
  expect([day.name, isoOf(day.startMs), isoOf(day.endMs)]).toEqual([
    '2026-12-01',
    '2026-11-30T17:00:00.000Z',
    '2026-12-01T17:00:00.000Z',
  ]);
  expect([month.name, isoOf(month.startMs), isoOf(month.endMs)]).toEqual([
    '2026-12',
    '2026-11-30T17:00:00.000Z',
    '2026-12-31T17:00:00.000Z',
  ]);
});

test.each([
  ['UTC', '2024-02-29T12:00:00Z', 24],
  ['Asia/Kolkata', '2026-11-22T12:00:00Z', 24],
  ['Europe/Berlin', '2026-03-29T12:00:00Z', 23],
  ['Europe/Berlin', '2026-10-25T12:00:00Z', 25],
  ['Pacific/Kiritimati', '2026-11-22T12:00:00Z', 24],
  ['Pacific/Pago_Pago', '2026-11-22T12:00:00Z', 24],
  // Midnight of this day did not exist there.
  ['America/Sao_Paulo', '2018-11-04T12:00:00Z', 23],
])('a day of %s at %s', (zone, text, hours) => {
  const calendar = new Calendar(zone, at(text));
  const { day } = calendar.periods;
  expect((day.endMs - day.startMs) / HOUR_MS).toBe(hours);
  expect(calendar.periodsAt(day.startMs).day).toEqual(day);
  expect(calendar.periodsAt(day.endMs - 1).day).toEqual(day);
  expect(calendar.periodsAt(day.endMs).day.startMs).toBe(day.endMs);
  expect(calendar.periodsAt(day.startMs - 1).day.endMs).toBe(day.startMs);
});

test('a time is in its day, its month and its hour', () => {
  const zones = ['Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe'];
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 4e12 }), (zone, nowMs) => {
      const calendar = new Calendar(zone, nowMs);
      const { day, month } = calendar.periods;
      for (const { startMs, endMs } of [day, month]) {
        expect(startMs).toBeLessThanOrEqual(nowMs);
        expect(endMs).toBeGreaterThan(nowMs);
      }
      expect(day.name.startsWith(month.name)).toBe(true);
      const hourMs = calendar.hourAt(nowMs);
      expect(hourMs <= nowMs && nowMs < hourMs + HOUR_MS).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('a clock set back over midnight does not bring the day back, and midnight does not begin it again', () => {
  const changes: string[] = [];
  const calendar = new Calendar('Asia/Ho_Chi_Minh', at('2026-11-30T16:30:00Z'), (day, month) =>
    changes.push(`${calendar.periods.day.name} ${day} ${month}`),
  );
  const dayAt = (text: string): string => calendar.follow(at(text)).day.name;
  // An hour forward, as the clock says.
  expect(dayAt('2026-11-30T17:30:00Z')).toBe('2026-12-01');
  // And back again.
  expect(dayAt('2026-11-30T16:31:00Z')).toBe('2026-12-01');
  expect(dayAt('2026-11-30T17:00:00Z')).toBe('2026-12-01');
  expect(changes).toEqual(['2026-11-30 true true']);
  expect(dayAt('2026-12-01T17:00:00Z')).toBe('2026-12-02');
  expect(changes).toEqual(['2026-11-30 true true', '2026-12-01 true false']);
});

test('a clock that was years ahead is followed back, without another quota', () => {
  const changes: boolean[] = [];
  const calendar = new Calendar('UTC', at('2099-01-01T12:00:00Z'), (day, month) => changes.push(day, month));
  expect(calendar.follow(at('2026-11-22T12:00:00Z')).day.name).toBe('2026-11-22');
  expect(changes).toEqual([false, false]);
  expect(calendar.follow(at('2026-11-23T12:00:00Z')).day.name).toBe('2026-11-23');
  expect(changes).toEqual([false, false, true, false]);
});

test('an unknown zone is refused', () => {
  expect(() => new Calendar('Asia/Nowhere', 0)).toThrow(RangeError);
});
