// Rows in windows: all of them, in their order, with a bounded amount of text and of values in each.
import { expect, test } from 'vitest';
import { MAX_ROW_TEXT, rowWindows, textSizeOf } from '#dist/files/held/row-windows.js';

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
