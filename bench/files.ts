// `npm run bench -- files [--rows 1000000] [--rounds 3] [--only NAME,…] [--beside FOLDER]`: CPU a row of files of id,
// two coordinates, speed and a time as text, by the command with one thread, and by DuckDB with one thread, which
// computes an md5 of each row where the command computes cell, province and check symbols. Each is a process of its
// own, its start included; those of one row take turns. A row of the table is printed when it is done.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { tableFromIPC, tableToIPC } from '@uwdata/flechette';
import Database from 'libsql';
import { BESIDE_OPTION, commandIn } from './beside.js';
import { cpuOf } from './command.js';
import { BenchTable, head, ratio, spread, spreadText } from './table.js';

interface Way {
  readonly name: string;
  readonly args: readonly string[];
  /** DuckDB's statement for the same pair; null where it has no such format. */
  readonly sql: string | null;
}

const WORK = "md5(concat_ws(',', id, lat, lng)) AS work";
const READ: Readonly<Record<string, string>> = {
  csv: "read_csv('in.csv')",
  ndjson: "read_json('in.ndjson', format = 'newline_delimited')",
  parquet: "read_parquet('in.parquet')",
};
const WRITTEN: Readonly<Record<string, string>> = {
  csv: 'FORMAT csv',
  'csv.gz': "FORMAT csv, COMPRESSION 'gzip'",
  ndjson: 'FORMAT json',
  parquet: 'FORMAT parquet',
};

const way = (from: string, to: string): Way => ({
  name: `${from} → ${to}`,
  args: ['encode', `in.${from}`, '-o', `out.${to}`],
  sql: `COPY (SELECT *, ${WORK} FROM ${READ[from]}) TO 'duck.${to}' (${WRITTEN[to]})`,
});

/** Pairs with a format that DuckDB has not, or only with a download. */
const ALONE: readonly Way[] = [
  ...['csv', 'geojson'].map((from) => [from, 'geojson'] as const),
  ...['csv', 'ndjson', 'parquet'].map((to) => ['geojson', to] as const),
  ...['gpkg', 'gpx', 'kml', 'xlsx'].map((from) => [from, 'csv'] as const),
  ['csv', 'xlsx'],
  ...['csv', 'ndjson', 'parquet', 'arrow'].map((from) => [from, 'arrow'] as const),
  ...['csv', 'ndjson', 'parquet'].map((to) => ['arrow', to] as const),
].map(([from, to]) => ({
  name: `${from} → ${to}`,
  args: ['encode', `in.${from}`, '-o', `out.${to}`],
  sql: null,
}));
const WAYS: readonly Way[] = [
  ...['csv', 'ndjson', 'parquet'].map((format) => way(format, format)),
  ...[
    'csv → parquet',
    'csv → ndjson',
    'csv → csv.gz',
    'ndjson → csv',
    'ndjson → parquet',
    'parquet → csv',
    'parquet → ndjson',
  ].map((name) => {
    const [from, to] = name.split(' → ');
    return way(from!, to!);
  }),
  ...ALONE,
  {
    name: 'csv --keep id',
    args: ['encode', 'in.csv', '--keep', 'id', '-o', 'out.csv'],
    sql: `COPY (SELECT id, ${WORK} FROM ${READ.csv}) TO 'duck.csv' (FORMAT csv)`,
  },
  ...['parquet', 'csv', 'ndjson'].map((from) => ({
    name: `${from} --sort cell`,
    args: ['encode', `in.${from}`, '--sort', 'cell', '-o', 'out.parquet'],
    sql: `COPY (SELECT *, ${WORK} FROM ${READ[from]} ORDER BY work) TO 'duck.parquet' (FORMAT parquet)`,
  })),
  ...['parquet', 'csv', 'ndjson'].map((format) => ({
    name: `aggregate ${format}`,
    args: [
      'aggregate',
      `in.${format}`,
      '--by',
      'cell',
      '-r',
      '8',
      '--count',
      '--sum',
      'speed',
      '-o',
      'out.csv',
    ],
    sql: `COPY (SELECT round(lat, 2), round(lng, 2), min(md5(concat_ws(',', lat, lng))), count(*), sum(speed) FROM ${READ[format]}
      GROUP BY ALL) TO 'duck.csv' (FORMAT csv)`,
  })),
  {
    name: 'aggregate parquet, no md5',
    args: ['aggregate', 'in.parquet', '--by', 'cell', '-r', '8', '--count', '-o', 'out.csv'],
    sql: `COPY (SELECT round(lat, 2), round(lng, 2), count(*) FROM ${READ.parquet} GROUP BY ALL) TO 'duck.csv' (FORMAT csv)`,
  },
];

