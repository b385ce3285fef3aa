// Tables of GeoPackages that SQLite writes from generated SQL, judged by GDAL: the same values of the same types, or a
// refusal with a line that converts.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { broughtFile } from '../../../support/brought-files.js';
import { encodeFile } from '../../../support/files/convert.js';
import { gdal, gdalNote, hasGdal, hasOgr2ogr } from '../../../support/gdal.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
const library = await Hexcodes.load();

/** A GeoPackage with one layer: `sql` makes the table and its rows, `{g}` stands for a point. */
interface Made {
  readonly sql: readonly string[];
  readonly pragmas?: readonly string[];
  readonly layer?: string;
  readonly srs?: readonly [id: number, organization: string, code: number];
}

const WRITE = `
import os, struct
for path, spec in json.load(sys.stdin).items():
    if os.path.exists(path): os.remove(path)
    db = sqlite3.connect(path, isolation_level=None)
    for pragma in spec.get('pragmas', []): db.execute('PRAGMA ' + pragma)
    db.execute('PRAGMA application_id=1196444487')
    db.execute('PRAGMA user_version=10300')
    db.execute('CREATE TABLE gpkg_spatial_ref_sys(srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT, description TEXT)')
    db.execute('CREATE TABLE gpkg_contents(table_name TEXT PRIMARY KEY, data_type TEXT, identifier TEXT, description TEXT, last_change DATETIME, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER)')
    db.execute('CREATE TABLE gpkg_geometry_columns(table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z TINYINT, m TINYINT)')
    wgs = osr.SpatialReference(); wgs.ImportFromEPSG(4326)
    srs, organization, code = spec.get('srs', [4326, 'EPSG', 4326])
    db.execute('INSERT INTO gpkg_spatial_ref_sys VALUES(?,?,?,?,?,?)', ('x', srs, organization, code, wgs.ExportToWkt(), ''))
    layer = spec.get('layer', 't')
    db.execute('INSERT INTO gpkg_contents VALUES(?,?,?,?,?,?,?,?,?,?)', (layer, 'features', layer, '', '2026-01-01T00:00:00Z', 105, 21, 106, 22, srs))
    db.execute('INSERT INTO gpkg_geometry_columns VALUES(?,?,?,?,?,?)', (layer, 'geom', 'POINT', srs, 0, 0))
    point = struct.pack('<2sBBi', b'GP', 0, 1, srs) + struct.pack('<BIdd', 1, 1, 105.8525, 21.0288)
    for sql in spec['sql']: db.execute(sql.replace('{g}', "x'" + point.hex() + "'"))
    db.close()
print('[]')`;

const JUDGE = `
found = {}
for path in json.loads(sys.argv[1]):
    data = ogr.Open(path)
    layer = data.GetLayer(0)
    rows = []
    for f in layer:
        row = {layer.GetFIDColumn(): f.GetFID()} if layer.GetFIDColumn() else {}
        for i in range(f.GetFieldCount()):
            d = f.GetFieldDefnRef(i)
            if not f.IsFieldSetAndNotNull(i): value = None
            elif d.GetType() in (ogr.OFTInteger, ogr.OFTInteger64): value = f.GetFieldAsInteger64(i)
            elif d.GetType() == ogr.OFTReal: value = f.GetFieldAsDouble(i)
            elif d.GetType() == ogr.OFTBinary: value = ['binary', bytes(f.GetFieldAsBinary(i)).hex()]
            else: value = f.GetFieldAsString(i)
            if d.GetSubType() == ogr.OFSTBoolean and value is not None: value = bool(value)
            row[d.GetName()] = value
        rows.append(row)
    found[path] = rows
print(json.dumps(found))`;

