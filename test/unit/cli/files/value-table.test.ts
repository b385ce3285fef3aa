// Every type of every input format in every output format: docs/reference/values.md is what came out of it. `vitest
// run FILE --update` writes the page; a value that is changed in silence fails before. And values that once were
// changed.

import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createDuckDB, NODE_RUNTIME, VoidLogger } from '@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { strFromU8, unzipSync } from 'fflate';
import { ByteWriter, parquetWrite } from 'hyparquet-writer';
import Database from 'libsql';
import { beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { encodeFile } from '../../../support/files/convert.js';
import {
  ARROW_REFERENCES,
  ARROW_TYPES,
  COMMON_TYPES,
  DUCKDB_TEXTS,
  DUCKDB_TYPES,
  INT96,
  INT96_REFERENCE,
  JSON_TYPES,
  type JsonCase,
  jsonCell,
  markdownTable,
  type Observed,
  OTHER_TEXTS_IN_PARQUET,
  SQL_TYPES,
  TEXT_CASES,
  type TypeCase,
  textCell,
  typedCell,
  XLSX_CASES,
} from '../../../support/files/value-table.js';
import { workbookXml } from '../../../support/files/workbook-xml.js';
import { sharedCommand } from '../../../support/shared.js';

const FIXTURES = resolve('test/fixtures/types');
const ROWS = 3;
const POSITION = ['lat', 'lng'];
/** The types that are refused, and the words. */
const REFUSALS: Readonly<Record<string, string>> = {
  'MAP(DATE, DOUBLE)': 'maps are read only where their keys are text, integers or UUIDs',
  union: "values of Arrow's type Union are not read",
};
/** DuckDB reads no decimals of more than 38 digits from Arrow; Apache Arrow does. */
const WIDE_DECIMAL = 'decimal256(50,5)';
/** Types that Apache Arrow reads from Arrow, and not DuckDB. */
const BY_APACHE = [WIDE_DECIMAL, INT96.name];
const folder = sharedCommand();
const library = await Hexcodes.load();
let query: (sql: string) => Promise<Record<string, unknown>[]>;
let queryArrow: (bytes: Uint8Array, names: readonly string[]) => Observed[];

beforeAll(async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  query = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
  const dist = (name: string): string =>
    createRequire(import.meta.url).resolve(`@duckdb/duckdb-wasm/dist/${name}`);
  const bundle = (name: string) => ({ mainModule: dist(name), mainWorker: '' });
  const database = await createDuckDB(
    { mvp: bundle('duckdb-mvp.wasm'), eh: bundle('duckdb-eh.wasm') },
    new VoidLogger(),
    NODE_RUNTIME,
  );
  await database.instantiate();
  const arrow = database.connect();
  let tables = 0;
  queryArrow = (bytes, names) => {
    const table = `t${tables++}`;
    arrow.insertArrowFromIPCStream(bytes, { name: table, create: true });
    return names.map((name) => {
      const sql = `SELECT typeof("${name}") AS type, "${name}"::VARCHAR AS value FROM ${table}`;
      const rows = arrow.query(sql).toArray();
      return observed(rows.map((row) => row.toJSON() as { type: string; value: string | null }));
    });
  };
});

const observed = (rows: readonly { type: string; value: string | null }[]): Observed => ({
  type: rows[0]!.type,
  values: rows.map(({ value }) => value),
});

async function parquetColumns(path: string, names: readonly string[]): Promise<Observed[]> {
  const columns = names.map(async (name) => {
    const rows = await query(`SELECT typeof("${name}") AS type, "${name}"::VARCHAR AS value FROM '${path}'`);
    return observed(rows as { type: string; value: string | null }[]);
  });
  return Promise.all(columns);
}

function byApache(bytes: Uint8Array, name: string): Observed {
  const column = tableFromIPC(bytes).getChild(name)!;
  // Its own values of timestamps are milliseconds.
  const { values } = column.data[0]! as { values: unknown };
  const stored = values instanceof BigInt64Array ? values : [];
  return {
    type: String(column.type),
    values: Array.from(column, (value, row) => value && String(stored[row] ?? value)),
  };
}

/** Encodes the columns of a file that are not refused; the others with the sentences that refuse them. */
async function encodeColumns(
  input: string,
  format: string,
  names: readonly string[],
): Promise<{ path: string; kept: string[]; refused: Map<string, string> }> {
  const path = folder.file(`out.${format}`);
  const refused = new Map<string, string>();
  for (;;) {
    const kept = names.filter((name) => !refused.has(name));
    try {
      await encodeFile(library, input, path, { keep: [...kept, ...POSITION] });
      return { path, kept, refused };
    } catch (error) {
      const [, name, reason] = /, column (.+?): (.*)$/.exec((error as Error).message) ?? [];
      if ((error as Error).name !== 'CliFailure' || name === undefined || !kept.includes(name)) throw error;
      refused.set(name, reason!);
    }
  }
}

