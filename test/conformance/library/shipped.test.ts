// The library with the boundaries and the reach of the package: load() on both platforms, every code that encode
// returns is read, mistyped codes are refused.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { randomFrom } from '../../support/open-world.js';
import { packByPeer } from '../../support/peers/code-format.js';
import { countAccepted, SYMBOLS } from '../../support/typos.js';
import { READING_ROWS } from '../../support/vectors.js';

const SEED = 2026;

const hexcodes = await Hexcodes.load();

describe('load', () => {
  test('Hoàn Kiếm Lake is in HN', () => {
    expect(hexcodes).toBeInstanceOf(Hexcodes);
    expect(hexcodes.encode(21.0288, 105.8525)).toMatchObject({
      hexcodes: 'HN-6GHP4-83RFR',
      admin_code: 'HN',
    });
  });

  test('is an instance of the class that it is called on', async () => {
    class Ours extends Hexcodes {}
    expect(await Ours.load()).toBeInstanceOf(Ours);
  });

  test('holds the binaries that the service reads', async () => {
    const embedded = (await import(resolve('dist/hexcodes/library/embedded.js'))) as Record<string, string>;
    for (const [name, path] of [
      ['KERNEL', 'dist/kernel.wasm'],
      ['INDEX', 'data/index.bin'],
      ['REACH', 'data/reach.bin'],
    ] as const)
      expect(Buffer.from(embedded[name]!, 'base64').equals(readFileSync(path))).toBe(true);
  });
});

test('every row of reading.csv is read or refused as recorded', () => {
  for (const { text, code } of READING_ROWS) expect(hexcodes.read(text)?.hexcodes ?? null).toBe(code);
});

test('every code that encode returns is read: 65,536 positions in 16 resolutions', () => {
  const random = randomFrom(SEED);
  const positions = Float64Array.from({ length: 2 * 65_536 }, (_, i) =>
    i % 2 === 0 ? 6 + 18 * random() : 101.5 + 16 * random(),
  );
  for (let resolution = 0; resolution <= 15; resolution++) {
    const records = hexcodes.encodeBatch(positions, resolution);
    const { status, resolution: resolutions } = hexcodes.decodeBatch(records);
    let encoded = 0;
    for (let n = 0; n < status.length; n++) {
      const ok = records[20 * n + 19] === 0;
      if (ok) encoded++;
      // Every position inside the coverage has a head, and the reach allows its code.
      const inside =
        hexcodes.adminCodeOf(positions[2 * n] as number, positions[2 * n + 1] as number) !== null;
      if (ok !== inside || (status[n] === 0) !== ok || (ok && resolutions[n] !== resolution))
        expect.fail(`seed ${SEED}: position ${n} at resolution ${resolution}`);
    }
    expect(encoded).toBeGreaterThan(15_000);
  }
});

/** Codes of positions in a province. */
function codesIn(
  admin: string,
  count: number,
  south: number,
  north: number,
  west: number,
  east: number,
): string[] {
  const random = randomFrom(SEED);
  const codes: string[] = [];
  for (let tries = 0; codes.length < count; tries++) {
    if (tries > 1_000_000) throw new Error(`found no ${count} positions in ${admin}`);
    const [lat, lng] = [south + (north - south) * random(), west + (east - west) * random()];
    if (hexcodes.adminCodeOf(lat, lng) === admin) codes.push(hexcodes.encode(lat, lng, tries % 16).hexcodes);
  }
  return codes;
}

test('no slip of a code of CT or PT is accepted, the swap CTP… / PTC… included', () => {
  for (const codes of [codesIn('CT', 300, 9, 10.5, 105, 106.5), codesIn('PT', 300, 20, 22, 104.5, 106)]) {
    const counts = countAccepted(hexcodes.kernel, codes);
    expect(counts.accepted).toEqual([]);
    expect(counts.leftToReach).toBe(0);
  }
  // A swap of head and check names a head that is none of these provinces': P is 52/6, C is 50/2.
  const heads = (admin: string) =>
    [...SYMBOLS].filter((head) => [...SYMBOLS].some((check) => hexcodes.isValid(`${admin}-${head}${check}`)));
  expect(heads('CT')).not.toContain('P');
  expect(heads('PT')).not.toContain('C');
});

test('a text is read where its province reaches its head and its first pair, not where it reaches the head alone', () => {
  const random = randomFrom(SEED);
  const admins = [
    ...new Set(READING_ROWS.flatMap(({ code }) => (code === null ? [] : [code.split('-')[0]!]))),
  ];
  /** Provinces that some cell under a head has. */
  const underHead = new Map<string, Set<string>>();
  const refused: [head: string, admin: string][] = [];
  for (let tries = 0; tries < 20_000; tries++) {
    const [lat, lng] = [8 + 15.5 * random(), 102 + 8 * random()];
    if (hexcodes.adminCodeOf(lat, lng) === null) continue;
    const { cell } = hexcodes.read(hexcodes.encode(lat, lng, 4).hexcodes)!;
    for (const admin of admins) {
      const text = packByPeer(cell.toString(16), admin)!;
      const packed = hexcodes.pack(cell, admin);
      expect([text, hexcodes.decode(text) !== null]).toEqual([text, packed !== null]);
      const head = text.split('-')[1]![0]!;
      if (packed === null) refused.push([head, admin]);
      else underHead.set(head, (underHead.get(head) ?? new Set()).add(admin));
    }
  }
  expect(refused.filter(([head, admin]) => underHead.get(head)?.has(admin)).length).toBeGreaterThan(1000);
});
