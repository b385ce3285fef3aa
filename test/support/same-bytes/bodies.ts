// Hostile bodies of CSV and NDJSON, drawn from a seed. Each row has the kind of difference between service and command
// that it stands for, none where both answer alike.

import { below, pick, type Random } from '../mutate.js';

/** Differences that the table of docs/command.md names, by the words of its first column. */
export const KINDS = {
  people: 'a position as people write it: `+21.03`, `21.03°`, `21.03N`, `21°01\'43.7"N`',
  texts: 'JSON: a position or resolution as text, `"21.0288"`; a resolution that is null',
  lines: 'NDJSON: a line that is no JSON, no UTF-8 or no object',
  beyond: 'NDJSON: a number that no double holds, `1e999`; more than 512 levels',
  id: 'NDJSON: an `id` that is no number and no string of 128 characters at most, or two of them',
  long: 'NDJSON: a line of more than 64 KiB',
  names: 'NDJSON: `LAT`, ` lat `; `lat` in one line and `latitude` in another',
  ours: 'NDJSON, and CSV into NDJSON: a member or column with the name of one that is added',
  twice: 'CSV into NDJSON: two columns of one name',
  none: 'NDJSON without a line',
  quote: 'CSV: a quote that is open at the end',
  header:
    'CSV: titles above the header, no header, one column of whole positions, a header of more than 64 KiB',
  utf16: 'UTF-16 with a byte order mark',
} as const;

export type Kind = keyof typeof KINDS;

export interface Row {
  /** Without its line end. */
  readonly text: string | Buffer;
  readonly kind?: Kind;
  /** Whether the command refuses a file with such a row. */
  readonly isRefused?: boolean;
  /** Whether the command may read a position in it that is none to the service: a mark, a letter, another blank. */
  readonly mayBeRead?: boolean;
  /** The answer of the service, where that is not INVALID_REQUEST. */
  readonly service?: RegExp;
}

const latIn = (random: Random): number => 8.5 + 14.5 * random();
const lngIn = (random: Random): number => 102.2 + 7.2 * random();
const NULLS = [
  '',
  'null',
  'NULL',
  'NaN',
  'nan',
  '-',
  'N/A',
  'x',
  '0x15',
  'Infinity',
  '-Infinity',
  '1e999',
  '-1e999',
];
/** Characters that are no part of a number, around or in it. */
const AROUND = [' ', '\u00a0', '\u200e', '\u200f', '\u200b', '\ufeff', '\u2060', '\u202a', '  '];
const NO_BLANKS = ['\u2009', '\u3000', '\x0b', '\x0c', '\u0085', '\u2028', "'", '_', '\x1b'];

const ODD = new RegExp(`[${NO_BLANKS.join('')}dfLm%]`);

/** A number as programs write it, or what is none: alike at every door. */
function numberText(value: number, random: Random, decimal: string): string {
  const digits = below(16, random);
  const fixed = value.toFixed(digits).replace('.', decimal);
  switch (below(16, random)) {
    case 0:
      return value.toExponential(digits).replace('e+', pick(['e', 'E', 'e+', 'E+0'], random));
    case 1:
      return `${'0'.repeat(below(4, random))}${fixed}`;
    case 2:
      return `${Math.trunc(value)}.`;
    case 3:
      return `${fixed}${decimal === '.' && fixed.includes('.') ? '0'.repeat(below(400, random)) : ''}`;
    case 4:
      return `${pick(AROUND, random)}${fixed}${pick(AROUND, random)}`;
    case 5:
      return pick(NULLS, random);
    case 6:
      return `${pick(NO_BLANKS, random)}${fixed}`;
    case 7:
      return `${fixed}${pick([...NO_BLANKS, 'd', 'f', 'L', '%', 'm'], random)}`;
    case 8:
      return pick(
        [String(value * 10), String(-value), '90.00000000000001', '180.1', '-0', '1e22', '5e-324'],
        random,
      );
    case 9:
      return `${Math.trunc(value * 10 ** 20)}e-20`.replace(/^(\d+)e\+?(\d+)e-20$/, '$1e0');
    default:
      return fixed;
  }
}

