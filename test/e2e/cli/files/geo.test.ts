// Systems of coordinates, by every way in which a file declares one: WGS 84 is read, any other is refused by its
// name. Then files whose geometries are refused, or read another way than their names suggest.

import { spawnSync } from 'node:child_process';
import {
  binary,
  columnFromArray,
  field,
  fixedSizeList,
  float64,
  struct,
  tableFromColumns,
  tableToIPC,
} from '@uwdata/flechette';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { encodeFile } from '../../../support/files/convert.js';
import { gdalNote, hasOgr2ogr } from '../../../support/gdal.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
const library = await Hexcodes.load();
const [LNG, LAT] = [105.8525, 21.0288];

/** A system as PROJJSON, and its number. */
const projJson = (name: string, authority: string, code: number | string) => ({
  type: 'GeographicCRS',
  name,
  datum: { type: 'GeodeticReferenceFrame', name },
  id: { authority, code },
});
const VN_2000 = projJson('VN-2000', 'EPSG', 4756);
const PASSING: readonly unknown[] = [
  undefined,
  'OGC:CRS84',
  'EPSG:4326',
  'EPSG:4979',
  projJson('WGS 84', 'OGC', 'CRS84'),
];
const OTHERS: readonly (readonly [unknown, string])[] = [
  [VN_2000, 'EPSG:4756 (VN-2000)'],
  ['EPSG:3405', 'EPSG:3405'],
  ['urn:ogc:def:crs:EPSG::5897', 'EPSG:5897'],
  ['a name', 'a name'],
];

/** Well-known binary: a point, a multipoint of one, an empty point; with a system as PostGIS has it. */
function wkb(type: 'point' | 'multi' | 'empty', srid?: number): Uint8Array {
  const head = (code: number): Buffer => {
    const bytes = Buffer.alloc(srid === undefined ? 5 : 9, 1);
    bytes.writeUInt32LE(srid === undefined ? code : code + 0x2000_0000, 1);
    if (srid !== undefined) bytes.writeUInt32LE(srid, 5);
    return bytes;
  };
  const numbers = Buffer.alloc(16);
  const [x, y] = type === 'empty' ? [Number.NaN, Number.NaN] : [LNG, LAT];
  numbers.writeDoubleLE(x, 0);
  numbers.writeDoubleLE(y, 8);
  const point = Buffer.concat([Buffer.from([1, 1, 0, 0, 0]), numbers]);
  if (type === 'multi') return Buffer.concat([head(4), Buffer.from([1, 0, 0, 0]), point]);
  return Buffer.concat([head(1), numbers]);
}

function arrow(
  type: unknown,
  values: unknown[],
  metadata: Readonly<Record<string, string>>,
  geo?: string,
): Uint8Array {
  const table = tableFromColumns([['geometry', columnFromArray(values, type as never)]]);
  table.schema.fields[0] = field('geometry', type as never, true, new Map(Object.entries(metadata)) as never);
  if (geo !== undefined) table.schema.metadata = new Map([['geo', geo]]);
  return tableToIPC(table, { format: 'stream' })!;
}

function parquet(
  values: Uint8Array[],
  { type = undefined as object | undefined, said = {} as Readonly<Record<string, string>> },
): Uint8Array {
  const kvMetadata = Object.entries(said).map(([key, value]) => ({ key, value }));
  const element = {
    name: 'geometry',
    type: 'BYTE_ARRAY',
    repetition_type: 'OPTIONAL',
    ...(type === undefined ? {} : { logical_type: type }),
  };
  // The writer takes geometries of GeoJSON where the type is one of geometries.
  const data = type === undefined ? values : values.map(() => ({ type: 'Point', coordinates: [LNG, LAT] }));
  const schema = [{ name: 'root', num_children: 1 }, element] as never;
  return new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'geometry', data }], schema, kvMetadata }));
}

