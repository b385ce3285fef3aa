// Parquet to Parquet by column chunks gives the rows, types and counts that the conversion value by value gives, which
// a pipe is converted by; DuckDB writes and compares.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetMetadata } from 'hyparquet';
import { beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { converted } from '../../../support/files/pipelines.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
let query: (sql: string) => Promise<Record<string, unknown>[]>;

beforeAll(async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  query = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
});

const ROWS = 9000;
const LAT = 'CASE WHEN i % 5 = 0 THEN 10.78 + i / 1e6 WHEN i % 97 = 0 THEN 105.8 ELSE 21.03 - i / 1e5 END';
const LNG =
  'CASE WHEN i % 5 = 0 THEN 106.68 WHEN i % 97 = 0 THEN 21.0 WHEN i % 89 = 0 THEN 1e300 ELSE 105.8 + i / 1e5 END';

const TABLES: readonly (readonly [name: string, columns: string, options: string])[] = [
  ['doubles', `i AS id, ${LAT} AS lat, ${LNG} AS lng, i % 120 AS speed`, ''],
  ['no failed rows', 'i AS id, 21.03 + i / 1e6 AS lat, 105.8::DOUBLE AS lng', 'ROW_GROUP_SIZE 2048'],
  ['all rows failed', 'i AS id, 51.5::DOUBLE AS lat, 0.0::DOUBLE AS lng', 'ROW_GROUP_SIZE 2048'],
  [
    'nulls',
    `CASE WHEN i % 3 > 0 THEN i END AS id, CASE WHEN i % 7 > 0 THEN ${LAT} END AS lat, ${LNG} AS lng`,
    'ROW_GROUP_SIZE 4096',
  ],
  [
    'a group of nulls',
    `i AS id, CASE WHEN i > 4096 THEN ${LAT} END AS lat, CASE WHEN i % 2 = 0 THEN ${LNG} END AS lng`,
    'ROW_GROUP_SIZE 2048',
  ],
  [
    'infinities',
    `i AS id, CASE WHEN i % 4 = 0 THEN 'NaN'::DOUBLE WHEN i % 4 = 1 THEN '-Infinity'::DOUBLE ELSE ${LAT} END AS lat, ${LNG} AS lng`,
    '',
  ],
  [
    'floats',
    `i AS id, (${LAT})::FLOAT AS latitude, (21 + i % 10)::FLOAT AS x, least(1e30, ${LNG})::FLOAT AS longitude`,
    '',
  ],
  ['few values', 'i AS id, 21 + (i % 9) / 10 AS lat, 105.5 + (i % 7) / 10 AS lng', "COMPRESSION 'zstd'"],
  ['gzip', `i AS id, ${LAT} AS lat, ${LNG} AS lng`, "COMPRESSION 'gzip', ROW_GROUP_SIZE 2048"],
  ['uncompressed', `i AS id, ${LAT} AS lat, ${LNG} AS lng`, "COMPRESSION 'uncompressed'"],
  [
    'version 2',
    `i AS id, ${LAT} AS lat, ${LNG} AS lng, 'tên ' || i % 50 AS name`,
    'PARQUET_VERSION V2, ROW_GROUP_SIZE 2048',
  ],
  [
    'types',
    `i % 2 = 0 AS flag, DATE '2026-01-01' + i::INTEGER AS day, TIMESTAMP '2026-01-01 00:00:00.1' + INTERVAL (i) SECOND AS t, uuid() AS u, 'x'::BLOB AS raw, (i / 9)::DECIMAL(18,3) AS price, ${LAT} AS lat, ${LNG} AS lng`,
    '',
  ],
];

