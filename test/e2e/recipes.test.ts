// The recipes for PostgreSQL, pandas and DuckDB, run as they are in docs/recipes.md: against a server of its own,
// which this test starts where PostgreSQL is installed, and with the Python there is, where it has pandas.

import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { broughtFile, SHOP_CODES } from '../support/brought-files.js';
import { CliFolder } from '../support/cli.js';
import { writePointsCsv } from '../support/files/points-csv.js';
import { randomFrom } from '../support/open-world.js';
import { blocksOf } from '../support/page-blocks.js';
import { noPostgres, Postgres } from '../support/postgres.js';
import { sharedCommand } from '../support/shared.js';
import { CODE_ROWS } from '../support/vectors.js';

const STOPS =
  'id,lat,lng\n1,21.0288,105.8525\n2,21.0289,105.8525\n3,10.7799,106.7\n4,48.9,2.3\n5,18.67,105.69\n';

const [tables = '', ...moreSql] = blocksOf('docs/recipes.md', 'sql').map(({ text }) => text);
const shells = blocksOf('docs/recipes.md', 'sh').map(({ text }) => text);
const loading = shells.find((text) => text.includes('psql')) ?? '';
const [python = ''] = blocksOf('docs/recipes.md', 'python').map(({ text }) => text);

test('the recipes are there', () => {
  expect([moreSql, tables.includes('CREATE TABLE stops'), loading !== '', python !== '']).toEqual([
    [],
    true,
    true,
    true,
  ]);
});

test('the CHECK of the table admits every code', () => {
  const [, pattern = ''] = /~ '([^']+)'/.exec(tables) ?? [];
  const codes = CODE_ROWS.map(({ code }) => code);
  expect(codes.length).toBeGreaterThan(100);
  expect(codes.filter((code) => !new RegExp(pattern).test(code))).toEqual([]);
});

test.skipIf(noPostgres !== undefined)(
  'the line for a dump of PostgreSQL, and its table as it prints it',
  async () => {
    const folder = new CliFolder();
    const postgres = await Postgres.start();
    onTestFinished(async () => {
      await postgres.remove();
      folder.remove();
    });

    const run = (line: string, url: string) =>
      promisify(execFile)('bash', ['-c', line], {
        cwd: folder.path,
        env: { ...process.env, URL: url },
      });
    const url = postgres.newDatabase();
    const shops = folder.file('shops.csv');
    folder.write('shops.csv', broughtFile('shops.csv'));
    postgres.sql(
      'CREATE TABLE shops (id int, name text, lat float8, lng float8, opened date, phone text)',
      url,
    );
    await run(String.raw`psql -q "$URL" -c "\copy shops from '${shops}' csv header"`, url);
    for (const options of ['--no-owner', '--inserts']) {
      await run(`pg_dump ${options} "$URL" > dump.sql`, url);
      const { code, stderr } = await folder.run('encode dump.sql -q -o never.csv');
      expect([code, stderr]).toEqual([3, expect.stringContaining('it is a dump of a database')]);
      const [line = ''] = /(?<=as CSV: )psql .*/.exec(stderr) ?? [];
      expect(line).toContain('SELECT …');
      const other = postgres.newDatabase();
      await run('psql -q "$URL" -f dump.sql', other);
      await run(line.replace('psql', 'psql "$URL"').replace('SELECT …', 'SELECT * FROM shops'), other);
      const { stdout } = await folder.run('encode points.csv -q');
      for (const shop of SHOP_CODES) expect(stdout).toContain(shop);
    }
    await run('psql "$URL" -c "SELECT * FROM shops" > printed.txt', url);
    const { stderr } = await folder.run('encode printed.txt -q');
    expect(stderr).toContain('a table that is drawn for people');
    await run('psql --csv "$URL" -c "SELECT * FROM shops" > printed.csv', url);
    expect((await folder.run('encode printed.csv -q')).stdout).toContain(SHOP_CODES[0]);
  },
);

