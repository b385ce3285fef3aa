// Codes and positions found in texts, suggestions after a slip, and angles in odd spellings, over generated texts.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { findCode, otherText, suggest } from '#hexcodes/geometry';
import { codesInColumns } from '../../support/files/convert.js';
import { openWorld, randomFrom } from '../../support/open-world.js';
import { amongWords, isSame, positionNear, spellingOf } from '../../support/spellings.js';

// Spellings of positions among words: findCode finds what the digits say, or nothing; also where signs are escaped,
// are others, or touch a number.
describe('codes in texts', () => {
  const hexcodes = Hexcodes.from(openWorld());
  const SEED = 20_261_127;
  const COUNT = 2_000;

  test(`${COUNT} texts with a spelling of a position, seed ${SEED}`, () => {
    const random = randomFrom(SEED);
    const wrong: string[] = [];
    let read = 0;
    for (let i = 0; i < COUNT; i++) {
      const spelling = spellingOf(random, ...positionNear(random));
      const text = amongWords(random, spelling);
      const found = findCode(hexcodes, text);
      if (found === null || found.kind === 'several') continue;
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
  /** Texts in front of a position, and after it. */
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
      if (found === null || found.kind === 'several') continue;
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
});

// Messages that name no place, one, the same one several times, or several: one answer or all of them, never the first
// of several alone.
describe('several places in a text', () => {
  const hexcodes = Hexcodes.from(openWorld());
  const SEED = 20_261_128;
  const COUNT = 1_500;
  const random = randomFrom(SEED);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const NOISE = [
    ...[
      'giao',
      'rồi',
      'qua',
      'nhé anh',
      'tầng 10',
      'gọi 0912 345 678',
      '150.000đ',
      '50 kg',
      'trước 15h30',
      '→',
    ],
    ...[
      '\n',
      ';',
      'ngày 12/10/2025',
      'đơn 100501',
      '(gấp!)',
      'số 5, ngõ 10',
      '1.',
      '📍',
      'Hà Nội',
      'từ',
      'đến',
    ],
  ];
  const [LAT, LNG] = [
    [21.0288, 16.0678, 10.7769, 21.0122, 12.2388],
    [105.8525, 108.2208, 106.7009, 105.5252, 109.1967],
  ] as const;

  /** A position in Viet Nam with four decimals, the last of them not 0. */
  const place = (): [lat: number, lng: number] => {
    for (;;) {
      const i = Math.floor(random() * LAT.length);
      const lat = +(LAT[i]! + (random() - 0.5) / 5).toFixed(4);
      const lng = +(LNG[i]! + (random() - 0.5) / 5).toFixed(4);
      const hasDecimals = [lat, lng].every((deg) => /\.\d{4}/.test(String(deg)));
      if (hasDecimals && hexcodes.adminCodeOf(lat, lng) !== null) return [lat, lng];
    }
  };
  const codeSpellings: readonly ((code: string) => string)[] = [
    (code) => code,
    (code) => code.toLowerCase(),
    (code) => code.replaceAll('-', ' '),
    (code) => code.replaceAll('-', ''),
    (code) => code.replace(/-(?=[^-]*$)/, '-\n'),
    (code) => code.replace(/-(?=[^-]*$)/, '\r\n'),
    (code) => `(${code})`,
    (code) => `${code}.`,
    (code) => `https://codes.example/#${code}`,
    (code) => `https://codes.example/?utm_source=zalo#${code.toLowerCase()}`,
    (code) => `<https://codes.example/${code}>`,
  ];
  const positionSpellings: readonly ((lat: number, lng: number) => string)[] = [
    (lat, lng) => `${lat}, ${lng}`,
    (lat, lng) => `${lat},${lng}`,
    (lat, lng) => `(${lat} ${lng})`,
    (lat, lng) => `${lat}°N ${lng}°E`,
    (lat, lng) => `https://maps.google.com/?q=${lat},${lng}`,
    (lat, lng) => `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=17/${lat}/${lng}`,
  ];
  const joined = (parts: readonly string[]): string =>
    [pick(['', ...NOISE]), ...parts.flatMap((part) => [part, pick(NOISE)])].join(pick([' ', '  ', '\n']));
  const namesOf = (text: string): string[] => {
    const found = findCode(hexcodes, text);
    const all = found === null ? [] : found.kind === 'several' ? found.found : [found];
    return all.map((each) => (each.kind === 'code' ? each.hexcodes : `${each.lat},${each.lng}`));
  };

  test(`${COUNT} messages with no code, one, two or three, seed ${SEED}`, () => {
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < COUNT; i++) {
      const known = [0, 1, 2].map(() => hexcodes.encode(...place(), pick([10, 12, 13])).hexcodes);
      const wanted = Array.from({ length: i % 4 }, () => pick(known));
      const text = joined(wanted.map((code) => pick(codeSpellings)(code)));
      const different = [...new Set(wanted)];
      counts[different.length]!++;
      expect([text, ...namesOf(text)]).toEqual([text, ...different]);
      // Readers of one code take no message for one.
      if (different.length > 1) expect([text, hexcodes.read(text)]).toEqual([text, null]);
    }
    expect(Math.min(...counts)).toBeGreaterThan(COUNT / 25);
  });

  test(`${COUNT} messages with a position, the same one again, or two, seed ${SEED}`, () => {
    let refused = 0;
    for (let i = 0; i < COUNT; i++) {
      const known = [place(), place()];
      const wanted = Array.from({ length: 1 + (i % 2) }, () => pick(known));
      const text = joined(wanted.map((each) => pick(positionSpellings)(...each)));
      const different = [...new Set(wanted.map(String))];
      const names = namesOf(text);
      // A text may be refused, and is never answered with one of two.
      if (names.length === 0) refused++;
      else expect([text, ...names.toSorted()]).toEqual([text, ...different.toSorted()]);
    }
    expect(refused).toBeLessThan(COUNT / 2);
  });

  const LINKS_WITH_MORE: readonly ((pin: string, other: string, third: string) => string)[] = [
    (pin, other, third) =>
      `https://www.google.com/maps/place/Q/@${third},17z/data=!8m2!3d${other.replace(',', '!4d')}!16s!8m2!3d${pin.replace(',', '!4d')}`,
    (pin, other) => `https://www.google.com/maps/dir/?api=1&origin=${other}&destination=${pin}`,
    (pin, other, third) => `https://www.google.com/maps/dir/${other}/${pin}/@${third},14z`,
    (pin, other) => `https://maps.google.com/?ll=${other}&q=${pin}`,
    (pin, other) => `https://maps.apple.com/?sll=${other}&q=${pin}`,
    (pin, other) => `https://osmand.net/map?pin=${pin}#15/${other.replace(',', '/')}`,
    (pin, other) => `geo:${other}?q=${pin}`,
    (pin, other) => `geo:${other}?q=${pin}(Nhà)`,
    (pin, other) => `https://www.waze.com/live-map/directions?from=ll.${other}&to=ll.${pin}`,
  ];
  const BEHIND_LINKS = [
    '',
    '.',
    '...',
    ',',
    ' nhé',
    ')',
    '.)',
    '"',
    '! Gấp',
    ' (số 5.5)',
    '\nsố 12',
    '; 10.5',
  ];

  test('words and signs behind a link change nothing of its pin', () => {
    for (let i = 0; i < COUNT / 4; i++) {
      const [pin, other, third] = [place(), place(), place()].map(String) as [string, string, string];
      const text = pick(LINKS_WITH_MORE)(pin, other, third) + pick(BEHIND_LINKS);
      expect([text, ...namesOf(text)]).toEqual([text, pin]);
    }
  });

  test.each(['bd09ll', 'gcj02', 'EPSG:4756', 'EPSG:3405'])('a link in %s has no position', (system) => {
    expect(namesOf(`https://api.map.example/marker?location=21.0288,105.8525&coord_type=${system}`)).toEqual(
      [],
    );
    const baidu = 'http://api.map.baidu.com/marker?location=21.0288,105.8525&output=html';
    expect(namesOf(baidu)).toEqual([]);
    expect(namesOf(`${baidu}&coord_type=${system}`)).toEqual([]);
    expect(namesOf(`${baidu}&coord_type=wgs84`)).toEqual(['21.0288,105.8525']);
  });

  test('prices and versions are not a position, and a dash at a number is not a minus that is left out', () => {
    for (let i = 0; i < COUNT / 4; i++) {
      const [low, high] = [place()].flat().map((deg) => deg.toFixed(3)) as [string, string];
      const price = `${pick(['giá', 'bản', '→'])} ${low}${pick([' đến ', ' - ', ', ', ' ', ' và ', 'đ, '])}${high} ${pick(NOISE)}`;
      expect([price, ...namesOf(price)]).toEqual([price]);
      const [lat, lng] = place();
      const dash = pick(['–', '—']);
      const signed = pick([`${dash}${lat}, ${lng}`, `${lat}, ${dash}${lng}`, `tới ${dash}${lat} ${lng}`]);
      expect([signed, ...namesOf(signed)]).toEqual([signed]);
      expect(namesOf(`nhà ${dash} ${lat}, ${lng}`)).toEqual([`${lat},${lng}`]);
    }
  });

  test('a code and the link of its pin are one place, of another pin two', () => {
    const [lat, lng] = [21.0288, 105.8525];
    const { hexcodes: code } = hexcodes.encode(lat, lng);
    for (const spelling of positionSpellings.slice(4)) {
      expect(namesOf(`${code} ${spelling(lat, lng)}`)).toEqual([code]);
      expect(namesOf(`${spelling(lat, lng)}\n${code}`)).toEqual([code]);
      expect(namesOf(`${code} ${spelling(10.7769, 106.7009)}`)).toEqual([code, '10.7769,106.7009']);
    }
    expect(namesOf(`${code} https://www.google.com/maps/@10.7769,106.7009,17z`)).toEqual([code]);
  });

  test('a code with a blank and two symbols behind it is that code or a longer one: both are named', () => {
    const symbols = [...'23456789CFGHJKMPQRVX'];
    const [short, long] = (() => {
      for (;;) {
        const { hexcodes: code } = hexcodes.encode(...place());
        const ends = symbols.flatMap((a) => symbols.map((b) => `${a}${b}`));
        const end = ends.find((each) => hexcodes.isValid(`${code}-${each}`));
        if (end !== undefined) return [code, `${code}-${end}`] as const;
      }
    })();
    expect(namesOf(`tới ${long.replace(/-(..)$/, ' $1')} nhé`).toSorted()).toEqual([short, long]);
    expect(namesOf(`tới ${long} nhé`)).toEqual([long]);
    expect(namesOf(`tới ${short}-nhà.jpg`)).toEqual([short]);
  });
});

// Suggestions: after every single slip the code that was meant is among them, and all of them are valid.
describe('suggestions', () => {
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
});

// Angles as a writer may mean them: marks and sides drawn apart from each other, in letters and signs, so that a letter
// (`S`, `m`, `D`) is sometimes a mark and sometimes a side. The reference is what the writer meant; each text is read
// so, or refused, by one text, a column and a message.

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
