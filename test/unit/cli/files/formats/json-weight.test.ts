// The depth of a JSON text, and about how much memory its values take, before it is parsed.
import { expect, test } from 'vitest';
import { jsonWeight, MAX_DEPTH } from '#dist/files/formats/json/json-columns.js';
import { parseExact } from '#dist/files/formats/values/exact-json.js';

const nested = (depth: number, within: string) =>
  `${'[{"a":'.repeat(depth / 2)}${within}${'}]'.repeat(depth / 2)}`;

test('512 deep is read, 513 is not, wherever brackets stand in texts', () => {
  const brackets = `"${'[{'.repeat(2000)}\\"${'['.repeat(100)}\\\\"`;
  expect(jsonWeight(nested(MAX_DEPTH, brackets))).toBeGreaterThan(0);
  expect(() => jsonWeight(nested(MAX_DEPTH, '[]'))).toThrow(/nested more than 512 deep/);
  expect(jsonWeight(`[${'[],'.repeat(1000)}1]`)).toBeGreaterThan(0);
});

test('lists and objects weigh more than their letters', () => {
  const letters = jsonWeight(`["${'x'.repeat(3000)}"]`);
  expect(jsonWeight(`[${'[],'.repeat(1000)}1]`)).toBeGreaterThan(10 * letters);
  expect(jsonWeight(`[${'{},'.repeat(1000)}1]`)).toBeGreaterThan(10 * letters);
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
