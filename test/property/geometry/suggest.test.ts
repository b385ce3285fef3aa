// Suggestions: after every single slip the code that was meant is among them, and all of them are valid.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { suggest } from '#hexcodes/geometry';
import { openWorld } from '../../support/open-world.js';

const hexcodes = Hexcodes.from(openWorld());
const SYMBOLS = '23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const SEED = 20_260_601;
console.log(`suggest: seed ${SEED}`);

const code = fc
  .tuple(
    fc.double({ min: 8, max: 23, noNaN: true }),
    fc.double({ min: 102, max: 115, noNaN: true }),
    fc.nat(15),
  )
  .map(([latDeg, lngDeg, resolution]) => hexcodes.encode(latDeg, lngDeg, resolution).hexcodes);

/** The text with one slip at a symbol: another symbol, one missing, one too many, two swapped. */
function slipped(text: string, kind: number, at: number, symbol: string): string {
  const symbols = [...text].flatMap((each, i) => (each === '-' ? [] : [i]));
  const i = symbols[at % symbols.length]!;
  const j = symbols[(at + 1) % symbols.length]!;
  if (kind === 0) return text.slice(0, i) + symbol + text.slice(i + 1);
  if (kind === 1) return text.slice(0, i) + text.slice(i + 1);
  if (kind === 2) return text.slice(0, i) + symbol + text.slice(i);
  if (j < i) return text;
  return text.slice(0, i) + text[j] + text.slice(i + 1, j) + text[i] + text.slice(j + 1);
}

test('after one slip the code that was meant is suggested', () => {
  fc.assert(
    fc.property(code, fc.nat(3), fc.nat(100), fc.nat(SYMBOLS.length - 1), (meant, kind, at, symbol) => {
      const typed = slipped(meant, kind, at, SYMBOLS[symbol]!);
      const found = suggest(hexcodes, typed, { limit: 10_000 });
      if (hexcodes.isValid(typed)) expect(found.map((each) => each.slip)).toEqual(['none']);
      else expect(found.map((each) => each.hexcodes)).toContain(meant);
      for (const each of found) expect(hexcodes.isValid(each.hexcodes)).toBe(true);
    }),
    { seed: SEED, numRuns: 400 },
  );
});

test('with near the nearest come first', () => {
  const { hexcodes: meant } = hexcodes.encode(21.0288, 105.8525);
  const typed = meant.replace(/.$/, (last) => (last === '2' ? '3' : '2'));
  expect(hexcodes.isValid(typed)).toBe(false);
  const near = suggest(hexcodes, typed, { near: [21.0288, 105.8525], limit: 50 });
  const distances = near.map((each) => each.distance_m!);
  expect(new Set(distances).size).toBeGreaterThan(2);
  expect(distances).toEqual([...distances].sort((a, b) => a - b));
  expect(near[0]?.hexcodes).toBe(meant);
  expect(suggest(hexcodes, typed, { near: [21.0288, 105.8525], limit: 1 })).toEqual(near.slice(0, 1));
});

test('without near a look-alike comes before other slips', () => {
  const { hexcodes: meant } = hexcodes.encode(21.0288, 105.8525);
  expect(suggest(hexcodes, meant.replace(/8/, 'B'))[0]).toMatchObject({ hexcodes: meant, slip: 'twin' });
});

test('nonsense has no suggestions', () => {
  for (const text of ['', 'hello world', 'HN-', '0'.repeat(65), '\u0000', '🙂🙂🙂']) {
    expect(suggest(hexcodes, text)).toEqual([]);
  }
});

test('a symbol missing before or after a separator is missing, not a substitution of the separator', () => {
  for (const [typed, meant] of [
    ['HN-6GHM-53FMF', 'HN-6GHMK-53FMF'],
    ['HN-6GHMK-3FMF', 'HN-6GHMK-53FMF'],
    ['HN-GHMK-53FMF', 'HN-6GHMK-53FMF'],
  ] as const) {
    const found = suggest(hexcodes, typed, { limit: 10_000 });
    expect(found.find((each) => each.hexcodes === meant)?.slip).toBe('missing');
  }
});
