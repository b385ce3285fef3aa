// Parquet and Arrow of the command read by DuckDB, an independent reader: rows, types and values are the same.
import { createRequire } from 'node:module';
import { createDuckDB, NODE_RUNTIME, VoidLogger } from '@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
let library: Hexcodes;
let query: (sql: string) => Promise<Record<string, unknown>[]>;

beforeAll(async () => {
  library = await Hexcodes.load();
  writePointsCsv(folder.file('in.csv'), 150_000, 11);
  const connection = await (await DuckDBInstance.create()).connect();
  query = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
});

test('Parquet: 150,000 rows in row groups, types and values', async () => {
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
  // CSV to CSV is converted by bytes, CSV to Parquet by columns; DuckDB compares both.
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

describe('Arrow', () => {
  let connection: ReturnType<Awaited<ReturnType<typeof createDuckDB>>['connect']>;
  const dist = (name: string): string =>
    createRequire(import.meta.url).resolve(`@duckdb/duckdb-wasm/dist/${name}`);

  beforeAll(async () => {
    // DuckDB for Node would have to download its reader of Arrow IPC; its WebAssembly build contains one.
    const bundle = (name: string) => ({ mainModule: dist(name), mainWorker: '' });
    const bundles = { mvp: bundle('duckdb-mvp.wasm'), eh: bundle('duckdb-eh.wasm') };
    const database = await createDuckDB(bundles, new VoidLogger(), NODE_RUNTIME);
    await database.instantiate();
    connection = database.connect();
  });

  const rowsFrom = (sql: string): Record<string, unknown>[] =>
    connection
      .query(sql)
      .toArray()
      .map((row) => row.toJSON());

  test('a stream of 150,000 rows: count, types, values of every row', async () => {
    expect((await folder.run(['encode', 'in.csv', '-o', 'out.arrows', '-q'])).code).toBe(0);
    connection.insertArrowFromIPCStream(new Uint8Array(folder.bytes('out.arrows')), {
      name: 'points',
      create: true,
    });
    expect(rowsFrom('DESCRIBE points').map((row) => row.column_type)).toEqual([
      'VARCHAR',
      'DOUBLE',
      'DOUBLE',
      'VARCHAR',
      'VARCHAR',
      'INTEGER',
      'VARCHAR',
      'VARCHAR',
    ]);
    // One digest of all rows in their order, from the Arrow file and from the Parquet file.
    const digest = (table: string): string => `SELECT count(*)::INTEGER AS rows,
      md5(string_agg(concat_ws('|', id, lat, lng, speed, coalesce(hexcodes, '-'), resolution, coalesce(admin_code, '-'), status), ';' ORDER BY CAST(substr(id, 2) AS INTEGER))) AS digest
      FROM ${table}`;
    const [fromArrow] = rowsFrom(digest('points'));
    const [fromParquet] = await query(digest(`read_parquet('${folder.file('out.parquet')}')`));
    expect(fromArrow).toMatchObject({ rows: 150_000 });
    expect(fromArrow?.digest).toBe(fromParquet?.digest);
  });

  test('typed columns: timestamps to the microsecond, decimals, dates, nulls', async () => {
    expect((await folder.run(['encode', 'typed.parquet', '-o', 'typed.arrows', '-q'])).code).toBe(0);
    connection.insertArrowFromIPCStream(new Uint8Array(folder.bytes('typed.arrows')), {
      name: 'typed',
      create: true,
    });
    const digest = (table: string): string => `SELECT count(*)::INTEGER AS rows,
      md5(string_agg(concat_ws('|', big, small, flag, ratio, price, day, local, epoch_us(at_utc), coalesce(name, '-'), lat, lng), ';' ORDER BY big)) AS digest
      FROM ${table}`;
    const [fromArrow] = rowsFrom(digest('typed'));
    const [fromParquet] = await query(digest(`read_parquet('${folder.file('typed.parquet')}')`));
    expect(fromArrow).toMatchObject({ rows: 5000 });
    expect(fromArrow?.digest).toBe(fromParquet?.digest);
    const types = Object.fromEntries(
      rowsFrom('DESCRIBE typed').map((row) => [row.column_name, row.column_type]),
    );
    expect(types).toMatchObject({
      big: 'BIGINT',
      small: 'INTEGER',
      flag: 'BOOLEAN',
      ratio: 'DOUBLE',
      price: 'DECIMAL(18,3)',
      day: 'DATE',
      local: 'TIMESTAMP',
      at_utc: 'TIMESTAMP WITH TIME ZONE',
      raw: 'BLOB',
    });
  });

  test('a file with a footer, read by Apache Arrow and by the command', async () => {
    expect((await folder.run(['encode', 'in.csv', '-o', 'out.arrow', '-q'])).code).toBe(0);
    const table = tableFromIPC(folder.bytes('out.arrow'));
    expect(table.numRows).toBe(150_000);
    expect(table.batches.length).toBeGreaterThan(1);
    const lines = folder.read('out.csv').split('\n').slice(1);
    const codes = table.getChild('hexcodes');
    for (let row = 0; row < 150_000; row += 97) expect(codes?.get(row) ?? '').toBe(lines[row]?.split(',')[4]);
    const back = await folder.run([
      'encode',
      'out.arrow',
      '--keep',
      'id,lat,lng,speed',
      '--to',
      'ndjson',
      '-q',
    ]);
    const direct = await folder.run(['encode', 'in.csv', '--to', 'ndjson', '-q']);
    expect(back.stdout === direct.stdout).toBe(true);
  });

  test('a file of Apache Arrow for JavaScript, whose schema stands in the footer only', async () => {
    const positions = tableFromArrays({
      id: ['một', 'hai', 'một'],
      lat: [21.0306, 10.7799, 48.8584],
      lng: [105.8489, 106.7, 2.2945],
    });
    folder.write('js.arrow', tableToIPC(positions, 'file'));
    const ran = await folder.run(['encode', 'js.arrow', '--to', 'csv', '-q']);
    expect([ran.stderr, ran.stdout]).toEqual([
      '',
      `id,lat,lng,hexcodes,resolution,admin_code,status
một,21.0306,105.8489,HN-6GHP4-899JC,13,HN,OK
hai,10.7799,106.7,HCM-GXC6M-P9845,13,HCM,OK
một,48.8584,2.2945,,13,,NOT_FOUND
`,
    ]);
    folder.write('none.arrow', tableToIPC(positions.slice(0, 0), 'file'));
    expect((await folder.run(['encode', 'none.arrow', '--to', 'csv', '-q'])).code).toBe(0);
    const piped = await folder.run(['encode', '--to', 'csv', '-q'], { stdin: folder.bytes('js.arrow') });
    expect([piped.code, piped.stderr]).toEqual([3, expect.stringContaining('Name it as a file')]);
    folder.write('cut.arrow', folder.bytes('js.arrow').subarray(0, -20));
    const cut = await folder.run(['encode', 'cut.arrow', '--to', 'csv', '-q']);
    expect([cut.code, cut.stdout]).toEqual([3, '']);
  });
});