function write(files: Readonly<Record<string, Made>>): void {
  const paths = Object.entries(files).map(([name, made]) => [folder.file(name), made]);
  gdal(WRITE, [], JSON.stringify(Object.fromEntries(paths)));
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const text = fc.constantFrom(
  '',
  'a',
  "O'Brien",
  '\ufeffmark',
  'Trần Hưng Đạo',
  'x'.repeat(9000),
  '12',
  ' 7 ',
  '😀',
);
/** A declared type, and literals that its columns hold. */
const TYPES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  INTEGER: fc.oneof(
    fc.integer().map(String),
    fc.constantFrom('9007199254740993', '-9223372036854775808', '0', '1'),
  ),
  MEDIUMINT: fc.integer({ min: -99, max: 99 }).map(String),
  BOOLEAN: fc.constantFrom('0', '1'),
  REAL: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map(String),
    fc.constantFrom('5', '1e3'),
  ),
  'DOUBLE ': fc.constantFrom('2', '-0.5', '3.0'),
  TEXT: text.map((each) => `'${each.replaceAll("'", "''")}'`),
  'TEXT(20)': fc.constantFrom("'12'", '12', "'a,b'"),
  BLOB: fc.constantFrom("x''", "x'00ff'", `x'${'ab'.repeat(5000)}'`),
  DATE: fc.constantFrom("'2026/01/02'"),
};
const name = fc.constantFrom(
  'a',
  'Tên',
  'two words',
  'comma, name',
  'par(en',
  'a"b',
  'GENERATED_',
  '--x',
  'order',
);
const column = fc.constantFrom(...Object.keys(TYPES)).chain((type) =>
  fc.record({
    type: fc.constant(type),
    name,
    isAdded: fc.boolean(),
    isDefaulted: fc.boolean(),
    initial: TYPES[type]!,
    brackets: fc.boolean(),
    values: fc.array(fc.option(TYPES[type]!, { nil: 'NULL' }), { minLength: 4, maxLength: 4 }),
    constraint: fc.constantFrom('', " CHECK (1 <> ')' || ',')", ' /* a, b( */', ' COLLATE NOCASE', ' UNIQUE'),
  }),
);
const made: fc.Arbitrary<Made> = fc
  .record({
    columns: fc.uniqueArray(column, { minLength: 1, maxLength: 5, selector: (each) => each.name }),
    key: fc.constantFrom(
      'fid INTEGER PRIMARY KEY',
      'fid INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
      '"fid" integer primary key asc',
    ),
    page: fc.constantFrom(512, 4096, 65_536),
    encoding: fc.constantFrom('UTF-8', 'UTF-16le', 'UTF-16be'),
    isStored: fc.boolean(),
  })
  .map(({ columns, key, page, encoding, isStored }) => {
    const definition = (each: (typeof columns)[number], isAdded: boolean): string => {
      const literal = each.brackets ? `(${each.initial})` : each.initial;
      const initial = each.isDefaulted ? ` DEFAULT ${literal}` : '';
      return `${quoted(each.name)} ${each.type}${initial}${isAdded ? '' : each.constraint.replace(' UNIQUE', '')}`;
    };
    const first = columns.filter(({ isAdded }) => !isAdded);
    const added = columns.filter(({ isAdded }) => isAdded);
    const stored = isStored ? ", kept TEXT GENERATED ALWAYS AS ('s' || fid) STORED" : '';
    const insert = (row: number, own: typeof columns): string =>
      `INSERT INTO t(${['fid', 'geom', ...own.map((each) => quoted(each.name))].join()}) VALUES(${[row + 1, '{g}', ...own.map(({ values }) => values[row]!)].join()})`;
    return {
      pragmas: [`page_size=${page}`, `encoding='${encoding}'`],
      sql: [
        `CREATE TABLE t(${[key, ...first.map((each) => definition(each, false)), 'geom POINT'].join(', ')}${stored})`,
        insert(0, first),
        insert(1, first),
        ...added.map((each) => `ALTER TABLE t ADD COLUMN ${definition(each, true)}`),
        insert(2, columns),
        insert(3, columns),
      ],
    };
  });

/** Columns of a row that is encoded: lat, lng, hexcodes, resolution, admin_code and status. */
const OWN_COLUMNS = 6;

