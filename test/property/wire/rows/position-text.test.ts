// Spellings of positions, drawn: each is read as what its digits say, or refused.
import { expect, test } from 'vitest';
import { parsePosition } from '#dist/hexcodes/wire/rows/position-text.js';
import { degreesInText } from '#dist/tables/positions/in-values.js';
import { randomFrom } from '../../../support/open-world.js';
import { isSame, positionNear, spellingOf } from '../../../support/position-spellings.js';

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
      if (!Number.isNaN(value) && !isSame(value, right)) wrong.push(`${axis} ${spelling[axis]} as ${value}`);
      if (Number.isNaN(value) && spelling.isRegular) wrong.push(`${axis} ${spelling[axis]} refused`);
    }
  }
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(read).toBeGreaterThan(COUNT / 2);
});
