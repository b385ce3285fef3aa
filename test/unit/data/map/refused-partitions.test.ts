// Partitions that are none: what `checkPartition` and `writeIndexFile` refuse, and a map outside of the reach.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writeIndexFile } from '../../../../data/map/index-file.js';
import { checkPartition, type Partition } from '../../../../data/map/partition.js';
import { OUTSIDE } from '../../../../data/map/plane/labelled-lines.js';
import { checkWithinReach, REACH_FILE } from '../../../../data/map/reach.js';
import { OPEN_REACH } from '../../../support/open-world.js';

type Line = readonly [west: number, south: number, east: number, north: number];

/** Lines of one unit on their left and nothing on their right; micro-degrees. */
function partitionOf(lines: readonly Line[], unit = 0): Partition {
  return {
    units: [{ name: 'unit', admin: 24 }],
    segments: Int32Array.from(lines.flat()),
    left: new Uint8Array(lines.length).fill(unit),
    right: new Uint8Array(lines.length).fill(OUTSIDE),
    notice: 'made up',
    source: { name: 'made up', date: '2026-01-01' },
  };
}

/** Counter-clockwise. */
function square(west: number, south: number, side: number): Line[] {
  const [east, north] = [west + side, south + side];
  return [
    [west, south, east, south],
    [east, south, east, north],
    [east, north, west, north],
    [west, north, west, south],
  ];
}

const WHOLE = square(106_000_000, 20_000_000, 1000);
const [FIRST] = WHOLE as [Line];

test('a square is a partition and becomes an index', () => {
  checkPartition(partitionOf(WHOLE));
  expect(writeIndexFile(partitionOf(WHOLE), '').length).toBeGreaterThan(128);
});

test.each<[string, Partition, RegExp, RegExp | undefined]>([
  [
    'crosses itself',
    partitionOf([...WHOLE, ...square(106_000_500, 20_000_500, 1000)]),
    /cross or touch/,
    undefined,
  ],
  [
    'touches itself',
    partitionOf([...WHOLE, ...square(106_000_500, 20_001_000, 100)]),
    /cross or touch/,
    undefined,
  ],
  ['has a line twice', partitionOf([...WHOLE, FIRST]), /stands twice/, /stands twice/],
  [
    'is not on the grid',
    partitionOf(square(106_000_000, 20_000_000, 1005)),
    /is not a multiple of 10/,
    /not on multiples of 10/,
  ],
  ['names a unit that is not there', partitionOf(WHOLE, 1), /has units 1 and 63/, /has units 1 and 63/],
  ['has one unit on both sides', partitionOf(WHOLE, OUTSIDE), /has units 63 and 63/, /has units 63 and 63/],
])('a map that %s is refused', (_name, partition, byCheck, byIndex) => {
  expect(() => checkPartition(partition)).toThrow(byCheck);
  if (byIndex !== undefined) expect(() => writeIndexFile(partition, '')).toThrow(byIndex);
});

test('a map is refused that is empty, too wide, or has a line of no length', () => {
  expect(() => writeIndexFile(partitionOf([]), '')).toThrow(/empty, or wider/);
  const side = 2 ** 25;
  expect(() => writeIndexFile(partitionOf(square(100_000_000, 0, side - (side % 10) + 10)), '')).toThrow(
    /wider/,
  );
  const point: Line = [106_000_000, 20_000_000, 106_000_000, 20_000_000];
  expect(() => writeIndexFile(partitionOf([...WHOLE, point]), '')).toThrow(/has no length/);
});

test('a province where no hexcode has a head is outside the reach', () => {
  const partition = partitionOf(square(118_960_000, 22_000_000, 20_000));
  const index = writeIndexFile(partition, '');
  const reach = readFileSync(REACH_FILE);
  expect(() => checkWithinReach(partition, index, reach)).toThrow(/reach is frozen/);
  // also where the reach allows every province in every cell that has a hexcode
  expect(() => checkWithinReach(partition, index, OPEN_REACH)).toThrow(/reach is frozen/);
});