const POINT_WKB = wkb('point');
const asText = (crs: unknown): string => (typeof crs === 'string' ? crs : JSON.stringify(crs));
const extension = (encoding: string, crs: unknown) => ({
  'ARROW:extension:name': `geoarrow.${encoding}`,
  ...(crs === undefined ? {} : { 'ARROW:extension:metadata': JSON.stringify({ crs, crs_type: 'projjson' }) }),
});
const geo = (crs: unknown) =>
  JSON.stringify({
    version: '1.1.0',
    primary_column: 'geometry',
    columns: { geometry: { encoding: 'WKB', geometry_types: [], crs } },
  });
/** The first message of a stream: its schema. */
function schemaText(stream: Uint8Array): string {
  const size = new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
  return Buffer.from(stream.subarray(0, 8 + size)).toString('base64');
}

const struct2 = struct({ x: float64(), y: float64() });
const WAYS: Readonly<Record<string, (crs: unknown) => [extension: string, content: Uint8Array]>> = {
  'geo of Parquet': (crs) => ['parquet', parquet([POINT_WKB], { said: { geo: geo(crs) } })],
  'geo of Arrow': (crs) => ['arrows', arrow(binary(), [POINT_WKB], {}, geo(crs))],
  'logical type GEOMETRY': (crs) => [
    'parquet',
    parquet([POINT_WKB], { type: { type: 'GEOMETRY', ...(crs === undefined ? {} : { crs: asText(crs) }) } }),
  ],
  'logical type GEOGRAPHY': (crs) => [
    'parquet',
    parquet([POINT_WKB], { type: { type: 'GEOGRAPHY', ...(crs === undefined ? {} : { crs: asText(crs) }) } }),
  ],
  'logical type with a key': (crs) => [
    'parquet',
    parquet([POINT_WKB], {
      type: { type: 'GEOMETRY', crs: crs === undefined ? 'srid:4326' : 'projjson:a b' },
      said: crs === undefined ? {} : { 'a b': asText(crs) },
    }),
  ],
  'geoarrow.wkb': (crs) => ['arrows', arrow(binary(), [POINT_WKB], extension('wkb', crs))],
  'geoarrow.point of x and y': (crs) => [
    'arrows',
    arrow(struct2, [{ x: LNG, y: LAT }], extension('point', crs)),
  ],
  'geoarrow.point of pairs': (crs) => [
    'arrows',
    arrow(fixedSizeList(float64(), 2), [[LNG, LAT]], extension('point', crs)),
  ],
  'geoarrow.wkb in ARROW:schema': (crs) => [
    'parquet',
    parquet([POINT_WKB], {
      said: { 'ARROW:schema': schemaText(arrow(binary(), [POINT_WKB], extension('wkb', crs))) },
    }),
  ],
  'crs of GeoJSON': (crs) => [
    'geojson',
    Buffer.from(
      JSON.stringify({
        type: 'FeatureCollection',
        ...(crs === undefined
          ? {}
          : {
              crs: {
                type: 'name',
                properties: {
                  name:
                    typeof crs === 'string'
                      ? crs
                      : `${(crs as typeof VN_2000).id.authority}:${(crs as typeof VN_2000).id.code}`,
                },
              },
            }),
        features: [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [LNG, LAT] } }],
      }),
    ),
  ],
};

async function codesOf(name: string, content: Uint8Array | string): Promise<(string | undefined)[]> {
  folder.write(name, content);
  await encodeFile(library, folder.file(name), folder.file('out.ndjson'));
  return folder
    .read('out.ndjson')
    .trimEnd()
    .split('\n')
    .map((line) => /"hexcodes":"([^"]+)"/.exec(line)?.[1]);
}