/** Kinds of cells by their style; texts name a type. */
const CELL_KINDS = ['number', 'date', 'text', 'date and time', 'time', 'duration'];

/** The cells of columns of a workbook: what Excel takes the values for. @throws Error for a changed value */
async function sheetCells(
  path: string,
  names: readonly string[],
  wanted: (name: string) => readonly string[],
): Promise<string[]> {
  // All columns are read back, as the letters of the cells depend on those before them.
  const drop = ['hexcodes', 'resolution', 'admin_code', 'status'];
  await encodeFile(library, folder.file(path), folder.file('back.csv'), { drop });
  const [header, ...rows] = parse(folder.read('back.csv')) as string[][];
  const xml = strFromU8(unzipSync(folder.bytes(path))['xl/worksheets/sheet1.xml']!);
  return names.map((name) => {
    const column = header!.indexOf(name);
    const texts = rows.map((row) => row[column]!);
    expect([name, texts]).toEqual([name, wanted(name)]);
    const letters =
      column < 26
        ? String.fromCharCode(65 + column)
        : `${String.fromCharCode(64 + Math.floor(column / 26))}${String.fromCharCode(65 + (column % 26))}`;
    const kinds = rows.flatMap((_, row) => {
      const [cell, type, style] =
        new RegExp(`<c r="${letters}${row + 2}"(?: t="(\\w+)")?(?: s="(\\d)")?>`).exec(xml) ?? [];
      if (cell === undefined) return [];
      return [type === 'b' ? 'boolean' : type === undefined ? CELL_KINDS[Number(style ?? 0)]! : 'text'];
    });
    return [...new Set(kinds)].join(' or ') || 'empty';
  });
}

