// `hexcodes aggregate` against DuckDB's grouping of the same rows with our codes in them, in every format, and its
// refusals.
import { mkdirSync, readdirSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { cellToBoundary } from 'h3-js';
import { beforeAll, expect, test } from 'vitest';
import { randomFrom } from '../../../support/open-world.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
// The command writes its groups there.
const temporary = folder.file('temporary');
mkdirSync(temporary);
process.env.TMPDIR = temporary;
let query: (sql: string) => Promise<Record<string, unknown>[]>;

const ROWS = 60_000;
const DAYS = ['2026-10-31', '2026-11-01', '2026-11-02'];

beforeAll(async () => {
  const random = randomFrom(23);
  const lines = ['id,ts,speed,load,lat,lng'];
  for (let i = 0; i < ROWS; i++) {
    const lat = (9 + random() * 13).toFixed(4);
    const lng = (104 + random() * 4).toFixed(4);
    const hour = String(Math.floor(random() * 24)).padStart(2, '0');
    const speed = i % 50 === 0 ? '' : (random() * 90).toFixed(1);
    lines.push(
      `v${i % 40},${DAYS[i % 3]}T${hour}:30:00Z,${speed},${Math.floor(random() * 2000) - 1000},${lat},${lng}`,
    );
  }
  folder.write('points.csv', `${lines.join('\n')}\n`);
  const connection = await (await DuckDBInstance.create()).connect();
  query = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
  expect((await folder.run('encode points.csv -r 5 -o coded.csv -q')).code).toBe(0);
  await query(`CREATE TABLE coded AS SELECT * FROM read_csv('${folder.file('coded.csv')}',
    types = {'id': 'VARCHAR', 'ts': 'TIMESTAMPTZ', 'speed': 'DOUBLE', 'load': 'BIGINT', 'lat': 'DOUBLE', 'lng': 'DOUBLE'}) WHERE status = 'OK'`);
  await query(`SET TimeZone = 'Asia/Ho_Chi_Minh'`);
});

const aggregate = (...args: string[]) => folder.run(['aggregate', 'points.csv', ...args]);
const ours = (file: string, types = ''): string => `read_csv('${folder.file(file)}'${types})`;

/** Rows of one query that the other has not, in both directions. */
async function differences(a: string, b: string): Promise<number> {
  const [row] = await query(`SELECT
    (SELECT count(*) FROM (${a} EXCEPT ALL ${b})) + (SELECT count(*) FROM (${b} EXCEPT ALL ${a})) AS n`);
  return Number(row!.n);
}

const WANTED = `SELECT hexcodes, admin_code, count(*) AS count, sum(load)::BIGINT AS sum_load, round(avg(speed), 9) AS avg_speed
  FROM coded GROUP BY ALL`;
const FOUND = `SELECT hexcodes, admin_code, count, sum_load::BIGINT, round(avg_speed, 9)`;

test('by cell and province: row for row as DuckDB groups our codes, sorted by cell', async () => {
  const ran = await aggregate('-r', '5', '--count', '--sum', 'load', '--avg', 'speed', '-o', 'cells.csv');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(
    /^60,000 rows in .*: [\d,]+ groups of [\d,]+ points\n +[\d,]+ {2}in no province/,
  );
  expect(await differences(WANTED, `${FOUND} FROM ${ours('cells.csv')}`)).toBe(0);
  const keys = folder
    .read('cells.csv')
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',').slice(1, 3).join(' '));
  expect(keys).toEqual([...keys].sort());
  expect(keys.length).toBeGreaterThan(1000);
});

test('with groups on the disk the same bytes, and nothing is left there', async () => {
  const options = ['-r', '8', '--sum', 'load', '--time', 'ts', '-q'];
  const ran = await aggregate(...options, '--memory', '1', '-o', 'disk.csv', '--count');
  expect(ran.code).toBe(0);
  expect((await aggregate(...options, '-o', 'memory.csv', '--count')).code).toBe(0);
  expect(folder.read('disk.csv')).toBe(folder.read('memory.csv'));
  const loud = await aggregate('-r', '8', '--time', 'ts', '--memory', '1', '-o', 'loud.csv');
  expect(loud.stderr).toMatch(/ times the groups were written to the disk\n/);
  expect(readdirSync(temporary)).toEqual([]);
});

