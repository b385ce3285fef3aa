// Files that gpsbabel and GDAL made (test/fixtures/brought) give the codes of the table that they were made of.
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { broughtFile } from '../../../support/brought-files.js';
import { CliFolder } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

test.each(['shops.csv', 'shops.gpx', 'shops.kml', 'shops.gpkg'])('%s', async (name) => {
  folder.write(name, broughtFile(name));
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

test('points in well-known binary, in a column of bytes of Parquet and as text of CSV', async () => {
  const hex = '0101000000c3f5285c8f765a40f31fd26f5f073540';
  const connection = await (await DuckDBInstance.create()).connect();
  const rows = `SELECT 7 AS id, from_hex('${hex}') AS geometry`;
  await connection.run(`COPY (${rows}) TO '${folder.file('wkb.parquet')}' (FORMAT parquet)`);
  folder.write('wkb.csv', `id,geom\n6,${hex}\n7,${hex}\n8,0102${hex.slice(4)}\n`);
  const parquet = await folder.run(['encode', 'wkb.parquet', '-q', '--to', 'csv', '--keep', 'id']);
  expect([parquet.stderr, parquet.stdout]).toEqual([
    '',
    expect.stringContaining('7,HN-6GHP4-83RFR,13,HN,OK'),
  ]);
  const csv = await folder.run(['encode', 'wkb.csv', '-q', '--keep', 'id']);
  expect(csv.stdout).toContain('7,HN-6GHP4-83RFR,13,HN,OK\n8,,13,,INVALID_REQUEST');
});

test('a GeoPackage is refused where its last changes are elsewhere, where it is broken, and for another layer', async () => {
  const bytes = broughtFile('shops.gpkg');
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
