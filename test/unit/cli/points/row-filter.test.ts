// Conditions of --where: reading them, and which rows they keep.
import { expect, test } from 'vitest';
import type { TableColumn } from '#dist/files/formats/table.js';
import { conditionOf, rowFilter } from '#dist/files/points/row-filter.js';
import { ZoneClock } from '#dist/files/points/zone-clock.js';

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
});

test('times of typed columns', () => {
  expect(kept('at > 1970-01-01T00:00:01Z')).toEqual([3, 4]);
  expect(kept('at <= "1970-01-01 08:00:01"')).toEqual([0, 1]);
  expect(() => kept('at > noon')).toThrow('at holds times, and noon is none');
});

test.each(['speed', 'speed >', '> 5', 'speed ~ 5', ''])('%j is no condition', (text) => {
  expect(() => conditionOf(text)).toThrow('must be COLUMN OP VALUE');
});

test('a column that is not there', () => {
  expect(() => kept('sped > 5')).toThrow('no column sped');
});
