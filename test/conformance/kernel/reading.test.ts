// Texts that the kernel reads, in any spelling and with slips.
import { describe, expect, test } from 'vitest';
import { openKernel, randomFrom } from '../../support/open-world.js';
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

  test('records of bytes are read as texts of the same characters', () => {
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
