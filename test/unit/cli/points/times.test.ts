// Times of columns as instants, and their buckets by the clock of a zone.
import { describe, expect, test } from 'vitest';
import type { TableColumn } from '#dist/files/formats/table.js';
import { bucketMsOf, bucketStartOf, instantOf, ZoneClock } from '#dist/files/points/zone-clock.js';

const hcm = new ZoneClock('Asia/Ho_Chi_Minh');
const berlin = new ZoneClock('Europe/Berlin');
const utc = new ZoneClock('UTC');
const text: TableColumn = { name: 'ts', kind: 'text' };
const at = (iso: string): number => Date.parse(iso);

test.each<[unknown, TableColumn, string]>([
  ['2026-11-01T08:00:00Z', text, '2026-11-01T08:00:00Z'],
  ['2026-11-01T08:00:00.25+07:00', text, '2026-11-01T01:00:00.250Z'],
  ['2026-11-01 08:00:00+0730', text, '2026-11-01T00:30:00Z'],
  ['2026-11-01 08:00-05', text, '2026-11-01T13:00:00Z'],
  [' 2026-11-01 08:00 ', text, '2026-11-01T01:00:00Z'],
  ['2026-11-01', text, '2026-10-31T17:00:00Z'],
  ['2026-11-01T08:00:00.123456789Z', text, '2026-11-01T08:00:00.123Z'],
  ['1750000000', text, '2025-06-15T15:06:40Z'],
  ['1750000000.5', text, '2025-06-15T15:06:40.500Z'],
  ['1750000000500', text, '2025-06-15T15:06:40.500Z'],
  [1_750_000_000_500_000, { name: 'ts', kind: 'double' }, '2025-06-15T15:06:40.500Z'],
  [1_750_000_000_500_000_000n, { name: 'ts', kind: 'long' }, '2025-06-15T15:06:40.500Z'],
  [
    1_750_000_000_500_000n,
    { name: 'ts', kind: 'timestamp', unit: 'us', isUtc: true },
    '2025-06-15T15:06:40.500Z',
  ],
  [1_750_000_000n, { name: 'ts', kind: 'timestamp', unit: 's', isUtc: false }, '2025-06-15T08:06:40Z'],
  [20_254, { name: 'ts', kind: 'date' }, '2025-06-14T17:00:00Z'],
])('%s of a column %o is %s', (value, column, wanted) => {
  expect(instantOf(column, value, hcm)).toBe(at(wanted));
});

test.each([null, undefined, '', 'x', '2026-02-30', '2026-13-01', '2026-11-01T25:00', '26-11-01', '1e30'])(
  '%j is no time',
  (value) => {
    expect(instantOf(text, value, hcm)).toBeNaN();
  },
);

describe('the clock of a zone', () => {
  test('its offset, as the IANA has it', () => {
    expect(hcm.offsetMs(at('2026-11-01T00:00:00Z'))).toBe(7 * 3_600_000);
    // Until 13 June 1975 the south had UTC+8.
    expect(hcm.offsetMs(at('1975-06-01T00:00:00Z'))).toBe(8 * 3_600_000);
    expect(berlin.offsetMs(at('2026-03-29T00:59:59Z'))).toBe(3_600_000);
    expect(berlin.offsetMs(at('2026-03-29T01:00:00Z'))).toBe(7_200_000);
  });

  test('local times as instants: the first of two, and the one before a gap moved on', () => {
    expect(berlin.instantOf(at('2026-10-25T02:30:00Z'))).toBe(at('2026-10-25T00:30:00Z'));
    expect(berlin.instantOf(at('2026-10-25T03:00:00Z'))).toBe(at('2026-10-25T02:00:00Z'));
    expect(berlin.instantOf(at('2026-07-01T12:00:00Z'))).toBe(at('2026-07-01T10:00:00Z'));
    for (let hour = 0; hour < 24 * 365; hour++) {
      const instant = at('2026-01-01T00:00:00Z') + hour * 3_600_000;
      const back = berlin.instantOf(instant + berlin.offsetMs(instant));
      expect([0, 3_600_000]).toContain(instant - back);
    }
  });

  test('its text', () => {
    expect(hcm.text(at('2026-11-01T01:00:00Z'))).toBe('2026-11-01T08:00:00+07:00');
    expect(utc.text(at('2026-11-01T01:00:00.5Z'))).toBe('2026-11-01T01:00:00.500+00:00');
    expect(new ZoneClock('America/New_York').text(at('2026-11-01T12:00:00Z'))).toBe(
      '2026-11-01T07:00:00-05:00',
    );
  });

  test('a name that is none', () => {
    expect(() => new ZoneClock('Hanoi')).toThrow('is no time zone');
  });
});

describe('buckets', () => {
  const startOf = (iso: string, length: string, clock = hcm): string =>
    new Date(bucketStartOf(at(iso), bucketMsOf(length), clock)).toISOString();

  test('hours, days and weeks of the zone', () => {
    expect(startOf('2026-11-01T08:59:59.999Z', '1h')).toBe('2026-11-01T08:00:00.000Z');
    expect(startOf('2026-11-01T08:59:59.999Z', '15m')).toBe('2026-11-01T08:45:00.000Z');
    expect(startOf('2026-11-01T16:59:59Z', '1d')).toBe('2026-10-31T17:00:00.000Z');
    expect(startOf('2026-11-01T17:00:00Z', '1d')).toBe('2026-11-01T17:00:00.000Z');
    // 26 October 2026 is a Monday, 1 November the Sunday behind it.
    expect(startOf('2026-11-01T12:00:00Z', '1w')).toBe('2026-10-25T17:00:00.000Z');
    expect(startOf('1969-12-31T23:00:00Z', '1d', utc)).toBe('1969-12-31T00:00:00.000Z');
  });

  test('days of 23 and 25 hours begin at midnight; the hour that comes twice is two', () => {
    expect(startOf('2026-03-29T12:00:00Z', '1d', berlin)).toBe('2026-03-28T23:00:00.000Z');
    expect(startOf('2026-10-25T12:00:00Z', '1d', berlin)).toBe('2026-10-24T22:00:00.000Z');
    expect(startOf('2026-10-25T00:30:00Z', '1h', berlin)).toBe('2026-10-25T00:00:00.000Z');
    expect(startOf('2026-10-25T01:30:00Z', '1h', berlin)).toBe('2026-10-25T01:00:00.000Z');
  });

  test.each(['7m', '5h', '36h', '0h', '1', 'h', '1y', '-1h'])('%s is no length', (length) => {
    expect(() => bucketMsOf(length)).toThrow('--bucket');
  });
});
