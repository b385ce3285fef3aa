// The kernel's grid against the definition (the sum over all segments), on maps that are made to be difficult:
// corners and level sides on the edges of cells, long slanting sides, islands within a cell, tangles.
import { expect, test } from 'vitest';
import type { KernelExports } from '#hexcodes';
import { writeIndexFile } from '../../../data/map/index-file.js';
import type { Partition } from '../../../data/map/partition.js';
import { BatchWitness, bareKernel, putIndex, unitAtMicro } from '../../support/region/bare-kernel.js';
import { unitByDefinition } from '../../support/region/definition.js';
import {
  CELL_AND_STEP,
  fieldsPartition,
  type Random,
  randomFrom,
  retold,
  tanglePartition,
} from '../../support/region/made-partitions.js';

const SEED = 20261121;

/**
 * Places where an index is most likely to be wrong: beside vertices and middles of segments, on edges of cells; and any
 * place.
 */
function* delicatePlaces(partition: Partition, random: Random, each: number): Generator<[number, number]> {
  const { segments } = partition;
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < segments.length; i += 2) {
    west = Math.min(west, segments[i]!);
    east = Math.max(east, segments[i]!);
    south = Math.min(south, segments[i + 1]!);
    north = Math.max(north, segments[i + 1]!);
  }
  const segmentCount = segments.length / 4;
  for (let n = 0; n < each; ++n) {
    const i = 4 * Math.floor(random() * segmentCount);
    const part = [0, 1, 0.5, random()][n % 4]!;
    const x = Math.round(segments[i]! + part * (segments[i + 2]! - segments[i]!));
    const y = Math.round(segments[i + 1]! + part * (segments[i + 3]! - segments[i + 1]!));
    yield [x + Math.floor(random() * 3) - 1, y + Math.floor(random() * 3) - 1];
    // Cells are counted from the south-east corner.
    const edgeX = east - 16384 * Math.floor(random() * ((east - west) / 16384 + 2));
    const edgeY = south + 16384 * Math.floor(random() * ((north - south) / 16384 + 2));
    yield [edgeX + Math.floor(random() * 3) - 1, y + Math.floor(random() * 3) - 1];
    yield [x + Math.floor(random() * 3) - 1, edgeY + Math.floor(random() * 3) - 1];
    yield [edgeX + Math.floor(random() * 3) - 1, edgeY + Math.floor(random() * 3) - 1];
    yield [
      Math.floor(west - 100 + random() * (east - west + 200)),
      Math.floor(south - 100 + random() * (north - south + 200)),
    ];
  }
}

function expectDefinition(kernel: KernelExports, partition: Partition, random: Random, each: number): void {
  expect(putIndex(kernel, writeIndexFile(partition, 'none'))).toBe(0);
  const batch = new BatchWitness(kernel);
  for (const [x, y] of delicatePlaces(partition, random, each)) {
    const unit = unitAtMicro(kernel, x, y);
    if (unit !== unitByDefinition(partition, x, y))
      expect.fail(
        `seed ${SEED}: at ${x}, ${y} the kernel says ${unit}, the definition ${unitByDefinition(partition, x, y)}`,
      );
    batch.add(y / 1e6, x / 1e6, unit === 63 ? 255 : unit % 34);
  }
  batch.compare();
}

test.each([
  ['fields as large as five cells, corners on cell corners', { jitter: 0 }],
  [
    'fields as large as a cell and less, corners on steps',
    { field: 8_190, columns: 40, rows: 40, jitter: 0 },
  ],
  ['jittered fields', { jitter: 0.45 }],
  ['jittered fields smaller than a cell', { field: 3_000, columns: 60, rows: 60 }],
  ['long fields across many cells', { field: 6 * CELL_AND_STEP, columns: 4, rows: 4, jitter: 0.49 }],
  ['one field', { columns: 1, rows: 1, empty: 0, field: 50 }],
])('%s', (_, options) => {
  const random = randomFrom(SEED);
  const kernel = bareKernel();
  for (let round = 0; round < 3; ++round)
    expectDefinition(kernel, fieldsPartition(random, options), random, 2_000);
});

test('tangles of crossing loops', () => {
  const random = randomFrom(SEED);
  const kernel = bareKernel();
  for (let round = 0; round < 60; ++round)
    expectDefinition(kernel, tanglePartition(random, { loops: 3 + (round % 20) }), random, 1_000);
});

test('the debug build agrees', () => {
  const random = randomFrom(SEED);
  const kernel = bareKernel('kernel.debug');
  expectDefinition(kernel, fieldsPartition(random, {}), random, 1_000);
  for (let round = 0; round < 10; ++round) expectDefinition(kernel, tanglePartition(random), random, 500);
});

test('order and direction of segments do not change a byte of the file', () => {
  const random = randomFrom(SEED);
  for (const partition of [fieldsPartition(random, {}), tanglePartition(random, {})]) {
    const bytes = writeIndexFile(partition, 'none');
    for (let round = 0; round < 5; ++round)
      expect(Buffer.compare(writeIndexFile(retold(partition, random), 'none'), bytes)).toBe(0);
  }
});
