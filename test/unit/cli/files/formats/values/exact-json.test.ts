// JSON whose integers keep their digits: read as JSON.parse reads where that is exact, written so that it is read
// again.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isFalsifiable,
  jsonText,
  parseExact,
  parseNumbersBy,
} from '#dist/files/formats/values/exact-json.js';

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
        .map((members) => `{${members.map(([name, each]) => `${JSON.stringify(name)}:${each}`).join(',')}}`),
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