/** Rows in four provinces, one in twenty in none; six places of coordinates. */
const TABLE = `SELECT i AS id,
  round(CASE i % 4 WHEN 0 THEN 21.03 WHEN 1 THEN 10.78 WHEN 2 THEN 16.05
    ELSE 10.5 + hash(i * 7) % 100000 / 200000.0 END + (hash(i) % 100000 / 100000.0 - 0.5) * 0.1, 6) AS lat,
  round(CASE i % 4 WHEN 0 THEN 105.8 WHEN 1 THEN 106.68 WHEN 2 THEN 108.1
    ELSE 105.8 + hash(i * 11) % 100000 / 200000.0 END + (hash(i + 99) % 100000 / 100000.0 - 0.5) * 0.1, 6) AS lng,
  round(hash(i + 5) % 12000 / 100.0, 1) AS speed, strftime(TIMESTAMP '2026-01-01' + to_seconds(i), '%Y-%m-%d %H:%M:%S') AS at`;

interface Point {
  readonly id: bigint | number;
  readonly lat: number;
  readonly lng: number;
  readonly speed: number;
}

/** Rows of a sheet at most, its header left out. */
const SHEET_ROWS = 1_048_575;

/** Rows that are written at once. */
const LINES = 10_000;

/** Writes lines between two others, a part at a time. */
function writeLines(path: string, lead: string, end: string, lines: Iterable<string>, between = '\n'): void {
  const file = openSync(path, 'w');
  let held: string[] = [];
  let before = `${lead}\n`;
  const flush = (): void => {
    writeSync(file, before + held.join(between));
    held = [];
    before = between;
  };
  for (const line of lines) if (held.push(line) === LINES) flush();
  if (held.length > 0) flush();
  writeSync(file, `\n${end}\n`);
  closeSync(file);
}

/** The points as GeoJSON, GPX, KML and GeoPackage. */
function writeGeo(folder: string, points: () => Iterable<Point>): void {
  function* lines(of: (point: Point) => string): Generator<string> {
    for (const point of points()) yield of(point);
  }
  const write = (name: string, lead: string, end: string, of: (point: Point) => string, between?: string) =>
    writeLines(join(folder, name), lead, end, lines(of), between);
  const feature = ({ id, lat, lng, speed }: Point): string =>
    `{"type":"Feature","properties":{"id":${id},"speed":${speed}},"geometry":{"type":"Point","coordinates":[${lng},${lat}]}}`;
  write('in.geojson', '{"type":"FeatureCollection","features":[', ']}', feature, ',\n');
  const waypoint = ({ id, lat, lng }: Point): string =>
    `<wpt lat="${lat}" lon="${lng}"><name>${id}</name></wpt>`;
  write('in.gpx', '<gpx xmlns="http://www.topografix.com/GPX/1/1">', '</gpx>', waypoint);
  const placemark = ({ id, lat, lng }: Point): string =>
    `<Placemark><name>${id}</name><Point><coordinates>${lng},${lat}</coordinates></Point></Placemark>`;
  write('in.kml', '<kml xmlns="http://www.opengis.net/kml/2.2"><Document>', '</Document></kml>', placemark);
  const db = new Database(join(folder, 'in.gpkg'));
  db.exec(`PRAGMA application_id = 1196444487; PRAGMA user_version = 10300;
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT,
      organization_coordsys_id INTEGER, definition TEXT, description TEXT);
    INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'undefined', '');
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, srs_id INTEGER);
    INSERT INTO gpkg_contents VALUES ('points', 'features', 'points', 4326);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER,
      z INTEGER, m INTEGER);
    INSERT INTO gpkg_geometry_columns VALUES ('points', 'geom', 'POINT', 4326, 0, 0);
    CREATE TABLE points (fid INTEGER PRIMARY KEY, geom BLOB, id INTEGER, speed REAL); BEGIN`);
  const insert = db.prepare('INSERT INTO points VALUES (?, ?, ?, ?)');
  let row = 0;
  for (const { id, lat, lng, speed } of points()) {
    const geometry = Buffer.from('4750000100000000010100000000000000000000000000000000000000', 'hex');
    geometry.writeInt32LE(4326, 4);
    geometry.writeDoubleLE(lng, 13);
    geometry.writeDoubleLE(lat, 21);
    insert.run(++row, geometry, Number(id), speed);
  }
  db.exec('COMMIT');
  db.close();
}

