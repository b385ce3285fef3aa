// GeoJSON however it is framed: each collection, feature and geometry of a file is a row, or the file is refused.
// Framings are generated, and judged by what was put in and by GDAL.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { encodeFile } from '../../../support/files/convert.js';
import { gdal, gdalNote, hasGdal } from '../../../support/gdal.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();
const library = await Hexcodes.load();

/** Objects of a file with the number of their rows; `text` gets the numbers of its features. */
interface Framed {
  readonly rows: number;
  readonly text: (first: number) => string;
}

/** A longitude by which a row is known again. */
const lngOf = (row: number): number => 105 + row / 1000;
const point = (row: number): string => `{"type":"Point","coordinates":[${lngOf(row)},21.03]}`;
const blank = fc.constantFrom('', ' ', '\n', '\r\n\t');

const geometry = fc.constantFrom(
  point,
  (row: number) => `{"coordinates":[[${lngOf(row)},21.03]],"type":"MultiPoint"}`,
  (row: number) => `{"type":"GeometryCollection","geometries":[${point(row)}]}`,
);
/** Strings that look like the frame. */
const decoy = fc.constantFrom(
  'x',
  '"features":[',
  '}]}',
  '\\',
  '{"type":"FeatureCollection"',
  '\u001e',
  'Hà Nội',
);
const feature: fc.Arbitrary<Framed> = fc
  .record({ geometry, decoy, isFirst: fc.boolean(), blank, hasFeatures: fc.boolean() })
  .map(({ geometry, decoy, isFirst, blank, hasFeatures }) => ({
    rows: 1,
    text(row) {
      const text = JSON.stringify(decoy).replace('Hà', 'H\\u00e0');
      const features = hasFeatures ? `,"features":${text}` : '';
      const properties = `"properties":{${blank}"a":${text},"features":[{"b":${text}}]}`;
      const members = isFirst
        ? `${properties},"geometry":${geometry(row)}`
        : `"geometry":${geometry(row)},${properties}`;
      return `{${blank}"type":"Feature"${features},${members}${blank}}`;
    },
  }));
const member = fc.constantFrom(
  '"name":"a \\"features\\":[ b"',
  '"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}',
  '"features_":[{"type":"Feature"}]',
  '"x":{"features":[1,{"features":[2]}]}',
);
const collection: fc.Arbitrary<Framed> = fc
  .record({
    features: fc.array(feature, { maxLength: 4 }),
    before: fc.array(member, { maxLength: 2 }),
    behind: fc.array(member, { maxLength: 2 }),
    key: fc.constantFrom('features', '\\u0066eatures', 'feature\\u0073'),
    isTypeLast: fc.boolean(),
    blank,
  })
  .map(({ features, before, behind, key, isTypeLast, blank }) => ({
    rows: features.length,
    text(first) {
      const list = features.map(({ text }, i) => text(first + i)).join(`${blank},${blank}`);
      const type = '"type":"FeatureCollection"';
      const members = [...before, `"${key}"${blank}:${blank}[${blank}${list}${blank}]`, ...behind];
      return `{${(isTypeLast ? [...members, type] : [type, ...members]).join(`${blank},`)}${blank}}`;
    },
  }));
const bare: fc.Arbitrary<Framed> = geometry.map((text) => ({ rows: 1, text }));
const separator = fc.constantFrom('\n', '', '\r\n', '\n\n', '\n\u001e', ' ', '\n\ufeff');
const file = fc
  .record({
    objects: fc.array(fc.tuple(fc.oneof(collection, feature, bare), separator), {
      minLength: 1,
      maxLength: 5,
    }),
    start: fc.constantFrom('', '\ufeff', '\u001e', '\n'),
  })
  .map(({ objects, start }) => {
    let rows = 0;
    const texts = objects.map(([{ text, rows: own }, behind]) => {
      rows += own;
      return text(rows - own) + behind;
    });
    return { text: start + texts.join(''), rows };
  });

