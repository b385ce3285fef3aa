// Query strings, form bodies and JSON bodies of one conversion: strict reading, duplicates, several sources at once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachMember } from '#dist/hexcodes/wire/params/json-grammar.js';
import { EncodeInput, SingleParameters } from '#dist/hexcodes/wire/params/parameters.js';
import { decodeEscapes, readApiKey, readQuery } from '#dist/hexcodes/wire/params/query.js';

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

test('escapes are decoded strictly', () => {
  expect(decodeEscapes('a+b%2B%20c')).toBe('a b+ c');
  expect(decodeEscapes('%C4%90')).toBe('Đ');
  for (const raw of ['%', '%z', '%zz', '%4', '%C4', '%C4%', '%FF', '%ED%A0%80', '%C0%80', '\ufffd']) {
    expect(decodeEscapes(raw), raw).toBeUndefined();
  }
});

test('what URLSearchParams writes is read back (seed printed on failure)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (value, other) => {
      fc.pre(!value.includes('\ufffd'));
      const raw = new URLSearchParams([
        ['other', other],
        ['x', value],
      ]).toString();
      expect(readQuery(raw, ['x']).x).toEqual({ text: value, fault: undefined });
    }),
    { seed, numRuns: 5000 },
  );
});

test('pairs as they come: no value, no name, escaped names, unknown ones', () => {
  const { x, y } = readQuery('&&x&=1&%79=2&z=%zz&%zz=1&', ['x', 'y']);
  expect(x).toEqual({ text: '', fault: undefined });
  expect(y).toEqual({ text: '2', fault: undefined });
});

test('the key in a query', () => {
  expect(readApiKey('lat=1&apikey=abc')).toBe('abc');
  expect(readApiKey('apikey=abc&apikey=abc')).toBe('abc');
  expect(readApiKey('apikey=abc&apikey=abd')).toBeNull();
  expect(readApiKey('%61pikey=a%62c')).toBe('abc');
  expect(readApiKey('apikeys=abc&xapikey=1')).toBeUndefined();
  expect(readApiKey('apikey')).toBe('');
  expect(readApiKey('apikey=%zz')).toBe('%zz');
});

function encodeInput(...sources: ((p: SingleParameters) => void)[]): EncodeInput {
  const parameters = new SingleParameters();
  for (const source of sources) source(parameters);
  const input = new EncodeInput();
  input.read(parameters);
  return input;
}
const query = (raw: string) => (p: SingleParameters) => p.addQuery(raw);
const json = (text: string) => (p: SingleParameters) => {
  expect(p.addJson(text)).toBe(true);
};

test('equal values of several sources are one, different ones a fault', () => {
  const same = encodeInput(query('lat=1&lat=1.0'), json('{"lat":1e0,"lng":2,"lng":2.0,"x":[{"lat":9}]}'));
  expect(same.faults).toBeUndefined();
  expect([same.latDeg, same.lngDeg, same.resolution]).toEqual([1, 2, 13]);
  const faults = encodeInput(query('lat=1&lat=2'), json('{"lng":1,"lng":2}')).faults;
  expect(faults?.map((f) => f.parameter)).toEqual(['lat', 'lng']);
});

test('JSON kinds', () => {
  const input = encodeInput(json('{"lat":"1","lng":null,"resolution":"7","admin_v2":"true"}'));
  expect(input.faults).toEqual([
    { parameter: 'lat', message: 'must be a JSON number' },
    { parameter: 'lng', message: 'must be a JSON number' },
    { parameter: 'resolution', message: 'must be a JSON number' },
    { parameter: 'admin_v2', message: 'must be a JSON boolean' },
  ]);
});

test('the members of a JSON object are those JSON.parse finds', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, 3), (object, indent) => {
      const members: Record<string, unknown> = Object.create(null);
      const text = JSON.stringify(object, null, indent);
      expect(eachMember(text, (name, valueText) => (members[name] = JSON.parse(valueText)))).toBe(true);
      expect({ ...members }).toEqual(JSON.parse(text, (_, value) => value));
    }),
    { seed, numRuns: 3000 },
  );
  for (const text of ['', '[]', '1', 'null', '{', '{"a":}', '{"a":1,}', '{"a" 1}', '"{}"', '{}{}']) {
    expect(eachMember(text, () => {})).toBe(false);
  }
});
