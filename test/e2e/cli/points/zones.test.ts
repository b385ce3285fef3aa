// `hexcodes cover`, `contains` and `diff`: the zones of a file, the points of another that lie in them, and what
// another index changes.

import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { randomFrom } from '../../../support/open-world.js';
import { sharedCommand } from '../../../support/shared.js';
import { shippedFiles } from '../../../support/shipped.js';

const folder = sharedCommand();

const square = (name: string, lat: number, lng: number, size: number) => ({
  type: 'Feature',
  properties: { name, number: 7 },
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [lng, lat],
        [lng + size, lat],
        [lng + size, lat + size],
        [lng, lat + size],
        [lng, lat],
      ],
    ],
  },
});

const zones = [square('Đống Đa', 21.0, 105.81, 0.02), square('Hoàn Kiếm', 21.02, 105.84, 0.03)];

folder.write('zones.geojson', JSON.stringify({ type: 'FeatureCollection', features: zones }));

folder.write('zone.geojson', JSON.stringify(zones[1]));

const random = randomFrom(9);

const points = Array.from({ length: 3000 }, (_, i) => ({
  id: `p${i}`,
  lat: Number((20.98 + random() * 0.1).toFixed(6)),
  lng: Number((105.79 + random() * 0.1).toFixed(6)),
}));

folder.write(
  'points.csv',
  `id,lat,lng\n${points.map(({ id, lat, lng }) => `${id},${lat},${lng}`).join('\n')}\nx,48.8,2.3\n`,
);

folder.write('points.ndjson', `${points.map((point) => JSON.stringify(point)).join('\n')}\n`);

/** Cells of resolution 12 have edges of 11 m: none that touches a zone reaches further beyond it than twice that. */
const EDGE_DEG = 0.0003;

const isIn = (
  { geometry }: (typeof zones)[number],
  { lat, lng }: (typeof points)[number],
  edgeDeg = 0,
): boolean => {
  const [[west, south], , [east, north]] = geometry.coordinates[0] as [
    [number, number],
    unknown,
    [number, number],
  ];
  return lat >= south - edgeDeg && lat <= north + edgeDeg && lng >= west - edgeDeg && lng <= east + edgeDeg;
};

test('cover: the codes of each zone, with its name', async () => {
  const ran = await folder.run('cover zones.geojson -r 12 --name name --compact -o zones.csv');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(/^[\d,]+ codes of 2 areas\n$/);
  const [head, ...rows] = folder.read('zones.csv').trimEnd().split('\n');
  expect(head).toBe('zone,hexcodes,h3_cell,admin_code');
  expect(new Set(rows.map((row) => row.split(',')[0]))).toEqual(new Set(['Đống Đa', 'Hoàn Kiếm']));
  expect(ran.stderr).toContain(rows.length.toLocaleString('en-US'));
  const { stdout } = await folder.run('cover zone.geojson -r 7 --to geojson -q');
  expect(JSON.parse(stdout).features[0].geometry.type).toBe('Polygon');
});

test('cover: names keep all digits, and those that are not UTF-8 are refused', async () => {
  const named = (name: string): string =>
    JSON.stringify(square('NAME', 21.02, 105.84, 0.03)).replace('"NAME"', name);
  const names = ['12345678901234567890', '12345678901234567891', '[9007199254740993,0.5]', '"é"'];
  folder.write('names.geojson', `{"type":"FeatureCollection","features":[${names.map(named).join()}]}`);
  const { stdout } = await folder.run('cover names.geojson -r 7 --name name --to ndjson -q');
  const zonesOf = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).zone);
  expect([...new Set(zonesOf)]).toEqual([...names.slice(0, 3), 'é']);
  folder.write('latin1.geojson', Buffer.from(named('"é"'), 'latin1'));
  expect((await folder.run('cover latin1.geojson --name name')).code).toBe(3);
});

test('contains: every point of a zone has its name, and others only at its edge', async () => {
  const ran = await folder.run('contains points.csv --in zones.csv --all --to ndjson');
  expect(ran.code).toBe(0);
  const rows = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toHaveLength(3001);
  expect(rows.at(-1)).toEqual({ id: 'x', lat: '48.8', lng: '2.3', zone: null });
  for (const [i, point] of points.entries()) {
    const own = zones.find((zone) => isIn(zone, point));
    if (own !== undefined) expect(rows[i].zone, point.id).toBe(own.properties.name);
    else if (rows[i].zone !== null)
      expect(
        zones.some((zone) => isIn(zone, point, EDGE_DEG)),
        point.id,
      ).toBe(true);
  }
  const inside = rows.filter((row) => row.zone !== null).length;
  expect(ran.stderr).toMatch(new RegExp(`3,001 rows in .*: ${inside} inside [\\d,]+ cells\n`));
  const kept = await folder.run('contains points.csv --in zones.csv -q');
  expect(kept.stdout.trimEnd().split('\n')).toHaveLength(inside + 1);
  expect(kept.stdout).toMatch(/^id,lat,lng,zone\n/);
});

