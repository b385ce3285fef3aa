// Angles as a writer may mean them: marks and sides drawn apart from each other, in letters and signs, so that a letter
// (`S`, `m`, `D`) is sometimes a mark and sometimes a side. The reference is what the writer meant; each text is read
// so, or refused, by one text, a column and a message.
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { findCode, otherText } from '#hexcodes/geometry';
import { codesInColumns } from '../../support/files/convert.js';
import { openWorld, randomFrom } from '../../support/open-world.js';

const hexcodes = Hexcodes.from(openWorld());
const SEED = 20_261_201;
const COUNT = 5_000;

const random = randomFrom(SEED);
const chance = (share: number): boolean => random() < share;
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;

const MARKS = [
  ['°', 'd', 'D', ' deg', 'o', ' độ', ' do', ' degrees', '°.', 'deg.', ''],
  ["'", 'm', 'M', ' min', '’', ' phút', ' phut', 'min.', ' minutes', "'.", '`', ''],
  ['"', 's', 'S', ' sec', "''", ' giây', ' giay', 'sec.', ' S', ' s', ' seconds', 'secs', ''],
];
const SIDES = {
  lat: [
    ['N', 'n', ' N', 'N.', ' N.', 'B', 'Bắc', ' bắc', 'north', 'N:', 'Bac', ' Vĩ Bắc', '° N'],
    ['S', ' S', 's', 'S.', 'South', 'Nam', ' nam', 'S:'],
  ],
  lng: [
    ['E', 'e', ' E', 'E.', ' E.', 'Đ', 'Đông', ' đông', 'east', 'E:', 'Dong', ' Kinh Đông', '° E'],
    ['W', ' W', 'w', 'W.', 'West', 'Tây', ' tây', 'W:'],
  ],
} as const;
const BETWEEN = [
  ' ',
  ', ',
  ',',
  '; ',
  ' x ',
  ' - ',
  '/',
  '\n',
  '\t',
  ' và ',
  '|',
  '-',
  ' và kinh độ ',
  '. ',
  ') (',
];
const BEFORE = [
  '',
  '',
  'vị trí ',
  'toạ độ: ',
  '(',
  'geo:',
  'GPS: ',
  'loc:',
  '@',
  'số 12, ',
  'x=',
  '1) ',
  '📍',
  'Km 7 - ',
];
const BEHIND = [
  '',
  '',
  ' nhé',
  ')',
  '.',
  ', tầng 2',
  ' deg',
  ' e ơi',
  ', 15m',
  ' WGS84',
  ' cao 12 m',
  ' Đ2',
  ' 5s',
  ' Q.1',
];

interface Style {
  readonly depth: number;
  readonly decimals: number;
  readonly marks: readonly string[];
  readonly side: 'none' | 'before' | 'behind';
  readonly isComma: boolean;
  readonly gap: string;
}

const style = (): Style => ({
  depth: 1 + Math.floor(random() * 3),
  decimals: 1 + Math.floor(random() * 5),
  marks: MARKS.map((marks) => (chance(0.3) ? marks[0]! : pick(marks))),
  side: pick(['none', 'before', 'behind', 'behind']),
  isComma: chance(0.25),
  gap: pick(['', ' ']),
});

/** The text of an angle, and the degrees that its digits say. */
function written(near: number, axis: 'lat' | 'lng', { depth, decimals, marks, side, isComma, gap }: Style) {
  const steps = 60 ** (depth - 1) * 10 ** decimals;
  const whole = Math.round(Math.abs(near) * steps);
  const units = Math.floor(whole / 10 ** decimals);
  const numbers = [units, units % 60, units % 60].slice(0, depth).map(String);
  if (depth === 2) numbers[0] = String(Math.floor(units / 60));
  if (depth === 3)
    numbers.splice(0, 2, String(Math.floor(units / 3600)), String(Math.floor(units / 60) % 60));
  numbers[depth - 1] += (isComma ? ',' : '.') + String(whole % 10 ** decimals).padStart(decimals, '0');
  let text = '';
  for (const [unit, number] of numbers.entries())
    text += (text === '' ? '' : /\d$/.test(text) ? pick([' ', '-', ':']) : gap) + number + marks[unit]!;
  const letter = pick(SIDES[axis][near < 0 ? 1 : 0]);
  if (side === 'none') text = (near < 0 ? '-' : chance(0.1) ? '+' : '') + text;
  else text = side === 'before' ? letter + text : text + letter;
  return { text, deg: Math.sign(near) * (whole / steps) };
}

const isAt = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9;

