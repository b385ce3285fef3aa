// Rows of positions: conditions, times, and stays.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TableColumn } from '#dist/files/formats/table.js';
import { conditionOf, rowFilter } from '#dist/files/points/row-filter.js';
import { type Stay, Stays, type TrackPoint } from '#dist/files/points/stays.js';
import { bucketMsOf, bucketStartOf, instantOf, ZoneClock } from '#dist/files/points/zone-clock.js';

// Conditions of --where: reading them, and which rows they keep.
describe('conditions', () => {
  const clock = new ZoneClock('Asia/Ho_Chi_Minh');
  const columns: TableColumn[] = [
    { name: 'speed', kind: 'text' },
    { name: 'tên xe', kind: 'text' },
    { name: 'at', kind: 'timestamp', unit: 'ms', isUtc: true },
    { name: 'big', kind: 'long' },
  ];
  const rows = {
    rowCount: 5,
    values: [
      ['5', ' 5,5 ', '', 'x', '1e1'],
      ['a', 'b', '', 'B', '51C-1'],
      [0n, 1_000n, null, 2_000n, 3_000n],
      [1n, 2n ** 60n, 2n ** 60n + 1n, null, -4n],
    ],
  };
  const kept = (...conditions: string[]): number[] => {
    const filter = rowFilter(conditions.map(conditionOf), columns, 'f', clock);
    return [0, 1, 2, 3, 4].filter((row) => filter(rows, row));
  };

  test('numbers, whatever their spelling; a row without one is not kept', () => {
    expect(kept('speed > 5')).toEqual([1, 4]);
    expect(kept('speed>=5')).toEqual([0, 1, 4]);
    expect(kept('speed = 5.0')).toEqual([0]);
    expect(kept('speed != 5')).toEqual([1, 4]);
    expect(kept('speed <> 5')).toEqual([1, 4]);
    expect(kept('speed < 10', 'speed > 5')).toEqual([1]);
  });

  test('integers beyond 2^53 are compared exactly', () => {
    expect(kept('big = 1152921504606846976')).toEqual([1]);
    expect(kept('big > 1152921504606846976')).toEqual([2]);
    expect(kept('big <= 1')).toEqual([0, 4]);
  });

  test('text by its characters, quoted or not', () => {
    expect(kept('tên xe = a')).toEqual([0]);
    expect(kept(`TÊN XE == "51C-1"`)).toEqual([4]);
    expect(kept("tên xe != 'a'")).toEqual([1, 3, 4]);
    expect(kept('tên xe >= a')).toEqual([0, 1]);
    // A number in quotes is a text, but for a column whose type is numbers.
    expect(kept("speed = '5'", 'speed = 5.0')).toEqual([0]);
    expect(kept("speed = '5.0'")).toEqual([]);
    expect(kept('speed = "1e1"')).toEqual([4]);
    expect(kept("big = '01'")).toEqual([0]);
  });

  test('times of typed columns', () => {
    expect(kept('at > 1970-01-01T00:00:01Z')).toEqual([3, 4]);
    expect(kept('at <= "1970-01-01 08:00:01"')).toEqual([0, 1]);
    const finer: TableColumn[] = [{ name: 'at', kind: 'timestamp', unit: 'us', isUtc: true }];
    const later = rowFilter([conditionOf('at > 1970-01-01T00:00:01.000250Z')], finer, 'f', clock);
    const values = [[1_000_249n, 1_000_250n, 1_000_251n, 1_001_000n]];
    expect([0, 1, 2, 3].filter((row) => later({ rowCount: 4, values }, row))).toEqual([2, 3]);
    expect(() => kept('at > noon')).toThrow('at holds times, and noon is not one');
  });

  test('a text where the column holds numbers', () => {
    expect(() => kept('big > 5km')).toThrow('big holds numbers, and 5km is not one');
    expect(kept('speed > 5km')).toEqual([3]);
    const inJson: TableColumn[] = [{ name: 'plate', kind: 'long', isInferred: true }];
    expect(() => rowFilter([conditionOf('plate = 51C')], inJson, 'f', clock)).not.toThrow();
  });

  test.each(['speed', 'speed >', '> 5', 'speed ~ 5', ''])('%j is not a condition', (text) => {
    expect(() => conditionOf(text)).toThrow('must be COLUMN OP VALUE');
  });

  test('a column that is not there', () => {
    expect(() => kept('sped > 5')).toThrow('no column sped');
  });
});