test('a list without zones, of Parquet; points of NDJSON', async () => {
  await folder.run('cover zone.geojson -r 11 -q -o zone.parquet');
  const ran = await folder.run('contains points.ndjson --in zone.parquet --all -q --to ndjson');
  const rows = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const [i, point] of points.entries()) {
    expect(rows[i]).toMatchObject(point);
    if (isIn(zones[1]!, point)) expect(rows[i].inside).toBe(true);
  }
  expect(rows.some((row) => row.inside === false)).toBe(true);
  const kept = await folder.run('contains points.ndjson --in zone.parquet -q --to csv');
  expect(kept.stdout).toMatch(/^id,lat,lng\n/);
});

test('contains: GeoJSON has the positions that were compared, and the texts of others', async () => {
  for (const [text, ...options] of [
    ['latitude;longitude\n21,0288;105,8525\n'],
    ['lat,lng\n+21.0288, 105°51.150\n'],
    ['lat,lng,y,x\n10.7769,106.7009,21.0288,105.8525\n', '--lat', 'y', '--lng', 'x'],
    ['lat,lng,gps\n10.7769,106.7009,"21.0288,105.8525"\n', '--position', 'gps'],
    ['{"lat":"N21.0288","lng":105.8525}\n'],
  ] as const) {
    const ran = await folder.run(
      ['contains', '-', '--in', 'zones.csv', '--all', '--to', 'geojson', ...options],
      {
        stdin: text,
      },
    );
    const [{ geometry }] = JSON.parse(ran.stdout).features;
    expect([text, geometry.coordinates]).toEqual([text, [105.8525, 21.0288]]);
  }
  const stdin = 'lat,lng\n,\n0x15,0x69\n91,\n';
  const ran = await folder.run('contains - --in zones.csv --all --to geojson', { stdin });
  const features = JSON.parse(ran.stdout).features;
  expect(features.map((each: { geometry: unknown }) => each.geometry)).toEqual([null, null, null]);
  const properties = features.map((each: { properties: unknown }) => each.properties);
  expect(properties).toEqual([
    { zone: null },
    { lat: '0x15', lng: '0x69', zone: null },
    { lat: '91', zone: null },
  ]);
  folder.write('whole.ndjson', '{"lat":21,"lng":105}\n');
  await folder.run('encode whole.ndjson --keep lat,lng -o whole.parquet -q');
  const whole = await folder.run('contains whole.parquet --in zones.csv --all --to geojson');
  expect(JSON.parse(whole.stdout).features[0].geometry.coordinates).toEqual([105, 21]);
});

test('contains: columns stay where no row comes, and are compared by names and types', async () => {
  for (const [name, content] of [
    ['none.csv', 'id,lat,lng\n'],
    ['whole.ndjson', '{"id":1,"lat":21,"lng":105.8}\n'],
    ['text.ndjson', '{"id":"a","lat":21,"lng":105.8}\n'],
    ['order.ndjson', '{"lat":21,"lng":105.8,"id":1}\n'],
  ] as const)
    folder.write(name, content);
  await folder.run('encode none.csv -q -o none.parquet');
  const columns = {
    'none.csv': 'id,lat,lng',
    'none.parquet': 'id,lat,lng,hexcodes,resolution,admin_code,status',
  };
  for (const [file, names] of Object.entries(columns)) {
    const ran = await folder.run(['contains', file, '--in', 'zones.csv', '-q', '--to', 'csv']);
    expect([file, ran.stdout]).toEqual([file, `${names},zone\n`]);
    expect([file, (await folder.run(['aggregate', file, '--sum', 'x'])).code]).toEqual([file, 3]);
  }
  for (const command of ['contains --in zones.csv --all', 'encode'])
    for (const [file, fault] of [
      ['text.ndjson', 'text.ndjson, column id: another type than in whole.ndjson'],
      ['order.ndjson', 'order.ndjson: other columns than whole.ndjson'],
    ] as const)
      expect((await folder.run(`${command} whole.ndjson ${file} --to csv`)).stderr).toContain(fault);
  const clash = await folder.run('encode --from ndjson --to csv', {
    stdin: '{"lat":21,"lng":105.8,"status":1}\n',
  });
  expect(clash.stderr).toContain('(stdin): there is a column status already');
});