/** The lines of NDJSON that a GeoPackage becomes. @throws CliFailure */
async function linesOf(input: string, options = {}): Promise<string[]> {
  const output = folder.file('out.ndjson');
  await encodeFile(library, input, output, options);
  return readFileSync(output, 'utf8').trimEnd().split('\n');
}

test.skipIf(!hasGdal)(`generated tables have GDAL's values${gdalNote}`, async () => {
  const files = Object.fromEntries(
    fc.sample(made, { numRuns: 60, seed: 3 }).map((each, i) => [`m${i}.gpkg`, each]),
  );
  write(files);
  const paths = Object.keys(files).map((name) => folder.file(name));
  const judged = gdal(JUDGE, [JSON.stringify(paths)]) as Record<string, Record<string, unknown>[]>;
  for (const [file, { sql }] of Object.entries(files)) {
    const lines = await linesOf(folder.file(file));
    const ours = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const theirs = judged[folder.file(file)]!;
    expect(ours).toHaveLength(4);
    ours.forEach((row, i) => {
      for (const [name, due] of Object.entries(theirs[i]!)) {
        const value = Array.isArray(due) ? Buffer.from(due[1] as string, 'hex').toString('base64') : due;
        // Empty bytes are null there.
        if (row[name] !== '' || due !== null)
          expect([file, name, row[name], sql]).toEqual([file, name, value, sql]);
      }
      expect(Object.keys(row).length).toBe(Object.keys(theirs[i]!).length + OWN_COLUMNS);
    });
  }
});

