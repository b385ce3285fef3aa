// Values that once were emptied, rounded or turned into something else: they are the same in the output, digit for
// digit.
import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { ByteWriter, parquetWrite } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../support/cli.js';
import { encodeFile } from '../../../support/files/convert.js';

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

/** Encodes a file; the output as text, in the format of an extension. */
async function encoded(input: string, format: string, keep?: readonly string[]): Promise<string> {
  const output = `out.${format}`;
  await encodeFile(library, folder.file(input), folder.file(output), keep === undefined ? {} : { keep });
  return folder.read(output);
}

const write = (input: string, output: string) => encodeFile(library, folder.file(input), folder.file(output));

const POSITION = { lat: [21.0306, 10.7799], lng: [105.8489, 106.7] };
const vector = (type: arrow.DataType, values: unknown[]): arrow.Vector => arrow.vectorFromArray(values, type);

function writeArrow(name: string, columns: Record<string, arrow.Vector>): void {
  folder.write(name, arrow.tableToIPC(new arrow.Table(columns), 'stream'));
}

describe('Arrow', () => {
  const doubles = {
    lat: vector(new arrow.Float64(), POSITION.lat),
    lng: vector(new arrow.Float64(), POSITION.lng),
  };
  const nul = vector(new arrow.Null(), [null, null]);

  test.each([
    ['before the position', { nul, ...doubles, after: vector(new arrow.Float64(), [1.5, 2.5]) }],
    ['between columns', { ...doubles, nul, after: vector(new arrow.Float64(), [1.5, 2.5]) }],
  ])('a column of nulls %s leaves the other columns as they are', async (_, columns) => {
    writeArrow('nulls.arrow', columns);
    const rows = (await encoded('nulls.arrow', 'ndjson'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toMatchObject([
      { nul: null, lat: 21.0306, lng: 105.8489, after: 1.5, status: 'OK' },
      { nul: null, lat: 10.7799, lng: 106.7, after: 2.5, status: 'OK' },
    ]);
  });

  test('a null field inside a struct too', async () => {
    const type = new arrow.Struct([
      new arrow.Field('nothing', new arrow.Null(), true),
      new arrow.Field('n', new arrow.Int32(), true),
    ]);
    writeArrow('nested-nulls.arrow', {
      s: vector(type, [
        { nothing: null, n: 7 },
        { nothing: null, n: 8 },
      ]),
      ...doubles,
    });
    const csv = await encoded('nested-nulls.arrow', 'csv', ['s', 'lat']);
    expect(csv.split('\n')[2]).toMatch(/^"\{""nothing"":null,""n"":8\}",10\.7799,HCM-/);
  });

  test.each(['ndjson', 'geojson', 'csv'])('lists of numbers stay lists in %s', async (format) => {
    const list = (type: arrow.DataType) => new arrow.List(new arrow.Field('item', type, true));
    const struct = new arrow.Struct([new arrow.Field('ids', list(new arrow.Int64()), true)]);
    writeArrow('lists.arrow', {
      ...doubles,
      ints: vector(list(new arrow.Int32()), [[1, 2], []]),
      doubles: vector(new arrow.FixedSizeList(2, new arrow.Field('item', new arrow.Float64(), true)), [
        [105.8, 21],
        [0.5, -1],
      ]),
      inside: vector(struct, [{ ids: [9007199254740993n] }, { ids: [] }]),
    });
    const out = (await encoded('lists.arrow', format)).replaceAll('""', '"');
    expect(out).toContain('[1,2]');
    expect(out).toContain('[105.8,21]');
    expect(out).toContain('{"ids":[9007199254740993]}');
    expect(out).not.toContain('{"0"');
  });
});

describe('integers beyond 2^53', () => {
  const ROW = '{"id":9007199254740993,"device":{"ids":[9223372036854775807]},"lat":21.0306,"lng":105.8489}\n';
  const SMALL = '{"id":-5,"device":{"ids":[1]},"lat":10.7799,"lng":106.7}\n';
  const FEATURES = `{"type":"FeatureCollection","features":[${[9007199254740993n, -5n]
    .map(
      (id) =>
        `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[105.8489,21.0306]},"properties":{"order":${id}}}`,
    )
    .join(',')}]}`;

  test.each(['csv', 'geojson', 'ndjson'])('NDJSON to %s', async (format) => {
    folder.write('big.ndjson', ROW + SMALL);
    const out = (await encoded('big.ndjson', format)).replaceAll('""', '"');
    expect(out).toContain('9007199254740993');
    expect(out).toContain('{"ids":[9223372036854775807]}');
    expect(out).not.toMatch(/"9007199254740993"/);
  });

  test('NDJSON to Parquet and Arrow: columns of 64-bit integers', async () => {
    folder.write('big.ndjson', ROW + SMALL);
    await write('big.ndjson', 'big.parquet');
    expect(
      await query(
        `SELECT id, typeof(id) AS type, device::VARCHAR AS device FROM '${folder.file('big.parquet')}'`,
      ),
    ).toEqual([
      { id: '9007199254740993', type: 'BIGINT', device: '{"ids":[9223372036854775807]}' },
      { id: '-5', type: 'BIGINT', device: '{"ids":[1]}' },
    ]);
    await write('big.ndjson', 'big.arrow');
    const table = arrow.tableFromIPC(folder.bytes('big.arrow'));
    expect(table.getChild('id')?.toArray()).toEqual(BigInt64Array.of(9007199254740993n, -5n));
    expect(table.getChild('device')?.get(0)).toBe('{"ids":[9223372036854775807]}');
  });

  test('GeoJSON to GeoJSON, NDJSON, CSV and Parquet: ids and properties', async () => {
    folder.write('big.geojson', FEATURES);
    for (const format of ['geojson', 'ndjson']) {
      const out = await encoded('big.geojson', format);
      expect(out).toContain('"id":9007199254740993');
      expect(out).toContain('"order":9007199254740993');
      expect(JSON.parse(format === 'geojson' ? out : out.split('\n')[0]!)).toBeTypeOf('object');
    }
    expect(await encoded('big.geojson', 'csv')).toMatch(
      /\n21\.0306,105\.8489,9007199254740993,9007199254740993,HN-/,
    );
    await write('big.geojson', 'features.parquet');
    expect(
      await query(`SELECT id, "order", typeof(id) AS type FROM '${folder.file('features.parquet')}'`),
    ).toEqual([
      { id: '9007199254740993', order: '9007199254740993', type: 'BIGINT' },
      { id: '-5', order: '-5', type: 'BIGINT' },
    ]);
  });

  test('Parquet, nested ones too, to Parquet and NDJSON: one column has one type', async () => {
    await query(`COPY (SELECT i AS id, {'driver_id': i, 'trips': [i]} AS driver, MAP {'k': i} AS m, 21.0306 AS lat, 105.8489 AS lng
      FROM (VALUES (9007199254740993::BIGINT), (-5)) t(i)) TO '${folder.file('nested.parquet')}' (FORMAT parquet)`);
    await write('nested.parquet', 'out.parquet');
    expect(
      await query(`SELECT driver::VARCHAR AS driver, m::VARCHAR AS m FROM '${folder.file('out.parquet')}'`),
    ).toEqual([
      { driver: '{"driver_id":9007199254740993,"trips":[9007199254740993]}', m: '{"k":9007199254740993}' },
      { driver: '{"driver_id":-5,"trips":[-5]}', m: '{"k":-5}' },
    ]);
    const lines = (await encoded('nested.parquet', 'ndjson')).split('\n');
    expect(lines[0]).toContain('"id":9007199254740993,"driver":{"driver_id":9007199254740993,');
    expect(lines[1]).toContain('"id":-5,');
  });

  test('a field of integers that later has a fraction is one of doubles, also beyond the first batch', async () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, i) =>
        `{"speed":${i === 19_999 ? 1.5 : 0},"level":${i === 3 ? '2.0' : 2},"lat":21.0306,"lng":105}\n`,
    ).join('');
    folder.write('late.ndjson', rows);
    await write('late.ndjson', 'late.parquet');
    const types = await query(`DESCRIBE SELECT * FROM '${folder.file('late.parquet')}'`);
    expect(types.slice(0, 4).map((row) => `${row.column_name} ${row.column_type}`)).toEqual([
      'speed DOUBLE',
      'level DOUBLE',
      'lat DOUBLE',
      'lng DOUBLE',
    ]);
    const piped = await folder.run(['encode', '--from', 'ndjson', '-o', 'piped.parquet', '-q'], {
      stdin: rows,
    });
    expect(piped).toMatchObject({ code: 3 });
    expect(piped.stderr).toContain('row 20000, column speed: 1.5 where the first rows have an integer');
    expect(piped.stderr).toContain('Name the file instead of a pipe');
  });

  test('integers beyond 64 bits are decimals, a number that no double holds is refused', async () => {
    folder.write('huge.ndjson', '{"n":18446744073709551616,"lat":21.0306,"lng":105.8489}\n');
    await write('huge.ndjson', 'huge.parquet');
    expect(await query(`SELECT n, typeof(n) AS type FROM '${folder.file('huge.parquet')}'`)).toEqual([
      { n: '18446744073709551616', type: 'DECIMAL(38,0)' },
    ]);
    folder.write('beyond.ndjson', '{"n":1e400,"lat":21.0306,"lng":105.8489}\n');
    const ran = await folder.run(['encode', 'beyond.ndjson', '--to', 'csv']);
    expect(ran).toMatchObject({ code: 3, stdout: '' });
    expect(ran.stderr).toContain('1e400 is beyond what a number can be');
  });
});

