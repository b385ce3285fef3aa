// Parquet and Arrow by an independent reader, DuckDB: rows, types, order and statistics, by each pipeline.

import { mkdirSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  Field,
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimeSecond,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
} from 'apache-arrow';
import { parquetMetadata } from 'hyparquet';
import { beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { broughtFile } from '../../../support/brought-files.js';
import { CliFolder } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { sharedCommand, sharedOf } from '../../../support/shared.js';

const folder = sharedCommand();

let query: (sql: string) => Promise<Record<string, unknown>[]>;

describe('Arrow', () => {
  test('a file with a footer, read by Apache Arrow and by the command', async () => {
    writePointsCsv(folder.file('in.csv'), 150_000, 11);
    for (const name of ['out.csv', 'out.arrow'])
      expect((await folder.run(['encode', 'in.csv', '-o', name, '-q'])).code).toBe(0);
    const table = tableFromIPC(folder.bytes('out.arrow'));
    expect(table.numRows).toBe(150_000);
    expect(table.batches.length).toBeGreaterThan(1);
    const lines = folder.read('out.csv').split('\n').slice(1);
    const codes = table.getChild('hexcodes');
    for (let row = 0; row < 150_000; row += 97) expect(codes?.get(row) ?? '').toBe(lines[row]?.split(',')[4]);
    const back = await folder.run('encode out.arrow --keep id,lat,lng,speed --to ndjson -q');
    const direct = await folder.run('encode in.csv --to ndjson -q');
    expect(back.stdout === direct.stdout).toBe(true);
  });

  test('a file of Apache Arrow for JavaScript, whose schema is in the footer only', async () => {
    const positions = tableFromArrays({
      id: ['một', 'hai', 'một'],
      lat: [21.0306, 10.7799, 48.8584],
      lng: [105.8489, 106.7, 2.2945],
    });
    folder.write('js.arrow', tableToIPC(positions, 'file'));
    const ran = await folder.run('encode js.arrow --to csv -q');
    expect([ran.stderr, ran.stdout]).toEqual([
      '',
      `id,lat,lng,hexcodes,resolution,admin_code,status
một,21.0306,105.8489,HN-6GHP4-899JC,13,HN,OK
hai,10.7799,106.7,HCM-GXC6M-P9845,13,HCM,OK
một,48.8584,2.2945,,13,,NOT_FOUND
`,
    ]);
    folder.write('none.arrow', tableToIPC(positions.slice(0, 0), 'file'));
    expect((await folder.run('encode none.arrow --to csv -q')).code).toBe(0);
    const piped = await folder.run('encode --to csv -q', { stdin: folder.bytes('js.arrow') });
    expect([piped.code, piped.stderr]).toEqual([3, expect.stringContaining('Name it as a file')]);
    folder.write('cut.arrow', folder.bytes('js.arrow').subarray(0, -20));
    const cut = await folder.run('encode cut.arrow --to csv -q');
    expect([cut.code, cut.stdout]).toEqual([3, '']);
  });
});

describe('sorted', () => {
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
    const sorted = parquetMetadata(new Uint8Array(folder.bytes('sorted.parquet')).buffer).row_groups;
    const byCode = [{ column_idx: 4, descending: false, nulls_first: false }];
    expect(sorted.map(({ sorting_columns: columns }) => columns)).toEqual([byCode, byCode]);
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
    await encoded(
      'typed.parquet',
      '--sort',
      'cell',
      '--memory',
      '1',
      '--former',
      '-o',
      'typed.sorted.parquet',
    );
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
    const namesIn = async (file: string) =>
      (await query(`SELECT name FROM '${file}'`)).map(({ name }) => name);
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
    const { stdout } = await folder.run('decode good.parquet --keep name --to csv -q');
    expect(stdout).toMatch(/^name,lat,lng,resolution,status\nb,10\.77\d+,106\.\d+,13,OK\na,21\.02/);
  });

  test('--sort into CSV, and of decoded rows, is refused, and nothing is written', async () => {
    expect((await folder.run('encode in.csv --sort cell -o x.csv')).code).toBe(2);
    expect((await folder.run('decode good.parquet --sort cell -o x.parquet')).code).toBe(2);
    expect(folder.names().filter((name) => name.startsWith('x.'))).toEqual([]);
  });

  test('a folder for the runs that cannot be written is named', async () => {
    const env = { TMPDIR: folder.file('nowhere') };
    const args = ['encode', 'in.csv', '--sort', 'cell', '--memory', '1', '-q', '-o', 'y.parquet'];
    expect((await folder.run(args, { env })).code).toBe(4);
    expect(folder.names()).not.toContain('y.parquet');
  });
});