/** A latitude as people write it, which the command reads and the service does not. */
function writtenText(value: number, [positive, negative]: string, random: Random): string {
  const size = Math.abs(value);
  const letter = value < 0 ? negative! : positive!;
  const degrees = Math.trunc(size);
  const minutes = below(60, random);
  const rest = (59 * random()).toFixed(2);
  return pick(
    [
      `+${size.toFixed(5)}`,
      `${value.toFixed(5)}°`,
      `${size.toFixed(5)}${letter}`,
      `${letter}${size.toFixed(5)}`,
      `${size.toFixed(5)} ${letter}`,
      `${degrees}°${minutes}'${rest}"${letter}`,
      `${degrees}° ${rest}' ${letter}`,
      `${letter} ${degrees} ${minutes} ${rest}`,
    ],
    random,
  );
}

const NOTES = [
  '',
  'a',
  'a,b',
  'a;b',
  'a\tb',
  'a|b',
  'a"b',
  '"',
  '""',
  'a\nb',
  'a\r\nb',
  'a\rb',
  '\n',
  ' ',
  'Hồ Gươm',
  '👍',
  '\u2028',
  '=1+1',
  '#',
  '\x1b[31m',
  '\\',
  'x'.repeat(70_000),
];

export interface CsvBody {
  readonly delimiter: string;
  /** Byte order mark, line `sep=`, blank lines, header and its line end. */
  readonly head: string;
  readonly rows: readonly Row[];
  readonly lineEnd: string;
  /** Between rows: line ends, and blank lines at times. */
  readonly between: readonly string[];
  readonly hasLastEnd: boolean;
  /** Returns behind the last row, as a line end leaves that has lost its line feed. */
  readonly returns: number;
}

export const bytesOf = ({ head, rows, between, hasLastEnd, returns }: CsvBody, without = -1): Buffer =>
  Buffer.concat(
    rows.flatMap(({ text }, row) => {
      if (row === without) return row === 0 ? [Buffer.from(head)] : [];
      const isLast = row === rows.length - 1;
      return [
        Buffer.from(row === 0 ? head : ''),
        Buffer.from(text),
        Buffer.from(isLast && !hasLastEnd ? '' : between[row]!),
        Buffer.from('\r'.repeat(isLast ? returns : 0)),
      ];
    }),
  );

