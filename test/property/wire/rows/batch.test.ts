// Batches in JSON: broken where JSON.parse says so, else item by item what the slow peer makes of them; fields of
// rows; and the grammar of JSON.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  eachMember,
  isFalsifiable,
  isJson,
  jsonText,
  parseExact,
  parseNumbersBy,
} from '#dist/hexcodes/wire/params/json-grammar.js';
import { csvFields } from '#dist/hexcodes/wire/rows/csv-fields.js';
import { Hexcodes } from '#hexcodes';
import { findCode } from '#hexcodes/geometry';
import { codesInColumns } from '../../../support/files/convert.js';
import { item, space } from '../../../support/items.js';
import { openKernel, openWorld, randomFrom } from '../../../support/open-world.js';
import { fieldsByPeer, itemByPeer, withoutWording } from '../../../support/peers/bulk-text.js';
import { isSame, positionNear, spellingOf } from '../../../support/spellings.js';
import { type Operation, Wire } from '../../../support/wire.js';

const wires = [new Wire(openKernel()), new Wire(openKernel('kernel.debug'))];
/** Bytes of an item, at most. */
const MAX_ITEM_BYTES = 65_536;
const library = new Hexcodes(openKernel());

interface Answer {
  status: string;
  summary: { total: number; ok: number; failed: number };
  results: { status: string; lat?: number; id?: unknown; message?: string }[];
}

function textOf(operation: Operation, body: string | Uint8Array, wire = wires[0]!): string {
  return Buffer.from(wire.batch(operation, Buffer.from(body))).toString();
}

function answerTo(operation: Operation, body: string): Answer {
  return JSON.parse(textOf(operation, body)) as Answer;
}

/** The code of a failed item that its status decides, or one of both codes of a parameter. */
function codeFor(status: string): unknown {
  if (status === 'NOT_FOUND') return 'outside_coverage';
  if (status === 'INVALID_HEXCODES') return 'hexcode_invalid';
  return expect.stringMatching(/^parameter_(missing|invalid)$/);
}

test('random batches', () => {
  const items = fc.array(
    fc.tuple(space, item, space).map((parts) => parts.join('')),
    { maxLength: 8 },
  );
  const place = fc.constantFrom('before', 'after', 'none');
  const property = fc.property(
    items,
    place,
    fc.constantFrom('encode', 'decode'),
    (texts, where, operation) => {
      const name = operation === 'encode' ? 'points' : 'hexcodes';
      const array = `"${name}" : [${texts.join(',')}]`;
      const members = [array, '"x":{"points":[1,"]"]}'];
      if (where !== 'none') members.splice(where === 'before' ? 0 : 2, 0, '"resolution" :7');
      const body = `{ ${members.join(' ,')} }\n`;
      const resolution = where === 'none' ? 13 : 7;
      let parsed: { points?: unknown[]; hexcodes?: unknown[] } | undefined;
      try {
        parsed = JSON.parse(body) as typeof parsed;
      } catch {
        parsed = undefined;
      }
      for (const wire of wires) {
        if (parsed === undefined || texts.some((text) => text.trim() === '')) {
          const isEmpty = texts.every((text) => text.trim() === '') && texts.length < 2;
          if (!isEmpty)
            expect(() => textOf(operation as Operation, body, wire)).toThrow(
              expect.objectContaining({ name: 'BrokenBatchError' }),
            );
          continue;
        }
        // Texts that are not JSON may join to what is some.
        if (!texts.every(isParsed)) continue;
        const text = textOf(operation as Operation, body, wire);
        const answer = JSON.parse(text) as Answer;
        const wanted = texts.map((t) =>
          itemByPeer(library, operation as Operation, Buffer.from(t), resolution),
        );
        // JSON text cannot be cut at commas: each result is looked at as an object, and the numbers of ids as text.
        expect(answer.results.map(({ message, ...rest }) => ({ ...rest, details: undefined }))).toEqual(
          wanted.map((w, index) => {
            const row = JSON.parse(w) as { status: string };
            const reason = row.status === 'OK' ? {} : { code: codeFor(row.status), index };
            return { ...row, ...reason, details: undefined };
          }),
        );
        if (texts.length === 1) {
          const only = text.slice(text.indexOf('"results":[') + 11, -2);
          const withoutReason = only.replace(/(?<="status":"[A-Z_]+"),"code":"[a-z_]+","index":0/, '');
          expect(withoutWording(withoutReason)).toBe(wanted[0]);
        }
        const ok = answer.results.filter((r) => r.status === 'OK').length;
        expect(answer.summary).toEqual({ total: texts.length, ok, failed: texts.length - ok });
      }
    },
  );
  fc.assert(property, { numRuns: 300, verbose: 1 });
});