describe('types of columns', () => {
  const db = sharedOf(async () => (await DuckDBInstance.create(':memory:')).connect());

  const SCALARS = `TIMESTAMPTZ '2026-01-01 00:00:00.123456+07' AS tz, TIMESTAMP_NS '2026-01-01 00:00:00.123456789' AS ns,
  TIME '01:02:03.000004' AS t, uuid() AS u, 1.5::FLOAT AS f, 1.50::DECIMAL(18,2) AS price, DATE '2026-01-01' AS day,
  18446744073709551615::UBIGINT AS big, true AS flag, 'x'::BLOB AS raw, (i - 25)::TINYINT AS i8, (5 * i)::UTINYINT AS u8,
  (i - 25)::SMALLINT AS i16, (65535 - i)::USMALLINT AS u16, (4294967295 - i)::UINTEGER AS u32,
  (i - 25.25)::DECIMAL(9,2) AS cost, (i - 25)::DECIMAL(4,1) AS less`;

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
    ['with more of our columns', ['--certainty', '--former'], /by rows of bytes/],
    ['value by value', ['--errors', 'failed.csv'], /value by value/],
  ])('stay what they are: %s', async (_, options, said) => {
    const name = 'in.parquet';
    await made(name, SCALARS);
    const ran = await folder.run(['encode', name, '-o', 'out.parquet', '--verbose', ...options]);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(said)]);
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
    // Whole row groups are passed over where their bounds say so.
    for (const over of ['u32 >= 4294967295', 'i8 < -24', 'u8 > 244', 'cost < -25', 'less > 23.5'])
      expect([over, await rows(`SELECT count(*)::INT FROM ${output} WHERE ${over}`)]).toEqual([over, [[1]]]);
  });

  test.each([
    ['by column chunks', [], /by column chunks/],
    ['sorted', ['--sort', 'cell'], /by rows of bytes/],
    ['by rows', ['--errors', 'skip'], /by rows of bytes/],
    ['with more of our columns', ['--certainty', '--former'], /by rows of bytes/],
    ['value by value', ['--errors', 'failed.csv'], /value by value/],
  ])('decimals that a file stores as few bytes stay so: %s', async (_, options, said) => {
    const names = ['decimal128(9,2)', 'decimal128(38,10)', 'uint32', 'lat', 'lng'];
    const keep = names.flatMap((name) => ['--keep', `"${name}"`]);
    const input = resolve('test/fixtures/types/types.parquet');
    // Without its nested columns, by which no chunk of the file can be copied.
    const flat = await folder.run(['encode', input, ...keep, '--prefix', 'first_', '-o', 'flat.parquet']);
    expect([flat.code, flat.stderr]).toEqual([0, expect.anything()]);
    const ran = await folder.run(['encode', 'flat.parquet', '-o', 'few.parquet', '--verbose', ...options]);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(said)]);
    const stored = (path: string) =>
      rows(`SELECT name, type, type_length, scale, precision FROM parquet_schema('${path}')
      WHERE name LIKE 'decimal%' AND name NOT LIKE '%256%' ORDER BY name`);
    expect(await stored(folder.file('few.parquet'))).toEqual(await stored(input));
    const values = (path: string) =>
      rows(`SELECT "decimal128(9,2)", "decimal128(38,10)", "uint32" FROM '${path}' ORDER BY ALL`);
    expect(await values(folder.file('few.parquet'))).toEqual(await values(input));
  });

  /** The key values in the footer of a file of Parquet. */
  async function saidIn(name: string): Promise<Record<string, string>> {
    const path = folder.file(name);
    const said = await rows(`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${path}')`);
    return Object.fromEntries(said) as Record<string, string>;
  }

  const PIPELINES = [
    ['as it is', []],
    ['sorted', ['--sort', 'cell']],
    ['by rows', ['--errors', 'skip']],
    ['with more of our columns', ['--certainty', '--former']],
    ['value by value', ['--errors', 'failed.csv']],
  ] as const;

  test.each(PIPELINES)('the zone in which people read instants stays: %s', async (_, options) => {
    const zoned = 'timestamp[us, Asia/Ho_Chi_Minh]';
    const quoted = ['--keep', `"${zoned}"`, '--keep', '"timestamp[us, UTC]",lat,lng'];
    const input = resolve('test/fixtures/types/types.arrows');
    const first = await folder.run(['encode', input, ...quoted, '--prefix', 'a_', '-o', 'zone.parquet']);
    expect([first.code, first.stderr]).toEqual([0, expect.anything()]);
    const ran = await folder.run(['encode', 'zone.parquet', '-o', 'zoned.parquet', '-q', ...options]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    // Arrow's readers take the fields of this schema by their places.
    const schema = Buffer.from((await saidIn('zoned.parquet'))['ARROW:schema'] ?? '', 'base64');
    const { fields } = tableFromIPC(Uint8Array.from(schema)).schema;
    const columns = await rows(`DESCRIBE SELECT * FROM '${folder.file('zoned.parquet')}'`);
    expect(fields.map(({ name }) => name)).toEqual(columns.map(([name]) => name));
    expect(String(fields.find(({ name }) => name === zoned)?.type)).toContain('Asia/Ho_Chi_Minh');
    if (options[0] === '--sort') return;
    const arrow = await folder.run(['encode', 'zone.parquet', '-o', 'zoned.arrows', '-q', ...options]);
    expect(arrow).toMatchObject({ code: 0, stderr: '' });
    const inArrow = tableFromIPC(folder.bytes('zoned.arrows')).getChild(zoned);
    expect(String(inArrow?.type)).toContain('Asia/Ho_Chi_Minh');
  });

  test('instants of UTC need no schema of Arrow', async () => {
    await made('utc.parquet', `TIMESTAMPTZ '2026-01-01 00:00:00+07' AS t`);
    expect(await folder.run('encode utc.parquet -o utc-out.parquet -q')).toMatchObject({
      code: 0,
    });
    expect(await saidIn('utc-out.parquet')).toEqual({});
  });

  test.each(PIPELINES)('a file of GeoParquet stays one: %s', async (_, options) => {
    const input = 'geopandas.parquet';
    folder.write(input, broughtFile(input));
    const ran = await folder.run(['encode', input, '-o', 'geo.parquet', '-q', ...options]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const said = JSON.parse((await saidIn('geo.parquet'))['geo'] ?? 'null');
    expect(said).toMatchObject({ primary_column: 'geometry', columns: { geometry: { encoding: 'WKB' } } });
    expect(said.columns.geometry).not.toHaveProperty('bbox');
    const dropped = ['encode', input, '--drop', 'geometry', '-o', 'no-geo.parquet', '-q', ...options];
    expect(await folder.run(dropped)).toMatchObject({ code: 0, stderr: '' });
    expect(await saidIn('no-geo.parquet')).toEqual({});
  });

  test('files of one schema in other zones are converted together, and of other types not', async () => {
    const at = `TIMESTAMPTZ '2026-01-01 00:00:00+07' AS t`;
    await made('one.parquet', `${at}, 1::TINYINT AS n`);
    await made('two.parquet', `${at}, 300::SMALLINT AS n`);
    const { code, stderr } = await folder.run('encode one.parquet two.parquet -o both.parquet');
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('two.parquet, column n: another type than in one.parquet'),
    ]);
    const zoned = resolve('test/fixtures/types/types.arrows');
    const keep = ['--keep', '"timestamp[us, Asia/Ho_Chi_Minh]",lat,lng'];
    const zone = await folder.run(['encode', zoned, ...keep, '--prefix', 'a_', '-o', 'vn.parquet', '-q']);
    expect(zone).toMatchObject({ code: 0, stderr: '' });
    await db.run(
      `COPY (SELECT * FROM '${folder.file('vn.parquet')}') TO '${folder.file('plain.parquet')}' (FORMAT parquet)`,
    );
    const together = await folder.run('encode vn.parquet plain.parquet -o all.parquet');
    expect([together.code, together.stderr]).toEqual([0, expect.stringContaining('6 rows')]);
  });
});

