// Fields of CSV, and spellings of positions, over generated input.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvFields } from '#dist/hexcodes/wire/rows/csv-fields.js';
import { Hexcodes } from '#hexcodes';
import { findCode } from '#hexcodes/geometry';
import { codesInColumns } from '../../../support/files/convert.js';
import { openWorld, randomFrom } from '../../../support/open-world.js';
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

  test(`${COUNT} spellings are read right or refused, seed ${SEED}`, async () => {
    const library = Hexcodes.from(openWorld());
    const random = randomFrom(SEED);
    const wrong: string[] = [];
    let read = 0;
    const spellings = Array.from({ length: COUNT }, () => spellingOf(random, ...positionNear(random)));
    for (const { text, latDeg, lngDeg, isRegular } of spellings) {
      const found = findCode(library, text);
      if (found?.kind === 'position') read++;
      const isRight = found?.kind === 'position' && isSame(found.lat, latDeg) && isSame(found.lng, lngDeg);
      if (found === null ? isRegular : !isRight) wrong.push(`${text} as ${JSON.stringify(found)}`);
    }
    // Beside a column that is spelled stands the other one as a number.
    for (const axis of ['lat', 'lng'] as const) {
      const rows = spellings.map(({ lat, lng, latDeg, lngDeg }) =>
        axis === 'lat' ? [lat, `${lngDeg}`] : [`${latDeg}`, lng],
      );
      for (const [i, code] of (await codesInColumns(library, 'lat,lng', rows)).entries()) {
        const { latDeg, lngDeg, isRegular } = spellings[i]!;
        const due = library.encode(latDeg, lngDeg, 15).hexcodes;
        if (code === undefined ? isRegular : code !== due) wrong.push(`${axis} ${rows[i]} as ${code}`);
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(read).toBeGreaterThan(COUNT / 2);
  });
});