/** A body whose rows are more or less right: other lengths, numbers of every kind, quotes, ends of lines. */
export function csvBody(random: Random): CsvBody {
  const delimiter = pick([',', ';', '\t', '|'], random);
  const lineEnd = pick(['\n', '\r\n'], random);
  const quotes = random();
  const field = (text: string, isFree = false): string => {
    const needs = text.includes(delimiter) || /[\r\n]/.test(text) || text.startsWith('"');
    return needs || (!isFree && random() < quotes * 0.5) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const order = pick(
    [
      [0, 1, 2, 3],
      [1, 2, 0, 3],
      [3, 2, 1, 0],
      [0, 3, 2, 1],
    ],
    random,
  );
  const names = [
    'id',
    pick(['lat', 'LAT', ' latitude ', 'vĩ độ'], random),
    pick(['lng', 'Lon', 'longitude', 'long'], random),
    'note',
  ];
  const line = (fields: readonly string[]): string => order.map((at) => fields[at]!).join(delimiter);
  const decimal = delimiter !== ',' && random() < 0.3 ? ',' : '.';
  const rowOf = (): Row => {
    const [lat, lng] = [latIn(random), lngIn(random)];
    const [id, note] = [String(below(1e6, random)), field(pick(NOTES, random))];
    const isSwapped = random() < 0.03;
    const numbers = [isSwapped ? lng : lat, isSwapped ? lat : lng].map((value) =>
      field(numberText(value, random, decimal)),
    );
    switch (below(24, random)) {
      case 0: {
        // Fewer fields.
        const all = order.map((at) => [id, ...numbers, note][at]!);
        return { text: all.slice(0, 1 + below(3, random)).join(delimiter) || 'x' };
      }
      case 1:
        return {
          text:
            line([id, ...numbers, field('a')]) + delimiter + pick(['', 'x', `x${delimiter}`, '"y"'], random),
        };
      case 2:
        return { text: pick(['x', ' ', '\u00a0', '""', delimiter, delimiter.repeat(3), '#', '\\'], random) };
      case 3:
        // Text behind a closing quote.
        return { text: line([id, `"${lat}"${pick(['x', ' ', '"x"'], random)}`, `${lng}`, 'a']) };
      case 4:
        return { text: line([id, ` "${lat}"`, `${lng}`, 'a"b"c']) };
      case 5: {
        const texts = [writtenText(lat, 'NS', random), writtenText(lng, 'EW', random)];
        return { text: line([id, ...texts.map((text) => field(text, true)), 'a']), kind: 'people' };
      }
      default:
        return { text: line([id, ...numbers, note]), mayBeRead: numbers.some((text) => ODD.test(text)) };
    }
  };
  const rows = Array.from({ length: 1 + below(40, random) }, rowOf);
  const mark = random() < 0.2 ? '\ufeff' : '';
  const sep = random() < 0.1 ? `sep=${delimiter}${lineEnd}` : '';
  const blank = sep === '' && random() < 0.1 ? lineEnd.repeat(1 + below(3, random)) : '';
  const ends = random() < 0.1 ? ['\n', '\r\n'] : [lineEnd];
  return {
    ...{ delimiter, rows, lineEnd },
    head: `${mark}${sep}${mark === '' ? blank : ''}${line(names)}${lineEnd}`,
    between: rows.map(() => pick(ends, random).repeat(random() < 0.1 ? 2 + below(2, random) : 1)),
    hasLastEnd: random() < 0.8,
    returns: random() < 0.3 ? 1 + below(3, random) : 0,
  };
}

const JSON_NUMBERS: readonly ((value: number) => string)[] = [
  String,
  (value) => value.toFixed(15),
  (value) => value.toExponential(),
  (value) => value.toExponential().replace('e', 'E'),
  (value) => `${value.toFixed(3)}${'0'.repeat(300)}1`,
  (value) => String(Math.trunc(value)),
  (value) => `${Math.trunc(value)}.0`,
  (value) => String(value * 10),
  (value) => String(-value),
  () => '-0',
  () => '0.1e-400',
  () => 'null',
  () => 'true',
  () => '[]',
  () => '{"lat":21}',
];
const OTHERS = [
  ...[
    '"a":1',
    '"a":"x"',
    '"a":[1,{"lat":2}]',
    '"a":"\\u00e9\\n\\"}"',
    '"":null',
    '"__proto__":{"lat":1}',
    '"a":1,"a":2',
  ],
  ...[
    '"position":"21,105"',
    '"location":{"lat":1,"lng":2}',
    '"name":"Hồ Gươm"',
    '"a":"\\ud800"',
    '"a":12345678901234567890123',
  ],
];
const OBJECTS_NOT = [
  '"x"',
  '12',
  'null',
  'true',
  '[]',
  '[21]',
  '[21,105,3]',
  '["21","105"]',
  '[21,null]',
  '[[21,105]]',
];
const JSON_NOT = [
  ...[
    'x',
    '{',
    '{"lat":',
    '{"lat":21,"lng":105.8}{"lat":21,"lng":105.8}',
    '{"lat":21,"lng":105.8},',
    '{"lat":21,"lng":105.8,}',
  ],
  ...[
    "{'lat':21}",
    '{"lat":021,"lng":105.8}',
    '{"lat":+21,"lng":105.8}',
    '{"lat":21.,"lng":105.8}',
    '{"lat":.21,"lng":105}',
  ],
  ...[
    '{"lat":NaN,"lng":105.8}',
    '{"lat":Infinity,"lng":1}',
    '{"a":"\t","lat":21,"lng":105.8}',
    '{"a":"\\x","lat":21}',
    'undefined',
  ],
  ...[
    '{"lat":21,"lng":105.8}//',
    '{\u00a0"lat":21,"lng":105.8}',
    '#',
    '[21,105.8',
    'lat,lng',
    '{"a":"\0","lat":21,"lng":105.8}',
  ],
];

/** Lines that are more or less right. @param only kinds of difference that a line may have */
export function ndjsonRow(random: Random, only: readonly Kind[]): Row {
  const kind = random() < 0.3 && only.length > 0 ? pick(only, random) : undefined;
  const [lat, lng] = [latIn(random), lngIn(random)];
  const members = [`"lat":${lat}`, `"lng":${lng}`];
  const space = pick(['', '', ' ', '  ', '\t'], random);
  const object = (all: readonly string[]): string => {
    const mixed = [...all].sort(() => random() - 0.5);
    return `${space}{${space}${mixed.map((member) => member.replace(':', `${space}:${space}`)).join(`${space},${space}`)}${space}}`;
  };
  const id = random() < 0.5 ? [`"id":${pick(['1', '"a"', '1.50', '"\\u0061"', '1e3', '""'], random)}`] : [];
  const other = random() < 0.3 ? [pick(OTHERS, random)] : [];
  switch (kind) {
    case 'lines': {
      const isPair = random() < 0.15;
      const text = isPair ? `[${lat},${lng}]` : pick([...OBJECTS_NOT, ...JSON_NOT], random);
      const bytes = Buffer.concat([
        Buffer.from('{"a":"'),
        Buffer.from([pick([0xff, 0xc0, 0xe1, 0x80], random)]),
        Buffer.from(`","lat":${lat},"lng":${lng}}`),
      ]);
      return {
        text: !isPair && random() < 0.15 ? bytes : text,
        kind,
        isRefused: true,
        ...(isPair ? { service: /^OK|^NOT_FOUND/ } : {}),
      };
    }
    case 'texts': {
      const written =
        random() < 0.5
          ? [String(lat), String(lng)]
          : [writtenText(lat, 'NS', random), writtenText(lng, 'EW', random)];
      const positions = [`"lat":${JSON.stringify(written[0])}`, `"lng":${JSON.stringify(written[1])}`];
      const resolution = `"resolution":${pick(['"9"', 'null', '"15"'], random)}`;
      return { text: object(random() < 0.5 ? positions : [...members, resolution]), kind };
    }
    case 'beyond': {
      const isDeep = random() < 0.3;
      const isIdle = random() < 0.5;
      const deep = `"a":${'['.repeat(600)}${']'.repeat(600)}`;
      const text = isDeep
        ? object([...members, deep])
        : isIdle
          ? object([...members, '"a":1e999'])
          : object(['"lat":-1e999', members[1]!]);
      return { text, kind, isRefused: true, ...(isDeep || isIdle ? { service: /^OK|^NOT_FOUND/ } : {}) };
    }
    case 'id': {
      const bad = pick(
        [`"id":"${'x'.repeat(129)}"`, '"id":{}', '"id":[1]', '"id":null', '"id":true', '"id":1,"id":2'],
        random,
      );
      return { text: object([bad, ...members]), kind };
    }
    case 'long':
      return { text: object([...members, `"a":"${'x'.repeat(65_536)}"`]), kind };
    case 'names': {
      const latitude = pick(['LAT', ' lat ', 'Lat', 'latitude'], random);
      const isKnown = latitude === 'latitude';
      return {
        text: object([`"${latitude}":${lat}`, members[1]!]),
        kind,
        isRefused: true,
        ...(isKnown ? { service: /^OK|^NOT_FOUND/ } : {}),
      };
    }
    case 'ours':
      return {
        text: object([...members, `"${pick(['hexcodes', 'status', 'admin_code'], random)}":"x"`]),
        kind,
        isRefused: true,
        service: /^OK|^NOT_FOUND/,
      };
  }
  switch (below(10, random)) {
    case 0: {
      // A member twice: alike where both are the same.
      const again = pick(
        [
          '"lat":1',
          `"lat":${lat.toFixed(9)}`,
          `"l\\u0061t":${lat}`,
          `"lat":${lat}0`,
          '"lng":-5',
          '"lat":null',
        ],
        random,
      );
      return { text: `{${members.join(',')},${again}}` };
    }
    case 1:
      return {
        text: object([
          `"lat":${pick(JSON_NUMBERS, random)(lat)}`,
          `"lng":${pick(JSON_NUMBERS, random)(lng)}`,
        ]),
      };
    case 2:
      return { text: pick([object([members[0]!]), '{}', object(['"a":1'])], random) };
    case 3:
      return {
        text: object([
          ...members,
          `"resolution":${pick(['9', '0', '15', '9.0', '16', '-1', '9.5', '1e1', 'true'], random)}`,
        ]),
      };
    case 4:
      return { text: `${pick(['\ufeff', '\x1e'], random)}${object(members)}` };
    default:
      return { text: object([...id, ...members, ...other]) };
  }
}
