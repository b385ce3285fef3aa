// Groups against a Map: in memory, sorted, and merged of several files.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  addValue,
  doubleSumAt,
  type GroupKey,
  GroupTable,
  integerSumAt,
  valueCountAt,
  widthOf,
} from '#dist/files/aggregate/group-table.js';
import { groupsOf, SpilledGroups } from '#dist/files/aggregate/spilled-groups.js';

const WIDTH = widthOf(1);
const before = process.env.TMPDIR;
const ownTemp = mkdtempSync(join(tmpdir(), 'groups-'));
beforeAll(() => {
  process.env.TMPDIR = ownTemp;
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(ownTemp, { recursive: true });
});
const foldersOf = (): string[] =>
  readdirSync(ownTemp).filter((name) => name.startsWith('hexcodes-aggregate-'));

let spilled: SpilledGroups | undefined;
afterEach(() => spilled?.remove());

const word = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
const keys = fc.record({
  cellHigh: word,
  cellLow: word,
  province: fc.integer({ min: 0, max: 33 }),
  timeS: fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -62_000_000_000, max: 253_000_000_000 }),
  ),
});
const rows = fc.array(fc.tuple(keys, fc.integer({ min: -1000, max: 1000 })), {
  minLength: 1,
  maxLength: 400,
});

const textOf = ({ cellHigh, cellLow, province, timeS }: GroupKey): string =>
  [cellHigh, cellLow, province, timeS].join(' ');
const compare = (a: number[], b: number[]): number => {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
};

/** Counts and sums by key, in order. */
function expectedOf(given: readonly (readonly [GroupKey, number])[]): [string, number, number][] {
  const sums = new Map<string, [number, number]>();
  for (const [key, value] of given) {
    const [count, sum] = sums.get(textOf(key)) ?? [0, 0];
    sums.set(textOf(key), [count + 1, sum + value]);
  }
  return [...sums]
    .sort(([a], [b]) => compare(a.split(' ').map(Number), b.split(' ').map(Number)))
    .map(([key, [count, sum]]) => [key, count, sum]);
}

function addTo(table: GroupTable, { cellHigh, cellLow, province, timeS }: GroupKey, value: number): boolean {
  const index = table.indexOf(cellHigh, cellLow, province, timeS);
  if (index < 0) return false;
  table.numbers[index * WIDTH]! += 1;
  addValue(table.numbers, index * WIDTH + 1, value);
  return true;
}

test('a table has each key once, in order', () => {
  fc.assert(
    fc.property(rows, (given) => {
      const table = new GroupTable(WIDTH, 2 ** 24);
      for (const [key, value] of given) expect(addTo(table, key, value)).toBe(true);
      const found = Array.from(groupsOf(table, WIDTH), (group) => [
        textOf(group),
        group.numbers[0],
        Number(integerSumAt(group.numbers, 1)),
      ]);
      expect(found).toEqual(expectedOf(given));
    }),
    { seed: 23, numRuns: 150 },
  );
});

test('files of a table that is written away now and then give the same', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 90 }), (given, every) => {
      const table = new GroupTable(WIDTH, 2 ** 24);
      spilled = new SpilledGroups(WIDTH);
      for (const [i, [key, value]] of given.entries()) {
        addTo(table, key, value);
        if (i % every === every - 1) spilled.spill(table);
      }
      if (table.size > 0) spilled.spill(table);
      const found = Array.from(spilled.groups(), (group) => [
        textOf(group),
        group.numbers[0],
        Number(integerSumAt(group.numbers, 1)),
      ]);
      expect(found).toEqual(expectedOf(given));
      spilled.remove();
      expect(foldersOf()).toEqual([]);
    }),
    { seed: 24, numRuns: 60 },
  );
});

test('a full table says so for new keys only, and holds no more than its limit', () => {
  const table = new GroupTable(WIDTH, 500_000);
  let groups = 0;
  while (table.indexOf(groups, 7, 0, 0) >= 0) groups++;
  expect(groups).toBeGreaterThan(2000);
  expect(groups * (17 + 8 * WIDTH + 8)).toBeLessThan(500_000);
  expect(table.indexOf(0, 7, 0, 0)).toBe(0);
  table.clear();
  expect(table.size).toBe(0);
  expect(table.indexOf(5, 7, 0, 0)).toBe(0);
  expect(table.numbers.every((value) => value === 0)).toBe(true);
});

test('more than one chunk of a file', () => {
  const table = new GroupTable(WIDTH, 2 ** 26);
  spilled = new SpilledGroups(WIDTH);
  for (const half of [0, 1]) {
    for (let i = 0; i < 60_000; i++) addTo(table, { cellHigh: i, cellLow: 0, province: half, timeS: 0 }, i);
    spilled.spill(table);
  }
  let count = 0;
  for (const group of spilled.groups()) {
    expect(group.cellHigh).toBe(count >> 1);
    expect(Number(integerSumAt(group.numbers, 1))).toBe(count >> 1);
    count++;
  }
  expect(count).toBe(120_000);
});

test('the folder of the files is there while they are needed', () => {
  spilled = new SpilledGroups(WIDTH);
  const table = new GroupTable(WIDTH, 2 ** 20);
  addTo(table, { cellHigh: 1, cellLow: 2, province: 3, timeS: 4 }, 5);
  spilled.spill(table);
  expect(foldersOf()).toHaveLength(1);
  spilled.remove();
  expect(foldersOf()).toEqual([]);
  expect(existsSync(tmpdir())).toBe(true);
});

test('sums of integers of any size are exact, and those of doubles are those of doubles', () => {
  const integers = fc.array(
    fc.oneof(
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 58n), max: 2n ** 58n }).map((value) => value),
      fc.integer(),
    ),
    { maxLength: 16 },
  );
  fc.assert(
    fc.property(integers, (values) => {
      const numbers = new Float64Array(WIDTH);
      for (const value of values) addValue(numbers, 1, value);
      expect(integerSumAt(numbers, 1)).toBe(values.reduce((sum: bigint, value) => sum + BigInt(value), 0n));
      expect(valueCountAt(numbers, 1)).toBe(values.length);
    }),
    { seed: 25, numRuns: 300 },
  );
  const numbers = new Float64Array(WIDTH);
  for (const value of [0.5, 2, -3, 0.25]) addValue(numbers, 1, value);
  expect(doubleSumAt(numbers, 1)).toBe(-0.25);
});

test('low halves are carried before they lose digits; a sum beyond 64 bits is refused', () => {
  const numbers = new Float64Array(WIDTH);
  for (let i = 0; i < 3_000_000; i++) addValue(numbers, 1, 2 ** 32 - 1);
  expect(integerSumAt(numbers, 1)).toBe(3_000_000n * (2n ** 32n - 1n));
  const large = new Float64Array(WIDTH);
  addValue(large, 1, 2n ** 62n);
  expect(integerSumAt(large, 1)).toBe(2n ** 62n);
  addValue(large, 1, 2n ** 62n);
  expect(() => integerSumAt(large, 1)).toThrow('beyond 64 bits');
});