describe.each(Object.entries(WAYS))('%s', (way, made) => {
  const name = `f${Object.keys(WAYS).indexOf(way)}`;
  test.each(PASSING)('%j is read', async (crs) => {
    const [extension, content] = made(crs);
    expect(await codesOf(`${name}.${extension}`, content)).toEqual(['HN-6GHP4-83RFR']);
  });

  test.each(OTHERS)('%j is refused', async (crs, called) => {
    const [extension, content] = made(crs);
    const words = way === 'crs of GeoJSON' ? called.replace(/ \(.*/, '') : called;
    await expect(codesOf(`${name}.${extension}`, content)).rejects.toThrow(words);
  });
});

describe('systems inside of features', () => {
  const point = `"type":"Point","coordinates":[${LNG},${LAT}]`;
  const vn2000 = '"crs":{"type":"name","properties":{"name":"EPSG:3405"}}';
  const feature = (geometry: string, members = ''): string =>
    `{"type":"Feature",${members}"properties":{},"geometry":${geometry}}`;
  const among = (features: string, members: string): string =>
    `{"type":"FeatureCollection",${members}"features":[${features}]}`;
  const fg = '"coordRefSys":"http://www.opengis.net/def/crs/EPSG/0/3405",';
  const place = '"place":{"type":"Point","coordinates":[1,2]},';

  test.each([
    feature(`{"type":"GeometryCollection","geometries":[{${point},${vn2000}}]}`),
    feature(`{${point}}`, fg),
    feature(`{${point}}`, '"coordRefSys":["[EPSG:3405]","[EPSG:5773]"],'),
    feature(`{${point}}`, '"coordRefSys":{"type":"Reference","href":"[EPSG:3405]"},'),
    feature(`{${fg}${point}}`, place),
    among(`${feature(`{${point}}`, '"place":null,')},${feature(`{${point}}`)}`, fg),
    `{"type":"FeatureCollection","features":[${feature(`{${point}}`)}],${fg.slice(0, -1)}}`,
  ])('%s is refused', async (text) => {
    await expect(codesOf('s.geojson', text)).rejects.toThrow('another system than WGS 84: "EPSG:3405"');
  });

  test.each([
    feature(`{"type":"GeometryCollection","geometries":[{${point},"crs":null}]}`),
    feature(`{${point}}`, '"coordRefSys":"[OGC:CRS84]",'),
    feature(`{${point}}`, fg + place),
    among(feature(`{${point}}`, place), fg),
    among(feature(`{${point}}`, '"place":null,'), fg),
    `{"type":"FeatureCollection","features":[${feature(`{${point}}`, place)}],${fg.slice(0, -1)}}`,
  ])('%s is read', async (text) => {
    expect(await codesOf('s.geojson', text)).toEqual(['HN-6GHP4-83RFR']);
  });
});

describe('geometries that say their system themselves', () => {
  const hex = (srid: number): string => Buffer.from(wkb('point', srid)).toString('hex');
  test.each([4326, 4979])('%i', async (srid) => {
    expect(await codesOf('e.csv', `geom\n${hex(srid)}\nSRID=4326;POINT(${LNG} ${LAT})\n`)).toEqual([
      'HN-6GHP4-83RFR',
      'HN-6GHP4-83RFR',
    ]);
  });
  test.each([`geom\n${hex(3405)}\n`, `id,shape\n1,SRID=4756;POINT(${LNG} ${LAT})\n`])('%s', async (text) => {
    await expect(codesOf('e.csv', text)).rejects.toThrow(/another system than WGS 84: EPSG:(?:3405|4756)/);
  });
  test('one of them fails its row', async () => {
    const rows = [hex(4326), hex(4326), hex(4756)];
    expect(await codesOf('e.csv', `geom\n${rows.join('\n')}\n`)).toEqual([
      'HN-6GHP4-83RFR',
      'HN-6GHP4-83RFR',
      undefined,
    ]);
  });
});

describe('the declared column is the position', () => {
  test.each([
    ['empty points', ['empty', 'empty', 'point'], [undefined, undefined, 'HN-6GHP4-83RFR']],
    ['a multipoint of one', ['multi', 'empty', 'empty'], ['HN-6GHP4-83RFR', undefined, undefined]],
    ['none at all', ['empty'], [undefined]],
  ] as const)('%s', async (_, types, codes) => {
    const values = types.map((type) => wkb(type));
    expect(await codesOf('d.parquet', parquet(values, { said: { geo: geo('OGC:CRS84') } }))).toEqual(codes);
    expect(await codesOf('d.arrows', arrow(binary(), values, extension('wkb', undefined)))).toEqual(codes);
  });

  test('metadata that gives a member twice, with different values, is refused', async () => {
    const text = geo('OGC:CRS84');
    const twice = (name: string, value: string): string =>
      text.replace(`"${name}":`, `"${name}":${value},$&`);
    const read = (said: string) => codesOf('d.parquet', parquet([POINT_WKB], { said: { geo: said } }));
    const refusal = /more than once, with different values|another system than WGS 84/;
    expect(await read(twice('crs', '"OGC:CRS84"'))).toEqual(['HN-6GHP4-83RFR']);
    for (const [name, value] of [
      ['crs', '"EPSG:3405"'],
      ['primary_column', '"other"'],
    ] as const)
      await expect(read(twice(name, value))).rejects.toThrow(refusal);
    const typed = {
      ...extension('wkb', undefined),
      'ARROW:extension:metadata': '{"crs":"EPSG:3405","crs":null}',
    };
    await expect(codesOf('d.arrows', arrow(binary(), [POINT_WKB], typed))).rejects.toThrow(refusal);
    const system = '{"type":"GeographicCRS","id":{"authority":"EPSG","code":3405,"code":4326}}';
    await expect(read(geo(system))).rejects.toThrow(refusal);
    expect(await read(geo(system.replace('3405', '4326')))).toEqual(['HN-6GHP4-83RFR']);
  });

  test('metadata that is cut anywhere is refused or ignored, and read to an end', async () => {
    const text = geo('OGC:CRS84');
    for (let length = 0; length < text.length; length++) {
      const content = arrow(binary(), [POINT_WKB], extension('wkb', undefined), text.slice(0, length));
      expect(await codesOf('d.arrows', content), text.slice(0, length)).toEqual(['HN-6GHP4-83RFR']);
    }
  });

  test('a multipoint of one has one answer in texts, too', async () => {
    const text = Buffer.from(wkb('multi')).toString('hex');
    expect(await codesOf('m.csv', `geom\nMULTIPOINT (${LNG} ${LAT})\n${text}\n`)).toEqual([
      'HN-6GHP4-83RFR',
      'HN-6GHP4-83RFR',
    ]);
  });
});

// Files of geometries that are refused, or read another way than their names suggest: each hint is run.

const CODE = 'HN-6GHP4-83RFR';
const POINT = '{"type":"Point","coordinates":[105.8525,21.0288]}';

test('the geometry is the position, whatever the properties are called', async () => {
  const properties =
    '{"latitude":10.7769,"longitude":106.7009,"Lat":1,"x":2,"y":3,"location":"10, 106","gps":"x"}';
  folder.write('p.geojson', `{"type":"Feature","properties":${properties},"geometry":${POINT}}`);
  for (const to of ['csv', 'geojson', 'ndjson']) {
    const ran = await folder.run(['encode', 'p.geojson', '-q', '--to', to]);
    expect([ran.stderr, ran.stdout]).toEqual(['', expect.stringContaining(CODE)]);
  }
});

test.each(['parquet', 'arrow'])(
  'coordinates that are not numbers fail their rows alone, into %s',
  async (to) => {
    const points =
      '[105.8525,21.0288] ["105.8525","21.0288"] [true,21] [{},[]] [] [105,12345678901234567890]'.split(' ');
    const features = points.map(
      (each) => `{"type":"Feature","geometry":{"type":"Point","coordinates":${each}},"properties":{}}\n`,
    );
    folder.write('odd.geojson', features.join(''));
    expect((await folder.run(`encode odd.geojson -q -o odd.${to}`)).stderr).toBe('');
    const { stdout } = await folder.run(`encode odd.${to} -q --to csv --keep lng`);
    const statuses = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(',').at(-1));
    const failed = Array.from({ length: 4 }, () => 'INVALID_REQUEST');
    expect(statuses).toEqual(['status', 'OK', 'OK', ...failed]);
  },
);