describe('envelopes', () => {
  test.each([
    ['', 'body is not one JSON object'],
    ['[]', 'body is not one JSON object'],
    ['{"points":[[1,2]]', 'body is not valid JSON'],
    ['{"points":[[1,2]]}x', 'body goes on after its JSON object'],
    ['{"points":[[1,2]],}', 'body is not valid JSON'],
    ['{"points":[[1,2]', 'body ends inside a value'],
    ['{"points":"x}', 'body ends inside a string'],
    ['{"points":[1,]}', 'points is not valid JSON'],
    ['{"points":[,1]}', 'points is not valid JSON'],
    ['{"points":[1 2]}', 'points is not valid JSON'],
    ['{"points":[[1}]}', 'points is not valid JSON'],
    ['{"points":[{"lat":1]]}', 'points is not valid JSON'],
    ['{"points":[],"x":tru}', 'body is not valid JSON'],
    ['{}', 'points is required'],
    ['{"points":{}}', 'points must be an array'],
    ['{"points":null}', 'points must be an array'],
    ['{"points":[],"points":[]}', 'points is given more than once'],
    ['{"points":[],"resolution":16}', 'resolution must be an integer from 0 to 15'],
    ['{"points":[],"resolution":"7"}', 'resolution must be an integer from 0 to 15'],
    [
      '{"resolution":null}',
      'points is required, as in {"points":[[21.0288,105.8525]]}; resolution must be an integer from 0 to 15',
    ],
    [
      '{"points":[],"resolution":7,"resolution":8}',
      'resolution is given more than once with different values',
    ],
  ])('%s: %s', (body, message) => {
    expect(() => textOf('encode', body)).toThrow(message);
  });

  test('bytes that are not UTF-8 break it', () => {
    const body = Buffer.from('{"points":[{"lat":10,"lng":106,"x":"?"}]}');
    body[body.indexOf('?')] = 0xff;
    expect(() => textOf('encode', body)).toThrow('points is not valid JSON');
  });

  test('every lead byte with the bytes at the edges of what may follow: what TextDecoder refuses breaks it', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const isText = (bytes: Uint8Array): boolean => {
      try {
        return decoder.decode(bytes).length > 0;
      } catch {
        return false;
      }
    };
    const isTaken = (body: Buffer): boolean => {
      try {
        return textOf('encode', body).startsWith('{"status":"OK"');
      } catch {
        return false;
      }
    };
    const seconds = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0];
    const rests = [[], [0x7f], [0x80], [0xbf], [0xc0], [0x80, 0x7f], [0x80, 0xbf], [0xc0, 0x80]];
    const wrong: string[] = [];
    for (let lead = 0x80; lead < 0x100; lead++)
      for (const second of seconds)
        for (const rest of rests) {
          const sequence = Buffer.from([lead, second, ...rest]);
          const body = Buffer.concat([
            Buffer.from('{"points":[{"lat":10,"lng":106,"x":"'),
            sequence,
            Buffer.from('"}]}'),
          ]);
          if (isTaken(body) !== isText(sequence)) wrong.push(sequence.toString('hex'));
        }
    expect(wrong).toEqual([]);
  });

  test('an empty batch, a byte order mark, equal resolutions', () => {
    expect(textOf('encode', '\ufeff{"points":[ ],"resolution":3,"resolution":3}')).toBe(
      '{"status":"OK","summary":{"total":0,"ok":0,"failed":0},"results":[]}',
    );
  });
});

