// encodeBatch, decodeBatch and the kernel's batch calls, over the made-up boundaries of open-world.ts.

import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { codeOf, randomPositions } from '../../support/library-calls.js';
import { openWorld } from '../../support/open-world.js';

const HOAN_KIEM = [21.0288, 105.8525] as const;
const BLOCK = 4096;
/** SHA-256 of the answers to 65,536 positions; recorded on Node 20, the same on Node 22. */
const DIGEST = 'b997357177c58a456c80351ab0a3ac6a9fb8151c2c5028d3044c8c4bebfb41ba';

let hexcodes: Hexcodes;
beforeAll(() => {
  hexcodes = Hexcodes.from(openWorld());
});

test.each([0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])(
  '%i points are as %i single ones',
  (count) => {
    const positions = randomPositions(count, count);
    for (const resolution of [0, 7, 13, 15]) {
      const records = hexcodes.encodeBatch(positions, resolution);
      expect(records).toHaveLength(20 * count);
      const { latLng, resolution: resolutions, status } = hexcodes.decodeBatch(records);
      expect([latLng.length, resolutions.length, status.length]).toEqual([2 * count, count, count]);
      for (let n = 0; n < count; n += 1 + Math.floor(count / 300)) {
        const record = records.subarray(20 * n, 20 * n + 20);
        const text = new TextDecoder().decode(record.subarray(0, 19)).replace(/\0+$/, '');
        const [lat, lng] = [positions[2 * n] as number, positions[2 * n + 1] as number];
        const single = codeOf(() => hexcodes.encode(lat, lng, resolution));
        if (single === 'no error') {
          expect(text).toBe(hexcodes.encode(lat, lng, resolution).hexcodes);
          expect([record[19], status[n]]).toEqual([0, 0]);
          const decoded = hexcodes.decode(text);
          expect([latLng[2 * n], latLng[2 * n + 1], resolutions[n]]).toEqual([
            decoded?.lat,
            decoded?.lng,
            decoded?.resolution,
          ]);
        } else {
          expect([text, record[19], status[n], resolutions[n]]).toEqual(['', 1, 3, 255]);
          expect(latLng[2 * n]).toBeNaN();
        }
      }
    }
  },
);

test('never throw for a point; its status tells the failure', () => {
  const records = hexcodes.encodeBatch(
    Float64Array.of(...HOAN_KIEM, 0, 0, Number.NaN, 105, 21, Infinity, 91, 0, ...HOAN_KIEM),
  );
  expect([0, 1, 2, 3, 4, 5].map((n) => records[20 * n + 19])).toEqual([0, 1, 2, 2, 2, 0]);
  expect(records.subarray(20, 39).every((byte) => byte === 0)).toBe(true);
  expect(records.subarray(0, 20)).toEqual(records.subarray(100, 120));
});

test('fill the arrays of the caller, and no more of them than is needed', () => {
  const positions = randomPositions(10, 1);
  const out = new Uint8Array(300).fill(7);
  const records = hexcodes.encodeBatch(positions, 13, out);
  expect(records.buffer).toBe(out.buffer);
  expect(records).toHaveLength(200);
  expect(out.subarray(200).every((byte) => byte === 7)).toBe(true);
  const into = {
    latLng: new Float64Array(21).fill(7),
    resolution: new Uint8Array(11).fill(7),
    status: new Uint8Array(10),
  };
  const decoded = hexcodes.decodeBatch(records, into);
  expect(decoded.latLng.buffer).toBe(into.latLng.buffer);
  expect([into.latLng[20], into.resolution[10]]).toEqual([7, 7]);
});

test('wrong lengths are BAD_ARGUMENT', () => {
  expect(codeOf(() => hexcodes.encodeBatch(new Float64Array(3)))).toBe('BAD_ARGUMENT');
  expect(codeOf(() => hexcodes.encodeBatch(new Float64Array(4), 13, new Uint8Array(39)))).toBe(
    'BAD_ARGUMENT',
  );
  expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(19)))).toBe('BAD_ARGUMENT');
  const small = {
    latLng: new Float64Array(1),
    resolution: new Uint8Array(1),
    status: new Uint8Array(1),
  };
  expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(20), small))).toBe('BAD_ARGUMENT');
  const otherNames = {
    latLngDeg: new Float64Array(2),
    resolution: new Uint8Array(1),
    status: new Uint8Array(1),
  };
  expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(20), otherNames as never))).toBe('BAD_ARGUMENT');
});

test('arrays of other kinds and arrays that share bytes are BAD_ARGUMENT', () => {
  // biome-ignore lint/suspicious/noExplicitAny: wrong arguments
  const loose = hexcodes as any;
  const positions = Float64Array.of(...HOAN_KIEM);
  const records = hexcodes.encodeBatch(positions);
  for (const given of [[...HOAN_KIEM], Float32Array.of(...HOAN_KIEM), new BigInt64Array(2), undefined, null])
    expect(codeOf(() => loose.encodeBatch(given))).toBe('BAD_ARGUMENT');
  for (const out of [[], new Uint16Array(20), new ArrayBuffer(20), 20, null])
    expect(codeOf(() => loose.encodeBatch(positions, 13, out))).toBe('BAD_ARGUMENT');
  for (const given of [[...records], 'HN-6GHMK-53FMF      ', Uint16Array.from(records), undefined, null])
    expect(codeOf(() => loose.decodeBatch(given))).toBe('BAD_ARGUMENT');

  const shared = new ArrayBuffer(80);
  const inPlace = new Float64Array(shared, 0, 4);
  expect(codeOf(() => hexcodes.encodeBatch(inPlace, 13, new Uint8Array(shared)))).toBe('BAD_ARGUMENT');
  expect(codeOf(() => hexcodes.encodeBatch(inPlace, 13, new Uint8Array(shared, 31, 40)))).toBe(
    'BAD_ARGUMENT',
  );
  expect(hexcodes.encodeBatch(inPlace, 13, new Uint8Array(shared, 32))).toHaveLength(40);
  const status = new Uint8Array(shared, 19, 1);
  const out = { latLng: new Float64Array(2), resolution: new Uint8Array(1), status };
  expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(shared, 0, 20), out))).toBe('BAD_ARGUMENT');
});

