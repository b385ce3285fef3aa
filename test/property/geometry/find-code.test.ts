// Spellings of positions among words: findCode finds what the digits say, or nothing.
import { expect, test } from 'vitest';
import { findCode } from '#dist/hexcodes/geometry.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { openWorld, randomFrom } from '../../support/open-world.js';
import { amongWords, isSame, positionNear, spellingOf } from '../../support/position-spellings.js';

const hexcodes = Hexcodes.from(openWorld());
const SEED = 20_261_127;
const COUNT = 5_000;

test(`${COUNT} texts with a spelling of a position, seed ${SEED}`, () => {
  const random = randomFrom(SEED);
  const wrong: string[] = [];
  let read = 0;
  for (let i = 0; i < COUNT; i++) {
    const spelling = spellingOf(random, ...positionNear(random));
    const text = amongWords(random, spelling);
    const found = findCode(hexcodes, text);
    if (found === null) continue;
    read++;
    const isRight =
      found.kind === 'position' && isSame(found.lat, spelling.latDeg) && isSame(found.lng, spelling.lngDeg);
    if (!isRight) wrong.push(`${text} as ${JSON.stringify(found)}`);
  }
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(read).toBeGreaterThan(COUNT / 3);
});
