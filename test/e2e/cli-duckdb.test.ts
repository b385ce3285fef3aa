// Parquet and Arrow written by the command, read by DuckDB: an independent reader agrees on rows, types and values.
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#dist/node.js';
import { writePointsCsv } from '../files/points-csv.js';
import { CliFolder } from './cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
let library: Hexcodes;
let query: (sql: string) => Promise<Record<string, unknown>[]>;

beforeAll(async () => {
  library = await Hexcodes.load();
  const connection = await (await DuckDBInstance.create()).connect();
  query = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
});

test('Parquet: 150,000 rows in row groups, types and values', async () => {
  writePointsCsv(folder.file('in.csv'), 150_000, 11);
  expect((await folder.run(['encode', 'in.csv', '-o', 'out.parquet', '-q'])).code).toBe(0);
  expect((await folder.run(['encode', 'in.csv', '-o', 'out.csv', '-q'])).code).toBe(0);
  const parquet = `read_parquet('${folder.file('out.parquet')}')`;
  const types = await query(`DESCRIBE SELECT * FROM ${parquet}`);
  expect(types.map((row) => [row.column_name, row.column_type])).toEqual([
    ['id', 'VARCHAR'],
    ['lat', 'DOUBLE'],
    ['lng', 'DOUBLE'],
    ['speed', 'VARCHAR'],
    ['hexcodes', 'VARCHAR'],
    ['resolution', 'INTEGER'],
    ['admin_code', 'VARCHAR'],
    ['status', 'VARCHAR'],
  ]);
  // The CSV of the same rows goes another way through the command; DuckDB reads both.
  const csv = `read_csv('${folder.file('out.csv')}', types = {'id': 'VARCHAR', 'lat': 'DOUBLE', 'lng': 'DOUBLE', 'speed': 'VARCHAR', 'resolution': 'INTEGER'}, all_varchar = false)`;
  const [counts] = await query(`SELECT
    (SELECT count(*) FROM ${parquet}) AS parquet, (SELECT count(*) FROM ${csv}) AS csv,
    (SELECT count(*) FROM (SELECT * FROM ${parquet} EXCEPT SELECT * FROM ${csv})) AS only_parquet,
    (SELECT count(*) FROM (SELECT * FROM ${csv} EXCEPT SELECT * FROM ${parquet})) AS only_csv`);
  expect(counts).toEqual({ parquet: '150000', csv: '150000', only_parquet: '0', only_csv: '0' });
  const sample = await query(`SELECT lat, lng, hexcodes FROM ${parquet} WHERE status = 'OK' LIMIT 500`);
  for (const { lat, lng, hexcodes } of sample) {
    expect(library.encode(lat as number, lng as number).hexcodes).toBe(hexcodes);
  }
});

test('Parquet from DuckDB through encode: every column keeps its type and value', async () => {
  const source = folder.file('typed.parquet');
  await query(`COPY (SELECT
    i AS big, i::INTEGER AS small, i % 2 = 0 AS flag, i / 7.0 AS ratio, (i / 100)::DECIMAL(18, 3) AS price,
    DATE '2026-01-01' + i::INTEGER AS day, TIMESTAMP '2026-01-01 00:00:00.123456' + INTERVAL (i) SECOND AS local,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (i) MINUTE AS at_utc,
    CASE WHEN i % 3 = 0 THEN NULL ELSE 'tên ' || i END AS name, 'x'::BLOB AS raw,
    21.0 + i / 100000.0 AS lat, 105.8 AS lng
    FROM range(5000) t(i)) TO '${source}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`);
  expect((await folder.run(['encode', 'typed.parquet', '-o', 'typed.out.parquet', '-q'])).code).toBe(0);
  const out = `read_parquet('${folder.file('typed.out.parquet')}')`;
  const inn = `read_parquet('${source}')`;
  const typesOf = async (table: string) =>
    (await query(`DESCRIBE SELECT * FROM ${table}`)).map((row) => `${row.column_name} ${row.column_type}`);
  expect((await typesOf(out)).slice(0, 12)).toEqual(await typesOf(inn));
  const columns = 'big, small, flag, ratio, price, day, local, at_utc, name, raw, lat, lng';
  const [difference] = await query(
    `SELECT count(*) AS rows FROM (SELECT ${columns} FROM ${out} EXCEPT SELECT ${columns} FROM ${inn})`,
  );
  expect(difference).toEqual({ rows: '0' });
});
