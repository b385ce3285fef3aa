// Patterns of subjects, maps from the subject of a message to that of its answer, and ids as words of subjects.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { haveCommon, isUnder, isWithin, requirePattern, SubjectMap, wordOf } from '#dist/bus/subjects.js';

const words = (text: string): string[] => text.split('.');

test.each(['a', 'a.b', '*', '>', 'a.*.c', 'a.>', '*.*.>', 'xe-máy.7'])('%s is a pattern', (text) => {
  expect(requirePattern(text)).toEqual(words(text));
});

test.each(['', '.', 'a.', '.a', 'a..b', 'a.>.b', 'a b', 'a.b*', 'a>', '>.a', 'a\tb'])(
  '%j is none',
  (text) => {
    expect(() => requirePattern(text)).toThrow(/is no subject/);
  },
);

test.each([
  ['fleet.*.points=fleet.*.hexcodes', 'fleet.7.points', 'fleet.7.hexcodes.id'],
  ['in.>=out.>', 'in.a.b.c', 'out.a.b.c.id'],
  ['*.in.*=answers.*.*', 'a.in.b', 'answers.a.b.id'],
  ['one=two', 'one', 'two.id'],
])('%s: the answer to %s goes to %s', (text, subject, answer) => {
  const map = new SubjectMap(text);
  expect(map.answerOf(subject, 'id')).toBe(answer);
  expect(isWithin(words(map.answers), words(answer))).toBe(true);
});

test('a subject of another map has no answer here', () => {
  const map = new SubjectMap('fleet.*.points=fleet.*.hexcodes');
  for (const subject of ['fleet.points', 'fleet.a.b.points', 'fleet.a.hexcodes', 'fleet'])
    expect(map.answerOf(subject, 'id')).toBeUndefined();
});

test.each([
  ['fleet', /is no map of subjects/],
  ['a=b=c', /is no map of subjects/],
  ['a.*=b', /the same \* and >/],
  ['a.*.>=b.>.*', /is no subject/],
  ['a.>=a.b.>', /received as messages again/],
  ['*.*=*.*', undefined],
  ['a.*=a.*', undefined],
  ['>=out.>', /received as messages again/],
])('the map %s', (text, fault) => {
  if (fault === undefined) expect(new SubjectMap(text).answers).toContain('*');
  else expect(() => new SubjectMap(text)).toThrow(fault);
});

const pattern = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([middle, isOpen]) => (isOpen ? [...middle, '>'] : middle));
const subject = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 });

test('a pattern within another has only subjects of it, and patterns without a common subject have none', () => {
  fc.assert(
    fc.property(pattern, pattern, subject, (one, other, parts) => {
      const text = parts.join('.');
      const [isOne, isOther] = [isUnder(one, text), isUnder(other, text)];
      if (isWithin(one, other) && isOther) expect(isOne).toBe(true);
      if (isOne && isOther) expect(haveCommon(one, other)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('an id becomes one word, another for each', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
      expect(wordOf(one)).toMatch(/^[^\s.*>]+$/);
      expect(wordOf(one) === wordOf(other)).toBe(one === other);
    }),
  );
  expect(wordOf('frame-17')).toBe('frame-17');
  expect(wordOf('a.b c')).toBe('a%2Eb%20c');
  // All of RFC 3986's marks but those of numbers and names: `~` begins digests.
  expect(wordOf("!'()~*-_")).toBe('%21%27%28%29%7E%2A-_');
  expect(wordOf('x'.repeat(5000))).toMatch(/^~[0-9a-f]{64}$/);
  expect(wordOf('')).toMatch(/^~/);
});
