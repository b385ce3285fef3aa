// Shapes of files: well-known text and binary, and shapes of many parts.
import { describe, expect, test } from 'vitest';
import { shapeOfWkb } from '#dist/hexcodes/wire/rows/well-known-binary.js';
import { pointsOf } from '#dist/tables/shapes/shapes.js';
import { shapeOfWkt } from '#dist/tables/shapes/well-known-text.js';
import { CliFolder } from '../../support/cli.js';

// Points of lines and areas, and geometries in well-known binary.
describe('shapes', () => {
  const NONE = { type: 3, points: [], lines: [], polygons: [], system: 0 };
  const square = (x: number, y: number, side: number): number[] => [
    ...[x, y, x + side, y, x + side, y + side],
    ...[x, y + side, x, y],
  ];

  test.each([
    [
      'an area by its weight, not by its corners',
      { polygons: [[[0, 0, 4, 0, 4, 2, 3, 2, 2, 2, 1, 2, 0, 2, 0, 0]]] },
      [2, 1],
    ],
    [
      'a hole is taken out, whichever way it turns',
      { polygons: [[square(0, 0, 4), square(2, 0, 2)]] },
      [20 / 12, 28 / 12],
    ],
    [
      'areas before lines and points',
      { polygons: [[square(0, 0, 2)]], lines: [[9, 9, 10, 9]], points: [50, 50] },
      [1, 1],
    ],
    ['a line by its length', { lines: [[0, 0, 10, 0, 10, 2]] }, [70 / 12, 2 / 12]],
    ['an area without extent as a line', { polygons: [[[0, 0, 2, 0, 0, 0]]] }, [1, 0]],
    ['points', { points: [0, 0, 3, 3] }, [1.5, 1.5]],
    ['a line that is one point', { lines: [[7, 8, 7, 8]] }, [7, 8]],
    ['far from the origin', { polygons: [[square(105.85, 21.02, 1e-7)]] }, [105.85 + 5e-8, 21.02 + 5e-8]],
  ])('centroid: %s', (_, shape, expected) => {
    const [point] = pointsOf({ ...NONE, ...shape }, 'centroid');
    expect(point![0]).toBeCloseTo(expected[0]!, 9);
    expect(point![1]).toBeCloseTo(expected[1]!, 9);
  });

  test('first and each', () => {
    const shape = { ...NONE, lines: [[1, 2, 3, 4]], polygons: [[square(0, 0, 1)]] };
    expect(pointsOf(shape, 'first')).toEqual([[1, 2]]);
    expect(pointsOf(shape, 'each')).toHaveLength(6);
    expect(pointsOf(NONE, 'centroid')).toEqual([]);
  });

  const wkb = (hex: string) => shapeOfWkb(Buffer.from(hex, 'hex'));
  const LNG = '77be9f1a2f775a40';
  const LAT = 'd26f5f07ce073540';

  test.each([
    ['OGC', `0101000000${LNG}${LAT}`, 0],
    ['PostGIS with its system', `0101000020e6100000${LNG}${LAT}`, 4326],
    ['ISO with Z', `01e9030000${LNG}${LAT}0000000000000000`, 0],
    ['PostGIS with Z and M', `01010000c0${LNG}${LAT}00000000000000000000000000000000`, 0],
  ])('a point of %s', (_, hex, system) => {
    expect(wkb(hex)).toMatchObject({
      type: 1,
      points: [105.8622499999, 21.0304875].map((each) => expect.closeTo(each, 3)),
      system,
    });
  });

  test('big-endian, a polygon, a collection, an empty point', () => {
    expect(wkb('000000000140590000000000004034000000000000')?.points).toEqual([100, 20]);
    const point = `0101000000${LNG}${LAT}`;
    expect(wkb(`010700000002000000${point}${point}`)?.points).toHaveLength(4);
    expect(wkb(`0101000000${'000000000000f87f'.repeat(2)}`)?.points).toEqual([]);
  });

  test.each(['', '01', '0101000000', `0101000000${LNG}${LAT}00`, '0102000000ffffffff', '0109000000', '02'])(
    'no geometry: %s',
    (hex) => {
      expect(wkb(hex)).toBeNull();
    },
  );

  test('a multipoint and a multiline of 200,000 parts', () => {
    const parts = (part: string): string => Array(200_000).fill(part).join(',');
    expect(shapeOfWkt(`MULTIPOINT (${parts('1 2')})`)?.points).toHaveLength(400_000);
    expect(shapeOfWkt(`MULTILINESTRING (${parts('(1 2, 3 4)')})`)?.lines).toHaveLength(200_000);
  });

  test('collections of well-known binary are read to sixteen levels, and no deeper', () => {
    const point = Buffer.alloc(21);
    point[0] = 1;
    point.writeUInt32LE(1, 1);
    point.writeDoubleLE(105, 5);
    point.writeDoubleLE(21, 13);
    const nested = (levels: number): Buffer => {
      const head = Buffer.from([1, 7, 0, 0, 0, 1, 0, 0, 0]);
      return Buffer.concat([...Array.from({ length: levels }, () => head), point]);
    };
    for (const levels of [0, 1, 15, 16])
      expect(shapeOfWkb(nested(levels))?.points, `${levels}`).toEqual([105, 21]);
    for (const levels of [17, 18, 100, 1000]) expect(shapeOfWkb(nested(levels)), `${levels}`).toBeNull();
  });
});

// Shapes of more points than a call takes arguments are read, in every form, and cost their row at most.
describe('large shapes', () => {
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

  test.each(SHAPES)('%s of 200,000 parts that is broken at its end is not a shape', (type, parts) => {
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
    expect([lines[1], lines[3]]).toEqual([
      expect.stringMatching(/^0,.*OK/),
      expect.stringMatching(/^2,.*OK/),
    ]);
  });
});
