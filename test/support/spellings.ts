// Rows with a position as real senders write them: the same members and values in the spelling of each. A spelling is
// a way of writing JSON (blanks, escapes, numbers) or CSV; a sender is one with the members that its rows have.
// Recorded rows of programs are in test/fixtures/spellings.json. Then spellings of positions.

import { randomFrom } from './open-world.js';
import type { Random } from './random.js';

type Value =
  | string
  | number
  | boolean
  | null
  | NumberText
  | readonly Value[]
  | { readonly [name: string]: Value };

/** A number, or another value, that is written in this text. */
class NumberText {
  constructor(readonly text: string) {}
}

/** How values are written as JSON. */
interface JsonStyle {
  readonly comma: string;
  readonly colon: string;
  /** Blanks after an opening bracket and before a closing one. */
  readonly inside: string;
  /** Names and texts in ASCII, with \u escapes; its letters in upper case if 'upper'. */
  readonly ascii: false | 'lower' | 'upper';
  readonly escapesSlash: boolean;
  /** Characters of HTML that are escaped too. */
  readonly escapesHtml: boolean;
  /** Line breaks and this between members; for rows in an array alone. */
  readonly indent: string;
}

const COMPACT: JsonStyle = {
  ...{
    comma: ',',
    colon: ':',
    inside: '',
    ascii: false,
    escapesSlash: false,
    escapesHtml: false,
    indent: '',
  },
};

/** Ways of writing JSON, by the programs that do it; those with an indent write items of an array alone. */
const JSON_STYLES: Readonly<Record<string, Partial<JsonStyle>>> = {
  'JSON.stringify, Jackson, System.Text.Json of bytes': {},
  'Go encoding/json, Gson': { escapesHtml: true },
  'json.dumps': { comma: ', ', colon: ': ', ascii: 'lower' },
  'json.dumps without ensure_ascii, PostgreSQL jsonb': { comma: ', ', colon: ': ' },
  'PostgreSQL json_build_object': { comma: ', ', colon: ' : ' },
  'PHP json_encode': { ascii: 'lower', escapesSlash: true },
  'System.Text.Json': { ascii: 'upper', escapesHtml: true },
  'jq, JSON.stringify with 2': { colon: ': ', indent: '  ' },
  'Jackson, indented': { colon: ' : ', indent: '  ' },
  'PHP, JSON_PRETTY_PRINT': { colon: ': ', indent: '    ', ascii: 'lower', escapesSlash: true },
  'Go, MarshalIndent': { colon: ': ', indent: '\t', escapesHtml: true },
  'Lua, Ruby JSON.pretty': { comma: ' , ', colon: ' : ', inside: ' ' },
  tabs: { comma: ',\t', colon: ':\t', inside: '\t' },
};