test.each(TABLES)('%s', async (name, columns, options) => {
  const path = (end: string): string => folder.file(`${name.replaceAll(' ', '-')}.${end}`);
  const source = path('parquet');
  await query(
    `COPY (SELECT ${columns} FROM range(${ROWS}) t(i)) TO '${source}' (FORMAT parquet${options === '' ? '' : `, ${options}`})`,
  );
  for (const [i, more] of [[], ['--keep', 'id'], ['--prefix', 'hx_', '-r', '9']].entries()) {
    if (i > 0 && name !== 'nulls') continue;
    const [fast, slow] = [path(`fast${i}.parquet`), path(`slow${i}.parquet`)];
    const chunks = await folder.run(['encode', source, '-o', fast, '--verbose', ...more]);
    expect(chunks.stderr).toContain('Converted by column chunks');
    const values = await folder.run(['encode', '--from', 'parquet', '-o', slow, ...more], {
      stdin: readFileSync(source),
    });
    expect(values.code).toBe(chunks.code);
    expect(countsOf(chunks.stderr)).toEqual(
      countsOf(values.stderr).map((line) => line.replaceAll('(stdin)', source)),
    );
    const types = (file: string) =>
      query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${file}')`);
    expect(await types(fast)).toEqual(await types(slow));
    for (const [a, b] of [
      [fast, slow],
      [slow, fast],
    ])
      expect(
        await query(`SELECT * FROM (SELECT * FROM '${a}' EXCEPT ALL SELECT * FROM '${b}') LIMIT 3`),
        `${a} without ${b}`,
      ).toEqual([]);
    // In the same order.
    expect(
      await query(
        `SELECT count(*) AS n FROM (SELECT * FROM '${fast}') a POSITIONAL JOIN (SELECT hexcodes FROM (SELECT * FROM '${slow}') t(${(await types(slow)).map(({ column_name: column }) => (String(column).endsWith('hexcodes') ? 'hexcodes' : `"${String(column)}"`)).join(', ')})) b WHERE a.${i === 2 ? 'hx_' : ''}hexcodes IS DISTINCT FROM b.hexcodes`,
      ),
    ).toEqual([{ n: '0' }]);
  }
});

/** The lines of a summary without the time that the run took. */
function countsOf(stderr: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => !line.startsWith('Converted') && !line.includes('ETA'))
    .map((line) => line.replace(/ rows in [\d.]+ m?s/, ' rows'));
}

