// Shapes in columns by the command: the point of lines and areas, well-known text and binary, and shapes of many parts.
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import Database from 'libsql';
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
  expect((await folder.run('encode -q', { stdin })).stderr).toContain('--point centroid, or first, or each');
});

/** A geometry of GeoJSON that is written in each format, and its points in their order. */
interface Geometry {
  readonly type: string;
  readonly coordinates?: unknown;
  readonly geometries?: readonly Geometry[];
}
const KINDS = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'];
type Pair = [lng: number, lat: number];
const single = fc.constantFrom('Point', 'LineString', 'Polygon').map((type) => ({ type, parts: 1 }));
const several = fc.record({
  type: fc.constantFrom('MultiPoint', 'MultiLineString', 'MultiPolygon'),
  parts: fc.integer({ min: 1, max: 2 }),
});
type Drawn = { type: string; parts: number } | Drawn[];
const { drawn } = fc.letrec<{ drawn: Drawn }>((tie) => ({
  drawn: fc.oneof({ maxDepth: 3 }, single, several, fc.array(tie('drawn'), { minLength: 1, maxLength: 3 })),
}));

/** Each of its points is another, in the order of `points`. */
function geometryOf(shape: Drawn, points: Pair[]): Geometry {
  if (Array.isArray(shape))
    return { type: 'GeometryCollection', geometries: shape.map((each) => geometryOf(each, points)) };
  const next = (): Pair => {
    points.push(degreesOf(points.length / 7, 3 - (points.length % 5)));
    return points.at(-1)!;
  };
  const ring = (): Pair[] => {
    const corners = [next(), next(), next()];
    return [...corners, corners[0]!];
  };
  const make = [next, () => [next(), next()], () => [ring(), ring()]][
    KINDS.indexOf(shape.type) % 3
  ] as () => unknown;
  const isMulti = shape.type.startsWith('Multi');
  return { type: shape.type, coordinates: isMulti ? Array.from({ length: shape.parts }, make) : make() };
}

const partsOf = ({ type, coordinates }: Geometry): Geometry[] =>
  (coordinates as unknown[]).map((each) => ({ type: type.slice('Multi'.length), coordinates: each }));

function wktOf({ type, coordinates, geometries }: Geometry): string {
  const body = (value: unknown): string =>
    typeof (value as unknown[])[0] === 'number'
      ? (value as Pair).join(' ')
      : `(${(value as unknown[]).map(body).join(',')})`;
  const of = geometries === undefined ? body(coordinates) : `(${geometries.map(wktOf).join(',')})`;
  return `${type}${type === 'Point' ? `(${of})` : of}`;
}

function wkbOf(geometry: Geometry): Buffer {
  const { type, coordinates, geometries } = geometry;
  const head = (value: number): Buffer => {
    const bytes = Buffer.alloc(5, 1);
    bytes.writeUInt32LE(value, 1);
    return bytes;
  };
  const count = (value: number): Buffer => head(value).subarray(1);
  const pair = (value: Pair): Buffer => Buffer.from(Float64Array.from(value).buffer);
  const line = (value: readonly Pair[]): Buffer => Buffer.concat([count(value.length), ...value.map(pair)]);
  const kind = KINDS.indexOf(type) + 1 || 7;
  if (kind === 1) return Buffer.concat([head(kind), pair(coordinates as Pair)]);
  if (kind === 2) return Buffer.concat([head(kind), line(coordinates as Pair[])]);
  const rings = coordinates as Pair[][];
  if (kind === 3) return Buffer.concat([head(kind), count(rings.length), ...rings.map(line)]);
  const parts = geometries ?? partsOf(geometry);
  return Buffer.concat([head(kind), count(parts.length), ...parts.map(wkbOf)]);
}

function kmlOf(geometry: Geometry): string {
  const { type, coordinates, geometries } = geometry;
  const at = (pairs: readonly unknown[]): string => `<coordinates>${pairs.join(' ')}</coordinates>`;
  if (type === 'Point') return `<Point>${at([coordinates])}</Point>`;
  if (type === 'LineString') return `<LineString>${at(coordinates as Pair[])}</LineString>`;
  if (type !== 'Polygon')
    return `<MultiGeometry>${(geometries ?? partsOf(geometry)).map(kmlOf).join('')}</MultiGeometry>`;
  const [outer, inner] = (coordinates as Pair[][]).map((ring) => `<LinearRing>${at(ring)}</LinearRing>`);
  return `<Polygon><outerBoundaryIs>${outer}</outerBoundaryIs><innerBoundaryIs>${inner}</innerBoundaryIs></Polygon>`;
}

function writeGeoPackage(name: string, shapes: readonly Buffer[]): void {
  const database = new Database(folder.file(name));
  database.exec(`
    CREATE TABLE gpkg_geometry_columns(table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z TINYINT, m TINYINT);
    INSERT INTO gpkg_geometry_columns VALUES('t', 'geom', 'GEOMETRY', 4326, 0, 0);
    CREATE TABLE t(n INTEGER, geom GEOMETRY);`);
  const insert = database.prepare('INSERT INTO t VALUES(?, ?)');
  shapes.forEach((shape, n) => {
    insert.run(n, Buffer.concat([Buffer.from('47500001e6100000', 'hex'), shape]));
  });
  database.close();
}

test('of a collection the first point is that of its first geometry, in every format, nested too', async () => {
  const made = fc
    .sample(fc.array(drawn, { minLength: 2, maxLength: 4 }), { numRuns: 60, seed: 29 })
    .map((shape) => {
      const points: Pair[] = [];
      return { geometry: geometryOf(shape, points), points };
    });
  const geometries = made.map(({ geometry }) => geometry);
  const features = geometries.map((geometry, n) => ({ type: 'Feature', properties: { n }, geometry }));
  folder.write('in.geojson', JSON.stringify({ type: 'FeatureCollection', features }));
  const marks = geometries.map((each, n) => `<Placemark><name>${n}</name>${kmlOf(each)}</Placemark>`);
  folder.write('in.kml', `<kml xmlns="http://www.opengis.net/kml/2.2">${marks.join('')}</kml>`);
  writeGeoPackage('in.gpkg', geometries.map(wkbOf));
  const codes = made.map(({ points }) => points.map(([lng, lat]) => library.encode(lat, lng, 15).hexcodes));
  for (const point of ['first', 'each']) {
    const due = codes.map((each) => (point === 'first' ? each.slice(0, 1) : each));
    expect(await codesOf(geometries.map(wktOf), point)).toEqual(due);
    const binary = geometries.map((each) => wkbOf(each).toString('hex'));
    expect(await codesOf(binary, point)).toEqual(due);
    for (const [name, column] of [
      ['in.geojson', 'n'],
      ['in.kml', 'name'],
      ['in.gpkg', 'n'],
    ] as const) {
      const args = ['encode', name, '--to', 'csv', '-q', '-r', '15', '--point', point, '--keep', column];
      const { stdout, stderr } = await folder.run(args);
      expect([name, stderr]).toEqual([name, '']);
      const found: string[][] = made.map(() => []);
      const [header, ...rows] = stdout
        .trim()
        .split('\n')
        .map((line) => line.split(','));
      const at = header!.indexOf('hexcodes');
      for (const row of rows) found[Number(row[header!.indexOf(column)])]!.push(row[at]!);
      expect([name, point, found]).toEqual([name, point, due]);
    }
  }
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