test('wrong lists, areas and options', async () => {
  folder.write('bad.csv', 'hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-83RFQ\n');
  folder.write('list.csv', 'hexcodes\nHN-6GHP4-83RFR\n');
  folder.write('point.geojson', '{"type":"Point","coordinates":[105,21]}');
  const crs = { type: 'name', properties: { name: 'EPSG:4756' } };
  const zone = square('x', 21.02, 105.85, 0.01);
  folder.write('vn2000.geojson', JSON.stringify({ ...zone, geometry: { ...zone.geometry, crs } }));
  folder.write('vn2000-feature.geojson', JSON.stringify({ ...zone, crs }));
  folder.write('vn2000-all.geojson', JSON.stringify({ type: 'FeatureCollection', crs, features: [zone] }));
  folder.write('abroad.geojson', JSON.stringify(square('x', 17.9, 102.6, 0.01)));
  for (const [code, ...args] of [
    [3, 'contains', 'points.csv', '--in', 'bad.csv'],
    [2, 'contains', 'points.ndjson', '--in', 'zones.csv', '--to', 'parquet'],
    [3, 'cover', 'point.geojson'],
    [2, 'contains', 'points.csv', '--in', 'list.csv', '-o', 'list.csv'],
    [3, 'cover', 'points.csv'],
    [3, 'cover', 'vn2000.geojson'],
    [3, 'cover', 'vn2000-feature.geojson'],
    [3, 'cover', 'vn2000-all.geojson'],
    [3, 'cover', 'zones.geojson', '--name', 'nom'],
    [3, 'cover', 'zones.geojson', '-r', '15'],
    [1, 'cover', 'abroad.geojson'],
  ] as const)
    expect([args, (await folder.run(args)).code]).toEqual([args, code]);
});

const files = shippedFiles();

const adminOf = (wanted: string): number => ADMIN_UNITS.findIndex(({ code }) => code === wanted);

/** The shipped index with the former province Bắc Ninh in Hà Nội. */
const moved = Buffer.from(readFileSync('data/index.bin'));

// The description is JSON, whose offset and length the header has.
const meta = moved.subarray(moved.readUInt32LE(48)).subarray(0, moved.readUInt32LE(52));

const { units } = JSON.parse(meta.toString()) as { units: { name: string }[] };

const unit = units.findIndex(({ name }) => name === 'Bắc Ninh');

moved[64 + unit] = adminOf('HN');

moved.writeUInt32LE(crc32(moved.subarray(16)), 12);

folder.write('old.bin', Buffer.from(files.index));

folder.write('new.bin', moved);

const before = Hexcodes.from(files);

const after = Hexcodes.from({ ...files, index: new Uint8Array(moved) });

const POSITIONS = [
  [21.0757, 105.9872],
  [21.0285, 105.8542],
  [12.6667, 108.05],
  [0, 0],
] as const;

const codes = POSITIONS.slice(0, 3).map(([lat, lng]) => before.encode(lat, lng).hexcodes);

const changed = after.encode(21.0757, 105.9872).hexcodes;

folder.write('places.csv', `lat,lng\n${POSITIONS.map((each) => each.join(',')).join('\n')}\nx,105\n`);

folder.write('codes.csv', `id,place\n${codes.map((code, n) => `${n},${code}`).join('\n')}\n3,nope\n`);

test('positions: the rows whose code has another province', async () => {
  const { stdout, stderr, code } = await folder.run('diff old.bin new.bin places.csv');
  expect(changed.slice(0, 3)).toBe('HN-');
  expect(stdout).toBe(`row,old,new\n1,${codes[0]},${changed}\n`);
  expect(stderr).toBe('5 rows: 1 change; 1 not understood, the first in row 5\n');
  expect(code).toBe(1);
  const coarse = await folder.run('diff old.bin new.bin places.csv -r 9 -q');
  expect(coarse.stdout).toContain(`,${after.encode(21.0757, 105.9872, 9).hexcodes}\n`);
  expect(coarse.stderr).toBe('');
});

test('codes: by the centre of their cells, with the same cell', async () => {
  const ran = await folder.run('diff old.bin new.bin codes.csv --column place');
  expect(ran.stdout).toBe(`row,old,new\n1,${codes[0]},${changed}\n`);
  expect(before.read(changed)?.cell).toBe(before.read(codes[0]!)?.cell);
  expect(ran.stderr).toBe('4 rows: 1 change; 1 not understood, the first in row 4\n');
  for (const ignored of ['-r 9', '--lat id --lng id'])
    expect((await folder.run(`diff old.bin new.bin codes.csv --column place ${ignored}`)).code).toBe(2);
});

test('an equal index: nothing changes', async () => {
  const ran = await folder.run('diff old.bin old.bin places.csv');
  expect([ran.stdout, ran.code]).toEqual(['row,old,new\n', 0]);
});

test('indexes that cannot be used', async () => {
  folder.write('damaged.bin', moved.subarray(0, 5000));
  for (const [path, reason] of [
    ['none.bin', /no such file/],
    ['damaged.bin', /The boundary index cannot be used/],
  ] as const) {
    const ran = await folder.run(['diff', 'old.bin', path, 'places.csv']);
    expect([ran.code, ran.stdout]).toEqual([3, '']);
    expect(ran.stderr).toMatch(reason);
    expect(ran.stderr).toContain(path);
  }
  const env = { HEXCODES_REACH: folder.file('none.bin') };
  expect((await folder.run('diff old.bin new.bin places.csv', { env })).code).toBe(3);
});