test('arrays over shared memory, at odd offsets and of subclasses are accepted', () => {
  const positions = new Float64Array(new SharedArrayBuffer(32), 8, 2);
  positions.set(HOAN_KIEM);
  const expected = hexcodes.encodeBatch(Float64Array.of(...HOAN_KIEM));
  const out = new Uint8Array(new SharedArrayBuffer(64), 3, 20);
  expect([...hexcodes.encodeBatch(positions, 13, out)]).toEqual([...expected]);
  expect([...hexcodes.encodeBatch(positions, 13, Buffer.alloc(25))]).toEqual([...expected]);
  expect(hexcodes.decodeBatch(out).status[0]).toBe(0);
});

test('the kernel encodes each point at its own resolution; one above 15 fails its point', () => {
  const { kernel } = hexcodes;
  kernel.input.set([...HOAN_KIEM, ...HOAN_KIEM, ...HOAN_KIEM]);
  kernel.resolutions.set([0, 15, 16]);
  expect(kernel.exports.encodeBatch(3, 255)).toBe(1);
  const texts = [0, 20, 40].map((at) => kernel.textAt(at));
  expect([kernel.output[19], kernel.output[39], kernel.output[59]]).toEqual([0, 0, 2]);
  expect(texts).toEqual([
    hexcodes.encode(...HOAN_KIEM, 0).hexcodes,
    hexcodes.encode(...HOAN_KIEM, 15).hexcodes,
    '',
  ]);
});

test('cells answers agree with text answers', () => {
  const { kernel } = hexcodes;
  const positions = randomPositions(BLOCK, 9);
  for (const resolution of [0, 1, 5, 13, 15]) {
    const records = hexcodes.encodeBatch(positions, resolution);
    kernel.input.set(positions);
    const failed = kernel.exports.encodeCells(BLOCK, resolution);
    const cells = kernel.outputCells.slice();
    const admins = kernel.output.slice(8 * BLOCK, 9 * BLOCK);
    const statuses = kernel.output.slice(9 * BLOCK, 10 * BLOCK);
    expect(statuses.filter((status) => status !== 0)).toHaveLength(failed);
    for (let n = 0; n < BLOCK; n++) {
      const text = new TextDecoder().decode(records.subarray(20 * n, 20 * n + 19)).replace(/\0+$/, '');
      expect(statuses[n]).toBe(records[20 * n + 19]);
      if (statuses[n] === 0)
        expect(hexcodes.pack(cells[n] as bigint, ADMIN_UNITS[admins[n] as number]?.code as string)).toBe(
          text,
        );
      else expect([cells[n], admins[n]]).toEqual([0n, 255]);
    }
  }
});

test('the answers to 65,536 positions have the recorded digest on every Node', () => {
  const positions = randomPositions(65_536, 2026);
  const hash = createHash('sha256');
  for (let resolution = 0; resolution <= 15; resolution++) {
    const records = hexcodes.encodeBatch(positions, resolution);
    const { latLng, resolution: resolutions, status } = hexcodes.decodeBatch(records);
    for (const bytes of [records, new Uint8Array(latLng.buffer), resolutions, status]) hash.update(bytes);
  }
  expect(hash.digest('hex')).toBe(DIGEST);
});

test('codes gives the strings of a batch, each as encode gives it, null where a point failed', () => {
  for (let resolution = 0; resolution <= 15; resolution++) {
    const positions = randomPositions(BLOCK + 3, 100 + resolution);
    const codes = hexcodes.codes(hexcodes.encodeBatch(positions, resolution));
    expect(codes).toHaveLength(BLOCK + 3);
    for (let n = 0; n < codes.length; n += 7) {
      const [lat, lng] = [positions[2 * n] as number, positions[2 * n + 1] as number];
      const status = codeOf(() => hexcodes.encode(lat, lng, resolution));
      expect(codes[n]).toBe(status === 'no error' ? hexcodes.encode(lat, lng, resolution).hexcodes : null);
    }
  }
});

test('codes reads texts of any length, and refuses what are no records', () => {
  for (let length = 0; length < 20; length++) {
    const record = new Uint8Array(20);
    const text = 'ABCDEFGHIJKLMNOPQRS'.slice(0, length);
    new TextEncoder().encodeInto(text, record);
    expect(hexcodes.codes(record)).toEqual([text]);
  }
  expect(hexcodes.codes(new Uint8Array(0))).toEqual([]);
  expect(codeOf(() => hexcodes.codes(new Uint8Array(19)))).toBe('BAD_ARGUMENT');
  expect(codeOf(() => hexcodes.codes(new Float64Array(20) as never))).toBe('BAD_ARGUMENT');
});
