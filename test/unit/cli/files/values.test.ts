// Values that once were emptied, rounded or turned into something else, where the type of a column does not say it all:
// they are the same in the output, digit for digit. Every type is in value-table.test.ts.
import { DuckDBInstance } from '@duckdb/node-api';
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

describe('integers beyond 2^53', () => {
  const FEATURES = `{"type":"FeatureCollection","features":[${[9007199254740993n, -5n]
    .map(
      (id) =>
        `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[105.8489,21.0306]},"properties":{"order":${id}}}`,
    )
    .join(',')}]}`;

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
});