async function lngsOf(text: string, name: string): Promise<string[]> {
  folder.write(`${name}.geojson`, text);
  await encodeFile(library, folder.file(`${name}.geojson`), folder.file(`${name}.csv`), { keep: ['lng'] });
  const lines = folder.read(`${name}.csv`).trimEnd().split('\n').slice(1);
  expect(lines.every((line) => line.endsWith(',OK') || line.endsWith(',NOT_FOUND'))).toBe(true);
  return lines.map((line) => line.split(',')[0]!);
}

const JUDGE = `
def rows(text):
    gdal.FileFromMemBuffer('/vsimem/x.geojson', text.encode())
    try:
        return [f.GetGeometryRef().Centroid().GetX() for layer in ogr.Open('/vsimem/x.geojson') for f in layer]
    except Exception:
        return None
print(json.dumps([rows(text) for text in json.load(sys.stdin)]))`;

test('every object of a file is read, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(file, async ({ text, rows }) => {
      const due = Array.from({ length: rows }, (_, row) => String(lngOf(row)));
      expect(await lngsOf(text, 'in')).toEqual(due);
    }),
    { numRuns: 150 },
  );
});

test.skipIf(!hasGdal)(`no row that GDAL reads is left out${gdalNote}`, async () => {
  const files = fc.sample(file, { numRuns: 80, seed: 7 });
  const judged = gdal(JUDGE, [], JSON.stringify(files.map(({ text }) => text))) as (number[] | null)[];
  let isAll = 0;
  for (const [i, rows] of judged.entries()) {
    if (rows === null) continue;
    const ours = (await lngsOf(files[i]!.text, 'judged')).map(Number);
    // GDAL reads the first of several collections: its rows are among ours.
    expect(rows.every((lng) => ours.some((own) => Math.abs(own - lng) < 1e-9))).toBe(true);
    expect(ours.length).toBeGreaterThanOrEqual(rows.length);
    if (ours.length === rows.length) isAll++;
  }
  expect(isAll).toBeGreaterThan(10);
});

test('chunks may end anywhere', async () => {
  const { GeoJsonSplitter } = await import('#dist/files/formats/geojson/geojson-splitter.js');
  const events = { head: () => undefined, tail: () => undefined };
  fc.assert(
    fc.property(file, fc.integer({ min: 1, max: 9 }), ({ text, rows }, size) => {
      const splitter = new GeoJsonSplitter('in', events);
      const bytes = Buffer.from(text);
      const texts: string[] = [];
      for (let at = 0; at < bytes.length; at += size)
        for (const each of splitter.push(bytes.subarray(at, at + size))) texts.push(each as string);
      splitter.end();
      expect(texts).toHaveLength(rows);
      for (const each of texts) JSON.parse(each);
    }),
    { numRuns: 100 },
  );
});