test('row groups and statistics of kept columns stay; ours are right', async () => {
  const source = folder.file('groups.parquet');
  const target = folder.file('groups-out.parquet');
  await query(
    `COPY (SELECT i AS id, 21.03 + i / 1e6 AS lat, 105.8::DOUBLE AS lng FROM range(6000) t(i)) TO '${source}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
  );
  await folder.run(['encode', source, '-o', target, '-q']);
  const metadata = (path: string) => parquetMetadata(new Uint8Array(readFileSync(path)).buffer);
  const [before, after] = [metadata(source), metadata(target)];
  expect(after.row_groups.map(({ num_rows }) => num_rows)).toEqual(
    before.row_groups.map(({ num_rows }) => num_rows),
  );
  for (const [i, group] of before.row_groups.entries())
    for (const [c, { meta_data: meta }] of group.columns.entries())
      expect(after.row_groups[i]!.columns[c]!.meta_data!.statistics).toEqual(meta!.statistics);
  const [bounds] = await query(
    `SELECT min(hexcodes) AS least, max(hexcodes) AS most FROM (SELECT * FROM '${target}' LIMIT 2048)`,
  );
  const codes = after.row_groups[0]!.columns[3]!.meta_data!.statistics;
  expect({ least: codes!.min_value, most: codes!.max_value, nulls: codes!.null_count }).toEqual({
    ...bounds,
    nulls: 0n,
  });
});

test('a resolution a row: converted by rows, value by value where it is left out, and it says so', async () => {
  const source = folder.file('other.parquet');
  await query(
    `COPY (SELECT 21.03 + i / 1e6 AS lat, 105.8::DOUBLE AS lng, 9 AS resolution FROM range(10) t(i)) TO '${source}' (FORMAT parquet)`,
  );
  for (const [options, said] of [
    [[], 'Converted by rows of bytes: '],
    [
      ['--drop', 'resolution'],
      'Converted value by value: rows have resolutions of their own, which are left out',
    ],
  ] as const) {
    const target = folder.file(`other-${options.length}.parquet`);
    const { stderr, code } = await folder.run(['encode', source, '-o', target, '--verbose', ...options]);
    expect([code, stderr]).toEqual([0, expect.stringContaining(said)]);
    expect(await query(`SELECT DISTINCT resolution FROM '${target}'`)).toEqual([{ resolution: 9 }]);
  }
});

const NESTED: readonly (readonly [name: string, column: string])[] = [
  ['a struct', "CASE WHEN i % 7 > 0 THEN {'a': i, 'b ô': CASE WHEN i % 3 > 0 THEN 'x' || i END} END"],
  ['a list', 'CASE WHEN i % 7 > 0 THEN range(i % 4) END'],
  ['lists of lists', '[range(i % 3), NULL, []]'],
  ['a map', "CASE WHEN i % 5 > 0 THEN MAP {'a': i, 'b': NULL} END"],
  ['structs in lists', "[{'day': DATE '2026-01-01' + (i % 90)::INTEGER, 'of': [i / 9]}]"],
  [
    'lists in structs',
    "{'price': (i / 9)::DECIMAL(18, 3), 'of': [{'t': TIMESTAMPTZ '2026-01-01 00:00:00Z'}]}",
  ],
];

test.each(NESTED)('%s stays one', async (name, column) => {
  const path = (end: string): string => folder.file(`${name.replaceAll(' ', '-')}-${end}.parquet`);
  for (const [i, options] of ["COMPRESSION 'zstd'", 'PARQUET_VERSION V2, ROW_GROUP_SIZE 2048'].entries()) {
    const [source, target] = [path(`in${i}`), path(`out${i}`)];
    const columns = `i AS id, ${column} AS "nested.one", ${LAT} AS lat, ${LNG} AS lng`;
    await query(
      `COPY (SELECT ${columns} FROM range(${ROWS}) t(i)) TO '${source}' (FORMAT parquet, ${options})`,
    );
    const { stderr } = await folder.run(['encode', source, '-o', target, '--drop', 'lat', '--verbose']);
    expect(stderr).toContain('Converted by column chunks');
    const same = 'SELECT id, "nested.one", lng FROM';
    const types = (file: string) =>
      query(`SELECT column_name, column_type FROM (DESCRIBE ${same} '${file}')`);
    expect(await types(target)).toEqual(await types(source));
    expect(await query(`${same} '${source}' EXCEPT ALL ${same} '${target}'`)).toEqual([]);
    expect(
      await query(
        `SELECT count(*) AS n FROM '${source}' a POSITIONAL JOIN '${target}' b WHERE a.id <> b.id OR (b.hexcodes IS NULL) <> (b.status <> 'OK')`,
      ),
    ).toEqual([{ n: '0' }]);
  }
});

test('pages of a list that do not fit their row group are refused', async () => {
  const source = folder.file('list.parquet');
  await query(
    `COPY (SELECT 21.03::DOUBLE AS lat, 105.8::DOUBLE AS lng, range(i % 4) AS list FROM range(999) t(i)) TO '${source}' (FORMAT parquet, PARQUET_VERSION V2)`,
  );
  const bytes = readFileSync(source);
  const { row_groups: groups } = parquetMetadata(new Uint8Array(bytes).buffer);
  const meta = groups[0]!.columns[2]!.meta_data!;
  const hexcodes = await Hexcodes.load();
  const start = Number(meta.dictionary_page_offset ?? meta.data_page_offset);
  const faults: string[] = [];
  // The head of its first page, bit by bit.
  for (let bit = 0; bit < 8 * 12; bit++) {
    const damaged = Buffer.from(bytes);
    damaged[start + (bit >> 3)]! ^= 1 << (bit & 7);
    const path = folder.file(folder.write('damaged-list.parquet', damaged));
    const { fault } = await converted(hexcodes, [path], folder.file('damaged-out.parquet'), {});
    if (fault !== undefined) faults.push(fault);
  }
  expect(faults.length).toBeGreaterThan(20);
  for (const fault of faults)
    expect(fault).toMatch(/damaged-list\.parquet, row 1, column list\..*: cannot be read from here on/);
});

/** A row whose lat and lng are repeated doubles, with levels before their values. */
const REPEATED =
  'UEFSMRUAFSgVKCwVAhUAFQYVBgAAAgAAAAIAAgAAAAIB8x/Sb18HNUAVABUoFSgsFQIVABUGFQYAAAIAAAACAAIAAAACAcP1KFyPdlpAFQAVCBUILBUCFQAVBhUGAAAAAAAAFQQZTEgEcm9vdBUGABUKJQQYA2xhdAAVCiUEGANsbmcAFQIlABgCaWQAFgIZHBk8JggcFQoZJQAGGRgDbGF0FQAWAhZKFkomCAAAJlIcFQoZJQAGGRgDbG5nFQAWAhZKFkomUgAAJpwBHBUCGSUABhkYAmlkFQAWAhYqFiomnAEAABbGARYCAACJAAAAUEFSMQ==';

test('repeated doubles are lists, not coordinates', async () => {
  folder.write('repeated.parquet', Buffer.from(REPEATED, 'base64'));
  const { stderr, code } = await folder.run(['encode', 'repeated.parquet', '-o', 'lists.parquet', '-q']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('lat "[21.0288]", lng "[105.8525]" (INVALID')]);
});

test('--errors stop: nothing is written, and the row is named', async () => {
  const source = folder.file('stop.parquet');
  await query(
    `COPY (SELECT (CASE WHEN i = 5000 THEN 0.5 ELSE 21.03 END)::DOUBLE AS lat, 105.8::DOUBLE AS lng FROM range(9000) t(i)) TO '${source}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
  );
  const { stderr, code } = await folder.run([
    'encode',
    source,
    '-o',
    folder.file('stop-out.parquet'),
    '--errors',
    'stop',
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('row 5001: NOT_FOUND, lat "0.5", lng "105.8"');
});