const DUCKDB = pathToFileURL(createRequire(import.meta.url).resolve('@duckdb/node-api')).href;

/** Milliseconds of CPU of a process that runs statements with one thread. */
function duckdbMs(statements: readonly string[], folder: string): number {
  const script = `const { DuckDBInstance } = (await import(${JSON.stringify(DUCKDB)})).default;
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const sql of ${JSON.stringify(['SET threads = 1', ...statements])}) await connection.run(sql);`;
  return cpuOf(['--input-type=module', '-e', script], folder);
}

export default async function benchFiles(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      ...BESIDE_OPTION,
    },
  });
  const [rows, rounds] = [Number(values.rows), Number(values.rounds)];
  const commands = ['.', ...(values.beside === '' ? [] : [values.beside])].map((each) =>
    commandIn(resolve(each)),
  );
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  const headOfRun = head(['@duckdb/node-api', 'hyparquet', 'hyparquet-writer']);
  const report = new BenchTable(
    'files',
    headOfRun,
    ['way', 'here', ...(commands.length > 1 ? ['÷ beside'] : []), 'DuckDB', '÷ DuckDB'],
    `CPU in µs a row of ${rows} rows, one thread, process start included; medians and quartiles of ${rounds} rounds in turns. ` +
      'DuckDB writes an md5 of each row as its work, Parquet with Snappy in row groups of 122,880 rows.',
    { rounds, rowsOfFile: rows },
  );
  try {
    const copies = ['csv', 'ndjson', 'parquet'].map((to) => `COPY points TO 'in.${to}' (${WRITTEN[to]})`);
    duckdbMs([`CREATE TABLE points AS ${TABLE} FROM range(${rows}) t(i)`, ...copies], folder);
    // DuckDB writes no Arrow without a download: the command does, and its own columns are taken out again.
    cpuOf([commands[0]!, 'encode', 'in.parquet', '-o', 'more.arrow', '--prefix', 'x_', '-q'], folder);
    const table = tableFromIPC(readFileSync(join(folder, 'more.arrow'))).select([
      'id',
      'lat',
      'lng',
      'speed',
    ]);
    writeFileSync(join(folder, 'in.arrow'), tableToIPC(table, { format: 'file' })!);
    rmSync(join(folder, 'more.arrow'));
    const ways = WAYS.filter(({ name }) => values.only.split(',').some((only) => name.includes(only)));
    if (ways.some(({ name }) => /^(?:geojson|gpkg|gpx|kml|xlsx) /.test(name))) {
      function* points(most = rows): Generator<Point> {
        for (let row = 0; row < Math.min(rows, most); row++) yield table.at(row) as Point;
      }
      writeGeo(folder, points);
      function* sheet(): Generator<string> {
        for (const { id, lat, lng, speed } of points(SHEET_ROWS)) yield `${id},${lat},${lng},${speed}`;
      }
      writeLines(join(folder, 'sheet.csv'), 'id,lat,lng,speed', '', sheet());
      cpuOf([commands[0]!, 'encode', 'sheet.csv', '--prefix', 'x_', '-o', 'in.xlsx', '-q'], folder);
    }
    for (const { name, args: words, sql } of ways) {
      const subjects = [
        ...commands.map((command) => () => {
          const threads = words[0] === 'encode' ? ['--threads', '1'] : [];
          return cpuOf([command, ...words, ...threads, '-q'], folder);
        }),
        ...(sql === null ? [] : [() => duckdbMs([sql], folder)]),
      ];
      const each = subjects.map((): number[] => []);
      for (let round = 0; round < rounds; round++)
        for (let k = 0; k < subjects.length; k++) {
          const which = (k + round) % subjects.length;
          each[which]!.push((subjects[which]!() * 1000) / rows);
        }
      const spreads = each.map(spread);
      const beside = commands.length > 1 ? [spreadText(ratio(spreads[0]!, spreads[1]!), 2)] : [];
      const duck =
        sql === null
          ? ['–', '–']
          : [spreadText(spreads.at(-1)!, 2), spreadText(ratio(spreads[0]!, spreads.at(-1)!), 2)];
      report.row([name, spreadText(spreads[0]!, 2), ...beside, ...duck], { name, micros: each });
    }
    report.end();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
