// border_m and the neighbour of both builds against a peer that asks every line, by another metric: on the shipped map,
// where the proof `border` asks 100,000 points, on maps that are made up, and where the lists of cells begin again.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hexcodes, type Kernel } from '#hexcodes';
import { writeIndexFile } from '../../../data/map/index-file.js';
import type { Partition } from '../../../data/map/partition.js';
import { type Build, KERNEL_FILES, OPEN_REACH, randomFrom } from '../../support/open-world.js';
import { BorderPeer, borderFault, checkBorders } from '../../support/peers/border-distance.js';
import { fieldsPartition, SOUTH, WEST } from '../../support/region/made-partitions.js';
import { shippedFiles } from '../../support/shipped.js';

const BUILDS = Object.keys(KERNEL_FILES) as Build[];
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
console.log(`border: seed ${seed}`);

const { index, reach } = shippedFiles();
/** The answer of borderOf where no border is near. */
const NO_BORDER = 65_535;

const kernelOf = (build: Build, file: Uint8Array): Kernel =>
  Hexcodes.from({
    kernel: readFileSync(KERNEL_FILES[build]),
    index: file,
    reach: file === index ? reach : OPEN_REACH,
  }).kernel;

describe.each(BUILDS)('%s', (build) => {
  const kernel = kernelOf(build, index);
  const peer = new BorderPeer(index);

  test('3,000 points of the shipped map', () => {
    const { near, wrong } = checkBorders(kernel, index, 3000, randomFrom(seed));
    expect(wrong).toEqual([]);
    expect(near).toBeGreaterThan(1000);
  });

  test('any position of the box of the map', () => {
    const degrees = (min: number, max: number) =>
      fc.double({ min, max, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(degrees(6, 24.5), degrees(101, 119), (latDeg, lngDeg) => {
        expect(borderFault(kernel, peer, latDeg, lngDeg).fault).toBeUndefined();
      }),
      { seed, numRuns: 500 },
    );
  });

  test('made maps: at corners, on lines, in fields that are not a province', () => {
    const random = randomFrom(seed + 1);
    for (let map = 0; map < 4; map++) {
      const partition = fieldsPartition(random, { columns: 6, rows: 6 });
      const file = writeIndexFile(partition, 'none');
      const made = kernelOf(build, file);
      const madePeer = new BorderPeer(file);
      const { segments } = partition;
      const positions: [number, number][] = [];
      for (let i = 0; i < segments.length; i += 2)
        positions.push([segments[i + 1]! / 1e6, segments[i]! / 1e6]);
      for (let n = 0; n < 300; n++)
        positions.push([SOUTH / 1e6 + random() * 0.6 - 0.05, WEST / 1e6 + random() * 0.6 - 0.05]);
      for (const [latDeg, lngDeg] of positions)
        expect(borderFault(made, madePeer, latDeg, lngDeg).fault, `map ${map}, seed ${seed}`).toBeUndefined();
    }
  });

  test('a border whose lists of lines do not fit: the lists are made again', () => {
    const file = writeIndexFile(fineLine(), 'none');
    const made = kernelOf(build, file);
    const madePeer = new BorderPeer(file);
    const random = randomFrom(seed + 2);
    const positions = Array.from(
      { length: 60 },
      () => [SOUTH / 1e6 + 0.05 + random() * 0.1, WEST / 1e6 + 0.3 + random() * 0.9] as const,
    );
    const ask = () => positions.map(([latDeg, lngDeg]) => made.exports.borderOf(latDeg, lngDeg));
    const first = ask();
    // every cell around the border
    for (let lat = 0; lat < 0.2; lat += 0.008)
      for (let lng = 0; lng < 1.5; lng += 0.008) made.exports.borderOf(SOUTH / 1e6 + lat, WEST / 1e6 + lng);
    expect(ask()).toEqual(first);
    for (const [latDeg, lngDeg] of positions)
      expect(borderFault(made, madePeer, latDeg, lngDeg).fault).toBeUndefined();
  });

  test('what is not a position, and a map without borders between provinces', () => {
    const { borderOf, neighbourOf } = kernel.exports;
    for (const [latDeg, lngDeg] of [
      [Number.NaN, 105],
      [21, Number.NaN],
      [Infinity, 105],
      [21, -Infinity],
      [1e300, 1e300],
      [91, 105],
      [21 + 4294.967296, 105.8],
    ] as const)
      expect([borderOf(latDeg, lngDeg), neighbourOf(latDeg, lngDeg)]).toEqual([NO_BORDER, 255]);
    const alone = fieldsPartition(randomFrom(3), { columns: 4, rows: 4, units: 1, empty: 0 });
    const made = kernelOf(build, writeIndexFile(alone, 'none'));
    expect(made.exports.borderOf(SOUTH / 1e6 + 0.1, WEST / 1e6 + 0.1)).toBe(NO_BORDER);
  });
});

test('who asks for no distance touches none of the memory for it', () => {
  const kernel = kernelOf('kernel', index);
  const { exports, capacity, input } = kernel;
  const random = randomFrom(seed + 4);
  for (let batch = 0; batch < 20; batch++) {
    for (let i = 0; i < 2 * capacity; i += 2) input.set([8 + random() * 15, 103 + random() * 6], i);
    exports.encodeBatch(capacity, 13);
    exports.locateBatch(capacity);
  }
  const behind = new Uint8Array(exports.memory.buffer, exports.gridEnd.value);
  expect(behind.every((byte) => byte === 0)).toBe(true);
  exports.borderBatch(capacity);
  expect(behind.every((byte) => byte === 0)).toBe(false);
});

test('a kernel takes a second index: nothing of the first is left', () => {
  const kernel = kernelOf('kernel', index);
  const { exports } = kernel;
  const random = randomFrom(seed + 3);
  const positions = Array.from({ length: 2000 }, () => [8 + random() * 15, 103 + random() * 6] as const);
  const ask = () => positions.map(([latDeg, lngDeg]) => exports.borderOf(latDeg, lngDeg));
  const before = ask();
  const put = (file: Uint8Array): number => {
    new Uint8Array(exports.memory.buffer).set(file, exports.INDEX.value);
    return exports.useIndex(file.length);
  };
  expect(put(writeIndexFile(fieldsPartition(randomFrom(5)), 'none'))).toBe(0);
  expect(ask()).not.toEqual(before);
  expect(put(index)).toBe(0);
  expect(ask()).toEqual(before);
});

/**
 * Two provinces, the border between them 75,000 lines of 2 m: each cell within 5 km lists all that are opposite to it.
 */
function fineLine(): Partition {
  const segments: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  const [width, height, step] = [1_500_000, 200_000, 20];
  const add = (x0: number, y0: number, x1: number, y1: number, l: number, r: number): void => {
    segments.push(WEST + x0, SOUTH + y0, WEST + x1, SOUTH + y1);
    left.push(l);
    right.push(r);
  };
  const middle = (n: number): number => height / 2 + (n % 2 === 0 ? 0 : 10);
  const count = width / step;
  for (let n = 0; n < count; n++) add(n * step, middle(n), (n + 1) * step, middle(n + 1), 0, 1);
  add(0, 0, width, 0, 1, 63);
  add(width, 0, width, middle(count), 1, 63);
  add(width, middle(count), width, height, 0, 63);
  add(width, height, 0, height, 0, 63);
  add(0, height, 0, middle(0), 0, 63);
  add(0, middle(0), 0, 0, 1, 63);
  return {
    units: [0, 1].map((admin) => ({ name: `unit ${admin}`, admin })),
    segments: Int32Array.from(segments),
    left: Uint8Array.from(left),
    right: Uint8Array.from(right),
    notice: 'made up',
    source: { name: 'made up', date: '2026-01-01' },
  };
}
