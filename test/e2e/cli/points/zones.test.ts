// `hexcodes cover` and `hexcodes contains`: the zones of a file, and the points of another that lie in them.
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { randomFrom } from '../../../support/open-world.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

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
  const ran = await folder.run([
    'cover',
    'zones.geojson',
    '-r',
    '12',
    '--name',
    'name',
    '--compact',
    '-o',
    'zones.csv',
  ]);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(/^[\d,]+ codes of 2 areas\n$/);
  const [head, ...rows] = folder.read('zones.csv').trimEnd().split('\n');
  expect(head).toBe('zone,hexcodes,h3_cell,admin_code');
  expect(new Set(rows.map((row) => row.split(',')[0]))).toEqual(new Set(['Đống Đa', 'Hoàn Kiếm']));
  expect(ran.stderr).toContain(rows.length.toLocaleString('en-US'));
  const { stdout } = await folder.run(['cover', 'zone.geojson', '-r', '7', '--to', 'geojson', '-q']);
  expect(JSON.parse(stdout).features[0].geometry.type).toBe('Polygon');
});

test('contains: every point of a zone has its name, and others only at its edge', async () => {
  const ran = await folder.run(['contains', 'points.csv', '--in', 'zones.csv', '--all', '--to', 'ndjson']);
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
  const kept = await folder.run(['contains', 'points.csv', '--in', 'zones.csv', '-q']);
  expect(kept.stdout.trimEnd().split('\n')).toHaveLength(inside + 1);
  expect(kept.stdout).toMatch(/^id,lat,lng,zone\n/);
});

test('a list without zones, of Parquet; points of NDJSON', async () => {
  await folder.run(['cover', 'zone.geojson', '-r', '11', '-q', '-o', 'zone.parquet']);
  const ran = await folder.run([
    'contains',
    'points.ndjson',
    '--in',
    'zone.parquet',
    '--all',
    '-q',
    '--to',
    'ndjson',
  ]);
  const rows = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const [i, point] of points.entries()) {
    expect(rows[i]).toMatchObject(point);
    if (isIn(zones[1]!, point)) expect(rows[i].inside).toBe(true);
  }
  expect(rows.some((row) => row.inside === false)).toBe(true);
  const kept = await folder.run(['contains', 'points.ndjson', '--in', 'zone.parquet', '-q', '--to', 'csv']);
  expect(kept.stdout).toMatch(/^id,lat,lng\n/);
});

test('wrong lists, areas and options', async () => {
  folder.write('bad.csv', 'hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-83RFQ\n');
  folder.write('point.geojson', '{"type":"Point","coordinates":[105,21]}');
  folder.write('abroad.geojson', JSON.stringify(square('x', 17.9, 102.6, 0.01)));
  for (const [code, words, ...args] of [
    [3, 'row 2: "HN-6GHP4-83RFQ" is not a hexcode', 'contains', 'points.csv', '--in', 'bad.csv'],
    [3, 'cannot read none.csv', 'contains', 'points.csv', '--in', 'none.csv'],
    [2, "required option '--in <file>'", 'contains', 'points.csv'],
    [
      2,
      'rows of JSON are not written as parquet',
      'contains',
      'points.ndjson',
      '--in',
      'zones.csv',
      '--to',
      'parquet',
    ],
    [3, 'feature 1: An area is a GeoJSON Polygon', 'cover', 'point.geojson'],
    [3, 'is not GeoJSON', 'cover', 'points.csv'],
    [3, 'feature 1 has no property nom', 'cover', 'zones.geojson', '--name', 'nom'],
    [3, 'take a coarser one', 'cover', 'zones.geojson', '-r', '15'],
    [2, '--cells all', 'cover', 'zones.geojson', '--cells', 'all'],
    [1, 'no cell of Viet Nam was found', 'cover', 'abroad.geojson'],
  ] as const) {
    const ran = await folder.run(args);
    expect([ran.code, ran.stderr.includes(words)], `${args.join(' ')}: ${ran.stderr}`).toEqual([code, true]);
  }
});