test('more groups than one chunk of a file on the disk, and sums beyond 2^53, which are exact', async () => {
  const file = folder.file('big.parquet');
  await query(`COPY (SELECT 21 + (i % 65000) / 1e5 AS lat, 105.8::DOUBLE AS lng, TIMESTAMP '2026-11-01 00:10:00' +
    INTERVAL (i % 40) MINUTE AS ts, CASE WHEN i % 2000 = 0 THEN 9007199254740992 + i ELSE i % 7 - 3 END AS n
    FROM range(130000) t(i)) TO '${file}' (FORMAT parquet)`);
  const options = ['--by', 'province', '--sum', 'n', '--count', '-q'];
  const { stdout } = await folder.run(['aggregate', 'big.parquet', ...options]);
  const [due] = await query(`SELECT count(*) AS count, sum(n)::VARCHAR AS sum FROM '${file}'`);
  const rows = stdout.trimEnd().split('\n').slice(1);
  const [count, sum] = [2, 3].map((at) => rows.reduce((all, row) => all + BigInt(row.split(',')[at]!), 0n));
  expect({ count: String(count), sum: String(sum) }).toEqual(due);
  const cells = 'aggregate big.parquet -r 15 --time ts --bucket 1m --sum n -q'.split(' ');
  await folder.run([...cells, '-o', 'disk.csv', '--memory', '1']);
  await folder.run([...cells, '-o', 'memory.csv']);
  expect(folder.bytes('disk.csv').equals(folder.bytes('memory.csv'))).toBe(true);
  expect(folder.read('memory.csv').split('\n').length).toBeGreaterThan(65_000);
  await query(`COPY (SELECT 21.0 AS lat, 105.8 AS lng, 4611686018427387904 AS n FROM range(2))
    TO '${folder.file('beyond.parquet')}' (FORMAT parquet)`);
  const beyond = await folder.run(['aggregate', 'beyond.parquet', ...options]);
  expect([beyond.code, beyond.stderr]).toEqual([3, expect.stringContaining('beyond 64 bits')]);
});

test('by province and day of the zone', async () => {
  await aggregate('--by', 'province', '--time', 'ts', '--bucket', '1d', '--count', '-o', 'days.csv');
  const wanted = `SELECT admin_code, date_trunc('day', ts) AS time, count(*) AS count FROM coded GROUP BY ALL`;
  const found = `SELECT admin_code, time::TIMESTAMPTZ, count FROM ${ours('days.csv', ", types = {'time': 'VARCHAR'}")}`;
  expect(await differences(wanted, found)).toBe(0);
  expect(folder.read('days.csv').split('\n')[1]).toMatch(/^AG,An Giang,2026-10-31T00:00:00\+07:00,\d+$/);
});

test('conditions', async () => {
  await aggregate('--by', 'province', '--where', 'speed > 45.5', '--where', 'load <= 0', '-o', 'where.csv');
  const wanted = `SELECT admin_code, count(*) AS count FROM coded WHERE speed > 45.5 AND load <= 0 GROUP BY ALL`;
  expect(await differences(wanted, `SELECT admin_code, count FROM ${ours('where.csv')}`)).toBe(0);
});

test('Parquet, Arrow and NDJSON out, Parquet and NDJSON in: the same rows', async () => {
  const options = ['-r', '5', '--count', '--sum', 'load', '--avg', 'speed'];
  await aggregate(...options, '-o', 'cells.parquet');
  const types = await query(`DESCRIBE SELECT * FROM read_parquet('${folder.file('cells.parquet')}')`);
  expect(types.map((row) => `${row.column_name} ${row.column_type}`)).toEqual([
    'hexcodes VARCHAR',
    'h3_cell VARCHAR',
    'admin_code VARCHAR',
    'count BIGINT',
    'sum_load BIGINT',
    'avg_speed DOUBLE',
  ]);
  expect(await differences(WANTED, `${FOUND} FROM read_parquet('${folder.file('cells.parquet')}')`)).toBe(0);
  await query(`COPY coded TO '${folder.file('in.parquet')}' (FORMAT parquet)`);
  await query(
    `COPY (SELECT lat, lng, load, speed FROM coded) TO '${folder.file('in.ndjson')}' (FORMAT json)`,
  );
  for (const name of ['in.parquet', 'in.ndjson']) {
    expect(
      (await folder.run(['aggregate', name, ...options, '--to', 'ndjson', '-o', 'cells.ndjson'])).code,
    ).toBe(0);
    expect(await differences(WANTED, `${FOUND} FROM read_json('${folder.file('cells.ndjson')}')`), name).toBe(
      0,
    );
  }
});

