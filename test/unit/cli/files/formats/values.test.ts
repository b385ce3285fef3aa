// Values of typed files: dates, the depth and weight of JSON, and rows in windows.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dateText,
  durationText,
  intervalText,
  timestampText,
  timeText,
} from '#dist/files/formats/values/column-text.js';
import { jsonWeight, MAX_DEPTH } from '#dist/files/formats/values/json-columns.js';
import { MAX_ROW_TEXT, rowWindows, textSizeOf } from '#dist/files/held/ceiling.js';

// Dates and times as text: as Date writes them where Date can, and right beyond its years.
describe('dates and times', () => {
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
});

// The depth of a JSON text, and about how much memory its values take, before it is parsed.
describe('the weight of JSON', () => {
  const nested = (depth: number, within: string) =>
    `${'[{"a":'.repeat(depth / 2)}${within}${'}]'.repeat(depth / 2)}`;

  test('512 deep is read, 513 is not, wherever brackets stand in texts', () => {
    const brackets = `"${'[{'.repeat(2000)}\\"${'['.repeat(100)}\\\\"`;
    expect(jsonWeight(nested(MAX_DEPTH, brackets))).toBeGreaterThan(0);
    expect(() => jsonWeight(nested(MAX_DEPTH, '[]'))).toThrow(/nested more than 512 deep/);
    expect(jsonWeight(`[${'[],'.repeat(1000)}1]`)).toBeGreaterThan(0);
  });

  test('lists and objects weigh more than their letters', () => {
    const letters = jsonWeight(`["${'x'.repeat(3000)}"]`);
    expect(jsonWeight(`[${'[],'.repeat(1000)}1]`)).toBeGreaterThan(10 * letters);
    expect(jsonWeight(`[${'{},'.repeat(1000)}1]`)).toBeGreaterThan(10 * letters);
  });
});

// Rows in windows: all of them, in their order, with a bounded amount of text and of values in each.
describe('rows in windows', () => {
  const MIB = 2 ** 20;
  const source = { file: 'x.parquet', firstRow: 11, names: ['a', 'b'] };

  function windowsOf(rows: number, ...readers: ((row: number) => unknown)[]) {
    return [...rowWindows(rows, readers, source)];
  }

  test('every row once and in its order, however long the texts are', () => {
    const long = 'x'.repeat(5 * MIB);
    const windows = windowsOf(
      40,
      (row) => row,
      (row) => (row % 7 === 0 ? long : 'y'),
      () => null,
    );
    expect(windows.flatMap(({ values }) => Array.from(values[0]!))).toEqual(
      Array.from({ length: 40 }, (_, i) => i),
    );
    for (const { rowCount, values } of windows) {
      expect(values.map(({ length }) => length)).toEqual([rowCount, rowCount, rowCount]);
      const text = Array.from(values[1]!).reduce<number>((sum, value) => sum + textSizeOf(value), 0);
      expect(text).toBeLessThanOrEqual(16 * MIB);
    }
    expect(windows.length).toBeGreaterThan(1);
  });

  test('texts of all columns count together', () => {
    const text = 'x'.repeat(MIB);
    const windows = windowsOf(
      20,
      () => text,
      () => text,
      () => new Uint8Array(2 * MIB),
    );
    expect(windows.map(({ rowCount }) => rowCount)).toEqual([4, 4, 4, 4, 4]);
  });

  test('a row alone may pass the size of a window, up to that of a row', () => {
    const text = 'x'.repeat(MAX_ROW_TEXT / 2);
    expect(windowsOf(3, () => text).map(({ rowCount }) => rowCount)).toEqual([1, 1, 1]);
    expect(
      windowsOf(
        1,
        () => text,
        () => text,
      ),
    ).toHaveLength(1);
    expect(() =>
      windowsOf(
        3,
        (row) => (row < 2 ? '' : text),
        (row) => (row < 2 ? '' : `${text}z`),
      ),
    ).toThrow(/x\.parquet, row 13, column b: the row has more than 64 MiB of text/);
  });

  test('many columns make windows of few rows', () => {
    const readers = Array.from({ length: 100_000 }, () => () => 1);
    expect([...rowWindows(100, readers, source)].map(({ rowCount }) => rowCount)).toEqual([41, 41, 18]);
    expect(windowsOf(40_000, () => 1).map(({ rowCount }) => rowCount)).toEqual([16_384, 16_384, 7232]);
  });

  test('what a reader throws is a fault of its row and column', () => {
    const broken = (row: number) => {
      if (row === 5) throw new RangeError('Invalid string length');
      return row;
    };
    expect(() => windowsOf(9, () => 1, broken)).toThrow(
      /x\.parquet, row 16, column b: cannot be read from here on \(a text is longer than memory can hold\)/,
    );
  });
});
