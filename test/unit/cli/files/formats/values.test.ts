// Values of typed files: dates, the depth and weight of JSON, and rows in windows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonWeight, MAX_DEPTH } from '#dist/files/formats/values/json-columns.js';
import { MAX_ROW_TEXT, rowWindows, textSizeOf } from '#dist/files/held/ceiling.js';
import { Hexcodes } from '#hexcodes';
import { encodeFile } from '../../../../support/files/convert.js';
import { ownFolder } from '../../../../support/shared.js';

const library = await Hexcodes.load();

// Dates and times of Arrow as text in CSV: as Date writes them where Date can, and right beyond its years.
describe('dates and times', () => {
  const scratch = ownFolder('dates');
  const DAYS = fc.sample(fc.integer({ min: -100_000_000, max: 100_000_000 }), { numRuns: 300, seed: 7 });
  const MS = fc.sample(fc.integer({ min: -8.64e15, max: 8.64e15 }), { numRuns: 300, seed: 8 });
  const { DAY } = arrow.DateUnit;
  const { SECOND, MILLISECOND, MICROSECOND, NANOSECOND } = arrow.TimeUnit;
  const LEAST = -(2n ** 63n);

  /** Numbers of a type as CSV has them. */
  async function textsOf(type: arrow.DataType, numbers: readonly (number | bigint)[]): Promise<string[]> {
    const length = numbers.length;
    const data =
      typeof numbers[0] === 'bigint'
        ? BigInt64Array.from(numbers as bigint[])
        : Int32Array.from(numbers as number[]);
    const made = arrow.makeData({ type, length, nullCount: 0, data } as never);
    const degrees = (value: number) => arrow.vectorFromArray(Array(length).fill(value), new arrow.Float64());
    const table = new arrow.Table({ lat: degrees(21), lng: degrees(105), t: new arrow.Vector([made]) });
    const [input, output] = [join(scratch, 'in.arrows'), join(scratch, 'out.csv')];
    writeFileSync(input, arrow.tableToIPC(table, 'stream'));
    await encodeFile(library, input, output, { keep: ['t'] });
    return readFileSync(output, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0]!);
  }

  test('every day that Date knows', async () => {
    const due = DAYS.map((days) => new Date(days * 86_400_000).toISOString().slice(0, -14));
    expect(await textsOf(new arrow.Date_(DAY), DAYS)).toEqual(due);
    const days = [0, -1, 11_016, -25_567, -719_528, -719_529, 2_932_896, 2_932_897];
    expect(await textsOf(new arrow.Date_(DAY), days)).toEqual([
      ...['1970-01-01', '1969-12-31', '2000-02-29', '1900-01-01'],
      ...['0000-01-01', '-000001-12-31', '9999-12-31', '+010000-01-01'],
    ]);
  });

  test('timestamps to the millisecond as Date', async () => {
    const texts = await textsOf(new arrow.Timestamp(MILLISECOND, 'UTC'), MS.map(BigInt));
    expect(texts).toEqual(MS.map((ms) => new Date(ms).toISOString()));
  });

  test.each([
    [new arrow.Timestamp(NANOSECOND), LEAST, '1677-09-21T00:12:43.145224192'],
    [new arrow.Timestamp(MICROSECOND, 'UTC'), 2n ** 63n - 1n, '+294247-01-10T04:00:54.775807Z'],
    [new arrow.Timestamp(MICROSECOND), LEAST, '-290308-12-21T19:59:05.224192'],
    [new arrow.Timestamp(SECOND), -1n, '1969-12-31T23:59:59'],
    [new arrow.Timestamp(SECOND), 2n ** 53n + 1n, '+285428751-11-12T07:36:33'],
    [new arrow.TimeSecond(), 0, '00:00:00'],
    [new arrow.TimeNanosecond(), 86_399_999_999_999n, '23:59:59.999999999'],
    [new arrow.DurationMillisecond(), -500n, 'PT-0.500S'],
    [new arrow.DurationSecond(), 90_061n, 'PT90061S'],
  ])('%s of %d is %s', async (type, value, text) => {
    expect(await textsOf(type, [value])).toEqual([text]);
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
