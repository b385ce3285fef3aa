// Spellings of positions, made from numbers: every unit, mark, side, sign, blank and order that people and programs
// write, each with the position that its digits say. A reader gives that position, or refuses the text.
import type { Random } from './random.js';

export interface Spelling {
  /** The whole position. */
  readonly text: string;
  /** The position in two columns. */
  readonly lat: string;
  readonly lng: string;
  /** The position that the digits of the text say, degrees. */
  readonly latDeg: number;
  readonly lngDeg: number;
  /** Names the form, without the digits: `dm ' none behind`. */
  readonly form: string;
  /** Whether one form of marks, sides and numbers is kept for both angles, as programs write. */
  readonly isRegular: boolean;
}

const MARKS = [
  ['°', 'º', '˚', 'd', ' độ ', '° ', ' ° '],
  ["'", '′', '’', 'm', ' phút ', "' ", " ' "],
  ['"', '″', '”', "''", '′′', 's', ' giây ', ' " '],
];
const PLAIN_MARKS = [['°'], ["'", '′'], ['"', '″']];
const LETTERS = {
  lat: [
    ['N', 'n', 'B', ' N', 'N ', 'North'],
    ['S', ' S', 'S ', 's'],
  ],
  lng: [
    ['E', 'e', 'Đ', ' E', 'E ', 'East'],
    ['W', ' W', 'W ', 'w'],
  ],
} as const;
const SEPARATORS = [' ', ', ', ',', '; ', ';', '  ', ' , '];
const BLANKS = ['\u00a0', '\u2009', '\u202f', '\u3000', '\t'];
const INVISIBLES = ['\u200b', '\u200e', '\ufeff', '\u2060', '\u00ad'];

/** Where the sides of a spelling stand. */
const SIDES = ['none', 'before', 'behind'] as const;
type Side = (typeof SIDES)[number];

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)]!;

/** The numbers of an angle, as many as `depth`, the last with `decimals`; and what they say, degrees. */
function numbersOf(deg: number, depth: number, decimals: number): { numbers: string[]; deg: number } {
  const steps = 60 ** (depth - 1) * 10 ** decimals;
  const whole = Math.round(Math.abs(deg) * steps);
  const last = 10 ** decimals;
  const units = Math.floor(whole / last);
  const numbers =
    depth === 1
      ? [units]
      : depth === 2
        ? [Math.floor(units / 60), units % 60]
        : [Math.floor(units / 3600), Math.floor(units / 60) % 60, units % 60];
  const fraction = decimals === 0 ? '' : `.${String(whole % last).padStart(decimals, '0')}`;
  const texts = numbers.map(String);
  texts[depth - 1] += fraction;
  return { numbers: texts, deg: Math.sign(deg) * (whole / steps) };
}

/** A spelling of a position in degrees. */
export function spellingOf(random: Random, latDeg: number, lngDeg: number): Spelling {
  const isRegular = random() < 0.5;
  const depth = 1 + Math.floor(random() * 3);
  const decimals = pick(
    random,
    [
      [4, 5, 6, 7],
      [0, 2, 3, 4, 5],
      [0, 1, 2, 3],
    ][depth - 1]!,
  );
  const side = pick(random, SIDES);
  const marks = isRegular ? regularMarks(random, side) : anyMarks(random);
  const isPadded = random() < 0.5;
  const isComma = random() < 0.15;
  const isSigned = random() < 0.1;

  const angle = (deg: number, axis: 'lat' | 'lng'): { text: string; deg: number; side: Side } => {
    const isOdd = !isRegular && random() < 0.2;
    const own = isOdd ? anyMarks(random) : marks;
    const ownDepth = isOdd ? 1 + Math.floor(random() * 3) : depth;
    const ownDecimals = ownDepth === depth ? decimals : pick(random, [0, 1, 2, 3]);
    const made = numbersOf(deg, ownDepth, ownDecimals);
    const parts = made.numbers.map((number, unit) => {
      const padded = unit > 0 && isPadded && /^\d(\D|$)/.test(number) ? `0${number}` : number;
      return (isComma ? padded.replace('.', ',') : padded) + own[unit]!;
    });
    // Without a mark a blank keeps numbers apart.
    let text = '';
    for (const part of parts) text += /\d$/.test(text) || (text !== '' && random() < 0.3) ? ` ${part}` : part;
    const ownSide: Side = isOdd ? pick(random, SIDES) : side;
    const isNegative = made.deg < 0;
    const letters = LETTERS[axis][isNegative ? 1 : 0];
    const letter = isRegular ? letters[0] : pick(random, letters);
    if (ownSide === 'none')
      return { text: `${isNegative ? '-' : isSigned ? '+' : ''}${text}`, deg: made.deg, side: 'none' };
    return { text: ownSide === 'before' ? letter + text : text + letter, deg: made.deg, side: ownSide };
  };

  const [lat, lng] = [angle(latDeg, 'lat'), angle(lngDeg, 'lng')];
  // Only sides tell of a text that it has the longitude first.
  const isLngFirst = lat.side !== 'none' && lng.side !== 'none' && random() < 0.3;
  const separator = isRegular ? pick(random, [' ', ', ']) : pick(random, SEPARATORS);
  const [first, second] = isLngFirst ? [lng, lat] : [lat, lng];
  const dress = isRegular ? (text: string): string => text : dressing(random);
  return {
    text: dress(first.text + separator + second.text),
    lat: dress(lat.text),
    lng: dress(lng.text),
    latDeg: lat.deg,
    lngDeg: lng.deg,
    form: [
      ['d', 'dm', 'dms'][depth - 1],
      ...marks.slice(0, depth).map((mark) => mark.trim() || 'none'),
      side,
      ...(isComma ? ['comma'] : []),
      ...(isRegular ? ['regular'] : []),
    ].join(' '),
    isRegular: isRegular && !isComma,
  };
}