describe('values that are not understood are refused', () => {
  const row =
    '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[105.8525,21.0288]}}';
  const crs = '"crs":{"type":"name","properties":{"name":"EPSG:3405"}}';
  const one = `{"type":"FeatureCollection","features":[${row}]}`;
  test.each([
    ['a second list', `{"type":"FeatureCollection","features":[${row}],"features":[${row}]}`, 'two lists'],
    [
      'and one in escapes',
      `{"features":[${row}],"type":"FeatureCollection","\\u0066eatures":[]}`,
      'two lists',
    ],
    ['no list', `${row}\n{"type":"FeatureCollection","features":null}`, 'row 2: a FeatureCollection without'],
    ['a list in a feature', `{"type":"Feature","features":[${row}]}`, 'in an object of the type "Feature"'],
    [
      'a collection in a collection',
      `{"type":"FeatureCollection","features":[${one}]}`,
      'row 1: a FeatureCollection',
    ],
    ['another object', `${row}\n{"type":"Topology","objects":{}}`, 'row 2: not a GeoJSON feature'],
    ['a list', `${row}\n[${row}]`, 'a list where a feature should stand'],
    ['a word behind', `${one}\nnull`, 'something that is not a feature'],
    ['a bracket behind', `${one}]`, 'an unexpected ]'],
    ['a cut second collection', `${one}\n${one.slice(0, -1)}`, 'the file ends in the middle'],
    [
      'other brackets around',
      `{"type":"FeatureCollection","features":[${row}]]`,
      'not JSON around the features',
    ],
    [
      'a system of the second',
      `${one}\n{"type":"FeatureCollection",${crs},"features":[${row}]}`,
      'EPSG:3405',
    ],
    ['a system behind the second', `${one}{"features":[${row}],${crs}}`, 'EPSG:3405'],
    [
      'a system of a feature',
      `{"type":"FeatureCollection","features":[${row.replace('{', `{${crs},`)}]}`,
      'EPSG:3405',
    ],
    ['a system of a geometry', row.replace('"geometry":{', `"geometry":{${crs},`), 'EPSG:3405'],
    ['a system of a bare one', `{${crs},"type":"Point","coordinates":[105.8525,21.0288]}`, 'EPSG:3405'],
  ])('%s', async (_, text, message) => {
    folder.write('bad.geojson', text);
    for (const output of ['bad.csv', 'out.geojson'])
      await expect(encodeFile(library, folder.file('bad.geojson'), folder.file(output))).rejects.toThrow(
        message,
      );
  });
});

describe('members around features', () => {
  const of = (members: string, a: number, behind = ''): string =>
    `{"type":"FeatureCollection",${members}"features":[{"type":"Feature","properties":{"a":${a}},"geometry":${point(a)}}]${behind}}\n`;
  /** The members around the features that are written of inputs. */
  const around = async (...inputs: readonly string[]): Promise<Record<string, unknown>> => {
    const names = inputs.map((text, i) => {
      folder.write(`${i}.geojson`, text);
      return folder.file(`${i}.geojson`);
    });
    const { code, stdout } = await folder.run(['encode', ...names, '-q', '--to', 'geojson']);
    expect(code).toBe(0);
    const { features, ...members } = JSON.parse(stdout) as { features: { properties: { a: number } }[] };
    const rows = inputs.join('').match(/"a":/g)!.length;
    expect(features.map(({ properties }) => properties.a)).toEqual(
      Array.from({ length: rows }, (_, i) => i + 1),
    );
    return members;
  };
  const type = 'FeatureCollection';

  test.each<[string, readonly string[], object]>([
    [
      'one collection',
      [of('"name":"x",', 1, ',"big":9007199254740993')],
      { name: 'x', big: 9007199254740992 },
    ],
    ['the same of all', [of('"name":"x",', 1) + of('"name":"x",', 2)], { name: 'x' }],
    [
      'others of the second',
      [of('"name":"x","v":1,', 1) + of('"name":"y","v":1,', 2, ',"w":[1]')],
      { name: 'x', v: 1, collections: [{ name: 'y', w: [1] }] },
    ],
    [
      'of each of three, of which two say the same, and of another file',
      [of('', 1) + of('"name":"y",', 2) + of('"name":"y",', 3), of('"name":"z",', 4)],
      { collections: [{ name: 'y' }, { name: 'z' }] },
    ],
    [
      'of a collection behind a feature',
      [`{"type":"Feature","properties":{"a":1},"geometry":${point(1)}}\n${of('"name":"x",', 2)}`],
      { collections: [{ name: 'x' }] },
    ],
    [
      'beside a member of that name',
      [of('"collections":7,', 1) + of('"name":"y",', 2)],
      { collections: 7, collections_: [{ collections: undefined, name: 'y' }] },
    ],
    ['a box before', [of('"bbox":[1,2,3,4],"name":"x",', 1)], { name: 'x' }],
    ['a box behind', [of('', 1, ',"name":"x","bbox":[1,2,3,4]')], { name: 'x' }],
    ['a box alone', [of('"bbox":[1,2,3,4],', 1) + of('"bbox":[1,2,3,4],', 2)], {}],
  ])('%s', async (_, inputs, members) => {
    expect(await around(...inputs)).toEqual({ type, ...members });
  });

  test('the type may come after a box', async () => {
    const text = `{"features":[{"type":"Feature","properties":{"a":1},"geometry":${point(1)}}],"bbox":[1,2,3,4],"type":"FeatureCollection"}`;
    expect(await around(text)).toEqual({ type });
  });

  test('a feature whose geometry becomes a point loses its box, any other keeps it', async () => {
    const box = '"bbox":[105,21,106,22]';
    const line = `{"type":"Feature",${box},"properties":{},"geometry":{"type":"LineString","coordinates":[[105,21],[106,22]]}}`;
    folder.write('box.geojson', `{"type":"Feature",${box},"properties":{},"geometry":${point(1)}}\n${line}`);
    const { stdout } = await folder.run('encode box.geojson -q --point each --to geojson');
    const { features } = JSON.parse(stdout) as { features: object[] };
    expect(features.map((feature) => 'bbox' in feature)).toEqual([true, false, false]);
  });
});

/** Values of properties: those of most features, and now and then another. */
const usual = fc.constantFrom(
  '"x"',
  '"Bến Nghé"',
  '"B\\u1ebfn\\/\\ud83d\\ude00\\n\\""',
  '7',
  '2.50',
  'null',
  'true',
);
const unusual = fc.constantFrom('[1,"\\u00e0"]', '{"a":{}}', '12345678901234567890', '"\\ud800"');
const names = fc.constantFrom(['name', 'x'], ['t\\u00ean', 'a\\/b', 'x'], ['id', 'q\\"']);
const commas = fc.constantFrom(',', ', ', ',\n  ', '\r\n,');
/** Members behind the geometry, and blanks before the end of a feature. */
const ends = fc.constantFrom(['', ''], ['', ' '], ['', '\r\n'], [',"id":7', ''], [',"status":null', '']);

test('properties of features that look alike are read and kept as JSON.parse reads them', async () => {
  const values = fc.array(fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: unusual }), {
    minLength: 300,
    maxLength: 300,
  });
  await fc.assert(
    fc.asyncProperty(names, values, commas, ends, async (keys, drawn, comma, [last, end]) => {
      const features = Array.from({ length: drawn.length / keys.length }, (_, row) => {
        const members = keys.map((key, n) => `"${key}":${drawn[row * keys.length + n]}`);
        const others = `"properties":{${members.join(comma)}},"geometry":${point(row)}${last}`;
        return `{"type":"Feature"${comma}${others}${row === 9 ? '\n' : end}}`;
      });
      folder.write('in.geojson', `{"type":"FeatureCollection","features":[${features.join(comma)}]}`);
      const keep = keys.map((key) => JSON.parse(`"${key}"`) as string);
      const due = features.map((text) => (JSON.parse(text) as { properties: object }).properties);
      for (const [name, options] of [
        ['out.ndjson', { keep }],
        ['out.geojson', {}],
      ] as const) {
        await encodeFile(library, folder.file('in.geojson'), folder.file(name), options);
        const text = folder.read(name);
        const found = name.endsWith('.geojson')
          ? (JSON.parse(text) as { features: { properties: Record<string, unknown> }[] }).features.map(
              ({ properties }) => properties,
            )
          : text
              .trimEnd()
              .split('\n')
              .map((line) => JSON.parse(line) as Record<string, unknown>);
        expect(found.map((row) => Object.fromEntries(keep.map((key) => [key, row[key]])))).toEqual(due);
      }
      // Without chosen columns a feature becomes a line, with our members in place of those of their names.
      await encodeFile(library, folder.file('in.geojson'), folder.file('lines.ndjson'));
      const lines = folder.read('lines.ndjson').trimEnd().split('\n');
      const ours = { hexcodes: '', resolution: 13, admin_code: '', status: 'OK' };
      expect(lines.map((line) => ({ ...(JSON.parse(line) as object), ...ours }))).toEqual(
        features.map((text) => ({ ...(JSON.parse(text) as object), ...ours })),
      );
      expect(lines.every((line) => Object.keys(JSON.parse(line) as object).at(-1) === 'status')).toBe(true);
    }),
    { numRuns: 30 },
  );
});