describe('GeoJSON', () => {
  const feature = (id: string, properties: string) =>
    `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[105.8489,21.0306]},"properties":${properties}}`;
  const collection = (...features: string[]) =>
    `{"type":"FeatureCollection","features":[${features.join(',')}]}`;

  test('an id beside a property id of another value has a column of its own', async () => {
    folder.write('ids.geojson', collection(feature('1', '{"id":1}'), feature('"node/7"', '{"id":7}')));
    const csv = await encoded('ids.geojson', 'csv');
    expect(csv.split('\n').slice(0, 3)).toEqual([
      'lat,lng,feature_id,id,hexcodes,resolution,admin_code,status',
      '21.0306,105.8489,1,1,HN-6GHP4-899JC,13,HN,OK',
      '21.0306,105.8489,node/7,7,HN-6GHP4-899JC,13,HN,OK',
    ]);
    folder.write('same.geojson', collection(feature('1', '{"id":1}')));
    expect(await encoded('same.geojson', 'csv')).toMatch(/^lat,lng,id,hexcodes,/);
  });

  test('a decimal as latitude is a position', async () => {
    await query(`COPY (SELECT 21.0306::DECIMAL(9,4) AS lat, 105.8489::DECIMAL(9,4) AS lng, 1.50::DECIMAL(9,2) AS fee)
      TO '${folder.file('decimal.parquet')}' (FORMAT parquet)`);
    const [, line] = (await encoded('decimal.parquet', 'geojson')).split('\n');
    expect(line).toMatch(
      /^\{"type":"Feature","geometry":\{"type":"Point","coordinates":\[105\.8489,21\.0306\]\}/,
    );
    expect(line).toContain('"properties":{"fee":"1.50","hexcodes":"HN-6GHP4-899JC"');
  });
});

describe('Parquet', () => {
  test('JSON with line ends stays one row of NDJSON, and keeps its digits', async () => {
    await query(`COPY (SELECT '{"id":\n 9007199254740993}'::JSON AS doc, 21.0306 AS lat, 105.8489 AS lng)
      TO '${folder.file('json.parquet')}' (FORMAT parquet)`);
    const lines = (await encoded('json.parquet', 'ndjson')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"doc":{"id":  9007199254740993},');
  });

  test('text that is not UTF-8 is refused by name', async () => {
    const file = new ByteWriter();
    parquetWrite({
      writer: file,
      columnData: [
        { name: 'name', data: [Uint8Array.of(0xc3, 0x28)] as never },
        { name: 'lat', data: [21.0306] },
        { name: 'lng', data: [105.8489] },
      ],
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
        { name: 'lat', type: 'DOUBLE', repetition_type: 'REQUIRED' },
        { name: 'lng', type: 'DOUBLE', repetition_type: 'REQUIRED' },
      ],
    });
    folder.write('utf8.parquet', file.getBytes());
    await expect(encoded('utf8.parquet', 'csv')).rejects.toThrow(
      /row 1, column name: cannot be read from here on \(text that is not UTF-8\)/,
    );
  });

  test('a column of a type that is not read is refused, and the others are converted without it', async () => {
    const input = 'test/fixtures/types/arrow-only.arrows';
    await expect(encodeFile(library, input, folder.file('out.csv'))).rejects.toThrow(
      "column union: values of Arrow's type Union are not read",
    );
    await encodeFile(library, input, folder.file('out.csv'), { keep: ['string_view', 'lat', 'lng'] });
    expect(folder.read('out.csv').split('\n')[1]).toBe('Đà Nẵng,21.0306,105.8489,HN-6GHP4-899JC,13,HN,OK');
  });
});