describe('a geometry by itself', () => {
  test.each(['g.geojson', 'g.json', '-'])('%s', async (name) => {
    if (name !== '-') folder.write(name, POINT);
    const ran = await folder.run(['encode', name, '-q', '--to', 'csv'], { stdin: POINT });
    expect([ran.stderr, ran.stdout]).toEqual(['', expect.stringContaining(CODE)]);
  });
});

describe('files of other programs are named, and the hint converts them', () => {
  const TOPOLOGY = `{"type":"Topology","objects":{"a":{"type":"GeometryCollection","geometries":[${POINT}]}},"arcs":[]}`;
  const ESRI =
    '{"geometryType":"esriGeometryPoint","spatialReference":{"wkid":4326},"fields":[{"name":"n","type":"esriFieldTypeString","length":8}],"features":[{"attributes":{"n":"a"},"geometry":{"x":105.8525,"y":21.0288}}]}';
  test.each([
    ['t.json', TOPOLOGY, 'it is TopoJSON'],
    ['t.geojson', TOPOLOGY, 'it is TopoJSON'],
    ['e.json', ESRI, 'it is ESRI JSON'],
    ['spread.json', JSON.stringify(JSON.parse(ESRI), null, 1), 'it is ESRI JSON'],
  ])(`%s${gdalNote}`, async (name, text, what) => {
    folder.write(name, text);
    const ran = await folder.run(['encode', name, '-q', '--to', 'csv']);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(what)]);
    const [, line] = /: (ogr2ogr .*)/.exec(ran.stderr)!;
    if (!hasOgr2ogr) return;
    spawnSync('bash', ['-c', `rm -f points.geojson; ${line}`], { cwd: folder.path });
    const again = await folder.run('encode points.geojson -q --to csv');
    expect(again.stdout).toContain(CODE);
  });
});

