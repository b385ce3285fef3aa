// Files that gpsbabel and GDAL made (test/fixtures/brought) give the codes of the table that they were made of.
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
const FIXTURES = 'test/fixtures/brought';

test.each(['shops.csv', 'shops.gpx', 'shops.kml', 'shops.gpkg'])('%s', async (name) => {
  folder.write(name, readFileSync(`${FIXTURES}/${name}`));
  const { code, stdout, stderr } = await folder.run(['encode', name, '-q']);
  expect([code, stderr]).toEqual([0, '']);
  const rows = parse(stdout, { columns: true }) as Record<string, string>[];
  expect(rows.map((row) => [row['name'], row['hexcodes'], row['status']])).toEqual([
    ['Phở 10, Lý Quốc Sư', 'HN-6GHP4-899JC', 'OK'],
    ['Bưu điện', 'HCM-GXC6M-P9845', 'OK'],
    ['Bà Nà', 'DNG-6KKJG-JHVFH', 'OK'],
    ['Paris', '', 'NOT_FOUND'],
  ]);
});

test('a GeoPackage is refused where its last changes are elsewhere, where it is broken, and for another layer', async () => {
  const bytes = readFileSync(`${FIXTURES}/shops.gpkg`);
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await folder.run(['encode', ...args, '-q', '-o', 'never.csv']);
    expect([code, folder.names().includes('never.csv')]).toEqual([3, false]);
    return stderr;
  };
  folder.write('open.gpkg', bytes);
  folder.write('open.gpkg-wal', 'x');
  expect(await refused('open.gpkg')).toContain('its last changes are in open.gpkg-wal');
  folder.write('cut.gpkg', bytes.subarray(0, 5000));
  expect(await refused('cut.gpkg')).toContain('the database is broken');
  folder.write('s.gpkg', bytes);
  expect(await refused('s.gpkg', '--sheet', 'x')).toContain('no layer x: it has "shops"');
});