// Times of columns as instants, and their buckets by the clock of a zone.
describe('times', () => {
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
    ['2026-11-01T24:00', text, '2026-11-01T17:00:00Z'],
    ['2026-12-31T23:59:60Z', text, '2027-01-01T00:00:00Z'],
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
    '%j is not a time',
    (value) => {
      expect(instantOf(text, value, hcm)).toBeNaN();
    },
  );

  test.each([
    ...['T24:30', 'T24:00:00.5', 'T12:30:60', 'T23:59:60.5', 'T08:60', 'T08:00+24:00', 'T08:00-07:60'].map(
      (end) => `2026-11-01${end}`,
    ),
    ...['20261101', '202611010800', '20261101080000', '20261101080000.5', '19991231'],
  ])('%s is not a time: no clock shows it, or it is a date without separators', (value) => {
    expect(instantOf(text, value, hcm)).toBeNaN();
    if (/^\d+$/.test(value)) expect(instantOf({ name: 'ts', kind: 'long' }, BigInt(value), hcm)).toBeNaN();
  });

  const isoOf = (value: bigint, perSecond: bigint): string => {
    const fraction = ((value % perSecond) + perSecond) % perSecond;
    const seconds = new Date(Number((value - fraction) / perSecond) * 1000).toISOString().slice(0, 19);
    return `${seconds}.${String(fraction).padStart(String(perSecond).length - 1, '0') || '0'}Z`;
  };

  test('every unit of a timestamp, and every spelling of it, is one instant, cut off to the microsecond', () => {
    const units = { s: 1n, ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n } as const;
    const ends = fc.constantFrom(0n, 1n, 999_999_999n, 999_999_872n, 999_999_499n, 123_999_999n);
    fc.assert(
      fc.property(
        fc.bigInt(-2_000_000_000n, 9_000_000_000n),
        fc.oneof(ends, fc.bigInt(0n, 999_999_999n)),
        (seconds, nanoseconds) => {
          for (const [unit, perSecond] of Object.entries(units)) {
            const value = seconds * perSecond + (nanoseconds * perSecond) / units.ns;
            const column = {
              name: 'ts',
              kind: 'timestamp',
              unit: unit as keyof typeof units,
              isUtc: true,
            } as const;
            const ms = instantOf(column, value, utc);
            expect(BigInt(Math.floor(ms))).toBe(
              seconds * 1000n + ((value - seconds * perSecond) * 1000n) / perSecond,
            );
            expect(instantOf(text, isoOf(value, perSecond), hcm)).toBe(ms);
            expect(instantOf({ ...column, isUtc: false }, value, utc)).toBe(ms);
          }
        },
      ),
    );
  });

  test.each(['time', 'duration'] as const)('a %s is not an instant and no number', (kind) => {
    const column: TableColumn = { name: 'x', kind, unit: 'us' };
    expect(instantOf(column, 30_600_000_000n, hcm)).toBeNaN();
    const filter = rowFilter([conditionOf('x > 5')], [column], 'f', hcm);
    expect(filter({ rowCount: 1, values: [[30_600_000_000n]] }, 0)).toBe(false);
  });

  test('integers of nanoseconds are cut off, not rounded', () => {
    const lastOfDay = 1_767_398_399_999_999_999n;
    const long: TableColumn = { name: 'ts', kind: 'long' };
    expect(instantOf(long, lastOfDay, utc)).toBe(at('2026-01-02T23:59:59.999Z'));
    expect(instantOf(text, String(lastOfDay), utc)).toBe(at('2026-01-02T23:59:59.999Z'));
    expect(instantOf(long, -1n - lastOfDay, utc)).toBe(-at('2026-01-03T00:00:00Z'));
  });

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
      expect(() => new ZoneClock('Hanoi')).toThrow('is not a time zone');
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
      // 26 October 2026 is a Monday, 1 November the Sunday after it.
      expect(startOf('2026-11-01T12:00:00Z', '1w')).toBe('2026-10-25T17:00:00.000Z');
      expect(startOf('1969-12-31T23:00:00Z', '1d', utc)).toBe('1969-12-31T00:00:00.000Z');
    });

    test('days of 23 and 25 hours begin at midnight; the hour that comes twice is two', () => {
      expect(startOf('2026-03-29T12:00:00Z', '1d', berlin)).toBe('2026-03-28T23:00:00.000Z');
      expect(startOf('2026-10-25T12:00:00Z', '1d', berlin)).toBe('2026-10-24T22:00:00.000Z');
      expect(startOf('2026-10-25T00:30:00Z', '1h', berlin)).toBe('2026-10-25T00:00:00.000Z');
      expect(startOf('2026-10-25T01:30:00Z', '1h', berlin)).toBe('2026-10-25T01:00:00.000Z');
    });

    test.each(['7m', '5h', '36h', '0h', '1', 'h', '1y', '-1h'])('%s is not a length', (length) => {
      expect(() => bucketMsOf(length)).toThrow('--bucket');
    });
  });
});

