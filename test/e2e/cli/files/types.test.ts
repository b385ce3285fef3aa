// Types of columns through the command: what DuckDB reads before and after, on each road of Parquet.
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
let db: DuckDBConnection;
beforeAll(async () => {
  db = await (await DuckDBInstance.create(':memory:')).connect();
});

const SCALARS = `TIMESTAMPTZ '2026-01-01 00:00:00.123456+07' AS tz, TIMESTAMP_NS '2026-01-01 00:00:00.123456789' AS ns,
  TIME '01:02:03.000004' AS t, uuid() AS u, 1.5::FLOAT AS f, 1.50::DECIMAL(18,2) AS price, DATE '2026-01-01' AS day,
  18446744073709551615::UBIGINT AS big, true AS flag, 'x'::BLOB AS raw`;

async function rows(sql: string): Promise<unknown[][]> {
  return (await db.runAndReadAll(sql)).getRowsJson();
}
async function made(name: string, columns: string): Promise<void> {
  const point = 'i, (21 + i / 1000.0)::DOUBLE AS lat, 105.8::DOUBLE AS lng';
  await db.run(
    `COPY (SELECT ${point}, ${columns} FROM range(50) r(i)) TO '${folder.file(name)}' (FORMAT parquet)`,
  );
}

test.each([
  ['by column chunks', [], /by column chunks/],
  ['sorted', ['--sort', 'cell'], /by rows of bytes/],
  ['by rows', ['--errors', 'skip'], /by rows of bytes/],
  ['value by value', ['--certainty'], /value by value/],
])('stay what they are: %s', async (_, options, road) => {
  const name = 'in.parquet';
  await made(name, SCALARS);
  const ran = await folder.run(['encode', name, '-o', 'out.parquet', '--verbose', ...options]);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(road)]);
  const [input, output] = [folder.file(name), folder.file('out.parquet')].map(
    (path) => `read_parquet('${path}')`,
  );
  const types = (await rows(`DESCRIBE SELECT * FROM ${input}`)).map(([column, type]) => [column, type]);
  const after = (await rows(`DESCRIBE SELECT * FROM ${output}`)).map(([column, type]) => [column, type]);
  expect(after.slice(0, types.length)).toEqual(types);
  const all = types.map(([column]) => column).join(', ');
  expect(await rows(`SELECT ${all} FROM ${output} ORDER BY i`)).toEqual(
    await rows(`SELECT ${all} FROM ${input} ORDER BY i`),
  );
});
