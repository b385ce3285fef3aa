// Lines that were pasted without a header row get one where two of their numbers are a position of Viet Nam.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

const { withHeader, looksLikeJson } = await consoleModule<{
  withHeader(text: string): string;
  looksLikeJson(text: string): boolean;
}>('file/pasted.ts');

test.each([
  ['21.0288,105.8525\n10.7,106.7', 'lat,lng'],
  ['105.8525\t21.0288', 'lng\tlat'],
  ['Hồ Gươm;21,0288;105,8525', 'column_1;lat;lng'],
  ['7,"21.03",105.85', 'column_1,lat,lng'],
  ['  \n105.8|z|21.03', 'lng|column_2|lat'],
])('%j', (text, header) => {
  expect(withHeader(text)).toBe(`${header}\n${text.trimStart()}`);
});

test.each([
  ['lat,lng\n21.03,105.85'],
  ['21,105'],
  ['105.85,106.7'],
  ['21.03,22.5'],
  ['91.5,170.2'],
  ['21.03,181.5'],
  ['{"lat":21.03,"lng":105.85}'],
  ['[21.03,105.85]'],
  ['HN-6GHP4'],
])('%j stays as it is', (text) => {
  expect(withHeader(text)).toBe(text);
});

test('JSON or a table', () => {
  expect([' {"a":1}', '[1]', 'a,b', '"HN"'].map(looksLikeJson)).toEqual([true, true, false, false]);
});
