// Rows of positions by the command: conditions of --where, times of columns as instants, the clock of a zone, and
// buckets. Each row is a vehicle of its own to `hexcodes track`, which says when it came.
import { resolve } from 'node:path';
import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
const vectorOf = (values: readonly unknown[], type: arrow.DataType) =>
  arrow.vectorFromArray([...values], type);

/** A file of rows at one position, whose numbers are in column `n`. */
function writeArrow(name: string, rows: number, columns: Record<string, arrow.Vector>): void {
  const each = <T>(value: (i: number) => T): T[] => Array.from({ length: rows }, (_, i) => value(i));
  const table = new arrow.Table({
    n: vectorOf(each(String), new arrow.Utf8()),
    lat: vectorOf(
      each(() => 21.0288),
      new arrow.Float64(),
    ),
    lng: vectorOf(
      each(() => 105.8525),
      new arrow.Float64(),
    ),
    ...columns,
  });
  folder.write(name, arrow.tableToIPC(table, 'stream'));
}

/** When each vehicle came, by its number. @throws Error with what the command says */
async function entered(
  name: string,
  time: string,
  ...more: readonly string[]
): Promise<Record<string, string>> {
  const args = ['track', name, '--id', 'n', '--time', time, '--to', 'ndjson', '-q', ...more];
  const { code, stdout, stderr } = await folder.run(args);
  // With 1 no row has all of them.
  if (code! > 1) throw new Error(stderr);
  const stays = stdout.split('\n').filter((line) => line !== '');
  return Object.fromEntries(stays.map((line) => JSON.parse(line)).map((stay) => [stay.id, stay.entered]));
}

/** The instants of texts in milliseconds; NaN for what is not a time. */
async function instantsOf(texts: readonly string[], ...more: readonly string[]): Promise<number[]> {
  const quoted = texts.map((text, n) => `${n},"${text}",21.0288,105.8525\n`);
  folder.write('texts.csv', `n,ts,lat,lng\n${quoted.join('')}`);
  const found = await entered('texts.csv', 'ts', ...more);
  return texts.map((_, n) => Date.parse(found[n] ?? ''));
}

describe('conditions', () => {
  const times = [0n, 1_000n, null, 2_000n, 3_000n];
  writeArrow('rows.arrows', 5, {
    now: vectorOf(Array(5).fill(1_750_000_000), new arrow.Float64()),
    speed: vectorOf(['5', ' 5,5 ', '', 'x', '1e1'], new arrow.Utf8()),
    'tên xe': vectorOf(['a', 'b', '', 'B', '51C-1'], new arrow.Utf8()),
    at: vectorOf(
      times.map((ms) => ms && Number(ms)),
      new arrow.TimestampMillisecond('UTC'),
    ),
    finer: vectorOf(
      [1_000_249, 1_000_250, 1_000_251, 1_001_000, null].map((us) => us && us / 1000),
      new arrow.TimestampMicrosecond('UTC'),
    ),
    big: vectorOf([1n, 2n ** 60n, 2n ** 60n + 1n, null, -4n], new arrow.Int64()),
    wide: vectorOf([2 ** 60, 2 ** 60 + 256, 1e40, null, -(2 ** 60)], new arrow.Float64()),
    took: vectorOf(Array(5).fill(30_600_000_000n), new arrow.DurationMicrosecond()),
  });
  const kept = async (...conditions: string[]): Promise<number[]> => {
    const where = conditions.flatMap((condition) => ['--where', condition]);
    return Object.keys(await entered('rows.arrows', 'now', ...where)).map(Number);
  };

  test.each<[number[], ...string[]]>([
    // Numbers, whatever their spelling; a row without one is not kept.
    [[1, 4], 'speed > 5'],
    [[0, 1, 4], 'speed>=5'],
    [[0], 'speed = 5.0'],
    [[1, 4], 'speed != 5'],
    [[1, 4], 'speed <> 5'],
    [[1], 'speed < 10', 'speed > 5'],
    [[3], 'speed > 5km'],
    // Integers beyond 2^53 are compared exactly.
    [[1], 'big = 1152921504606846976'],
    [[2], 'big > 1152921504606846976'],
    [[0, 4], 'big <= 1'],
    // Doubles are compared with the nearest double.
    [[0], 'wide = 1152921504606846977'],
    [[1, 2], 'wide > 1152921504606846977'],
    [[0, 1, 4], 'wide < 10000000000000000000000000000000000000000'],
    [[2], 'wide = 10000000000000000000000000000000000000000'],
    // Text by its characters, quoted or not. A number in quotes is a text, but for a column whose type is numbers.
    [[0], 'tên xe = a'],
    [[4], `TÊN XE == "51C-1"`],
    [[1, 3, 4], "tên xe != 'a'"],
    [[0, 1], 'tên xe >= a'],
    [[], 'tên xe = "=> 5"', 'tên xe = salt and pepper'],
    [[0], "speed = '5'", 'speed = 5.0'],
    [[], "speed = '5.0'"],
    [[4], 'speed = "1e1"'],
    [[0], "big = '01'"],
    // Times of typed columns; durations are no numbers.
    [[3, 4], 'at > 1970-01-01T00:00:01Z'],
    [[0, 1], 'at <= "1970-01-01 08:00:01"'],
    [[2, 3], 'finer > 1970-01-01T00:00:01.000250Z'],
    [[], 'took > 5'],
  ])('rows %j: %s', async (rows, ...conditions) => {
    expect(await kept(...conditions)).toEqual(rows);
  });

  test.each([
    ['at > noon', 'at holds times, and noon is not one'],
    ['big > 5km', 'big holds numbers, and 5km is not one'],
    ['sped > 5', 'no column sped'],
    ...['speed', 'speed >', '> 5', 'speed ~ 5', ''].map((text) => [text, 'must be COLUMN OP VALUE']),
    // Compared as texts, "=> 5" and "5 and n = 2" are smaller than some numbers and larger than others.
    ...[
      'speed => 5',
      'speed =< 5',
      'speed !== 5',
      'speed >> 5',
      'speed > 5 and n = 2',
      'n = 1 OR n >= 3',
    ].map((text) => [text, 'must be COLUMN OP VALUE']),
  ])('%j is refused', async (condition, why) => {
    await expect(kept(condition!)).rejects.toThrow(why);
  });

  test('a column of JSON that looks like numbers may hold texts', async () => {
    folder.write('in.ndjson', '{"n":1,"now":1750000000,"lat":21.0288,"lng":105.8525,"plate":5}\n');
    expect(await entered('in.ndjson', 'now', '--where', 'plate = 51C')).toEqual({});
  });
});

