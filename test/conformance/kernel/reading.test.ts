// Texts that the kernel reads, in any spelling and with slips, and the reach by which it refuses some.

import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes, HexcodesError, type Kernel } from '#hexcodes';
import {
  type Build,
  OPEN_MASKS,
  openKernel,
  openWorld,
  randomFrom,
  reachOf,
} from '../../support/open-world.js';
import { checkReading, readByPeer } from '../../support/peers/reading.js';
import { countAccepted, mangledTexts, randomCodes, SYMBOLS, slipsOf } from '../../support/typos.js';

// Reading against its specification: 100,000 mangled texts, every UTF-16 unit, every pair, records of bytes. The
// large twin is `npm run proof -- read`.
describe('any text', () => {
  const SEED = 64;

  test('100,000 random and mutated texts: no trap, one canonical text, and the peer agrees', () => {
    const kernel = openKernel();
    const counts = checkReading(kernel, mangledTexts(kernel, randomFrom(SEED)), 100_000, 5);
    expect(counts.wrong, `seed ${SEED}`).toEqual([]);
    expect(counts.accepted).toBeGreaterThan(10_000);
    expect(counts.texts - counts.accepted).toBeGreaterThan(10_000);
  });

  test('the debug build, which traps on a failed assertion, reads 30,000 of them', () => {
    const kernel = openKernel('kernel.debug');
    expect(checkReading(kernel, mangledTexts(kernel, randomFrom(SEED + 1)), 30_000, 5).wrong).toEqual([]);
  });

  test.each(['HN-6GHMK-53FMF', 'DNG-6K6GJ-Q5JK5'])(
    'every UTF-16 unit before, within and after %s',
    (code) => {
      const kernel = openKernel();
      const wrong: string[] = [];
      for (let unit = 0; unit < 0x10000; unit++) {
        const character = String.fromCharCode(unit);
        for (const text of [
          character + code,
          code.slice(0, 1) + character + code.slice(2),
          code.replace('-', character),
          `${code.slice(0, 8)}${character}${code.slice(8)}`,
          code.slice(0, -1) + character,
        ]) {
          const read = kernel.readText(text) === 0 ? kernel.textAt(32) : null;
          if (read !== (readByPeer(text)?.canonical ?? null)) wrong.push(JSON.stringify(text));
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test('every head, pair and check after two admin codes', () => {
    const kernel = openKernel();
    const wrong: string[] = [];
    let accepted = 0;
    for (const admin of ['HN', 'QNH'])
      for (const head of SYMBOLS)
        for (const pair of ['', ...[...SYMBOLS].flatMap((a) => [...SYMBOLS].map((b) => a + b))])
          for (const check of SYMBOLS) {
            const text = admin + head + pair + check;
            const read = kernel.readText(text) === 0 ? kernel.textAt(32) : null;
            if (read !== (readByPeer(text)?.canonical ?? null)) wrong.push(text);
            if (read !== null) accepted++;
          }
    expect(wrong).toEqual([]);
    // 13 heads take 399 pairs or none, 3 none; one check fits each
    expect(accepted).toBe(2 * (13 * 400 + 3));
  });

  test('a text of 64 units is read, one of 65 is not', () => {
    const kernel = openKernel();
    const code = 'HN-6GHMK-53FMF';
    expect(kernel.readText(code.padEnd(64))).toBe(0);
    expect(kernel.readText(code.padEnd(65))).toBe(3);
    expect(kernel.readText(code.padEnd(1_000_000))).toBe(3);
    for (const units of [65, 1000, 2 ** 31, 2 ** 32 - 1]) expect(kernel.exports.readText(units)).toBe(3);
    // 65 and more units of separators after a code, past the kernel's own caller
    const { TEXT_IN, memory } = kernel.exports;
    new Uint16Array(memory.buffer, TEXT_IN.value, 200).fill(0x20).set(Buffer.from(code));
    expect([64, 65, 66, 128, 129].map((units) => kernel.exports.readText(units))).toEqual([0, 3, 3, 3, 3]);
  });

  test('records of bytes are read as texts with their characters', () => {
    const kernel = openKernel();
    const random = randomFrom(SEED);
    const codes = randomCodes(kernel, random, 1);
    const { capacity, inputBytes, output } = kernel;
    const wrong: string[] = [];
    for (let round = 0; round < 50; round++) {
      const records = new Uint8Array(20 * capacity);
      for (let n = 0; n < capacity; n++) {
        const record = records.subarray(20 * n, 20 * n + 20);
        new TextEncoder().encodeInto(codes[Math.floor(random() * codes.length)] as string, record);
        for (let edits = Math.floor(random() * 3); edits > 0; edits--) {
          const at = Math.floor(random() * 20);
          const style = Math.floor(random() * 4);
          if (style === 0) record[at] = Math.floor(random() * 256);
          else if (style === 1) record[at] = '-._ \t'.charCodeAt(Math.floor(random() * 5));
          else if (style === 2) record[at] = (record[at] as number) ^ 0x20;
        }
      }
      inputBytes.set(records);
      const failed = kernel.exports.decodeBatch(capacity);
      const answers = output.slice();
      let failures = 0;
      for (let n = 0; n < capacity; n++) {
        const record = records.subarray(20 * n, 20 * n + 19);
        const end = record.indexOf(0);
        const text = String.fromCharCode(...record.subarray(0, end < 0 ? 19 : end));
        // a byte beyond ASCII is refused, though the text of that character might be read
        const status = /[^\0-\x7f]/.test(text) ? 3 : kernel.readText(text);
        if (status !== 0) failures++;
        const [lat, lng, resolution] =
          status === 0
            ? [kernel.outputFloats[0], kernel.outputFloats[1], output[24]]
            : [Number.NaN, Number.NaN, 255];
        const floats = new Float64Array(answers.buffer, 16 * n, 2);
        const same =
          Object.is(floats[0], lat) &&
          Object.is(floats[1], lng) &&
          answers[16 * capacity + n] === resolution &&
          answers[17 * capacity + n] === status;
        if (!same) wrong.push(JSON.stringify(text));
      }
      expect(failed).toBe(failures);
    }
    expect(wrong, `seed ${SEED}`).toEqual([]);
  });
});

// Exhaustive slips on 1,088 codes of every admin code and resolution: none is accepted, though the reach allows all.
describe('slips', () => {
  const SEED = 34;

  test('no substitution, swap or twin of a code is a code', () => {
    const kernel = openKernel();
    const codes = randomCodes(kernel, randomFrom(SEED), 2);
    expect(new Set(codes).size).toBeGreaterThan(1_000);
    const counts = countAccepted(kernel, codes);
    expect(counts.accepted, `seed ${SEED}`).toEqual([]);
    expect(counts.slips).toBeGreaterThan(500_000);
  });

  test('all four slips occur, and a slip undone is accepted', () => {
    const kernel = openKernel();
    const slips = [...slipsOf('HN-6GHMK-53FMF')];
    expect(slips.filter(([slip]) => slip === 'substitution')).toHaveLength(12 * 33);
    expect(slips.filter(([slip]) => slip === 'swap')).toHaveLength(11);
    expect(slips.filter(([slip]) => slip === 'next-neighbour swap')).toHaveLength(9);
    expect([...slipsOf('HN-2J')].some(([slip]) => slip === 'twin')).toBe(false);
    expect([...slipsOf('HN-66')].filter(([slip]) => slip === 'twin')).toHaveLength(19);
    expect(kernel.readText('HN-6GHMK-53FMF')).toBe(0);
  });

  test('two slips can be a code: the check is one symbol', () => {
    const kernel = openKernel();
    let accepted = 0;
    for (const [, text] of slipsOf('HN-6GHMK-53FMF'))
      for (const [, twice] of slipsOf(text))
        if (kernel.readText(twice) === 0 && twice !== 'HN-6GHMK-53FMF') accepted++;
    expect(accepted).toBeGreaterThan(0);
  });
});

// A reach that allows about half of what codes could carry: every call that reads or writes a code keeps to it, each
// alike. And files of a reach that are damaged.

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
    expect(() => reachOf(masks)).toThrow(RangeError);
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