test('features without geometries are decoded without a word about columns that they do not have', async () => {
  folder.write(
    'codes.geojson',
    `{"type":"Feature","geometry":null,"properties":{"hexcodes":"${CODE}"}}\n`.repeat(2),
  );
  const ran = await folder.run('decode codes.geojson -q --to csv');
  expect([ran.stderr, ran.stdout.split('\n')[0]]).toEqual(['', 'hexcodes,lat,lng,resolution,status']);
});

test('an encrypted file of Parquet, known by its first bytes', async () => {
  const bytes = Buffer.concat([Buffer.from('PARE'), Buffer.alloc(60, 7), Buffer.from('PARE')]);
  for (const name of ['e.parquet', 'e.csv', 'e']) {
    folder.write(name, bytes);
    const ran = await folder.run(['encode', name, '-q', '--to', 'csv']);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(`${name}: it is encrypted`)]);
  }
});

test('a position that cannot be a geometry of GeoJSON stays as it was, by rows of bytes and by columns', async () => {
  const given = ['abc,105', '95.0,105', '"a ""b"" c",1e999', '-0,181', ',', '21.0288,105.8525', '007,+3°'];
  folder.write('bad.csv', `id,lat,lng\n${given.map((each, i) => `${i},${each}\n`).join('')}`);
  const answers: unknown[] = [];
  for (const source of ['bad.csv', '-']) {
    const ran = await folder.run(['encode', source, '-q', '--to', 'geojson'], {
      stdin: folder.bytes('bad.csv'),
    });
    const { features } = JSON.parse(ran.stdout) as { features: { properties: Record<string, unknown> }[] };
    answers.push(features.map(({ properties: { lat, lng } }) => [lat, lng]));
  }
  const due = [['abc', 105], [95, 105], ['a "b" c', '1e999'], [0, 181], [], [], []].map((each) => [
    each[0],
    each[1],
  ]);
  expect(answers[0]).toEqual(answers[1]);
  expect((answers[0] as unknown[][]).slice(0, 6).map(([lat, lng]) => [lat === 0 ? 0 : lat, lng])).toEqual(
    due.slice(0, 6),
  );
});