test('batches larger than the kernel takes at once, and items larger than any', () => {
  const points = Array.from({ length: 9000 }, (_, i) => ({
    lat: 9 + i / 1000,
    lng: 106,
    id: i,
    note: 'x'.repeat(i % 100),
  }));
  const { summary, results } = answerTo('encode', JSON.stringify({ points }));
  expect(summary.total).toBe(points.length);
  expect(results.map(({ id }) => id)).toEqual(points.map(({ id }) => id));
  expect(results.map(({ lat }) => lat)).toEqual(points.map(({ lat }) => lat));

  const long = { lat: 10, lng: 106, id: 'long', note: 'y'.repeat(MAX_ITEM_BYTES) };
  const mixed = answerTo('encode', JSON.stringify({ points: [points[0], long, points[1]] }));
  expect(mixed.results.map(({ status }) => status)).toEqual(['OK', 'INVALID_REQUEST', 'OK']);
  expect(mixed.results[1]?.message).toBe(`item is longer than ${MAX_ITEM_BYTES} bytes`);
  const broken = JSON.stringify({ points: [long] }).replace('"id"', 'id');
  expect(() => answerTo('encode', broken)).toThrow('points is not valid JSON');
});

// Fields of CSV, and spellings of positions, over generated input.

// The fields of CSV rows against csv-parse, with quotes, delimiters and NUL at every place.
describe('fields of CSV', () => {
  const SEED = 20_261_122;

  test("the fields of a row equal csv-parse's", () => {
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
  const COUNT = 8000;

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

// The grammar of JSON against JSON.parse, and the walk over members against what JSON.parse makes of them: texts that
// are JSON, and the same with letters changed, left out, doubled or put in.

const SEED = 20_261_122;

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const number = fc.oneof(
  fc.double().filter(Number.isFinite).map(String),
  fc.stringMatching(/^-?[0-9]{0,3}(\.[0-9]{0,2})?([eE][+-]?[0-9]{0,2})?$/),
);
const string = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc
    .array(
      fc.constantFrom('a', '"', '\\', '/', '\\"', '\\u', '\\u00e9', '\\uD8', '\\x', '\u0001', '\ud800', '\n'),
      { maxLength: 4 },
    )
    .map((pieces) => `"${pieces.join('')}"`),
);
const blank = fc.stringMatching(/^[ \t\r\n\u00a0\f]{0,2}$/);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    string,
    fc.constantFrom('true', 'false', 'null', 'nul', ''),
    tie('many'),
  ),
  many: fc
    .tuple(fc.array(fc.tuple(string, tie('value'), blank), { maxLength: 4 }), fc.boolean())
    .map(([entries, isObject]) => {
      const inside = (entries as [string, string, string][]).map(([name, text, blank]) =>
        isObject ? `${blank}${name}${blank}:${text}${blank}` : `${text}${blank}`,
      );
      return isObject ? `{${inside.join(',')}}` : `[${inside.join(',')}]`;
    }),
})).value as fc.Arbitrary<string>;

const changed = fc
  .tuple(
    value,
    fc.nat(),
    fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', ' ', '0', '\u0000', '-'),
    fc.nat(2),
  )
  .map(([text, place, letter, dropped]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + letter + text.slice(at + dropped);
  });

test('a text is JSON where JSON.parse reads it', () => {
  let right = 0;
  fc.assert(
    fc.property(fc.oneof(value, changed), (text) => {
      if (isJson(text) !== isParsed(text)) expect.fail(JSON.stringify(text));
      if (isJson(text)) right++;
    }),
    { seed: SEED, numRuns: 15_000 },
  );
  expect(right).toBeGreaterThan(2000);
});

test('texts of any depth are read, and nothing of theirs is kept on the stack', () => {
  const depth = 300_000;
  const nested = '['.repeat(depth) + ']'.repeat(depth);
  expect([isJson(nested), isJson(nested.slice(1)), isJson(`${nested}]`)]).toEqual([true, false, false]);
  expect(isJson(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)).toBe(true);
});

