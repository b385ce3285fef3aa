// Codes found in texts, and suggestions after a slip, over generated texts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { findCode, suggest } from '#hexcodes/geometry';
import { openWorld, randomFrom } from '../../support/open-world.js';
import { amongWords, isSame, positionNear, spellingOf } from '../../support/position-spellings.js';

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