// Positions to stays: every rule, and against a plain implementation over random tracks.
describe('stays', () => {
  const at = (id: string, timeMs: number, cell: number, admin = 1): TrackPoint => ({
    id,
    timeMs,
    cell: BigInt(cell),
    admin,
  });

  function staysOf(points: readonly TrackPoint[], gapMs = Number.POSITIVE_INFINITY): Stay[] {
    const stays = new Stays(gapMs);
    const ended = points.map((point) => stays.take(point)).filter((stay) => stay !== null);
    return [...ended, ...stays.open()];
  }
  const wordsOf = ({ id, cell, event, previousAdmin, enteredMs, leftMs, points }: Stay): string =>
    `${id} ${cell} ${event} ${previousAdmin ?? '-'} ${enteredMs}-${leftMs} ${points}`;

  test('positions in one cell are one stay; another cell begins the next', () => {
    expect(staysOf([at('a', 1, 5), at('a', 2, 5), at('a', 2, 5), at('a', 9, 6)]).map(wordsOf)).toEqual([
      'a 5 first - 1-2 3',
      'a 6 cell 1 9-9 1',
    ]);
  });

  test('another province is an event, in the same cell too', () => {
    expect(staysOf([at('a', 1, 5, 1), at('a', 2, 5, 2), at('a', 3, 6, 2)]).map(wordsOf)).toEqual([
      'a 5 first - 1-1 1',
      'a 5 province 1 2-2 1',
      'a 6 cell 2 3-3 1',
    ]);
  });

  test('a position outside ends a stay; coming back is a change only into another province', () => {
    expect(staysOf([at('a', 1, 5, 1), at('a', 2, 0, 255), at('a', 3, 5, 1)]).map(wordsOf)).toEqual([
      'a 5 first - 1-1 1',
      'a 5 cell 1 3-3 1',
    ]);
    expect(staysOf([at('a', 1, 5, 1), at('a', 2, 0, 255), at('a', 3, 7, 2)]).map(wordsOf)[1]).toBe(
      'a 7 province 1 3-3 1',
    );
    expect(staysOf([at('a', 1, 0, 255)])).toEqual([]);
  });

  test('a time without positions that is longer than the gap ends a stay', () => {
    expect(staysOf([at('a', 0, 5), at('a', 10, 5), at('a', 21, 5)], 10).map(wordsOf)).toEqual([
      'a 5 first - 0-10 2',
      'a 5 cell 1 21-21 1',
    ]);
  });

  test('a position earlier than the one before is left out and counted', () => {
    const stays = new Stays(Number.POSITIVE_INFINITY);
    for (const point of [at('a', 5, 5), at('a', 4, 6), at('b', 1, 6), at('a', 5, 5)]) stays.take(point);
    expect(stays.late).toBe(1);
    expect([...stays.open()].map(wordsOf)).toEqual(['a 5 first - 5-5 2', 'b 6 first - 1-1 1']);
  });

  test('any tracks: as cut by hand, one vehicle at a time', () => {
    const point = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      step: fc.integer({ min: 0, max: 30 }),
      cell: fc.integer({ min: 0, max: 3 }),
      admin: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(point, { maxLength: 60 }), fc.integer({ min: 5, max: 40 }), (given, gapMs) => {
        let now = 0;
        const points = given.map(({ id, step, cell, admin }) => {
          now += step;
          return at(id, now, cell, cell === 0 ? 255 : admin);
        });
        const found = staysOf(points, gapMs);
        for (const id of ['a', 'b', 'c']) {
          const own = points.filter((each) => each.id === id);
          const isBreak = (i: number): boolean =>
            i === 0 ||
            own[i]!.cell !== own[i - 1]!.cell ||
            own[i]!.admin !== own[i - 1]!.admin ||
            own[i]!.timeMs - own[i - 1]!.timeMs > gapMs;
          const starts = own.map((_, i) => i).filter(isBreak);
          const runs = starts.map((start, n) => own.slice(start, starts[n + 1] ?? own.length));
          const wanted = runs.filter(([first]) => first!.cell !== 0n);
          expect(
            found
              .filter((stay) => stay.id === id)
              .map((stay) => [stay.cell, stay.enteredMs, stay.leftMs, stay.points]),
          ).toEqual(wanted.map((run) => [run[0]!.cell, run[0]!.timeMs, run.at(-1)!.timeMs, run.length]));
          const events = found.filter((stay) => stay.id === id).map((stay) => stay.event);
          expect(events).toEqual(
            wanted.map((run, n) =>
              n === 0 ? 'first' : run[0]!.admin === wanted[n - 1]![0]!.admin ? 'cell' : 'province',
            ),
          );
        }
      }),
      { seed: 26, numRuns: 300 },
    );
  });
});
