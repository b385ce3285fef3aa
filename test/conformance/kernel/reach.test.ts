// A reach that allows about half of what codes could carry: every call that reads or writes a code keeps to it, each
// alike. And files of a reach that are damaged.

import { expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes, HexcodesError, type Kernel } from '#hexcodes';
import {
  type Build,
  OPEN_MASKS,
  openKernel,
  openWorld,
  randomFrom,
  reachOf,
} from '../../support/open-world.js';
import { randomCodes, SYMBOLS } from '../../support/typos.js';

const SEED = 20251122;
const OK = 0;
const OUTSIDE_COVERAGE = 1;
const INVALID_HEXCODE = 3;
const RECORD_BYTES = 20;

/** The mask of each row: provinces allowed under it, drawn for each row. */
function patchyMasks(random: () => number): BigUint64Array {
  return OPEN_MASKS.map((all) => {
    if (all === 0n) return 0n;
    return ADMIN_UNITS.reduce((mask, _unit, n) => (random() < 0.5 ? mask | (1n << BigInt(n)) : mask), 0n);
  });
}

function patchyKernel(masks: BigUint64Array, build?: Build): Kernel {
  const { kernel, index } = openWorld(build);
  return Hexcodes.from({ kernel, index, reach: reachOf(masks) }).kernel;
}

/** Whether a canonical code is within the masks: its row is its first symbol and the first pair. */
function isWithin(masks: BigUint64Array, code: string): boolean {
  const letters = code.indexOf('-');
  const admin = ADMIN_UNITS.findIndex((unit) => unit.code === code.slice(0, letters));
  const values = [...code.slice(letters).replaceAll('-', '')].map((symbol) => SYMBOLS.indexOf(symbol));
  const pair = values.length < 4 ? 0 : 20 * values[1]! + values[2]!;
  return ((masks[401 * values[0]! + pair]! >> BigInt(admin)) & 1n) === 1n;
}

test.each(['kernel', 'kernel.debug'] as const)(
  '%s: codes outside the reach are refused alone and in batches',
  (build) => {
    const random = randomFrom(SEED);
    const masks = patchyMasks(random);
    const kernel = patchyKernel(masks, build);
    const codes = randomCodes(openKernel(), random, 7);
    const expected = codes.map((code) => (isWithin(masks, code) ? OK : INVALID_HEXCODE));
    expect(new Set(expected).size).toBe(2);
    expect(
      codes.map((code) => kernel.readText(code)),
      `seed ${SEED}`,
    ).toEqual(expected);

    const { exports } = kernel;
    const statuses: number[] = [];
    for (let first = 0; first < codes.length; first += kernel.capacity) {
      const batch = codes.slice(first, first + kernel.capacity);
      const records = Buffer.from(batch.map((code) => code.padEnd(RECORD_BYTES, '\0')).join(''), 'latin1');
      new Uint8Array(exports.memory.buffer).set(records, exports.INPUT.value);
      exports.decodeBatch(batch.length);
      const at = exports.OUTPUT.value + 17 * batch.length;
      statuses.push(...new Uint8Array(exports.memory.buffer, at, batch.length));
    }
    expect(statuses, `seed ${SEED}`).toEqual(expected);
  },
);

test.each(['kernel', 'kernel.debug'] as const)('%s: no code outside the reach is written', (build) => {
  const random = randomFrom(SEED);
  const masks = patchyMasks(random);
  const kernel = patchyKernel(masks, build);
  const open = openKernel(build);
  const { exports } = kernel;
  const count = kernel.capacity;
  const points = Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? 8 + 15 * random() : 102 + 13 * random(),
  );
  for (let resolution = 0; resolution < 16; resolution++) {
    for (const { exports: each } of [kernel, open])
      new Float64Array(each.memory.buffer, each.INPUT.value, 2 * count).set(points);
    open.exports.encodeBatch(count, resolution);
    const from = open.exports.OUTPUT.value;
    const texts = Array.from({ length: count }, (_, n) =>
      Buffer.from(open.exports.memory.buffer, from + RECORD_BYTES * n, RECORD_BYTES - 1)
        .toString('latin1')
        .replace(/\0+$/, ''),
    );
    const expected = texts.map((text) => (text !== '' && isWithin(masks, text) ? OK : OUTSIDE_COVERAGE));
    expect(new Set(expected).size).toBe(2);

    exports.encodeCells(count, resolution);
    const { buffer } = exports.memory;
    const at = exports.OUTPUT.value;
    expect([...new Uint8Array(buffer, at + 9 * count, count)], `seed ${SEED}`).toEqual(expected);
    exports.encodeBatch(count, resolution);
    const records = Array.from({ length: count }, (_, n) =>
      new Uint8Array(buffer, at + RECORD_BYTES * n, RECORD_BYTES).slice(),
    );
    expect(
      records.map((record) => record[RECORD_BYTES - 1]),
      `seed ${SEED}`,
    ).toEqual(expected);
    expect(
      records.map((record) =>
        Buffer.from(record.subarray(0, RECORD_BYTES - 1))
          .toString('latin1')
          .replace(/\0+$/, ''),
      ),
    ).toEqual(texts.map((text, n) => (expected[n] === OK ? text : '')));
    for (let n = 0; n < 200; n++)
      expect(exports.encodeOne(points[2 * n]!, points[2 * n + 1]!, resolution)).toBe(expected[n]);
  }
});

/** The code of the error that is thrown, if any. */
function refusalOf(make: () => unknown): unknown {
  try {
    make();
    return undefined;
  } catch (error) {
    return error instanceof HexcodesError ? error.code : error;
  }
}

test('tables of impossible rows or provinces are not written', () => {
  // 13 heads with none or 399 pairs, 3 with none
  expect(OPEN_MASKS.filter((mask) => mask !== 0n)).toHaveLength(13 * 400 + 3);
  const withMask = (row: number, mask: bigint): BigUint64Array =>
    OPEN_MASKS.map((own, n) => (n === row ? mask : own));
  for (const masks of [
    new BigUint64Array(3),
    withMask(5, 1n),
    withMask(401 + 400, 1n),
    withMask(401 + 5, 1n << 34n),
  ])
    expect(refusalOf(() => reachOf(masks))).toBe('BAD_ARGUMENT');
});

test('every flipped bit, cut and added byte of the file is BAD_DATA', () => {
  const world = openWorld();
  const kernel = new WebAssembly.Module(world.kernel);
  const file = reachOf(OPEN_MASKS.map((mask, row) => (row > 400 && row < 406 ? mask : 0n)));
  const flipped = Array.from({ length: 8 * file.length }, (_, bit) =>
    file.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
  );
  const cut = Array.from(file, (_, size) => file.slice(0, size));
  const codes = [file, ...flipped, ...cut, Uint8Array.of(...file, 0)].map((reach) =>
    refusalOf(() => Hexcodes.from({ ...world, kernel, reach })),
  );
  expect([codes[0], ...new Set(codes.slice(1))]).toEqual([undefined, 'BAD_DATA']);
});
