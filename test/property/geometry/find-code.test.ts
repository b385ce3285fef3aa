// Spellings of positions among words: findCode finds what the digits say, or nothing; also where signs are escaped, are
// others, or touch a number.
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { findCode } from '#hexcodes/geometry';
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

/** Signs that stand for a mark, or are left of one by a program in between. */
const ODD_SIGNS = [
  ...[
    '&#39;',
    '&quot;',
    '&deg;',
    '%27',
    '%22',
    '%C2%B0',
    '*',
    '_',
    '~',
    '∘',
    '‵',
    'o',
    '¨',
    '^',
    '\\u00b0',
    '$',
    '#',
    '&',
    '=',
    '?',
  ],
  ...[':', '·', '⋅', '˝', '¯', '¤', 'ft', 'x', '|', '"\'', ' * ', '* '],
];
/** Texts in front of a position, and behind it. */
const AROUND = [
  ...['', '', 'Nhà ', '(', '[', '📍', '📍 ', 'q=', '@', 'x', '#', '&', '%20', '_', '1. ', 'geo:', 'loc:'],
  ...[')', '.', ', nhé', '!', ' 📍', '…', '%', '&c', '*', ' (Hồ Gươm)', '/12', ':30', '~'],
];

test(`${COUNT} texts with other signs, seed ${SEED}`, () => {
  const random = randomFrom(SEED);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const wrong: string[] = [];
  let read = 0;
  for (let i = 0; i < COUNT; i++) {
    const spelling = spellingOf(random, ...positionNear(random));
    const odd = new Map([...'°\'"º˚′″'].map((sign) => [sign, random() < 0.4 ? pick(ODD_SIGNS) : sign]));
    const mixed = spelling.text.replace(/[°'"º˚′″]/g, (sign) => odd.get(sign)!);
    const text = `${pick(AROUND)}${mixed}${pick(AROUND)}`;
    const found = findCode(hexcodes, text);
    if (found === null) continue;
    read++;
    const isNear =
      found.kind === 'position' &&
      Math.abs(found.lat - spelling.latDeg) < 1e-3 &&
      Math.abs(found.lng - spelling.lngDeg) < 1e-3;
    if (!isNear) wrong.push(`${text} as ${JSON.stringify(found)}`);
  }
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(read).toBeGreaterThan(COUNT / 20);
});

test.each([
  ['a map in another system', 'geo:21.0288,105.8525;crs=EPSG4756'],
  ['two pins', 'https://www.google.com/maps?q=21.0288,105.8525&query=10.7769,106.7009'],
  ['south apart from its number', '21.0288: S, 105.8525: E'],
  ['seconds with a comma, or 83 south', 'kinh độ Đông 104 17min17,83s'],
  ['the rest behind a letter', "21o 01.728' 105o 51.150'"],
])('nothing in %s', (_, text) => {
  expect(findCode(hexcodes, text)).toBeNull();
});
