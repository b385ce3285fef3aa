// Files of geometries that are refused, or read another way than their names suggest: each hint is run.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { gdalNote, hasOgr2ogr } from '../../../support/gdal.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
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
    const points = [
      '[105.8525,21.0288]',
      '["105.8525","21.0288"]',
      '[true,21]',
      '[{},[]]',
      '[]',
      '[105,12345678901234567890]',
    ];
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