/** The JSON text of a member of each row, between its name and that of the next. */
function members(text: string, name: string, next: string): string[] {
  const starts = [...text.matchAll(/^\{.*"lat"?.*$|^\{"type":"Feature",.*$/gm)].map(([line]) => line);
  return starts.map((line) => {
    const from = line.indexOf(`${JSON.stringify(name)}:`) + JSON.stringify(name).length + 1;
    return line.slice(from, line.indexOf(`,${JSON.stringify(next)}:`, from));
  });
}

/**
 * The rows of the table for the columns of one file.
 * @param inputs the columns as the reader of typed outputs sees them
 */
async function rowsOf(
  input: string,
  cases: readonly TypeCase[],
  inputs: readonly Observed[],
): Promise<string[][]> {
  const names = cases.map(({ name }) => name);
  const cells = new Map(names.map((name) => [name, [] as string[]]));
  const add = (
    kept: readonly string[],
    refused: Map<string, string>,
    cell: (each: TypeCase, c: number) => string,
  ) => {
    for (const each of cases) {
      const c = kept.indexOf(each.name);
      cells.get(each.name)?.push(c < 0 ? 'refused' : cell(each, c));
      if (c < 0) expect(refused.get(each.name)).toBe(REFUSALS[each.name]);
    }
  };
  const csv = await encodeColumns(input, 'csv', names);
  const rows: Record<string, string>[] = parse(folder.read('out.csv'), { columns: true });
  expect(rows).toHaveLength(ROWS);
  add(csv.kept, csv.refused, (each) =>
    textCell(
      each,
      rows.map((row) => row[each.name]!),
    ),
  );
  await encodeFile(library, input, folder.file('out.tsv'), { keep: [...csv.kept, ...POSITION] });
  expect(parse(folder.read('out.tsv'), { columns: true, delimiter: '\t' })).toEqual(rows);

  const ndjson = await encodeColumns(input, 'ndjson', names);
  const geojson = await encodeColumns(input, 'geojson', names);
  add(ndjson.kept, ndjson.refused, (each, c) => {
    const lines = members(folder.read('out.ndjson'), each.name, ndjson.kept[c + 1] ?? 'lat');
    const features = members(folder.read('out.geojson'), each.name, geojson.kept[c + 1] ?? 'hexcodes');
    expect(features).toEqual(lines);
    return jsonCell(each, lines);
  });

  const inputOf = new Map(names.map((name, i) => [name, inputs[i]!]));
  const parquet = await encodeColumns(input, 'parquet', names);
  const inParquet = await parquetColumns(parquet.path, parquet.kept);
  // A column that is copied is read as that of the input.
  const before = input.endsWith('.parquet') ? await parquetColumns(input, parquet.kept) : null;
  add(parquet.kept, parquet.refused, (each, c) =>
    typedCell(each, before?.[c] ?? inputOf.get(each.name)!, inParquet[c]!),
  );
  const arrow = await encodeColumns(input, 'arrows', names);
  const whole = folder.bytes('out.arrows');
  const forDuckDb = arrow.kept.filter((name) => !BY_APACHE.includes(name));
  await encodeFile(library, input, arrow.path, { keep: [...forDuckDb, ...POSITION] });
  const inArrow = new Map(
    queryArrow(folder.bytes('out.arrows'), forDuckDb).map((each, c) => [forDuckDb[c], each]),
  );
  const fromApache = (name: string): Observed =>
    name === WIDE_DECIMAL ? byApache(readFileSync(`${FIXTURES}/types.arrows`), name) : inputOf.get(name)!;
  add(arrow.kept, arrow.refused, (each) =>
    BY_APACHE.includes(each.name)
      ? typedCell(each, fromApache(each.name), byApache(whole, each.name))
      : typedCell(each, inputOf.get(each.name)!, inArrow.get(each.name)!),
  );
  await encodeFile(library, input, folder.file('out.xlsx'), { keep: [...csv.kept, ...POSITION] });
  const inSheet = await sheetCells('out.xlsx', csv.kept, (name) => rows.map((row) => row[name]!));
  add(csv.kept, csv.refused, (_, c) => inSheet[c]!);
  return [...cells].map(([name, each]) => [`\`${name}\``, ...each]);
}

/** The row of a kind of field in NDJSON, or of property in GeoJSON. */
async function jsonRow(each: JsonCase, format: 'ndjson' | 'geojson'): Promise<string[]> {
  const rows = [...each.written, 'null'].map((value) =>
    format === 'ndjson'
      ? `{"v":${value},"w":0,"lat":21.0306,"lng":105.8489}`
      : `{"type":"Feature","geometry":{"type":"Point","coordinates":[105.8489,21.0306]},"properties":{"v":${value},"w":0}}`,
  );
  const input = folder.file(`in.${format}`);
  const whole =
    format === 'ndjson' ? rows.join('\n') : `{"type":"FeatureCollection","features":[${rows.join(',')}]}`;
  folder.write(`in.${format}`, whole);
  return rowFrom(each, input);
}

/** The row of a declared type of a GeoPackage, whose file SQLite writes. */
async function sqlRow({ literals, ...each }: (typeof SQL_TYPES)[number]): Promise<string[]> {
  const input = folder.file('in.gpkg');
  rmSync(input, { force: true });
  const point = Buffer.alloc(29);
  point.write('GP\u0000\u0001', 'latin1');
  point.writeInt32LE(4326, 4);
  point.writeUInt8(1, 8);
  point.writeUInt32LE(1, 9);
  point.writeDoubleLE(105.8489, 13);
  point.writeDoubleLE(21.0306, 21);
  const type = each.name.startsWith('none') ? '' : each.name;
  const geometry = `x'${point.toString('hex')}'`;
  const database = new Database(input);
  database.exec(`
    CREATE TABLE gpkg_geometry_columns(table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z TINYINT, m TINYINT);
    INSERT INTO gpkg_geometry_columns VALUES('t', 'geom', 'POINT', 4326, 0, 0);
    CREATE TABLE t(v ${type}, w INTEGER, geom POINT);
    ${[...literals, 'NULL'].map((literal) => `INSERT INTO t VALUES(${literal}, 0, ${geometry});`).join('\n')}`);
  database.close();
  return rowFrom(each, input);
}

/** @param each `empty`: what is in place of null in tables of texts; `column`: its name, and that of the next */
async function rowFrom(
  each: JsonCase & { readonly empty?: string; readonly column?: readonly [string, string] },
  input: string,
): Promise<string[]> {
  const { empty = null, column: [name, next] = ['v', 'w'] } = each;
  const outputs = ['csv', 'ndjson', 'geojson', 'parquet', 'arrows', 'xlsx'];
  const to = (output: string) => encodeFile(library, input, folder.file(`out.${output}`));
  if (each.type === null) {
    for (const output of outputs)
      await expect(to(output)).rejects.toThrow(/row 1: not JSON \(1e400 is beyond/);
    return [`\`${each.name}\``, ...HEADS.map(() => 'refused')];
  }
  for (const output of outputs) await to(output);
  const csv: Record<string, string>[] = parse(folder.read('out.csv'), { columns: true });
  const lines = members(folder.read('out.ndjson'), name, next);
  const features = members(folder.read('out.geojson'), name, next);
  // 2.0 stays 2.0 in rows of NDJSON that are passed on, and is 2 where it is written again.
  const asDoubles = (values: readonly string[]) => values.map((value) => value.replace(/^(\d)\.0$/, '$1'));
  expect(asDoubles(features)).toEqual(asDoubles(lines));
  const [first, second] = asDoubles(each.written);
  const inInput = { type: each.type, values: [...each.values, empty] };
  const [inParquet] = await parquetColumns(folder.file('out.parquet'), [name]);
  const [inArrow] = queryArrow(folder.bytes('out.arrows'), [name]);
  expect(typedCell(each, inInput, inParquet!)).toMatch(/^(?:exact|null)$/);
  return [
    `\`${each.name}\``,
    textCell(
      each,
      csv.map((row) => row[name]!),
    ),
    jsonCell(
      { ...each, json: [first!, second!] },
      asDoubles(lines).map((line) => (line === JSON.stringify(empty) ? 'null' : line)),
    ),
    each.type,
    typedCell(each, inInput, inArrow!).replace(/^(?:exact|null)$/, each.type),
    ...(await sheetCells('out.xlsx', [name], () => csv.map((row) => row[name]!))),
  ];
}

/** A cell of a workbook in XML. */
const cellXml = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`;

/** The row of a kind of cell of a workbook. */
async function xlsxRow({ cells, formats = [0], ...each }: (typeof XLSX_CASES)[number]): Promise<string[]> {
  const rows = [...cells, '<c/>'].map(
    (cell) => `<row>${cell}<c><v>0</v></c><c><v>21.0306</v></c><c><v>105.8489</v></c></row>`,
  );
  const header = `<row>${['v', 'w', 'lat', 'lng'].map(cellXml).join('')}</row>`;
  folder.write('in.xlsx', workbookXml({ formats: [0, ...formats], sheets: { s: header + rows.join('') } }));
  return rowFrom({ ...each, empty: '' }, folder.file('in.xlsx'));
}

/** The rows of texts of CSV, GPX and KML. */
async function textRows(): Promise<string[][]> {
  const gpx = (of: string, wpt: string): string =>
    `<wpt lat="21.0306" lon="105.8489"><${of}>${wpt}</${of}><cmt>0</cmt></wpt>`;
  const kml = (value: string): string =>
    `<Placemark><ExtendedData><Data name="v"><value>${value}</value></Data><Data name="w"><value>0</value></Data></ExtendedData><Point><coordinates>105.8489,21.0306</coordinates></Point></Placemark>`;
  const rows: string[][] = [];
  for (const each of TEXT_CASES) {
    const values = [...each.texts, ''];
    folder.write(
      'in.csv',
      `v,w,lat,lng\n${values.map((value) => `"${value}",0,21.0306,105.8489\n`).join('')}`,
    );
    const row = await rowFrom({ ...each, empty: '' }, folder.file('in.csv'));
    folder.write('in.kml', `<kml><Document>${values.map(kml).join('')}</Document></kml>`);
    expect(await rowFrom({ ...each, empty: '' }, folder.file('in.kml'))).toEqual(row);
    folder.write('in.gpx', `<gpx>${values.map((value) => gpx('name', value)).join('')}</gpx>`);
    expect(await rowFrom({ ...each, empty: '', column: ['name', 'number'] }, folder.file('in.gpx'))).toEqual(
      row,
    );
    rows.push(row);
  }
  return rows;
}

const HEAD = `# Values from format to format

What \`hexcodes encode\` and \`decode\` make of a value of each type. Every value is the same in the output, stands there as text,
or the file is refused. A test writes this page: it encodes files that pyarrow, DuckDB and the test itself wrote, reads the
outputs with DuckDB, Apache Arrow, csv-parse and the reader of workbooks, and fails where a value is another one.

- A code in backquotes is the first of the values, as it stands in the output. In CSV and TSV null is empty.
- \`exact\`: the same values, of the same type. \`as BIGINT\`: the same values, of the type that DuckDB calls so.
- \`text\`: the value as a text, \`JSON\`: the value as a text that says to be JSON. In Arrow, JSON is text.
- Excel: the kinds of the cells. Each is read back as the text of CSV.
- \`refused\`: the message names the column. The other columns are converted if it is left out with \`--drop\`.

Bytes are base 64 in CSV and JSON. Instants are written in UTC; Arrow and Parquet keep the zone in which people
read them (in Parquet by the schema of Arrow that pyarrow, pandas and Polars write), and geometries stay GeoParquet. NaN and infinities, which
JSON does not have, are their names as text. Half of a surrogate pair (\`\\ud800\` alone in JSON) stays as it is in JSON, and is U+FFFD elsewhere, as UTF-8 has none: names that differ in it alone become one. A timestamp of INT96 is an instant of UTC, as Spark, Hive and Impala write it; one before 1677 or after 2262 is refused, but where it is copied. From Parquet to Parquet columns are copied as they are (not sorted,
from a pipe, or with rows taken out). The leaves of lists,
structs and maps are written as JSON by the same rules. From GeoJSON to tables, the position is that of the point: properties named
\`lat\` and \`lng\`, heights and members beside \`properties\` and \`features\` are left out (GeoJSON from GeoJSON keeps them, but for \`bbox\` around features); so are columns of a GeoPackage of these names. A column of a GeoPackage with values of several
kinds is text. Values of CSV, Excel, GPX and KML are texts, but for cells of Excel that are written as such again; an empty one is an empty text. Times of a
workbook are rounded to the millisecond. Fields of GPX and KML without a column are JSON in the column \`other\`, where an element is its text, or an object of its attributes (\`@name\`), elements and text (\`#text\`), and elements of one name are a list. Left out are heights of lines and
tracks, styles, and texts of files, folders and segments.
`;
const HEADS = ['CSV, TSV', 'NDJSON, GeoJSON', 'Parquet', 'Arrow', 'Excel'];

test('docs/reference/values.md', async () => {
  const parquet = `${FIXTURES}/types.parquet`;
  const common = await parquetColumns(
    parquet,
    COMMON_TYPES.map(({ name }) => name),
  );
  const inParquet = COMMON_TYPES.map((each) => ({
    ...each,
    texts: OTHER_TEXTS_IN_PARQUET[each.name] ?? each.texts,
  }));
  const duckdb = folder.file('duckdb.parquet');
  const columns = DUCKDB_TYPES.map(([type, ...values]) =>
    [...values, 'NULL'].map((value) => `${value}::${type} AS "${type.replaceAll('"', '')}"`),
  );
  const selects = [0, 1, 2].map(
    (row) =>
      `SELECT ${columns.map((values) => values[row]).join(', ')}, 21.0306::DOUBLE AS lat, 105.8489::DOUBLE AS lng`,
  );
  await query(`COPY (${selects.join(' UNION ALL ')}) TO '${duckdb}' (FORMAT parquet)`);
  const int96 = `${FIXTURES}/int96.parquet`;
  const duckdbInputs = await parquetColumns(
    duckdb,
    DUCKDB_TEXTS.map(({ name }) => name),
  );
  const pages = [
    markdownTable(
      ['Parquet', ...HEADS],
      [
        ...(await rowsOf(parquet, inParquet, common)),
        ...(await rowsOf(duckdb, DUCKDB_TEXTS, duckdbInputs)),
        ...(await rowsOf(int96, [INT96], [INT96_REFERENCE])),
      ],
    ),
    markdownTable(
      ['Arrow', ...HEADS],
      [
        ...(await rowsOf(`${FIXTURES}/types.arrows`, COMMON_TYPES, common)),
        ...(await rowsOf(
          `${FIXTURES}/arrow-only.arrows`,
          ARROW_TYPES,
          ARROW_TYPES.map(({ name }) => ARROW_REFERENCES[name]!),
        )),
      ],
    ),
  ];
  const rows: string[][] = [];
  for (const each of JSON_TYPES) {
    const row = await jsonRow(each, 'ndjson');
    expect(await jsonRow(each, 'geojson')).toEqual(row);
    rows.push(row);
  }
  pages.push(markdownTable(['NDJSON, GeoJSON', ...HEADS], rows));
  const sqlRows: string[][] = [];
  for (const each of SQL_TYPES) sqlRows.push(await sqlRow(each));
  pages.push(markdownTable(['GeoPackage', ...HEADS], sqlRows));
  const xlsxRows: string[][] = [];
  for (const each of XLSX_CASES) xlsxRows.push(await xlsxRow(each));
  pages.push(markdownTable(['Excel', ...HEADS], xlsxRows));
  pages.push(markdownTable(['CSV, TSV, GPX, KML', ...HEADS], await textRows()));
  await expect([HEAD, ...pages].join('\n')).toMatchFileSnapshot(resolve('docs/reference/values.md'));
});

// Values that once were emptied, rounded or turned into something else, where the type of a column does not say it all:
// they are the same in the output, digit for digit. Every type is in value-table.test.ts.

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