test('sums of doubles and decimals are doubles even if all values are whole; sums of integers are not', async () => {
  await query(`COPY (SELECT 21.0::DOUBLE AS lat, 105.8::DOUBLE AS lng, 5::DOUBLE AS double, 5::FLOAT AS float, 5.00 AS decimal,
    5 AS long, 5::DECIMAL(9, 0) AS whole, '5' AS text) TO '${folder.file('whole.parquet')}' (FORMAT parquet)`);
  const sums = ['--sum', 'double,float,decimal,long,whole,text', '-q'];
  await folder.run(['encode', 'whole.parquet', '-o', 'whole.arrow', '-q']);
  for (const file of ['whole.parquet', 'whole.arrow']) {
    await folder.run(['aggregate', file, ...sums, '-o', 'sums.parquet']);
    const types = await query(`DESCRIBE SELECT COLUMNS('sum_.*') FROM '${folder.file('sums.parquet')}'`);
    const [doubles, integers] = [Array(3).fill('DOUBLE'), Array(3).fill('BIGINT')];
    expect(types.map((row) => row.column_type)).toEqual([...doubles, ...integers]);
  }
});

test('GeoJSON has the hexagons of the cells, or the areas of provinces', async () => {
  await aggregate('-r', '4', '-o', 'cells.geojson');
  const { features } = JSON.parse(folder.read('cells.geojson'));
  for (const { geometry, properties } of features) {
    const ring = cellToBoundary(properties.h3_cell, true);
    expect(geometry).toEqual({ type: 'Polygon', coordinates: [ring] });
    expect(properties.count).toBeGreaterThan(0);
  }
  const { stdout } = await aggregate('--by', 'province', '--to', 'geojson', '-q');
  const areas = JSON.parse(stdout).features;
  const [provinces] = await query('SELECT count(DISTINCT admin_code) AS n FROM coded');
  expect(areas.length).toBe(Number(provinces!.n));
  expect(areas.every((each: { geometry: { type: string } }) => each.geometry.type === 'MultiPolygon')).toBe(
    true,
  );
});

test('by cell alone a cell of two provinces is one row', async () => {
  const { stdout } = await aggregate('--by', 'cell', '-r', '2', '-q');
  const rows = stdout.trimEnd().split('\n').slice(1);
  expect(stdout).toMatch(/^h3_cell,count\n/);
  expect(new Set(rows.map((row) => row.split(',')[0])).size).toBe(rows.length);
});

test('values that are not numbers are counted, positions and times that are none too', async () => {
  folder.write(
    'odd.csv',
    'lat,lng,speed,ts\n21,105.8,5,2026-11-01\n21,105.8,fast,2026-11-01\nx,1,2,2026-11-01\n21,105.8,7,soon\n0,0,1,1\n',
  );
  const ran = await folder.run(
    'aggregate odd.csv --by province --sum speed,speed --count --time ts --bucket 1d',
  );
  expect(ran.stdout).toBe(
    'admin_code,province,time,count,sum_speed\nHN,Hà Nội,2026-11-01T00:00:00+07:00,2,5\n',
  );
  for (const words of [
    '1  in no province',
    '1  without a position',
    '1  without a time',
    '1  values of speed that are not numbers',
  ])
    expect(ran.stderr).toContain(words);
});

test('wrong options and columns, and a file in which nothing is grouped', async () => {
  expect((await aggregate('-o', 'points.csv')).code).toBe(2);
  expect((await aggregate('-r', '16')).code).toBe(2);
  expect((await aggregate('--bucket', '1d')).code).toBe(2);
  folder.write('abroad.csv', 'lat,lng\n48.8,2.3\n');
  const ran = await folder.run('aggregate abroad.csv -o abroad.out.csv');
  expect([ran.code, folder.read('abroad.out.csv')]).toEqual([1, 'hexcodes,h3_cell,admin_code,count\n']);
});