test('lists and maps of older writers have the values that pyarrow reads', async () => {
  const input = resolve('test/fixtures/types/old-lists.parquet');
  const none = { bare: [], barer: [] };
  const empty = {
    one: [],
    two: [],
    tup: [],
    ints: [],
    lists: [],
    maps: [],
    oldmap: {},
    oldmap2: {},
    three: [],
  };
  const expected = [
    { ...Object.fromEntries(Object.keys(empty).map((name) => [name, null])), ...none, rints: [] },
    { ...empty, ...none, rints: [0] },
    {
      one: [{ x: 1 }],
      two: [{ x: 1, y: 't1' }],
      tup: [{ x: 1 }],
      ints: [1],
      rints: [0, 1],
      lists: [[]],
      maps: [{}],
      bare: [1],
      barer: [{ x: null, z: [] }],
      oldmap: { k1: 1 },
      oldmap2: { k1: 1 },
      three: [null],
    },
    {
      one: [{ x: 1 }, { x: null }],
      two: [
        { x: 1, y: 't1' },
        { x: null, y: null },
      ],
      tup: [{ x: 1 }, { x: 2 }],
      ints: [1, 2],
      rints: [0, 1, 2],
      lists: [[], [1]],
      maps: [{}, { k: 5 }],
      bare: [1, 2],
      barer: [
        { x: null, z: [] },
        { x: 1, z: ['p', 'q'] },
      ],
      oldmap: { k1: 1, k2: null },
      oldmap2: { k1: 1, k2: 2 },
      three: [null, { x: null, q: [1, 2] }],
    },
  ];
  const ran = await folder.run(['encode', input, '--to', 'ndjson', '-q', '--drop', 'id,lat,lng']);
  const rows = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ours = { hexcodes: 'HN-6GHP4-83RFR', resolution: 13, admin_code: 'HN', status: 'OK' };
  expect(rows).toEqual(expected.map((row) => ({ ...row, ...ours })));
});

test('a time of day beyond 32 bits is refused with the name of its file', async () => {
  const fields = [
    new Field('lat', new Float64()),
    new Field('lng', new Float64()),
    new Field('time', new TimeSecond()),
  ];
  const children = [
    makeData({ type: new Float64(), data: Float64Array.of(21.0288) }),
    makeData({ type: new Float64(), data: Float64Array.of(105.8525) }),
    makeData({ type: new TimeSecond(), data: Int32Array.of(33_558_155) }),
  ];
  const schema = new Schema(fields);
  const batch = new RecordBatch(schema, makeData({ type: new Struct(fields), length: 1, children }));
  const folder = new CliFolder();
  folder.write('times.arrow', tableToIPC(new Table(schema, batch), 'file'));
  const ran = await folder.run('encode times.arrow -o out.parquet -q');
  folder.remove();
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('times.arrow, row 1, column time')]);
});
