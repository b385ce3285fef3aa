// Shapes of more points than a call takes arguments are read, in every form, and cost their row at most.
import { expect, test } from 'vitest';
import { shapeOfWkt } from '#dist/tables/shapes/well-known-text.js';
import { CliFolder } from '../../support/cli.js';

const COUNT = 200_000;
const many = (text: string): string => Array.from({ length: COUNT }, () => text).join(',');
const SHAPES: [string, string, 'points' | 'lines' | 'polygons', number][] = [
  ['MULTIPOINT', many('105 21'), 'points', 2 * COUNT],
  ['MULTIPOINT', many('(105 21)'), 'points', 2 * COUNT],
  ['LINESTRING', many('105 21'), 'lines', 1],
  ['MULTILINESTRING', many('(105 21,106 21)'), 'lines', COUNT],
  ['POLYGON', many('(105 21)'), 'polygons', 1],
  ['MULTIPOLYGON', many('((105 21))'), 'polygons', COUNT],
  ['GEOMETRYCOLLECTION', many('POINT(105 21)'), 'points', 2 * COUNT],
];

test.each(SHAPES)('%s of 200,000 parts as text', (type, parts, list, length) => {
  expect(shapeOfWkt(`${type}(${parts})`)?.[list]).toHaveLength(length);
});

test.each(SHAPES)('%s of 200,000 parts that is broken at its end is no shape', (type, parts) => {
  expect(shapeOfWkt(`${type}(${parts},x)`)).toBeNull();
});

test('a row with such a shape leaves the others as they are', async () => {
  const folder = new CliFolder();
  const rows = [
    ['POINT(105.8525 21.0288)'],
    [`MULTIPOINT(${many('105.8525 21.0288')})`],
    ['POINT(106.7 10.77)'],
  ];
  folder.write('in.ndjson', rows.map(([wkt], n) => JSON.stringify({ n, wkt })).join('\n'));
  const ran = await folder.run(['encode', 'in.ndjson', '-o', 'out.csv', '--keep', 'n', '-q']);
  const lines = folder.read('out.csv').trim().split('\n');
  folder.remove();
  expect(lines, ran.stderr).toHaveLength(4);
  expect([lines[1], lines[3]]).toEqual([expect.stringMatching(/^0,.*OK/), expect.stringMatching(/^2,.*OK/)]);
});
