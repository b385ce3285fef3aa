// The recipes for DuckDB, run as they are in docs/recipes.md: over Parquet as encode writes it, and over sorted
// Parquet, of which the row groups that are read are counted.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { writePointsCsv } from '../support/files/points-csv.js';
import { blocksOf } from '../support/page-blocks.js';
import { sharedCommand } from '../support/shared.js';

const folder = sharedCommand();

test('DuckDB over Parquet', async () => {
  const rows = Array.from({ length: 400 }, (_, i) => `v${i % 7},${21 + (i % 20) / 1000},${105.8 + i / 5000}`);
  folder.write('pings.csv', `vehicle,lat,lng\n${rows.join('\n')}\n`);
  const encoded = await folder.run('encode pings.csv -o pings.parquet -q');
  expect(encoded.code).toBe(0);
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(`SET file_search_path = '${folder.path}'`);
  const blocks = blocksOf('docs/recipes.md', 'sql duckdb');
  expect(blocks.length).toBeGreaterThan(1);
  for (const { text } of blocks) {
    const result = (await connection.runAndReadAll(text)).getRowObjectsJson();
    expect([text, result.length > 0]).toEqual([text, true]);
  }
});

test('DuckDB over sorted Parquet: what is read of it', async () => {
  const count = 300_000;
  writePointsCsv(folder.file('pings.csv'), count, 29);
  const [command] = blocksOf('docs/recipes.md', 'sh').filter(({ text }) => text.includes('--sort cell'));
  const [, ...words] = `${command!.text.trim()} --quiet`.split(' ');
  expect((await folder.run(words)).code).toBe(0);
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(`SET file_search_path = '${folder.path}'`);
  await connection.run(readFileSync('docs/sql/hexcodes-duckdb.sql', 'utf8'));
  const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  const block = (language: string): string => blocksOf('docs/recipes.md', language)[0]!.text;
  const [logging = '', asked = ''] = block('sql duckdb-sorted').split(';');
  const counting = block('sql duckdb-sorted-count');
  const whole = await rowsOf(
    "SELECT count(*) AS pings, count(DISTINCT id) AS vehicles FROM 'sorted.parquet' WHERE hexcode LIKE 'HN-6GHP4%'",
  );
  expect(Number(whole[0]!.pings)).toBeGreaterThan(3);
  await rowsOf(logging);
  expect(await rowsOf(asked)).toEqual(whole);
  expect(await rowsOf(counting)).toEqual([{ read: '1', of: '5' }]);
  await rowsOf('CALL truncate_duckdb_logs()');
  const [inBox] = await rowsOf(block('sql duckdb-sorted-box'));
  const [boxed] = await rowsOf(counting);
  expect(Number(boxed!.read)).toBeLessThan(5);
  // The other way round: a query for everything is seen to read everything.
  await rowsOf('CALL truncate_duckdb_logs()');
  const [, inTheBox = ''] = /WHERE (.*);/.exec(block('sql duckdb-sorted-box')) ?? [];
  const [all] = await rowsOf(
    `SELECT count(*) FILTER (${inTheBox}) AS pings, max(speed) FROM 'sorted.parquet'`,
  );
  expect(inBox!.pings).toBe(all!.pings);
  expect(await rowsOf(counting)).toEqual([{ read: '5', of: '5' }]);
});
