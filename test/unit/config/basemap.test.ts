// The address of a map under the console: raster tiles, or a style.
import { expect, test } from 'vitest';
import { readConfig } from '#dist/config/config.js';

const read = (text: string): string | undefined =>
  readConfig(['tilesUrl'], {}, { HEXCODES_TILES_URL: text }).tilesUrl;

test.each([
  'https://tiles.example/{z}/{x}/{y}.png',
  'http://10.0.0.7:8081/{z}/{y}/{x}?key=1',
  'https://tiles.example/style.json',
])('%s is taken as it is', (text) => {
  expect(read(text)).toBe(text);
});

test.each([
  ['tiles.example/{z}/{x}/{y}.png', 'begins with https'],
  ['ftp://tiles.example/style.json', 'begins with https'],
  ['javascript:alert(1)', 'begins with https'],
  ['https://{s}.tiles.example/{z}/{x}/{y}.png', 'one host'],
  ['https://tiles.example/{z}/{x}.png', 'all three'],
  ['https://tiles.example/{z}/{x}/{y}.pbf', 'vector tiles'],
])('%s is refused: %s', (text, reason) => {
  expect(() => read(text)).toThrow(reason);
});