test.skipIf(noPostgres !== undefined)('PostgreSQL (needs its programs)', async () => {
  const folder = new CliFolder();
  const postgres = await Postgres.start();
  onTestFinished(async () => {
    await postgres.remove();
    folder.remove();
  });

  const url = postgres.newDatabase();
  const { hostname, port, username, password, pathname } = new URL(url);
  const env = environmentIn(folder, {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  });
  const statements = tables
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((sql) => sql.trim())
    .filter((sql) => sql !== '');
  const [made = '', index = '', ...queries] = statements;
  postgres.sql(made, url);
  postgres.sql(index, url);
  folder.write('stops.csv', STOPS);
  await promisify(execFile)('bash', ['-o', 'pipefail', '-c', loading], { cwd: folder.path, env });
  expect(postgres.sql('SELECT id FROM stops ORDER BY id', url)).toBe('1\n2\n3\n5\n');
  expect(queries.length).toBe(4);
  for (const sql of queries)
    expect([sql, postgres.sql(sql, url)]).toEqual([sql, expect.stringMatching(/\d/)]);
  const plan = postgres.sql(`SET enable_seqscan = off; EXPLAIN ${queries[0]}`, url);
  expect(plan).toMatch(/Index Cond: .*hexcode >= 'HN-6GHP4'/);
  expect(() => postgres.sql("INSERT INTO stops VALUES (9, '21.0288')", url)).toThrow(
    'violates check constraint',
  );
});

test.skipIf(noPostgres !== undefined)(
  'the line of docs/command.md by which psql reads the answers of the command (needs its programs)',
  async () => {
    const folder = new CliFolder();
    const postgres = await Postgres.start();
    onTestFinished(async () => {
      await postgres.remove();
      folder.remove();
    });

    const url = postgres.newDatabase();
    const [, line = ''] = /`(\\copy [^`]+)`/.exec(readFileSync('docs/command.md', 'utf8')) ?? [];
    const random = randomFrom(53);
    const points = Array.from({ length: 3000 }, (_, id) => [id, 8 + 15 * random(), 102 + 8 * random()]);
    folder.write('points.csv', ['id,lat,lng', ...points, ''].join('\n'));
    postgres.sql(
      'CREATE TABLE points (id int, lat float8, lng float8, hexcodes text, resolution int, admin_code text, status text)',
      url,
    );
    const env = environmentIn(folder, {});
    await promisify(execFile)('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', line, url], {
      cwd: folder.path,
      env,
    });
    const library = await Hexcodes.load();
    const codes = library.codes(
      library.encodeBatch(Float64Array.from(points.flatMap(([, ...position]) => position))),
    );
    expect(new Set(codes).size).toBeGreaterThan(500);
    const wanted = points.map((point, row) => [...point, codes[row] ?? ''].join('|'));
    const found = postgres.sql('SELECT id, lat, lng, hexcodes FROM points ORDER BY id', url);
    expect(found.trimEnd().split('\n')).toEqual(wanted);
  },
);

const hasPandas = spawnSync('python3', ['-c', 'import pandas']).status === 0;

test.skipIf(!hasPandas)('pandas (needs Python with it)', async () => {
  const folder = new CliFolder();
  onTestFinished(() => folder.remove());

  folder.write('stops.csv', STOPS);
  folder.write(
    'recipe.py',
    `${python}\nimport json\nprint(json.dumps([per_cell.to_dict(), list(stops.admin_code)]))\n`,
  );
  const [command = ''] = shells.filter((text) => text.includes('stops.hex.csv'));
  const env = environmentIn(folder, {});
  await promisify(execFile)('bash', ['-c', command], { cwd: folder.path, env });
  const { stdout } = await promisify(execFile)('python3', ['recipe.py'], { cwd: folder.path, env });
  const library = await Hexcodes.load();
  const cell = (lat: number, lng: number): string => library.encode(lat, lng).hexcodes.slice(0, 8);
  const perCell = { [cell(21.0288, 105.8525)]: 2, [cell(10.7799, 106.7)]: 1, [cell(18.67, 105.69)]: 1 };
  expect(JSON.parse(stdout)).toEqual([perCell, ['HN', 'HN', 'HCM', '', 'NA']]);
});

/** Where the recipes find the command. */
function environmentIn(folder: CliFolder, more: Record<string, string>): NodeJS.ProcessEnv {
  const bin = folder.file('bin');
  mkdirSync(bin);
  const main = resolve('dist/cli/main.js');
  writeFileSync(join(bin, 'hexcodes'), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
  chmodSync(join(bin, 'hexcodes'), 0o755);
  return { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...more };
}

// The recipes for DuckDB, run as they are in docs/recipes.md: over Parquet as encode writes it, and over sorted
// Parquet, of which the row groups that are read are counted.

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