describe('times', () => {
  test('texts: with a zone, of the zone of the command, numbers since 1970', async () => {
    const DUE: Record<string, string> = {
      '2026-11-01T08:00:00Z': '2026-11-01T08:00:00Z',
      '2026-11-01T08:00:00.25+07:00': '2026-11-01T01:00:00.250Z',
      '2026-11-01 08:00:00+0730': '2026-11-01T00:30:00Z',
      '2026-11-01 08:00-05': '2026-11-01T13:00:00Z',
      ' 2026-11-01 08:00 ': '2026-11-01T01:00:00Z',
      '2026-11-01': '2026-10-31T17:00:00Z',
      '2026-11-01T24:00': '2026-11-01T17:00:00Z',
      '2026-12-31T23:59:60Z': '2027-01-01T00:00:00Z',
      '1750000000': '2025-06-15T15:06:40Z',
      '1750000000.5': '2025-06-15T15:06:40.500Z',
      '1750000000500': '2025-06-15T15:06:40.500Z',
      // Nanoseconds are cut off, not rounded.
      '1767398399999999999': '2026-01-02T23:59:59.999Z',
    };
    expect(await instantsOf(Object.keys(DUE))).toEqual(Object.values(DUE).map((iso) => Date.parse(iso)));
  });

  test('no time: no date, none that a clock shows, a date without separators, or a small number', async () => {
    const ends = 'T24:30 T24:00:00.5 T12:30:60 T23:59:60.5 T08:60 T08:00+24:00 T08:00-07:60'.split(' ');
    const none = [
      ...['', 'x', '2026-02-30', '2026-13-01', '2026-11-01T25:00', '26-11-01', '1e30'],
      ...ends.map((end) => `2026-11-01${end}`),
      ...['20261101', '202611010800', '20261101080000', '20261101080000.5', '19991231'],
      // A year, a day of a spreadsheet, and clocks that were not set.
      ...['2026', '46024.979', '0', '-1', '99999999'],
    ];
    expect(await instantsOf(none)).toEqual(none.map(() => Number.NaN));
    const whole = none.filter((text) => /^\d+$/.test(text)).map(BigInt);
    writeArrow('whole.arrows', whole.length, { ts: vectorOf(whole, new arrow.Int64()) });
    expect(await entered('whole.arrows', 'ts')).toEqual({});
  });

  test('columns with types', async () => {
    const ms = 1_750_000_000_500;
    writeArrow('typed.arrows', 1, {
      double: vectorOf([1_750_000_000_500_000], new arrow.Float64()),
      long: vectorOf([1_750_000_000_500_000_000n], new arrow.Int64()),
      utc: vectorOf([ms], new arrow.TimestampMicrosecond('UTC')),
      local: vectorOf([ms - 500], new arrow.TimestampSecond()),
      date: vectorOf([new Date('2025-06-15')], new arrow.DateDay()),
      none: vectorOf([30_600_000_000n], new arrow.TimeMicrosecond()),
    });
    const found = ['double', 'long', 'utc', 'local', 'date', 'none'].map(
      async (column) => (await entered('typed.arrows', column, '--zone', 'UTC'))[0],
    );
    const moment = '2025-06-15T15:06:40.500+00:00';
    const second = moment.replace('.500', '');
    expect(await Promise.all(found)).toEqual([
      moment,
      moment,
      moment,
      second,
      '2025-06-15T00:00:00+00:00',
      undefined,
    ]);
    expect((await entered('typed.arrows', 'local'))[0]).toBe('2025-06-15T15:06:40+07:00');
  });

  test('INT96 of Parquet is an instant of UTC in every zone, also behind a sort', async () => {
    const input = resolve('test/fixtures/types/int96.parquet');
    const sorted = await folder.run([
      'encode',
      input,
      '--sort',
      'cell',
      '--prefix',
      'a_',
      '-o',
      'sorted.parquet',
      '-q',
    ]);
    expect([sorted.code, sorted.stderr]).toEqual([0, '']);
    const due = Date.parse('2026-01-01T00:00:00.123Z');
    for (const name of [input, 'sorted.parquet'])
      for (const zone of ['UTC', 'Asia/Ho_Chi_Minh', 'America/New_York']) {
        const condition = "INT96 > '2026-01-01T00:00:00Z'";
        const args = ['track', name, '--id', 'lat', '--time', 'INT96', '--to', 'ndjson', '-q'];
        const { stdout } = await folder.run([...args, '--zone', zone, '--where', condition]);
        expect([zone, Date.parse(JSON.parse(stdout).entered)]).toEqual([zone, due]);
      }
  });

  test('every unit of a timestamp, and every spelling of it, is one instant, cut off to the millisecond', async () => {
    const { TimestampSecond, TimestampMillisecond, TimestampMicrosecond, TimestampNanosecond } = arrow;
    const units = [
      ...[[0, TimestampSecond] as const, [3, TimestampMillisecond] as const],
      ...[[6, TimestampMicrosecond] as const, [9, TimestampNanosecond] as const],
    ];
    const ends = fc.constantFrom(0n, 1n, 999_999_999n, 999_999_872n, 999_999_499n, 123_999_999n);
    const drawn = fc.sample(
      fc.tuple(fc.bigInt(-2_000_000_000n, 9_000_000_000n), fc.oneof(ends, fc.bigInt(0n, 999_999_999n))),
      { numRuns: 200, seed: 26 },
    );
    for (const [digits, Timestamp] of units) {
      const step = 10n ** BigInt(9 - digits);
      const values = BigInt64Array.from(
        drawn,
        ([seconds, ns]) => (seconds * 10n ** 9n + ns - (ns % step)) / step,
      );
      const floors = drawn.map(([seconds, ns]) => Number(seconds * 1000n + (ns - (ns % step)) / 1_000_000n));
      const column = (zone?: string): arrow.Vector => {
        const type: arrow.Timestamp = new Timestamp(zone);
        return arrow.makeVector(
          arrow.makeData({ type, length: values.length, data: values.slice() as never }),
        );
      };
      writeArrow('units.arrows', values.length, { utc: column('UTC'), local: column() });
      for (const name of ['utc', 'local']) {
        const found = await entered('units.arrows', name, '--zone', 'UTC');
        expect(drawn.map((_, n) => Date.parse(found[n]!))).toEqual(floors);
      }
      const texts = drawn.map(([seconds, ns]) => {
        const iso = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
        return `${iso}.${String(ns).padStart(9, '0').slice(0, Math.max(1, digits))}Z`;
      });
      if (digits > 0) expect(await instantsOf(texts, '--zone', 'UTC')).toEqual(floors);
    }
  });
});