const HTML = /[<>&=']/g;

function escapeOf(unit: string, isUpper: boolean): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${isUpper ? hex.toUpperCase() : hex}`;
}

function stringOf(text: string, style: JsonStyle): string {
  const isUpper = style.ascii === 'upper';
  let json = JSON.stringify(text);
  if (style.ascii !== false) json = json.replace(/[^\x20-\x7e]/g, (unit) => escapeOf(unit, isUpper));
  if (style.escapesHtml) json = json.replace(HTML, (unit) => escapeOf(unit, isUpper));
  return style.escapesSlash ? json.replaceAll('/', '\\/') : json;
}

/** A value as this style writes it. */
export function jsonOf(value: Value, options: Partial<JsonStyle>, level = 0): string {
  const style = { ...COMPACT, ...options };
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'string') return stringOf(value, style);
  if (value === null || typeof value !== 'object') return String(value);
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? '[]' : '{}';
  const parts = isArray
    ? value.map((each) => jsonOf(each as Value, style, level + 1))
    : Object.entries(value).map(
        ([name, each]) => stringOf(name, style) + style.colon + jsonOf(each as Value, style, level + 1),
      );
  if (parts.length === 0) return `${open}${close}`;
  if (style.indent === '') return open + style.inside + parts.join(style.comma) + style.inside + close;
  const line = (depth: number): string => `\n${style.indent.repeat(depth)}`;
  return open + line(level + 1) + parts.join(`,${line(level + 1)}`) + line(level) + close;
}

/** How degrees are written. */
const NUMBER_STYLES: Readonly<Record<string, (degrees: number) => string>> = {
  shortest: String,
  'six digits': (degrees) => degrees.toFixed(6),
  'zeros behind': (degrees) => `${degrees.toFixed(4)}000`,
  'seventeen digits': (degrees) => degrees.toPrecision(17),
  'float32 as double': (degrees) => String(Math.fround(degrees)),
  'numeric of PostgreSQL': (degrees) => degrees.toFixed(16),
  'BigDecimal of a double': (degrees) => degrees.toFixed(48).replace(/0+$/, ''),
  'printf %e': (degrees) => degrees.toExponential(8).replace(/e\+(\d)$/, 'e+0$1'),
  'numpy.savetxt': (degrees) => degrees.toExponential(18).replace(/e\+(\d)$/, 'e+0$1'),
  exponent: (degrees) => `${Math.round(degrees * 1e6)}E-6`,
};

/** Members of rows around a position, by the senders that have them. `lat` and `lng` are written as they come. */
export const SENDERS: Readonly<
  Record<string, (n: number, lat: Value, lng: Value) => { [name: string]: Value }>
> = {
  'the position alone': (_, lat, lng) => ({ lat, lng }),
  'id first': (id, lat, lng) => ({ id, lat, lng }),
  'id last': (n, lat, lng) => ({ lat, lng, id: `xe-${n}` }),
  'longitude first': (n, lat, lng) => ({ lng, lat, id: n }),
  lon: (n, lat, lon) => ({ id: n, lat, lon }),
  'latitude, longitude': (n, latitude, longitude) => ({ id: String(n), latitude, longitude }),
  'both kinds of names': (_, lat, lng) => ({ latitude: lat, longitude: lng, lat, lng, lon: lng }),
  'a resolution': (_, lat, lng) => ({ lat, lng, resolution: 9 }),
  'a resolution of a float column': (_, lat, lng) => ({ lat, lng, resolution: new NumberText('9.0') }),
  'Vietnamese names': (n, lat, lng) => ({
    'biển số': `51F-${n % 1000}.${n % 100}`,
    tên: 'Bến xe Mỹ Đình',
    lat,
    lng,
    'ghi chú': null,
  }),
  OwnTracks: (n, lat, lon) => ({
    ...{ _type: 'location', acc: 12, alt: 8, batt: 88, bs: 1, cog: n % 360, conn: 'm' },
    ...{ created_at: 1_767_225_600 + n, inregions: ['nhà', 'kho <2>'], lat, lon },
    ...{ m: 1, t: 't', tid: 'xe', topic: 'owntracks/fleet/51F', tst: 1_767_225_600 + n, vac: 3, vel: 42 },
  }),
  Traccar: (n, latitude, longitude) => ({
    id: n,
    attributes: {
      ...{ priority: 0, sat: 12, event: 0, ignition: true, io200: 0, 'io/21': 4, odometer: 1_234_567 },
      ...{ power: 12.631, battery: 4.02, hours: 19_912_000, driverUniqueId: null, motion: n % 2 === 0 },
    },
    ...{ deviceId: 17, protocol: 'teltonika', serverTime: '2026-01-01T00:00:00.000+00:00' },
    ...{ fixTime: '2026-01-01T00:00:00.000+00:00', outdated: false, valid: true, latitude, longitude },
    ...{ altitude: 11, speed: 12.95, course: 187, address: '12 Lý Thường Kiệt & "Huế"', accuracy: 0 },
    ...{ network: { radioType: 'gsm', cellTowers: [{ cellId: 1, mcc: 452 }, {}] }, geofenceIds: [] },
  }),
  'Teltonika, by a gateway': (n, lat, lng) => ({
    imei: '356307042441013',
    ...{ ts: 1_767_225_600_000 + n, lat, lng, alt: 8, ang: 187, sat: 12, sp: 47 },
    io: [
      { id: 239, v: 1 },
      { id: 66, v: 12_631 },
      { id: 78, v: '0x0\\n"' },
    ],
  }),
  'deep members': (_, lat, lng) => {
    let deep: Value = [{}, [], 'x'];
    for (let level = 0; level < 60; level++) deep = level % 2 === 0 ? [deep] : { 'a"b': deep };
    return { before: deep, lat, lng, behind: [true, false, null, -1.5e-7, '\u0001\t\\'] };
  },
};

export type Positions = readonly (readonly [lat: number, lng: number])[];

/** Positions on land and off it, from a seed. */
export function positionsOf(seed: number, count: number): (readonly [lat: number, lng: number])[] {
  const random = randomFrom(seed);
  const degrees = (from: number, to: number): number =>
    Math.round((from + (to - from) * random()) * 1e6) / 1e6;
  return Array.from({ length: count }, () => [degrees(9, 22.5), degrees(103, 109)] as const);
}

/** Rows of a sender in one spelling, and the same members and values as JSON.stringify or a plain table has them. */
export interface SpelledRows {
  readonly name: string;
  readonly rows: string[];
  readonly compact: string[];
  /** Rows hold line feeds: they are items of an array alone. */
  readonly isArrayAlone: boolean;
}

/** Rows of every sender in every style, with numbers in every style. */
export function* jsonSpellings(positions: Positions): Generator<SpelledRows> {
  for (const [sender, membersOf] of Object.entries(SENDERS)) {
    for (const [styleName, style] of Object.entries(JSON_STYLES)) {
      for (const [numbers, numberOf] of Object.entries(NUMBER_STYLES)) {
        const of = (options: Partial<JsonStyle>, textOf: (degrees: number) => string): string[] =>
          positions.map(([lat, lng], n) =>
            jsonOf(membersOf(n, new NumberText(textOf(lat)), new NumberText(textOf(lng))), options),
          );
        yield {
          name: `${sender}; ${styleName}; ${numbers}`,
          rows: of(style, numberOf),
          compact: of({}, (degrees) => String(Number(numberOf(degrees)))),
          isArrayAlone: style.indent !== undefined,
        };
      }
    }
  }
}

/** How the characters of a code are written in a JSON string. */
const CODE_STYLES: Readonly<Record<string, (code: string) => string>> = {
  plain: (code) => code,
  'lower case': (code) => code.toLowerCase(),
  'no hyphens': (code) => code.replaceAll('-', ''),
  blanks: (code) => ` ${code.replaceAll('-', ' ')} `,
  'the first letter escaped': (code) => escapeOf(code[0]!, false) + code.slice(1),
  'hyphens escaped': (code) => code.replaceAll('-', '\\u002d'),
  'every character escaped': (code) => code.replace(/./g, (unit) => escapeOf(unit, true)),
};

/** Items to decode, codes alone and objects, in every style. */
export function* codeSpellings(codes: readonly string[]): Generator<SpelledRows> {
  for (const [codeStyle, codeOf] of Object.entries(CODE_STYLES)) {
    const texts = codes.map((code) => `"${codeOf(code)}"`);
    const plain = codes.map((code) => `"${code}"`);
    yield { name: `a code alone; ${codeStyle}`, rows: texts, compact: plain, isArrayAlone: false };
    for (const [styleName, style] of Object.entries(JSON_STYLES)) {
      const of = (each: readonly string[], options: Partial<JsonStyle>): string[] =>
        each.map((text, id) => jsonOf({ id, hexcodes: new NumberText(text) }, options));
      yield {
        name: `an id and a code; ${styleName}; ${codeStyle}`,
        ...{ rows: of(texts, style), compact: of(plain, {}), isArrayAlone: style.indent !== undefined },
      };
    }
  }
}

/** How a field of CSV is written; `isText` is false for numbers. */
const CSV_STYLES: Readonly<Record<string, (field: string, isText: boolean) => string>> = {
  plain: (field) => (/[",]/.test(field) ? quoted(field) : field),
  'all quoted: csv.QUOTE_ALL, spreadsheets': quoted,
  'texts quoted: csv.QUOTE_NONNUMERIC, R': (field, isText) => (isText ? quoted(field) : field),
  'blanks before': (field) => ` ${/[",]/.test(field) ? '' : field}`,
  'blanks on both sides, aligned': (field) => `${/[",]/.test(field) ? '' : field}`.padStart(14).padEnd(16),
  'tabs around': (field) => `\t${/[",]/.test(field) ? '' : field}\t`,
  'no-break spaces': (field) => `\u00a0${/[",]/.test(field) ? '' : field}`,
  'decimal commas, quoted': (field, isText) => quoted(isText ? field : field.replace('.', ',')),
};

function quoted(field: string): string {
  return `"${field.replaceAll('"', '""')}"`;
}

/** Texts besides the position: one that needs no quotes, and one that does. */
const CSV_TEXTS = ['xe Huế', '"xe", Huế'];

/** A table of CSV in one spelling, with its header. */
export function* csvSpellings(
  positions: Positions,
): Generator<SpelledRows & { readonly header: string; readonly isNegative: boolean }> {
  for (const [styleName, fieldOf, note] of Object.entries(CSV_STYLES).flatMap(([style, field]) =>
    CSV_TEXTS.map((text) => [style, field, text] as const),
  )) {
    for (const [numbers, numberOf] of Object.entries(NUMBER_STYLES)) {
      for (const sign of ['', '-']) {
        for (const end of ['', '\r']) {
          const of = (
            field: (text: string, isText: boolean) => string,
            textOf: (degrees: number) => string,
            lineEnd: string,
          ): string[] =>
            positions.map(([lat, lng], n) => {
              const cells: [string, boolean][] = [
                [`${note} ${n}`, true],
                [sign + textOf(lat), false],
                [textOf(lng), false],
                ['', true],
              ];
              return cells.map(([text, isText]) => field(text, isText)).join(',') + lineEnd;
            });
          yield {
            name: `${styleName}; text ${note}; ${numbers}; sign ${sign}; ${end === '' ? 'LF' : 'CR LF'}`,
            header: `name,lat,lng,note${end}`,
            rows: of(fieldOf, numberOf, end),
            compact: of(CSV_STYLES.plain!, (degrees) => String(Number(numberOf(degrees))), ''),
            ...{ isArrayAlone: false, isNegative: sign !== '' },
          };
        }
      }
    }
  }
}

// Spellings of positions, made from numbers: every unit, mark, side, sign, blank and order that people and programs
// write, each with the position that its digits say. A reader gives that position, or refuses the text.

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
