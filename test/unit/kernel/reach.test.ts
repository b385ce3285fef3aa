// The reach file: a written table reads back as it was; every damaged byte is refused.

import { expect, test } from 'vitest';
import { decodeReach, encodeReach, isReachRow, REACH_ROWS, reachRow } from '#dist/hexcodes/kernel/reach.js';
import { HexcodesError } from '#hexcodes';
import { randomFrom } from '../../support/open-world.js';

const ALL = (1n << 34n) - 1n;

function someMasks(seed: number): BigUint64Array {
  const random = randomFrom(seed);
  return BigUint64Array.from({ length: REACH_ROWS }, (_, row) =>
    isReachRow(row) && random() < 0.02 ? BigInt(Math.floor(random() * 2 ** 34)) : 0n,
  );
}

test('a table survives writing and reading', () => {
  for (let seed = 0; seed < 20; seed++) {
    const masks = someMasks(seed);
    expect(decodeReach(encodeReach(masks))).toEqual(masks);
  }
  expect(decodeReach(encodeReach(new BigUint64Array(REACH_ROWS)))).toEqual(new BigUint64Array(REACH_ROWS));
});

test('rows of heads without pairs, of value 400 and beyond do not exist', () => {
  expect([0, 6, 11].map((head) => isReachRow(reachRow(head, 0)))).toEqual([true, true, true]);
  expect([0, 6, 11].some((head) => isReachRow(reachRow(head, 1)))).toBe(false);
  expect(isReachRow(reachRow(1, 399))).toBe(true);
  expect(isReachRow(reachRow(1, 400))).toBe(false);
  expect(isReachRow(reachRow(16, 0))).toBe(false);
  expect(isReachRow(-1)).toBe(false);
  // 13 heads with none or 399 pairs, 3 with none
  expect(Array.from({ length: REACH_ROWS }, (_, row) => row).filter(isReachRow)).toHaveLength(13 * 400 + 3);
});

test('impossible tables are not written', () => {
  const code = (make: () => unknown) => {
    try {
      make();
    } catch (error) {
      return error instanceof HexcodesError ? error.code : error;
    }
    return 'written';
  };
  expect(code(() => encodeReach(new BigUint64Array(3)))).toBe('BAD_ARGUMENT');
  const masks = new BigUint64Array(REACH_ROWS);
  masks[reachRow(0, 5)] = 1n;
  expect(code(() => encodeReach(masks))).toBe('BAD_ARGUMENT');
  masks[reachRow(0, 5)] = 0n;
  masks[reachRow(1, 5)] = ALL + 1n;
  expect(code(() => encodeReach(masks))).toBe('BAD_ARGUMENT');
  masks[reachRow(1, 5)] = ALL;
  expect(code(() => encodeReach(masks))).toBe('written');
});

test('every flipped bit, cut and added byte is refused as BAD_DATA', () => {
  const file = encodeReach(someMasks(1).map((mask, row) => (row < 900 ? mask : 0n)));
  const codeOf = (bytes: Uint8Array) => {
    try {
      decodeReach(bytes);
    } catch (error) {
      return error instanceof HexcodesError ? error.code : error;
    }
    return 'accepted';
  };
  expect(codeOf(file)).toBe('accepted');
  for (let at = 0; at < file.length; at++)
    for (let bit = 0; bit < 8; bit++) {
      const damaged = file.slice();
      damaged[at] = (damaged[at] as number) ^ (1 << bit);
      expect(codeOf(damaged)).toBe('BAD_DATA');
    }
  for (let length = 0; length < file.length; length++) expect(codeOf(file.slice(0, length))).toBe('BAD_DATA');
  expect(codeOf(Uint8Array.from([...file, 0]))).toBe('BAD_DATA');
});
