// Batches of records against one text at a time (the careful reader) and h3-js: the same answer for canonical texts,
// for every other spelling of them and for wrong ones, in both builds, bit for bit.

import { cellToLatLng } from 'h3-js';
import { expect, test } from 'vitest';
import { ADMIN_UNITS, type KernelExports } from '#hexcodes';
import { fastKernel, type Position } from '../../support/face5.js';
import { randomFrom } from '../../support/open-world.js';

const SEED = 20250702;
const BATCH = 4096;
const RECORD_BYTES = 20;

interface Answers {
  readonly positions: Float64Array;
  readonly resolutions: Uint8Array;
  readonly statuses: Uint8Array;
}

function decode(kernel: KernelExports, records: Uint8Array): Answers {
  const count = records.length / RECORD_BYTES;
  const { buffer } = kernel.memory;
  new Uint8Array(buffer).set(records, kernel.INPUT.value);
  const output = kernel.OUTPUT.value;
  const failed = kernel.decodeBatch(count);
  const statuses = new Uint8Array(buffer, output + 17 * count, count).slice();
  expect(statuses.filter((status) => status !== 0).length).toBe(failed);
  return {
    positions: new Float64Array(buffer.slice(output, output + 16 * count)),
    resolutions: new Uint8Array(buffer, output + 16 * count, count).slice(),
    statuses,
  };
}

/** The careful reader's answer to a record: its text is 19 bytes, up to the first NUL. */
function readOne(kernel: KernelExports, record: Uint8Array) {
  const text = Array.from(record.subarray(0, RECORD_BYTES - 1));
  const end = text.indexOf(0);
  const units = end < 0 ? text : text.slice(0, end);
  // bytes beyond ASCII are no characters of a record
  const ascii = units.every((byte) => byte < 128);
  const { buffer } = kernel.memory;
  new Uint16Array(buffer, kernel.TEXT_IN.value, 64).set(units);
  const status = ascii ? kernel.readText(units.length) : 3;
  const [latDeg, lngDeg] = new Float64Array(buffer, kernel.OUTPUT.value, 2);
  if (status !== 0) return { status, resolution: 255, latDeg: Number.NaN, lngDeg: Number.NaN };
  const resolution = new Uint8Array(buffer, kernel.OUTPUT.value + 24, 1)[0];
  return { status, resolution, latDeg, lngDeg };
}

/** Compares the answers to a batch of records with those of the careful reader. */
function expectSame(kernel: KernelExports, records: Uint8Array): void {
  const { positions, resolutions, statuses } = decode(kernel, records);
  const found: string[] = [];
  statuses.forEach((status, n) => {
    const record = records.slice(RECORD_BYTES * n, RECORD_BYTES * n + RECORD_BYTES);
    const one = readOne(kernel, record);
    const same =
      one.status === status &&
      one.resolution === resolutions[n] &&
      Object.is(one.latDeg, positions[2 * n]) &&
      Object.is(one.lngDeg, positions[2 * n + 1]);
    if (!same)
      found.push(
        `${Buffer.from(record).toString('latin1')}: ${status} ${resolutions[n]} ≠ ${JSON.stringify(one)}`,
      );
  });
  expect(found, `seed ${SEED}`).toEqual([]);
}

/**
 * Records of random points of the domain. The index of the tests covers all of it; points without a code give failed
 * records.
 */
function randomRecords(kernel: KernelExports, resolution: number, next: () => number): Uint8Array {
  const points = Array.from({ length: BATCH }, (): Position => [5 + 20 * next(), 100 + 19 * next()]);
  new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * BATCH).set(points.flat());
  kernel.encodeBatch(BATCH, resolution);
  const output = kernel.OUTPUT.value;
  return new Uint8Array(kernel.memory.buffer, output, RECORD_BYTES * BATCH).slice();
}

test('canonical texts of every resolution, in and around the box', () => {
  const kernel = fastKernel();
  const next = randomFrom(SEED);
  for (let round = 0; round < 32; round++) expectSame(kernel, randomRecords(kernel, round % 16, next));
});

test('damaged texts: every byte of a record may be any other', () => {
  const kernel = fastKernel();
  const next = randomFrom(SEED);
  const alphabet = '23456789CFGHJKMPQRVX-ABDEILNOSTUWYZ01 .\0acz\x7f\x80\xff';
  for (let round = 0; round < 64; round++) {
    const records = randomRecords(kernel, round % 16, next);
    for (let n = 0; n < BATCH; n++) {
      for (let spoils = Math.floor(3 * next()); spoils >= 0; spoils--) {
        const at = RECORD_BYTES * n + Math.floor(RECORD_BYTES * next());
        const choice = next();
        if (choice < 0.9) records[at] = alphabet.charCodeAt(Math.floor(alphabet.length * next()));
        else records.copyWithin(at, at + 1, RECORD_BYTES * (n + 1));
      }
    }
    expectSame(kernel, records);
  }
});

test('made-up payloads, each with all twenty checks', () => {
  const kernel = fastKernel();
  const next = randomFrom(SEED);
  const symbols = '23456789CFGHJKMPQRVX';
  // reserved heads, pair value 0, short pairs before the last and full fifth pairs come up often
  const pairs = ['22', '24', '2C', '5K', '58', '83', 'XX', 'XV', '23'];
  const symbol = () => symbols[Math.floor(20 * next())]!;
  for (let round = 0; round < 100; round++) {
    const texts: string[] = [];
    while (texts.length + 20 <= BATCH) {
      const count = Math.floor(6 * next());
      const draw = () => (next() < 0.5 ? pairs[Math.floor(pairs.length * next())]! : symbol() + symbol());
      const payload = symbol() + Array.from({ length: count }, draw).join('');
      const admin = ADMIN_UNITS[Math.floor(34 * next())]!.code;
      for (const check of symbols) {
        const whole = payload + check;
        texts.push([admin, whole.slice(0, 5), whole.slice(5, 10), whole.slice(10)].filter(Boolean).join('-'));
      }
    }
    expectSame(kernel, Buffer.from(texts.map((text) => text.padEnd(RECORD_BYTES, '\0')).join(''), 'latin1'));
  }
});

test('odd counts, both builds', () => {
  const [release, debug] = [fastKernel('kernel'), fastKernel('kernel.debug')];
  const next = randomFrom(SEED);
  for (const count of [1, 2, 3, 255, 256, 257, 511, 513, 1023, BATCH]) {
    const records = randomRecords(release, count % 16, next).subarray(0, RECORD_BYTES * count);
    const [a, b] = [decode(release, records), decode(debug, records)];
    expect(a).toEqual(b);
    expectSame(release, records);
  }
});

test('centres lie within 1e-9 degrees of those of h3-js', () => {
  const kernel = fastKernel();
  const next = randomFrom(SEED);
  let farthest = 0;
  for (let resolution = 0; resolution < 16; resolution++) {
    for (let n = 0; n < 2000; n++) {
      const cell = BigInt.asUintN(64, kernel.cellOf(5 + 20 * next(), 100 + 19 * next(), resolution));
      if (kernel.centerOf(cell) !== 0) continue;
      const [latDeg, lngDeg] = new Float64Array(kernel.memory.buffer, kernel.OUTPUT.value, 2);
      const [h3Lat, h3Lng] = cellToLatLng(cell.toString(16));
      farthest = Math.max(farthest, Math.abs(latDeg! - h3Lat), Math.abs(lngDeg! - h3Lng));
    }
  }
  expect(farthest).toBeLessThan(1e-9);
});
