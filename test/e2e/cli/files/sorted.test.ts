// `encode --sort cell`: the rows are those of a run without it, in the order of their codes, with columns and
// statistics that DuckDB prunes by; in memory and from the disk.
import { mkdirSync, readdirSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
let query: (sql: string) => Promise<Record<string, unknown>[]>;

beforeAll(async () => {
  writePointsCsv(folder.file('in.csv'), 80_000, 17);
  mkdirSync(folder.file('spill'));
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(`SET file_search_path = '${folder.path}'`);
  query = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
});

async function encoded(...options: string[]): Promise<void> {
  const env = { TMPDIR: folder.file('spill') };
  const { code, stderr } = await folder.run(['encode', ...options, '-q'], { env });
  expect([code, stderr]).toEqual([0, '']);
}

test('80,000 rows of CSV, sorted in memory and from the disk', async () => {
  await encoded('in.csv', '-o', 'plain.parquet');
  await encoded('in.csv', '--sort', 'cell', '-o', 'sorted.parquet');
  await encoded('in.csv', '--sort', 'cell', '--memory', '1', '-o', 'spilled.parquet');
  expect(readdirSync(folder.file('spill'))).toEqual([]);
  expect(folder.bytes('spilled.parquet').equals(folder.bytes('sorted.parquet'))).toBe(true);

  const types = await query("DESCRIBE SELECT * FROM 'sorted.parquet'");
  expect(types.map((row) => `${row.column_name} ${row.column_type}`)).toEqual([
    ...['id VARCHAR', 'lat DOUBLE', 'lng DOUBLE', 'speed VARCHAR'],
    ...['hexcode VARCHAR', 'h3 UBIGINT', 'resolution INTEGER', 'admin_code VARCHAR'],
    ...['xmin DOUBLE', 'ymin DOUBLE', 'xmax DOUBLE', 'ymax DOUBLE', 'status VARCHAR'],
  ]);
  const names = 'id, lat, lng, speed, CODE, resolution, admin_code, status';
  const rowsOf = (file: string, code: string) => `SELECT ${names.replace('CODE', code)} FROM '${file}'`;
  const [plain, sorted] = [rowsOf('plain.parquet', 'hexcodes'), rowsOf('sorted.parquet', 'hexcode')];
  const [sums] = await query(`SELECT
    (SELECT count(*) FROM (${plain})) AS plain,
    (SELECT count(*) FROM (${plain} EXCEPT ALL ${sorted})) AS missing,
    (SELECT count(*) FROM (${sorted} EXCEPT ALL ${plain})) AS more,
    (SELECT count(*) FROM 'sorted.parquet' WHERE (hexcode IS NULL) <> (h3 IS NULL) OR (h3 IS NULL) <> (xmin IS NULL)) AS halves,
    (SELECT count(*) FROM 'sorted.parquet' WHERE lat NOT BETWEEN ymin AND ymax OR lng NOT BETWEEN xmin AND xmax) AS outside`);
  expect(sums).toEqual({ plain: '80000', missing: '0', more: '0', halves: '0', outside: '0' });
  const [order] = await query(`SELECT count(*) AS wrong FROM (
    SELECT hexcode, lag(hexcode) OVER (ORDER BY file_row_number) AS before, file_row_number AS row
    FROM read_parquet('sorted.parquet', file_row_number = true)
  ) WHERE row > 0 AND (before > hexcode OR (before IS NULL AND hexcode IS NOT NULL))`);
  expect(order).toEqual({ wrong: '0' });

  const library = await Hexcodes.load();
  const sample = await query(
    "SELECT hexcode, h3::VARCHAR AS h3 FROM 'sorted.parquet' WHERE hash(h3) % 50 = 0",
  );
  expect(sample.length).toBeGreaterThan(300);
  for (const { hexcode, h3 } of sample)
    expect(library.read(hexcode as string)?.cell).toBe(BigInt(h3 as string));
});

test('row groups have statistics of every column, and those of the codes do not overlap', async () => {
  const groups = await query(`SELECT row_group_id, stats_min_value AS least, stats_max_value AS most
    FROM parquet_metadata('sorted.parquet') WHERE path_in_schema = 'hexcode' ORDER BY row_group_id`);
  expect(groups.length).toBe(2);
  for (const [i, { least, most }] of groups.entries()) {
    expect((least as string) < (most as string)).toBe(true);
    if (i > 0) expect((groups[i - 1]!.most as string) <= (least as string)).toBe(true);
  }
  const [without] = await query(`SELECT count(*) AS columns FROM parquet_metadata('sorted.parquet')
    WHERE path_in_schema IN ('hexcode', 'h3', 'admin_code', 'xmin', 'ymin', 'xmax', 'ymax')
    AND (stats_min_value IS NULL OR stats_max_value IS NULL)`);
  expect(without).toEqual({ columns: '0' });
});

test('typed columns keep their types and values on the disk; rows of one cell keep their order', async () => {
  await query(`COPY (SELECT
    i AS big, i::INTEGER AS small, i % 2 = 0 AS flag, (i / 100)::DECIMAL(18, 3) AS price, (i * 1000000007)::DECIMAL(38, 0) AS large,
    DATE '2026-01-01' + i::INTEGER AS day, TIMESTAMP '2026-01-01 00:00:00.123456' + INTERVAL (i) SECOND AS local,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (i) MINUTE AS at_utc, TIME '08:00:00' + INTERVAL (i) SECOND AS clock,
    CASE WHEN i % 3 = 0 THEN NULL ELSE 'tên ' || i END AS name, 'x'::BLOB AS raw, uuid() AS key, [i, i + 1] AS list,
    21.0 + (i % 700) / 1000.0 AS lat, 105.8 AS lng, 7 + i % 9 AS resolution
    FROM range(20000) t(i)) TO '${folder.file('typed.parquet')}' (FORMAT parquet)`);
  await encoded('typed.parquet', '-o', 'typed.plain.parquet');
  await encoded('typed.parquet', '--sort', 'cell', '--memory', '1', '--former', '-o', 'typed.sorted.parquet');
  const columns =
    'big, small, flag, price, large, day, local, at_utc, clock, name, raw, key, list, lat, lng, resolution, admin_code';
  const typesOf = async (file: string) =>
    (await query(`DESCRIBE SELECT ${columns} FROM '${file}'`)).map((row) => row.column_type);
  expect(await typesOf('typed.sorted.parquet')).toEqual(await typesOf('typed.plain.parquet'));
  const [sums] = await query(`SELECT
    (SELECT count(*) FROM (SELECT ${columns}, hexcodes FROM 'typed.plain.parquet'
      EXCEPT ALL SELECT ${columns}, hexcode FROM 'typed.sorted.parquet')) AS missing,
    (SELECT count(DISTINCT hexcode) FROM 'typed.sorted.parquet') AS codes,
    (SELECT count(*) FROM (SELECT big, hexcode, lag(big) OVER w AS before, lag(hexcode) OVER w AS same
      FROM read_parquet('typed.sorted.parquet', file_row_number = true) WINDOW w AS (ORDER BY file_row_number))
      WHERE hexcode < same OR (hexcode = same AND big < before)) AS wrong,
    (SELECT count(*) FROM 'typed.sorted.parquet' WHERE former_province IS NULL) AS without`);
  expect(sums).toMatchObject({ missing: '0', wrong: '0', without: '0' });
  expect(Number(sums!.codes)).toBeLessThan(7000);
});

test('failed rows come last, or go where --errors says', async () => {
  folder.write(
    'mixed.csv',
    'name,lat,lng\nParis,48.85,2.29\nb,10.7799,106.7\nParis 2,48.85,2.29\na,21.0288,105.8525\n',
  );
  const namesIn = async (file: string) => (await query(`SELECT name FROM '${file}'`)).map(({ name }) => name);
  await encoded('mixed.csv', '--sort', 'cell', '-o', 'mixed.parquet');
  expect(await namesIn('mixed.parquet')).toEqual(['b', 'a', 'Paris', 'Paris 2']);
  await encoded('mixed.csv', '--sort', 'cell', '--errors', 'failed.parquet', '-o', 'good.parquet');
  expect([await namesIn('good.parquet'), await namesIn('failed.parquet')]).toEqual([
    ['b', 'a'],
    ['Paris', 'Paris 2'],
  ]);
  await encoded('mixed.csv', '--sort', 'cell', '--prefix', 'our_', '--to', 'parquet', '-o', 'prefixed');
  const [row] = await query("SELECT our_hexcode, our_xmin FROM read_parquet('prefixed') LIMIT 1");
  expect(row).toMatchObject({ our_hexcode: expect.stringMatching(/^HCM-/) });
});

test('its codes are read by decode', async () => {
  const { stdout } = await folder.run(['decode', 'good.parquet', '--keep', 'name', '--to', 'csv', '-q']);
  expect(stdout).toMatch(/^name,lat,lng,resolution,status\nb,10\.77\d+,106\.\d+,13,OK\na,21\.02/);
});

test.each([
  [['in.csv', '--sort', 'cell', '-o', 'x.csv'], '--sort is for Parquet, not for csv'],
  [['in.csv', '--sort', 'lat', '-o', 'x.parquet'], '--sort lat: must be cell'],
  [['in.csv', '--memory', '10', '-o', 'x.parquet'], '--memory is for --sort'],
  [
    ['in.csv', '--sort', 'cell', '--memory', '0', '-o', 'x.parquet'],
    '--memory 0: must be a whole number of MiB',
  ],
  [['21,105', '--sort', 'cell'], '--sort is for files'],
])('%j is refused', async (options, message) => {
  const { code, stderr } = await folder.run(['encode', ...options]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(folder.names().filter((name) => name.startsWith('x.'))).toEqual([]);
});

test('a folder for the runs that cannot be written is named', async () => {
  const env = { TMPDIR: folder.file('nowhere') };
  const { code, stderr } = await folder.run(
    ['encode', 'in.csv', '--sort', 'cell', '--memory', '1', '-q', '-o', 'y.parquet'],
    { env },
  );
  expect([code, stderr]).toEqual([4, expect.stringContaining('cannot write rows to')]);
  expect(folder.names()).not.toContain('y.parquet');
});
