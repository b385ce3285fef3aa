// Fields of CSV, and spellings of positions, over generated input.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvFields } from '#dist/hexcodes/wire/rows/csv-fields.js';
import { parsePosition } from '#dist/hexcodes/wire/rows/position-text.js';
import { degreesInText } from '#dist/tables/positions/in-values.js';
import { randomFrom } from '../../../support/open-world.js';
import { fieldsByPeer } from '../../../support/peers/bulk-text.js';
import { isSame, positionNear, spellingOf } from '../../../support/position-spellings.js';

// The fields of CSV rows against csv-parse, with quotes, delimiters and NUL at every place.
describe('fields of CSV', () => {
  const SEED = 20_261_122;

  test('the fields of a row are those of csv-parse', () => {
    const seen = { unclosed: 0, quoted: 0, plain: 0 };
    const row = fc
      .array(fc.constantFrom('"', '"', '""', ',', '\t', 'a', 'ế', ' ', '\0', '\r', '\ufeff', '"a"'), {
        maxLength: 14,
      })
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(row, fc.constantFrom(',', '\t'), (text, delimiter) => {
        const fields = csvFields(text, delimiter.charCodeAt(0));
        expect(fields).toEqual(fieldsByPeer(text, delimiter));
        seen[fields === undefined ? 'unclosed' : text.includes('"') ? 'quoted' : 'plain']++;
      }),
      { seed: SEED, numRuns: 5_000 },
    );
    for (const [kind, count] of Object.entries(seen)) expect([kind, count > 500]).toEqual([kind, true]);
  });

  // A line end in a quoted field belongs to it; outside there is none, as the row ends with it.
  test('line ends in quotes are text', () => {
    expect(csvFields('"a\nb",c', 44)).toEqual(['a\nb', 'c']);
    expect(csvFields('"a\r\nb"x,"', 44)).toBeUndefined();
  });
});

// Spellings of positions, drawn: each is read as what its digits say, or refused.
describe('spellings of positions', () => {
  const SEED = 20_261_126;
  const COUNT = 20_000;

  test(`${COUNT} spellings are read right or refused, seed ${SEED}`, () => {
    const random = randomFrom(SEED);
    const wrong: string[] = [];
    let read = 0;
    for (let i = 0; i < COUNT; i++) {
      const [latDeg, lngDeg] = positionNear(random);
      const spelling = spellingOf(random, latDeg, lngDeg);
      const whole = parsePosition(spelling.text);
      const columns = [degreesInText(spelling.lat, 'lat'), degreesInText(spelling.lng, 'lng')] as const;
      const isRight = (lat: number, lng: number): boolean =>
        isSame(lat, spelling.latDeg) && isSame(lng, spelling.lngDeg);
      if (whole !== null) read++;
      if (whole !== null && !isRight(whole.latDeg, whole.lngDeg))
        wrong.push(`${spelling.text} as ${whole.latDeg}, ${whole.lngDeg}`);
      if (whole === null && spelling.isRegular) wrong.push(`${spelling.text} refused`);
      for (const [axis, value, right] of [
        ['lat', columns[0], spelling.latDeg],
        ['lng', columns[1], spelling.lngDeg],
      ] as const) {
        if (!Number.isNaN(value) && !isSame(value, right))
          wrong.push(`${axis} ${spelling[axis]} as ${value}`);
        if (Number.isNaN(value) && spelling.isRegular) wrong.push(`${axis} ${spelling[axis]} refused`);
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(read).toBeGreaterThan(COUNT / 2);
  });
});
