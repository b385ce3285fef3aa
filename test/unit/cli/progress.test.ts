// The progress line of each format: the share of the bytes that is done, and the time that is left by it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { beforeAll, expect, test, vi } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { converted } from '../../support/files/pipelines.js';
import { ownFolder } from '../../support/shared.js';

const folder = ownFolder('progress');
const file = (name: string): string => join(folder, name);
const ROWS = 60_000;
/** Time between two looks at the clock. */
const STEP_MS = 6000;
const hexcodes = await Hexcodes.load();

beforeAll(async () => {
  const points = Array.from(
    { length: ROWS },
    (_, i) => [i, 21 + (i % 900) / 1e4, 105.8 + (i % 700) / 1e4] as const,
  );
  writeFileSync(file('in.csv'), `id,lat,lng\n${points.map((row) => row.join(',')).join('\n')}\n`);
  const gpx = points.map(([id, lat, lng]) => `<wpt lat="${lat}" lon="${lng}"><name>${id}</name></wpt>`);
  writeFileSync(file('in.gpx'), `<gpx>${gpx.join('\n')}</gpx>`);
  for (const name of 'in.tsv in.ndjson in.geojson in.arrow in.arrows in.xlsx whole.parquet'.split(' '))
    expect((await converted(hexcodes, [file('in.csv')], file(name), {})).fault).toBeUndefined();
  const marks = points.map(
    ([id, lat, lng]) =>
      `<Placemark><name>${id}</name><Point><coordinates>${lng},${lat}</coordinates></Point></Placemark>`,
  );
  writeFileSync(file('in.kml'), `<kml><Document>${marks.join('\n')}</Document></kml>`);
  writeGeoPackage(file('in.gpkg'), points);
  // A batch of Arrow has 65,536 rows.
  const many = Array.from({ length: 3 }, () => points.map((row) => row.join(',')).join('\n'));
  writeFileSync(file('many.csv'), `id,lat,lng\n${many.join('\n')}\n`);
  for (const name of ['in.arrow', 'in.arrows'])
    expect((await converted(hexcodes, [file('many.csv')], file(name), {})).fault).toBeUndefined();
  const typed = { columns: { prefix: '', keep: ['id', 'lat', 'lng'] } };
  await converted(hexcodes, [file('in.ndjson')], file('in.parquet'), { ...typed });
});

function writeGeoPackage(path: string, points: readonly (readonly [number, number, number])[]): void {
  const database = new Database(path);
  database.exec(`
    CREATE TABLE gpkg_spatial_ref_sys(srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
    CREATE TABLE gpkg_contents(table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, srs_id INTEGER);
    CREATE TABLE gpkg_geometry_columns(table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z TINYINT, m TINYINT);
    CREATE TABLE places(fid INTEGER PRIMARY KEY, id INTEGER, geom BLOB);
    INSERT INTO gpkg_spatial_ref_sys VALUES('WGS 84', 4326, 'EPSG', 4326, '');
    INSERT INTO gpkg_contents VALUES('places', 'features', 'places', 4326);
    INSERT INTO gpkg_geometry_columns VALUES('places', 'geom', 'POINT', 4326, 0, 0);
    PRAGMA application_id = 1196444487;
    BEGIN`);
  const insert = database.prepare('INSERT INTO places(id, geom) VALUES (?, ?)');
  for (const [id, lat, lng] of points) {
    const geometry = Buffer.alloc(29);
    geometry.write('GP');
    geometry[3] = 1;
    geometry.writeInt32LE(4326, 4);
    geometry[8] = 1;
    geometry.writeInt32LE(1, 9);
    geometry.writeDoubleLE(lng, 13);
    geometry.writeDoubleLE(lat, 21);
    insert.run(id, geometry);
  }
  database.exec('COMMIT');
  database.close();
}

/** A duration as the line writes it. */
function secondsIn(text: string): number {
  const units: Record<string, number> = { h: 3600, min: 60, s: 1 };
  return [...text.matchAll(/([\d.]+) (h|min|s)/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * units[unit!]!,
    0,
  );
}

test.each([
  ['in.csv', 'out.csv'],
  ['in.csv', 'out.parquet'],
  ['in.tsv', 'out.ndjson'],
  ['in.ndjson', 'out.ndjson'],
  ['in.ndjson', 'out.csv'],
  ['in.geojson', 'out.csv'],
  ['in.gpx', 'out.csv'],
  ['in.kml', 'out.csv'],
  ['in.gpkg', 'out.csv'],
  ['in.gpkg', 'out.ndjson'],
  ['in.xlsx', 'out.csv'],
  ['in.xlsx', 'out.parquet'],
  ['in.arrow', 'out.csv'],
  ['in.arrows', 'out.arrows'],
  ['in.parquet', 'out.parquet'],
  ['in.parquet', 'out.csv'],
  ['whole.parquet', 'out.geojson'],
])('%s to %s', async (from, to) => {
  let nowMs = 0;
  const lines: string[] = [];
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += STEP_MS));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  try {
    const { fault } = await converted(hexcodes, [file(from)], file(to), {
      isQuiet: false,
      columns: { prefix: 'hx_' },
    });
    expect(fault).toBeUndefined();
  } finally {
    vi.restoreAllMocks();
  }
  const percents = lines.map((line) => Number(/^(\d+) % {2}[\d,]+ rows {2}/.exec(line)?.[1]));
  expect(percents.length).toBeGreaterThan(1);
  expect(percents).toEqual([...percents].sort((a, b) => a - b));
  expect(percents[0]).toBeLessThan(75);
  expect(percents.at(-1)).toBeGreaterThan(95);
  // The bytes that are left take as long as the others did; the percentage is a whole number, the clock a step ahead.
  for (const [i, line] of lines.entries()) {
    const [, rows, perSecond] = /([\d,]+) rows {2}([\d,]+) rows\/s/
      .exec(line)!
      .map((text) => Number(text.replaceAll(',', '')));
    const left = secondsIn(/ETA (.*?) {2}/.exec(line)?.[1] ?? '');
    const elapsed = rows! / perSecond!;
    const percent = percents[i]!;
    expect(left).toBeGreaterThanOrEqual(0.9 * elapsed * ((100 - percent - 1) / (percent + 1)) - 60);
    expect(left).toBeLessThanOrEqual(1.1 * elapsed * ((100 - percent) / Math.max(1, percent)) + 60);
  }
});
