// The grammar of JSON against JSON.parse, and the walk over members against what JSON.parse makes of them: texts that
// are JSON, and the same with letters changed, left out, doubled or put in.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachMember, isJson } from '#dist/hexcodes/wire/params/json-grammar.js';

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
const space = fc.stringMatching(/^[ \t\r\n\u00a0\f]{0,2}$/);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    string,
    fc.constantFrom('true', 'false', 'null', 'nul', ''),
    tie('many'),
  ),
  many: fc
    .tuple(fc.array(fc.tuple(string, tie('value'), space), { maxLength: 4 }), fc.boolean())
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

test('members are those of JSON.parse, the last of each name', () => {
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