const codeAt = (lat: number, lng: number): string | null =>
  hexcodes.adminCodeOf(lat, lng) === null ? null : hexcodes.encode(lat, lng, 15).hexcodes;

test(`${COUNT} positions are read as they were meant or refused, seed ${SEED}`, async () => {
  const wrong: string[] = [];
  let read = 0;
  const angles: { lat: ReturnType<typeof written>; lng: ReturnType<typeof written> }[] = [];
  for (let i = 0; i < COUNT; i++) {
    const isSouth = chance(0.15);
    const near = [8.5 + random() * 15, 102.2 + random() * 7.2] as const;
    const own = style();
    const other = chance(0.75) ? own : style();
    const lat = written(isSouth ? -near[0] : near[0], 'lat', own);
    const lng = written(isSouth && chance(0.5) ? -near[1] : near[1], 'lng', other);
    const isLngFirst = own.side !== 'none' && other.side !== 'none' && chance(0.15);
    const [first, second] = isLngFirst ? [lng, lat] : [lat, lng];
    const text = first.text + pick(BETWEEN) + second.text;
    angles.push({ lat, lng });
    for (const entry of [text, pick(BEFORE) + text + pick(BEHIND)]) {
      const found = findCode(hexcodes, entry);
      if (found === null || found.kind === 'several') continue;
      read++;
      if (found.kind === 'code' || !isAt(found.lat, lat.deg) || !isAt(found.lng, lng.deg))
        wrong.push(`${entry} as ${JSON.stringify(found)}`);
    }
  }
  // Beside a column of angles stands the other one as a number.
  for (const axis of ['lat', 'lng'] as const) {
    const rows = angles.map(({ lat, lng }) =>
      axis === 'lat' ? [lat.text, `${lng.deg}`] : [`${lat.deg}`, lng.text],
    );
    for (const [i, code] of (await codesInColumns(hexcodes, 'lat,lng', rows)).entries())
      if (code !== undefined && code !== codeAt(angles[i]!.lat.deg, angles[i]!.lng.deg))
        wrong.push(`${axis} ${rows[i]} as ${code}`);
  }
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(read).toBeGreaterThan(COUNT / 10);
});

test('an S that may be seconds or south is refused, and named', async () => {
  const unclear = ["19°52'46S", '19 52 46S', "19°52' 46.5 s", '19d52m46S', '19°52:46S'];
  for (const text of unclear) {
    expect(findCode(hexcodes, `${text} 105°51'09E`), text).toBeNull();
    expect(otherText(text), text).toBe('unclear_s');
  }
  const deg = 19 + 52 / 60 + 46 / 3600;
  const rows = [...unclear, '19d52m46s', `19°52'46"S`].map((text) => [text, '105.85']);
  expect(await codesInColumns(hexcodes, 'lat,lng', rows)).toEqual([
    ...unclear.map(() => undefined),
    ...[codeAt(deg, 105.85), codeAt(-deg, 105.85)],
  ]);
  for (const text of ["19°52'46", `19°52'46"S`, '10.5S', 'tầng 5 s'])
    expect(otherText(text)).not.toBe('unclear_s');
});

test('well-known text has as many numbers as it says, as a position and as a shape', async () => {
  const cases = (
    [
      ['', [2, 3, 4]],
      ['Z', [3]],
      ['M', [3]],
      ['ZM', [4]],
    ] as const
  ).flatMap(([tag, counts]) =>
    [1, 2, 3, 4, 5].flatMap((count) =>
      ['', ' '].map((between) => ({
        text: `POINT${between}${tag}${between}(${[105.8525, 21.0288, 7, 9, 11].slice(0, count).join(' ')})`,
        isWhole: counts.some((each) => each === count),
      })),
    ),
  );
  // A column is told by most of its rows.
  for (let i = 0; i < 60; i++) cases.unshift({ text: 'POINT(105.8525 21.0288)', isWhole: true });
  for (const column of ['position', 'wkt'])
    expect(
      await codesInColumns(
        hexcodes,
        column,
        cases.map(({ text }) => [text]),
      ),
    ).toEqual(cases.map(({ isWhole }) => (isWhole ? codeAt(21.0288, 105.8525) : undefined)));
});

test('a text that names another system names no position', () => {
  for (const system of ['SRID=4756;', 'EPSG:3405 ', 'VN-2000 ', 'VN2000: ', 'Indian 1960 '])
    expect(findCode(hexcodes, `${system}POINT(105.8525 21.0288)`), system).toBeNull();
  for (const system of ['SRID=4326; ', 'EPSG:4326; '])
    expect(findCode(hexcodes, `${system}21.0288, 105.8525`), system).toMatchObject({ lat: 21.0288 });
});