test("members equal JSON.parse's, the last of each name", () => {
  let objects = 0;
  fc.assert(
    fc.property(fc.oneof(value, changed), (text) => {
      const members: Record<string, unknown> = {};
      const isObject = eachMember(text, (name, valueText) => {
        if (isJson(valueText))
          Object.defineProperty(members, name, {
            value: JSON.parse(valueText),
            configurable: true,
            enumerable: true,
            writable: true,
          });
      });
      const parsed: unknown = isParsed(text) ? JSON.parse(text) : undefined;
      const isDue = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
      if (isObject !== isDue) expect.fail(JSON.stringify(text));
      if (!isDue) return;
      objects++;
      expect(members).toEqual(parsed);
    }),
    { seed: SEED, numRuns: 10_000 },
  );
  expect(objects).toBeGreaterThan(150);
});

test('each UTF-16 unit inside a string and after a backslash, as JSON.parse has it', () => {
  const wrong: string[] = [];
  for (let unit = 0; unit < 0x10000; unit++) {
    const character = String.fromCharCode(unit);
    for (const text of [
      `"${character}"`,
      `"a${character}b"`,
      `"\\${character}"`,
      `"\\u00${character}0"`,
      `1${character}`,
      character,
    ])
      if (isJson(text) !== isParsed(text)) wrong.push(JSON.stringify(text));
  }
  expect(wrong).toEqual([]);
});

// JSON whose integers keep their digits: read as JSON.parse reads where that is exact, written so that it is read
// again.
describe('exact JSON', () => {
  test('any JSON is read as JSON.parse reads it, by both of its ways', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const due: unknown = JSON.parse(text);
        expect(parseNumbersBy(text, Number)).toEqual(due);
        if (!isFalsifiable(text)) expect(parseExact(text)).toEqual(due);
      }),
    );
  });

  test('integers of any length are written as they were read, wherever they stand', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map((n) => `${n}`),
        fc.string().map((text) => JSON.stringify(text)),
        fc.array(tie('any') as fc.Arbitrary<string>, { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
        fc
          .dictionary(fc.string(), tie('any') as fc.Arbitrary<string>, { maxKeys: 3 })
          // Names like numbers come first in an object of JavaScript, whatever their order in the text.
          .map((members) => Object.entries(members).filter(([name]) => !/^\d+$/.test(name)))
          .map(
            (members) => `{${members.map(([name, each]) => `${JSON.stringify(name)}:${each}`).join(',')}}`,
          ),
      ),
    })).any as fc.Arbitrary<string>;
    fc.assert(
      fc.property(value, (text) => {
        expect(jsonText(parseExact(text))).toBe(text);
      }),
    );
  });

  test.each([
    ['9007199254740993', 9007199254740993n],
    [' -9007199254740993 ', -9007199254740993n],
    ['9007199254740991', 9007199254740991],
    ['[1,\n9007199254740993]', [1, 9007199254740993n]],
    ['{"__proto__":9007199254740993}', Object.fromEntries([['__proto__', 9007199254740993n]])],
    ['{"a":1e3,"b":12345678901234567890}', { a: 1000, b: 12345678901234567890n }],
    ['{"a":"9007199254740993","b":1.2345678901234567}', { a: '9007199254740993', b: 1.2345678901234567 }],
  ])('%s', (text, value) => {
    expect(parseExact(text)).toEqual(value);
  });

  test('a number beyond all doubles is refused, and what is not JSON too', () => {
    for (const text of ['1e400', '{"a":-1E+999}', `[${'9'.repeat(400)}.5]`]) {
      expect(() => parseExact(text)).toThrow(/beyond what a number can be/);
    }
    for (const text of ['', '{', '[9007199254740993', '01', '{"a":9007199254740993,}']) {
      expect(() => parseExact(text)).toThrow(SyntaxError);
    }
  });

  test('NaN and infinities are texts, the zero below zero keeps its sign', () => {
    expect(jsonText([Number.NaN, Number.POSITIVE_INFINITY, -0, null, undefined, { a: undefined }])).toBe(
      '["NaN","Infinity",-0,null,null,{}]',
    );
  });

  test('numbers beyond doubles beside texts with millions of escapes', () => {
    const text = '\\n\\"\\\\'.repeat(1_000_000);
    const value = parseExact(`{"n":12345678901234567890,"a\\\\":"${text}","b\\"":[1]}`) as Record<
      string,
      unknown
    >;
    expect([value.n, (value['a\\'] as string).length, value['b"']]).toEqual([
      12345678901234567890n,
      3_000_000,
      [1],
    ]);
  });
});
