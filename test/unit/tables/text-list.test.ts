// Shared texts of workbooks, of any length, against a plain list of them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextList } from '#dist/tables/xlsx/text-list.js';

test('every text is itself, wherever blocks end', () => {
  const text = fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
    fc.integer({ min: 30_000, max: 120_000 }).map((length) => 'Đà Nẵng '.repeat(length / 8)),
    fc.constantFrom('', '\ufeff', '😀'),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
      let held = 0;
      const list = new TextList((bytes) => {
        held += bytes;
      });
      for (const each of texts) list.add(each);
      expect(texts.map((_, i) => list.at(i))).toEqual(texts);
      expect([list.at(-1), list.at(0.5), list.at(texts.length), list.at(Number.NaN)]).toEqual(Array(4));
      expect(held).toBeGreaterThanOrEqual(texts.join('').length);
    }),
    { numRuns: 60 },
  );
});

test('more texts than one list of ends has', () => {
  const list = new TextList(() => {});
  for (let i = 0; i < 200_000; i++) list.add(`text ${i}`);
  for (const i of [0, 65_535, 65_536, 199_999]) expect(list.at(i)).toBe(`text ${i}`);
});
