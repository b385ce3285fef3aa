// Headers whose lines end in other signs are refused in one sentence, before a row is read.
import { expect, test } from 'vitest';
import { openCsv } from '#dist/hexcodes/wire/bulk/csv-header.js';

const shapeOf = (header: string) =>
  openCsv(
    Buffer.from(header),
    { operation: 'encode', input: 'csv', output: 'csv', resolution: 13 } as never,
    ',',
  ).shape;

test.each([
  ['lat,lng\r\r\n', 'Lines end in CR CR LF'],
  ['lat,lng\r21,105\r10,106\r', 'Lines end in CR alone'],
])('%j', (header, why) => {
  expect(() => shapeOf(header)).toThrow(why);
});

test.each(['lat,lng\n', 'lat,lng\r\n', '\ufefflat,lng\r\n', 'lat,lng', 'lat,lng,"a\rb"\n'])(
  '%j is read',
  (header) => {
    expect(shapeOf(header)).toMatchObject({ lat: 0, lng: 1 });
  },
);