describe('the clock of a zone', () => {
  const zoned = async (zone: string, ...times: string[]): Promise<string[]> => {
    folder.write('in.csv', `n,ts,lat,lng\n${times.map((ts, n) => `${n},${ts},21.0288,105.8525\n`).join('')}`);
    return Object.values(await entered('in.csv', 'ts', '--zone', zone));
  };

  test('its offset, as the IANA has it, and its text', async () => {
    expect(await zoned('Asia/Ho_Chi_Minh', '2026-11-01T01:00:00Z', '1975-06-01T00:00:00Z')).toEqual([
      '2026-11-01T08:00:00+07:00',
      // Until 13 June 1975 the south had UTC+8.
      '1975-06-01T08:00:00+08:00',
    ]);
    expect(await zoned('Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z')).toEqual([
      '2026-03-29T01:59:59+01:00',
      '2026-03-29T03:00:00+02:00',
    ]);
    // An offset of 7:06:30 until 1911: the text has none with seconds, and the instant counts.
    const [old] = await zoned('Asia/Ho_Chi_Minh', '1906-01-01T00:00:00Z');
    expect(new Date(old!).toISOString()).toBe('1906-01-01T00:00:00.000Z');
    expect(await zoned('UTC', '2026-11-01T01:00:00.5Z')).toEqual(['2026-11-01T01:00:00.500+00:00']);
    expect(await zoned('America/New_York', '2026-11-01T12:00:00Z')).toEqual(['2026-11-01T07:00:00-05:00']);
    await expect(zoned('Hanoi', '2026-11-01')).rejects.toThrow('is not a time zone');
  });

  test('local times as instants: the first of two, and the one before a gap moved on', async () => {
    expect(await zoned('Europe/Berlin', '2026-10-25 02:30', '2026-10-25 03:00', '2026-07-01 12:00')).toEqual([
      '2026-10-25T02:30:00+02:00',
      '2026-10-25T03:00:00+01:00',
      '2026-07-01T12:00:00+02:00',
    ]);
    const hours = Array.from({ length: 24 * 365 }, (_, hour) => Date.UTC(2026, 0, 1, hour));
    const shown = await zoned('Europe/Berlin', ...hours.map((ms) => new Date(ms).toISOString()));
    expect(shown.map((text) => Date.parse(text))).toEqual(hours);
    const back = await zoned('Europe/Berlin', ...shown.map((text) => text.slice(0, 19)));
    for (const [i, text] of back.entries()) expect([0, 3_600_000]).toContain(hours[i]! - Date.parse(text));
  });

  const HCM = 'Asia/Ho_Chi_Minh';
  test.each<[string, string, ...[of: string, start: string][]]>([
    ['1h', HCM, ['2026-11-01T08:59:59.999Z', '2026-11-01T15:00:00+07:00']],
    ['15m', HCM, ['2026-11-01T08:59:59.999Z', '2026-11-01T15:45:00+07:00']],
    [
      '1d',
      HCM,
      ['2026-11-01T16:59:59Z', '2026-11-01T00:00:00+07:00'],
      ['2026-11-01T17:00:00Z', '2026-11-02T00:00:00+07:00'],
    ],
    // 26 October 2026 is a Monday, 1 November the Sunday after it.
    ['1w', HCM, ['2026-11-01T12:00:00Z', '2026-10-26T00:00:00+07:00']],
    ['1d', 'UTC', ['1969-12-31T23:00:00Z', '1969-12-31T00:00:00+00:00']],
    // Days of 23 and 25 hours begin at midnight; the hour that comes twice is two.
    [
      '1d',
      'Europe/Berlin',
      ['2026-03-29T12:00:00Z', '2026-03-29T00:00:00+01:00'],
      ['2026-10-25T12:00:00Z', '2026-10-25T00:00:00+02:00'],
    ],
    [
      '1h',
      'Europe/Berlin',
      ['2026-10-25T00:30:00Z', '2026-10-25T02:00:00+02:00'],
      ['2026-10-25T01:30:00Z', '2026-10-25T02:00:00+01:00'],
    ],
  ])('buckets of %s in %s', async (length, zone, ...due) => {
    folder.write('in.csv', `ts,lat,lng\n${due.map(([ts]) => `${ts},21.0288,105.8525\n`).join('')}`);
    const group = ['--by', 'province', '--time', 'ts', '--bucket', length, '--zone', zone, '-q'];
    const { stdout } = await folder.run(['aggregate', 'in.csv', ...group]);
    expect(stdout.trim().split('\n').slice(1)).toEqual(due.map(([, start]) => `HN,Hà Nội,${start},1`));
  });

  test.each(['7m', '5h', '36h', '0h', '1', 'h', '1y', '-1h'])('%s is not a length', async (length) => {
    folder.write('in.csv', 'ts,lat,lng\n0,21,105\n');
    const { code, stderr } = await folder.run(['aggregate', 'in.csv', '--time', 'ts', `--bucket=${length}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--bucket')]);
  });
});
