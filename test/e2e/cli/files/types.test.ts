// Types of columns through the command: what DuckDB reads before and after, on each road of Parquet.
import { resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { broughtFile } from '../../../support/brought-files.js';
import { CliFolder } from '../../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
let db: DuckDBConnection;
beforeAll(async () => {
  db = await (await DuckDBInstance.create(':memory:')).connect();
});

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
  // Whole row groups are passed over where their bounds say so.
  for (const over of ['u32 >= 4294967295', 'i8 < -24', 'u8 > 244', 'cost < -25', 'less > 23.5'])
    expect([over, await rows(`SELECT count(*)::INT FROM ${output} WHERE ${over}`)]).toEqual([over, [[1]]]);
});

test.each([
  ['by column chunks', [], /by column chunks/],
  ['sorted', ['--sort', 'cell'], /by rows of bytes/],
  ['by rows', ['--errors', 'skip'], /by rows of bytes/],
  ['value by value', ['--certainty'], /value by value/],
])('decimals that a file stores as few bytes stay so: %s', async (_, options, road) => {
  const names = ['decimal128(9,2)', 'decimal128(38,10)', 'uint32', 'lat', 'lng'];
  const keep = names.flatMap((name) => ['--keep', `"${name}"`]);
  const input = resolve('test/fixtures/types/types.parquet');
  // Without its nested columns, by which no chunk of the file can be copied.
  const flat = await folder.run(['encode', input, ...keep, '--prefix', 'first_', '-o', 'flat.parquet']);
  expect([flat.code, flat.stderr]).toEqual([0, expect.anything()]);
  const ran = await folder.run(['encode', 'flat.parquet', '-o', 'few.parquet', '--verbose', ...options]);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(road)]);
  const stored = (path: string) =>
    rows(`SELECT name, type, type_length, scale, precision FROM parquet_schema('${path}')
      WHERE name LIKE 'decimal%' AND name NOT LIKE '%256%' ORDER BY name`);
  expect(await stored(folder.file('few.parquet'))).toEqual(await stored(input));
  const values = (path: string) =>
    rows(`SELECT "decimal128(9,2)", "decimal128(38,10)", "uint32" FROM '${path}' ORDER BY ALL`);
  expect(await values(folder.file('few.parquet'))).toEqual(await values(input));
});

test.each([['arrow'], ['arrows']])(
  'small integers and decimals go into Arrow by bytes: %s',
  async (ending) => {
    await made('small.parquet', SCALARS);
    const names = ['i8', 'u8', 'i16', 'u16', 'u32', 'cost', 'less', 'price', 'lat', 'lng'];
    const keep = names.flatMap((name) => ['--keep', name]);
    const ran = await folder.run(['encode', 'small.parquet', ...keep, '-o', `small.${ending}`, '--verbose']);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/by rows of bytes/)]);
    const table = tableFromIPC(folder.bytes(`small.${ending}`));
    expect(names.slice(0, 8).map((name) => String(table.getChild(name)!.type))).toEqual([
      ...['Int8', 'Uint8', 'Int16', 'Uint16', 'Uint32'],
      ...['Decimal[9e+2]', 'Decimal[4e+1]', 'Decimal[18e+2]'],
    ]);
    expect([...table.getChild('u32')!].slice(0, 2)).toEqual([4294967295, 4294967294]);
    expect([...table.getChild('i8')!].slice(24, 27)).toEqual([-1, 0, 1]);
    // And back, with the same values.
    const back = await folder.run(['encode', `small.${ending}`, '--prefix', 'again_', '-o', 'back.parquet']);
    expect([back.code, back.stderr]).toEqual([0, expect.anything()]);
    const list = names.join(', ');
    expect(await rows(`SELECT ${list} FROM '${folder.file('back.parquet')}' ORDER BY lat`)).toEqual(
      await rows(`SELECT ${list} FROM '${folder.file('small.parquet')}' ORDER BY lat`),
    );
  },
);

/** The key values in the footer of a file of Parquet. */
async function saidIn(name: string): Promise<Record<string, string>> {
  const path = folder.file(name);
  const said = await rows(`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${path}')`);
  return Object.fromEntries(said) as Record<string, string>;
}
const ROADS = [
  ['as it is', []],
  ['sorted', ['--sort', 'cell']],
  ['by rows', ['--errors', 'skip']],
  ['value by value', ['--certainty']],
] as const;

test.each(ROADS)('the zone in which people read instants stays: %s', async (_, options) => {
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
  expect(await folder.run(['encode', 'utc.parquet', '-o', 'utc-out.parquet', '-q'])).toMatchObject({
    code: 0,
  });
  expect(await saidIn('utc-out.parquet')).toEqual({});
});

test.each(ROADS)('a file of GeoParquet stays one: %s', async (_, options) => {
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
  const { code, stderr } = await folder.run(['encode', 'one.parquet', 'two.parquet', '-o', 'both.parquet']);
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
  const together = await folder.run(['encode', 'vn.parquet', 'plain.parquet', '-o', 'all.parquet']);
  expect([together.code, together.stderr]).toEqual([0, expect.stringContaining('6 rows')]);
});
