// Shapes in columns by the command: the point of lines and areas, well-known text and binary, and shapes of many parts.
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
const library = await Hexcodes.load();

/** The code, or else the status, of each row that the shapes of a column become. */
async function codesOf(given: readonly string[], point = 'each'): Promise<string[][]> {
  // The first value tells that shapes of many points are in the column.
  const shapes = ['LINESTRING(105 21,106 21)', ...given];
  const n = Int32Array.from(shapes, (_, i) => i);
  folder.write('in.arrows', tableToIPC(tableFromArrays({ n, wkt: shapes }), 'stream'));
  const args = [
    'encode',
    'in.arrows',
    '--to',
    'ndjson',
    '-q',
    '-r',
    '15',
    '--keep',
    'n',
    '--position',
    'wkt',
    '--point',
    point,
  ];
  const { stdout, stderr } = await folder.run(args);
  if (stdout === '') throw new Error(stderr);
  const codes: string[][] = shapes.map(() => []);
  for (const line of stdout.trim().split('\n')) {
    const { n, hexcodes, status } = JSON.parse(line);
    codes[n]!.push(hexcodes ?? status);
  }
  return codes.slice(1);
}

/** Tenths of a degree from a corner in Viet Nam. */
const degreesOf = (x: number, y: number): [number, number] => [105 + x / 10, 20.5 + y / 10];
const codeAt = (x: number, y: number): string => {
  const [lng, lat] = degreesOf(x, y);
  return library.encode(lat, lng, 15).hexcodes;
};
const list = (...numbers: readonly number[]): string =>
  `(${numbers.flatMap((x, i) => (i % 2 === 0 ? [degreesOf(x, numbers[i + 1]!).join(' ')] : [])).join(',')})`;
const square = (x: number, y: number, side: number): string =>
  list(x, y, x + side, y, x + side, y + side, x, y + side, x, y);
const NONE = ['INVALID_REQUEST'];

test.each([
  [
    'an area by its weight, not by its corners',
    `POLYGON(${list(0, 0, 4, 0, 4, 2, 3, 2, 2, 2, 1, 2, 0, 2, 0, 0)})`,
    [2, 1],
  ],
  ['a hole is taken out', `POLYGON(${square(0, 0, 4)},${square(2, 0, 2)})`, [20 / 12, 28 / 12]],
  [
    'areas before lines and points',
    `GEOMETRYCOLLECTION(POLYGON(${square(0, 0, 2)}),LINESTRING${list(9, 9, 10, 9)},POINT${list(5, 5)})`,
    [1, 1],
  ],
  ['a line by its length', `LINESTRING${list(0, 0, 10, 0, 10, 2)}`, [70 / 12, 2 / 12]],
  ['an area without extent as a line', `POLYGON(${list(0, 0, 2, 0, 0, 0)})`, [1, 0]],
  ['points', `MULTIPOINT${list(0, 0, 3, 3)}`, [1.5, 1.5]],
  ['a line that is one point', `LINESTRING${list(7, 8, 7, 8)}`, [7, 8]],
  ['far from the origin', `POLYGON(${square(8.5, 5.2, 1e-6)})`, [8.5 + 5e-7, 5.2 + 5e-7]],
] as const)('centroid: %s', async (_, wkt, [x, y]) => {
  expect(await codesOf([wkt], 'centroid')).toEqual([[codeAt(x, y)]]);
});

test('first and each', async () => {
  const shape = `GEOMETRYCOLLECTION(LINESTRING${list(1, 2, 3, 4)},POLYGON(${square(0, 0, 1)}))`;
  expect(await codesOf([shape], 'first')).toEqual([[codeAt(1, 2)]]);
  expect((await codesOf([shape]))[0]).toHaveLength(6);
  for (const point of ['centroid', 'first'])
    expect(await codesOf(['LINESTRING EMPTY'], point)).toEqual([NONE]);
  // A point before a line does not make the column one of points.
  const stdin = 'wkt\nPOINT(105.8 21)\n"LINESTRING(105.8 21,106 22)"\n';
  const { stdout } = await folder.run('encode --position wkt --point first -q', { stdin });
  expect(stdout.match(/,OK$/gm)).toHaveLength(2);
});

describe('well-known binary', () => {
  const LNG = '77be9f1a2f775a40';
  const LAT = 'd26f5f07ce073540';
  const POINT = `0101000000${LNG}${LAT}`;
  const [lng, lat] = [LNG, LAT].map((hex) => Buffer.from(hex, 'hex').readDoubleLE()) as [number, number];
  const CODE = library.encode(lat, lng, 15).hexcodes;
  const swapped = (hex: string): string => Buffer.from(hex, 'hex').reverse().toString('hex');

  test('points of OGC, PostGIS and ISO, big-endian, and collections', async () => {
    const nothing = '0000000000000000';
    const points = [
      ...[POINT, `0101000020e6100000${LNG}${LAT}`, `01e9030000${LNG}${LAT}${nothing}`],
      ...[`01010000c0${LNG}${LAT}${nothing}${nothing}`, `0000000001${swapped(LNG)}${swapped(LAT)}`],
    ];
    expect(await codesOf(points)).toEqual(points.map(() => [CODE]));
    expect(await codesOf([`010700000002000000${POINT}${POINT}`])).toEqual([[CODE, CODE]]);
  });

  test('no geometry, another system, an empty point, and collections in more than sixteen levels', async () => {
    const nested = (levels: number): string => '010700000001000000'.repeat(levels) + POINT;
    expect(await codesOf([0, 1, 15, 16].map(nested))).toEqual(Array(4).fill([CODE]));
    const refused = [
      ...['', '01', '0101000000', `${POINT}00`, '0102000000ffffffff', '0109000000', '02'],
      ...[`010100002094120000${LNG}${LAT}`, `0101000000${'000000000000f87f'.repeat(2)}`],
      ...[17, 18, 100, 1000].map(nested),
    ];
    expect(await codesOf(refused)).toEqual(refused.map(() => NONE));
  });
});

// Shapes of more points than a call takes arguments are read, in every form, and cost their row at most.
describe('of 200,000 parts', () => {
  const many = (text: string): string => Array(200_000).fill(text).join(',');
  const [a, b] = ['105.8525 21.0288', '106 21'];
  test.each([
    ['MULTIPOINT', a],
    ['MULTIPOINT', `(${a})`],
    ['LINESTRING', a],
    ['MULTILINESTRING', `(${a},${b})`],
    ['POLYGON', `(${a})`],
    ['MULTIPOLYGON', `((${a}))`],
    ['GEOMETRYCOLLECTION', `POINT(${a})`],
  ])('%s of %s, whole, and broken at its end', async (type, part) => {
    const code = library.encode(21.0288, 105.8525, 15).hexcodes;
    const one = `POINT(${a})`;
    const shapes = [one, `${type}(${many(part)})`, one, `${type}(${many(part)},x)`, one];
    expect(await codesOf(shapes, 'first')).toEqual([[code], [code], [code], NONE, [code]]);
  });
});