describe.skipIf(!hasGdal)(`through the command${gdalNote}`, () => {
  test('numbers, booleans and texts keep their types in every output that has them', async () => {
    write({
      'types.gpkg': {
        sql: [
          'CREATE TABLE t(fid INTEGER PRIMARY KEY, n INTEGER, r REAL, b BOOLEAN, s TEXT, e BOOLEAN, geom POINT, latitude TEXT, longitude REAL)',
          "INSERT INTO t VALUES(1, 9007199254740993, 2, 1, '\ufeff007', NULL, {g}, 'x', 7)",
          'INSERT INTO t VALUES(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)',
        ],
      },
    });
    for (const output of ['o.ndjson', 'o.geojson', 'o.parquet', 'o.csv', 'o.arrow'])
      await encodeFile(library, folder.file('types.gpkg'), folder.file(output));
    const [line] = folder.read('o.ndjson').split('\n');
    const members = '"fid":1,"n":9007199254740993,"r":2,"b":true,"s":"\ufeff007","e":null';
    expect(line).toContain(`{${members},"latitude":"x","longitude":7,"lat":21.0288,"lng":105.8525,`);
    expect(folder.read('o.geojson')).toContain(`"properties":{${members},`);
    expect(folder.read('o.csv').split('\n')[1]).toMatch(
      /^1,9007199254740993,2(?:\.0)?,true,\ufeff007,,x,7(?:\.0)?,21\.0288,105\.8525,HN-/,
    );
    for (const again of ['o.parquet', 'o.arrow']) {
      await encodeFile(library, folder.file(again), folder.file('again.ndjson'), {
        lat: 'lat',
        lng: 'lng',
        keep: ['n', 'r', 'b', 's'],
      });
      expect(folder.read('again.ndjson')).toContain('{"n":9007199254740993,"r":2,"b":true,"s":"\ufeff007"');
    }
  });

  const ROW = 'INSERT INTO t(geom) VALUES({g})';
  const REFUSED: readonly (readonly [string, Made, string])[] = [
    [
      'virtual',
      {
        sql: [
          "CREATE TABLE t(fid INTEGER PRIMARY KEY, g TEXT GENERATED ALWAYS AS (fid || ',') VIRTUAL, geom POINT)",
          ROW,
        ],
      },
      'the column g of t is GENERATED',
    ],
    [
      'as',
      { sql: ['CREATE TABLE t(fid INTEGER PRIMARY KEY, "g h" AS (fid), geom POINT)', ROW] },
      'the column g h of t is GENERATED',
    ],
    [
      'rowid',
      {
        sql: [
          'CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT) WITHOUT ROWID',
          'INSERT INTO t VALUES(1, {g})',
        ],
      },
      'the table t is WITHOUT ROWID',
    ],
    [
      'view',
      {
        sql: [
          'CREATE TABLE u(fid INTEGER PRIMARY KEY, geom POINT)',
          'INSERT INTO u VALUES(1, {g})',
          'CREATE VIEW "a view" AS SELECT fid AS OGC_FID, geom FROM u',
        ],
        layer: 'a view',
      },
      'the layer a view is a view',
    ],
    [
      'metres',
      { sql: ['CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT)', ROW], srs: [3405, 'EPSG', 3405] },
      'in another system than WGS 84: EPSG:3405',
    ],
    [
      'vn2000',
      { sql: ['CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT)', ROW], srs: [100_000, 'EPSG', 4756] },
      'in another system than WGS 84: EPSG:4756',
    ],
  ];
  test.each(REFUSED)('%s is refused with a line that converts', async (name, each, message) => {
    const file = `${name}.gpkg`;
    write({ [file]: each });
    const ran = await folder.run(['encode', file, '-q', '--to', 'csv']);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(message)]);
    const [, line] = /: (ogr2ogr .*)/.exec(ran.stderr)!;
    if (!hasOgr2ogr) return;
    const converted = spawnSync('bash', ['-c', `rm -f points.geojson; ${line}`], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    expect([line, converted.status, converted.stderr.replace(/^Warning.*\n/gm, '')]).toEqual([line, 0, '']);
    const again = await folder.run('encode points.geojson -q --to csv');
    expect(again.stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test('a system of the file’s own with the number of another', async () => {
    write({
      'own.gpkg': {
        sql: ['CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT)', ROW],
        srs: [3405, 'EPSG', 4326],
      },
    });
    expect((await folder.run('encode own.gpkg -q')).stdout).toContain('HN-6GHP4-83RFR');
  });

  test('changes in a log beside are not left out', async () => {
    write({ 'log.gpkg': { sql: ['CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT)', ROW] } });
    gdal(
      `
import os, shutil
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('PRAGMA journal_mode=WAL')
db.execute('INSERT INTO t(geom) SELECT geom FROM t')
for end in ('', '-wal'): shutil.copyfile(sys.argv[1] + end, sys.argv[2] + end)
print(0)`,
      [folder.file('log.gpkg'), folder.file('copy.gpkg')],
    );
    const ran = await folder.run('encode copy.gpkg -q');
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringContaining('its last changes are in copy.gpkg-wal'),
    ]);
    copyFileSync(folder.file('copy.gpkg'), folder.file('mode.gpkg'));
    expect((await folder.run('encode mode.gpkg -q')).stdout.trimEnd().split('\n')).toHaveLength(2);
  });
});

test.skipIf(!hasGdal)(`cells that are pointed at twice are refused${gdalNote}`, async () => {
  write({
    'cells.gpkg': {
      sql: [
        'CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT)',
        ...Array(20).fill('INSERT INTO t(geom) VALUES({g})'),
      ],
    },
  });
  const bytes = folder.bytes('cells.gpkg');
  let pages = 0;
  for (let page = 1; page * 4096 < bytes.length; page++) {
    const at = page * 4096;
    if (bytes[at] !== 13 || bytes.readUInt16BE(at + 3) !== 20) continue;
    pages++;
    for (let i = 1; i < 20; i++) bytes.copy(bytes, at + 8 + 2 * i, at + 8, at + 10);
  }
  expect(pages).toBe(1);
  await expect(linesOf(folder.file(folder.write('cells.gpkg', bytes)))).rejects.toThrow(
    'the database is broken',
  );
});

