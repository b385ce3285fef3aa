// Damaged index files: refused with a number, or harmless. Nothing traps, and a kernel that refused a file has no
// index and takes the next one.
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { INDEX_REFUSALS } from '#dist/hexcodes/kernel/index-file.js';
import type { KernelExports } from '#hexcodes';
import { writeIndexFile } from '../../../data/map/index-file.js';
import { BatchWitness, bareKernel, putIndex } from '../../support/region/bare-kernel.js';
import { fieldsPartition, randomFrom, SOUTH, WEST } from '../../support/region/made-partitions.js';
import { INDEX_FILE } from '../../support/region/shipped-index.js';

const SEED = 20261123;
const random = randomFrom(SEED);
const good = writeIndexFile(fieldsPartition(random, { columns: 5, rows: 5, field: 9_000 }), 'none');
let kernel: KernelExports;

beforeAll(() => {
  kernel = bareKernel();
});

/** Puts size and checksum of a damaged file right, so that the kernel reads on behind them. */
function sealed(file: Uint8Array): Uint8Array {
  const header = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length >= 16) {
    header.setUint32(8, file.length, true);
    header.setUint32(12, crc32(file.subarray(16)), true);
  }
  return file;
}

/** Queries inside, on the edge of and far from the map: admin numbers or none, and no trap. */
function expectHarmless(): void {
  const batch = new BatchWitness(kernel);
  for (let i = 0; i < 50; ++i) {
    const x = i % 2 ? WEST + Math.floor(random() * 60_000) : Math.floor((random() * 2 - 1) * 180e6);
    const y = i % 2 ? SOUTH + Math.floor(random() * 60_000) : Math.floor((random() * 2 - 1) * 90e6);
    const region = kernel.regionOf(y / 1e6, x / 1e6);
    if (region !== 255 && region >= 34) expect.fail(`seed ${SEED}: region ${region} at ${x}, ${y}`);
    batch.add(y / 1e6, x / 1e6, region);
  }
  batch.compare();
}

function expectRefused(file: Uint8Array, why?: number): void {
  const refusal = putIndex(kernel, file);
  expect(refusal).toBeGreaterThan(0);
  expect(INDEX_REFUSALS[refusal]).toBeTypeOf('string');
  if (why !== undefined) expect(refusal).toBe(why);
  expect(kernel.regionOf((SOUTH + 20_000) / 1e6, (WEST + 20_000) / 1e6)).toBe(255);
}

test('every file that is cut short is refused, even with its size and checksum put right', () => {
  for (let size = 0; size < good.length; ++size) {
    expectRefused(good.slice(0, size));
    expectRefused(sealed(good.slice(0, size)));
  }
  expectRefused(Uint8Array.from([...good, 0]), 1);
  expectRefused(sealed(Uint8Array.from([...good, 0])));
});

test('a size beyond the memory is refused', () => {
  expect(putIndex(kernel, good)).toBe(0);
  for (const size of [0, 15, 127, good.length - 1, good.length + 1, 2 ** 20, 2 ** 26 + 1, 2 ** 32 - 1])
    expect(kernel.useIndex(size)).toBe(1);
});

test('one changed byte is refused for its checksum, magic, version or size', () => {
  for (let at = 0; at < good.length; ++at) {
    const file = good.slice();
    file[at]! ^= 1 + Math.floor(random() * 255);
    expectRefused(file, at < 4 ? 2 : at < 8 ? 3 : at < 12 ? 1 : 4);
  }
});

test('changed bytes behind a right checksum are refused or harmless', () => {
  const seen = new Set<number>();
  for (let round = 0; round < 10_000; ++round) {
    const file = good.slice();
    for (let changes = 1 + (round % 3); changes > 0; --changes) {
      // Every other change hits header or the first arcs.
      const at = 16 + Math.floor(random() * (round % 2 ? file.length - 16 : 48));
      file[at] = random() < 0.5 ? Math.floor(random() * 256) : file[at]! ^ (1 << Math.floor(random() * 8));
    }
    seen.add(putIndex(kernel, sealed(file)));
    expectHarmless();
  }
  expect([...seen].sort()).toEqual([0, 5, 6, 7]);
});

test('the shipped map with changed bytes behind a right checksum is refused or harmless', () => {
  const shipped = readFileSync(INDEX_FILE);
  for (let round = 0; round < 200; ++round) {
    const file = Uint8Array.from(shipped);
    file[128 + Math.floor(random() * (file.length - 128))]! ^= 1 << Math.floor(random() * 8);
    putIndex(kernel, sealed(file));
    const batch = new BatchWitness(kernel);
    for (let i = 0; i < 500; ++i) {
      const [lat, lng] = [6 + random() * 18, 101 + random() * 18];
      const region = kernel.regionOf(lat, lng);
      if (region !== 255 && region >= 34) expect.fail(`seed ${SEED}: region ${region} at ${lat}, ${lng}`);
      batch.add(lat, lng, region);
    }
    batch.compare();
  }
});

test('numbers at their limits', () => {
  const offsets = [16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60];
  for (const offset of offsets)
    for (const value of [
      0,
      1,
      63,
      64,
      2 ** 25,
      2 ** 25 - 2,
      180_000_000,
      -180_000_000,
      2 ** 31 - 1,
      -(2 ** 31),
      -10,
    ]) {
      const file = good.slice();
      new DataView(file.buffer).setInt32(offset, value, true);
      putIndex(kernel, sealed(file));
      expectHarmless();
    }
});

test('after all that the same kernel takes the good file and answers as a fresh one', () => {
  const fresh = bareKernel();
  expect(putIndex(fresh, good)).toBe(0);
  expect(putIndex(kernel, good)).toBe(0);
  for (let i = 0; i < 20_000; ++i) {
    const [lat, lng] = [(SOUTH + random() * 60_000) / 1e6, (WEST + random() * 60_000) / 1e6];
    expect(kernel.unitOf(lat, lng)).toBe(fresh.unitOf(lat, lng));
  }
});

test('NaN, infinities and numbers beyond degrees are outside', () => {
  expect(putIndex(kernel, good)).toBe(0);
  const numbers = [
    0,
    -0,
    90,
    180,
    -180,
    1e9,
    -1e9,
    2147.483647,
    -2147.483648,
    4294.967296,
    1e300,
    Infinity,
    -Infinity,
    NaN,
  ];
  for (const lat of numbers) for (const lng of numbers) expect(kernel.regionOf(lat, lng)).toBe(255);
  for (const number of numbers) {
    expect(kernel.regionOf(number, (WEST + 20_000) / 1e6)).toBe(255);
    expect(kernel.regionOf((SOUTH + 20_000) / 1e6, number)).toBe(255);
  }
});