/** All signs, that of degrees alone, or none where a side shows what the numbers are. */
function regularMarks(random: Random, side: Side): readonly string[] {
  const signs = PLAIN_MARKS.map((marks) => pick(random, marks));
  const count = pick(random, side === 'none' ? [3, 3, 1] : [3, 1, 0]);
  return signs.map((sign, unit) => (unit < count ? sign : ''));
}

const anyMarks = (random: Random): readonly string[] =>
  MARKS.map((marks) => (random() < 0.3 ? pick(random, ['', ' ']) : pick(random, marks)));

/** Full-width characters, other blanks and invisible characters instead of plain ones. */
function dressing(random: Random): (text: string) => string {
  const isWide = random() < 0.1;
  const blank = random() < 0.15 ? pick(random, BLANKS) : ' ';
  const invisible = random() < 0.15 ? pick(random, INVISIBLES) : '';
  const isBracketed = random() < 0.05;
  return (text) => {
    let dressed = isWide
      ? text.replace(/[!-~]/g, (unit) => String.fromCharCode(unit.charCodeAt(0) + 0xfee0))
      : text;
    dressed = invisible + dressed.replaceAll(' ', blank + invisible) + invisible;
    return isBracketed ? `(${dressed})` : dressed;
  };
}

/** A position in and around Viet Nam: its land, its sea, its neighbours. */
export function positionNear(random: Random): [latDeg: number, lngDeg: number] {
  return [7.5 + random() * 16.5, 101.5 + random() * 13];
}

/** Whether two readings are the same number, but for the rounding of sums. */
export const isSame = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9;

const BEFORE = [
  '',
  'vị trí: ',
  'em ở ',
  'toạ độ ',
  'e đang ở ',
  'số 5, ',
  'at ',
  '- ',
  'Nhà (',
  'GPS ',
  '12 Lê Lợi, ',
];
const BEHIND = [
  '',
  ' nhé',
  ', tầng 3',
  ' e ơi',
  ' anh ạ.',
  ')',
  '.',
  ' lúc 5h',
  '\nsố 7',
  ' - Hà Nội',
  ', 12 m',
];
const NAMES = [
  ['lat ', ' lng '],
  ['lat=', '&lng='],
  ['Latitude: ', ', Longitude: '],
  ['vĩ độ ', ', kinh độ '],
  ['vĩ độ: ', '; kinh độ: '],
  ['VĐ là ', ' KĐ là '],
] as const;

/** The spelling in a message, with or without the names of its coordinates. */
export function amongWords(random: Random, { text, lat, lng }: Spelling): string {
  const [latName, lngName] = pick(random, NAMES);
  const whole = random() < 0.3 ? latName + lat + lngName + lng : text;
  return pick(random, BEFORE) + whole + pick(random, BEHIND);
}