test.skipIf(!hasGdal)(`pages that belong to two rows are refused${gdalNote}`, async () => {
  const size = 5000;
  write({
    'pages.gpkg': {
      pragmas: ['page_size=4096'],
      sql: [
        'CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT, b BLOB)',
        ...Array(2).fill(`INSERT INTO t(geom, b) VALUES({g}, zeroblob(${size}))`),
      ],
    },
  });
  const bytes = folder.bytes('pages.gpkg');
  expect(await linesOf(folder.file('pages.gpkg'))).toHaveLength(2);
  // After the local bytes of a cell is the first page of its rest.
  const least = Math.floor(((4096 - 12) * 32) / 255) - 23;
  let pages = 0;
  for (let at = 4096; at < bytes.length; at += 4096) {
    if (bytes[at] !== 13 || bytes.readUInt16BE(at + 3) !== 2) continue;
    const restOf = (i: number): number => {
      const cell = at + bytes.readUInt16BE(at + 8 + 2 * i);
      const payload = ((bytes[cell]! & 127) << 7) | bytes[cell + 1]!;
      if (payload < size || payload > 2 * size) return 0;
      const fitting = least + ((payload - least) % (4096 - 4));
      return cell + 3 + (fitting <= 4096 - 35 ? fitting : least);
    };
    if (restOf(0) === 0 || restOf(1) === 0) continue;
    pages++;
    bytes.copy(bytes, restOf(1), restOf(0), restOf(0) + 4);
  }
  expect(pages).toBe(1);
  await expect(linesOf(folder.file(folder.write('pages.gpkg', bytes)))).rejects.toThrow(
    'the database is broken',
  );
});

// Damaged GeoPackages: each gives rows or an error that says what is wrong, and ends.

const FILES = ['shops.gpkg', 'gdal-areas.gpkg', 'gdal-two-layers.gpkg'].map(broughtFile);

/** Words around other errors than refusals of the reader, and around a file that was not opened. */
const OTHER_ERROR = /cannot be read|cannot read/;

/** The number of rows, or the words of the refusal; a file may take 64 MiB. */
async function answerTo(content: Uint8Array): Promise<number | string> {
  vi.stubEnv('HEXCODES_READ_MEMORY', '64');
  try {
    const lines = await linesOf(folder.file(folder.write('damaged.gpkg', content)), {
      input: { point: 'each' },
    });
    return lines.length;
  } catch (error) {
    if ((error as Error).name !== 'CliFailure') throw error;
    expect(error).toMatchObject({ exitCode: 3, message: expect.not.stringMatching(OTHER_ERROR) });
    return (error as Error).message;
  } finally {
    vi.unstubAllEnvs();
  }
}

const file = fc.constantFrom(...FILES);
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
/** The most hostile of bytes more often than others. */
const byte = fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.integer({ min: 0, max: 255 }));
/** Heads of pages and of the file are hit as often as all the rest. */
const offset = fc
  .tuple(place, fc.boolean(), fc.integer({ min: 0, max: 40 }))
  .map(([where, isHead, inHead]) => (size: number): number => {
    const at = Math.floor(where * size);
    return isHead ? Math.min(size - 1, at - (at % 512) + inHead) : at;
  });

test('bytes that are others', async () => {
  await fc.assert(
    fc.asyncProperty(
      file,
      fc.array(fc.tuple(offset, byte), { minLength: 1, maxLength: 12 }),
      async (whole, changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, value] of changes) bytes[at(bytes.length)] = value;
        expect(await answerTo(bytes)).not.toBe('');
      },
    ),
    { numRuns: 300 },
  );
});

test('a content that ends early, or pages in another order', async () => {
  await fc.assert(
    fc.asyncProperty(file, place, place, place, async (whole, end, from, to) => {
      expect(await answerTo(whole.subarray(0, Math.floor(end * whole.length)))).not.toBe('');
      const bytes = Uint8Array.from(whole);
      const page = (where: number): number => 512 * Math.floor((where * whole.length) / 512);
      bytes.copyWithin(page(to), page(from), page(from) + 512);
      expect(await answerTo(bytes)).not.toBe('');
    }),
    { numRuns: 75 },
  );
});

test('a file that is whole has its rows', async () => {
  for (const each of FILES.slice(0, 2)) expect(await answerTo(each)).toBeGreaterThan(0);
  expect(await answerTo(FILES[2]!)).toContain('2 layers');
});
