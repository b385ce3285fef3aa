// Whether a reader's work is bounded by its bytes: files around one piece of text that repeats, of every textual format
// and at every place of it, of a size and of four times that size.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { foreignFile } from '#dist/tables/foreign-files.js';
import type { Hexcodes } from '#hexcodes';
import { findCode } from '#hexcodes/geometry';
import { pick } from '../random.js';
import { encodeFile } from './convert.js';
import { type WorkbookXml, workbookXml } from './workbook-xml.js';

/** CPU that a run may take whatever its size, with a margin. */
const FIXED_MS = 40;
/** Four times the bytes take some four times the CPU, and never the sixteen of work that grows with their square. */
const MAX_RATIO = 8;
const ROWS = 8;

interface Place {
  readonly name: string;
  /** CSV rows and items of JSON have a bound of their own, which a piece must not pass. */
  readonly isCell: boolean;
  readonly operation: 'encode' | 'decode';
  file(text: string): string | Uint8Array;
}

const rows = (row: string): string => `${row}\n`.repeat(ROWS);
const cell = (
  name: string,
  head: string,
  row: (text: string) => string,
  operation: Place['operation'] = 'encode',
): Place => ({
  ...{ name, isCell: true, operation },
  file: (text) => head + rows(row(text)),
});
const whole = (name: string, file: Place['file']): Place => ({
  ...{ name, isCell: false, operation: 'encode', file },
});
const oneLine = (text: string): string => text.replaceAll('\n', ' ');
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const json = (text: string): string => JSON.stringify(text);
const feature = (member: string): string =>
  `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[105.85,21.03]},${member}}]}`;
const gpx = (inside: string): string =>
  `<?xml version="1.0"?><gpx><wpt lat="21" lon="105">${inside}</wpt></gpx>`;
const kml = (inside: string): string => `<kml><Document><Placemark>${inside}</Placemark></Document></kml>`;

const xlsx = (inRow: string, more: WorkbookXml = {}): Uint8Array => {
  const head = ['lat', 'lng'].map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('');
  return workbookXml({ sheets: { s: `<row>${head}</row><row>${inRow}</row>` }, ...more });
};

/** A GeoPackage whose table has SQL with the text in it four times, which SQLite would not write. */
function gpkg(text: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-sql-'));
  const database = new Database(join(folder, 'a.gpkg'));
  database.exec(`
    PRAGMA journal_mode=OFF;
    PRAGMA synchronous=OFF;
    CREATE TABLE gpkg_geometry_columns(table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER, z TINYINT, m TINYINT);
    INSERT INTO gpkg_geometry_columns VALUES('t', 'geom', 'POINT', 4326, 0, 0);
    CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT);
    INSERT INTO t(geom) VALUES(NULL);
    PRAGMA writable_schema=1`);
  const sql = `CREATE TABLE t(fid INTEGER PRIMARY KEY, geom POINT, a INTEGER ${text.repeat(4)}`;
  database.prepare("UPDATE sqlite_master SET sql=? WHERE name='t'").run(sql);
  database.close();
  const bytes = readFileSync(join(folder, 'a.gpkg'));
  rmSync(folder, { recursive: true });
  return bytes;
}

/** The extension of each file is before the blank of its name. */
const PLACES: readonly Place[] = [
  cell('csv field', 'lat,lng,note\n', (text) => `21,105,${oneLine(text)}`),
  cell('csv quoted', 'lat,lng,note\n', (text) => `21,105,${quoted(text)}`),
  cell('csv lat', 'lat,lng\n', (text) => `${oneLine(text)},105`),
  ...['position', 'wkt', 'geometry', 'link'].map((column) =>
    cell(`csv ${column}`, `${column}\n`, (text) => quoted(text)),
  ),
  cell('csv hexcodes', 'hexcodes\n', (text) => quoted(text), 'decode'),
  cell('ndjson note', '', (text) => `{"lat":21,"lng":105,"note":${json(text)}}`),
  cell('ndjson lat', '', (text) => `{"lat":${json(text)},"lng":105}`),
  cell('ndjson value', '', (text) => `{"lat":21,"lng":105,"note":${oneLine(text)}}`),
  cell('ndjson lines', '', oneLine),
  whole('csv whole', (text) => text),
  whole('csv header', (text) => `lat,lng,${text}`),
  whole('geojson property', (text) => feature(`"properties":{"note":${json(text)}}`)),
  whole('geojson value', (text) => feature(`"properties":{"note":${text}}`)),
  whole('geojson features', (text) => `{"type":"FeatureCollection","features":[${text}`),
  whole('geojson whole', (text) => text),
  whole('gpx text', (text) => gpx(`<name>${text}</name>`)),
  whole('gpx inside', gpx),
  whole('gpx attribute', (text) => gpx(`<link href="${text}"/>`)),
  whole('gpx comment', (text) => gpx(`<!--${text}-->`)),
  whole('gpx section', (text) => gpx(`<![CDATA[${text}]]>`)),
  whole('gpx declaration', (text) => `<?xml ${text}?>${gpx('')}`),
  whole('gpx doctype', (text) => `<!DOCTYPE gpx [${text}]>${gpx('')}`),
  whole('kml coordinates', (text) => kml(`<LineString><coordinates>${text}</coordinates></LineString>`)),
  whole('kml description', (text) => kml(`<description>${text}</description><Point/>`)),
  whole('kml inside', kml),
  whole('xlsx inside', xlsx),
  whole('xlsx value', (text) => xlsx(`<c><v>${text}</v></c>`)),
  whole('xlsx text', (text) => xlsx(`<c t="str"><v>${text}</v></c>`)),
  whole('xlsx place', (text) => xlsx(`<c r="${text}1"/>`)),
  whole('xlsx texts', (texts) => xlsx('<c t="s"><v>0</v></c>', { texts })),
  whole('xlsx format', (text) => xlsx('<c><v>1</v></c>', { formats: [text] })),
  whole('gpkg sql', gpkg),
  whole('dat whole', (text) => text),
];

/** Pieces that readers stop, turn round or call themselves at. */
const LETTERS = [
  ...'< > <!-- -- -> <![CDATA[ ]] </ /> <? ?> <a <a> </a> & &amp; &# ;'.split(' '),
  ...[
    '[',
    ']',
    '[[',
    '{',
    '}',
    '{"a":',
    '(',
    ')',
    '((',
    '"',
    '""',
    '\\',
    '\\"',
    "'",
    '`',
    ',',
    ':',
    '|',
    '+',
    '-',
    '.',
    '_',
  ],
  ...[
    '0',
    '1',
    '9',
    '1e',
    'e',
    'E',
    'N',
    'S',
    '°',
    '′',
    '″',
    ' ',
    '\t',
    '\n',
    '\r',
    '\r\n',
    'a',
    'é',
    'POINT',
    'POINT(',
    'Z ',
  ],
  ...[
    'MULTIPOINT(',
    'SRID=',
    '1 2,',
    '!3d',
    '!4d',
    '@',
    '=',
    '?q=',
    '%',
    '%2',
    '%20',
    '/',
    '//',
    'http://',
    'geo:',
    '#',
    '~',
  ],
  ...[
    'null',
    'true',
    '[1,',
    '-- ',
    '/*',
    '*/',
    '\u00a0',
    '\ufeff',
    'CREATE TABLE',
    '8F',
    'HN-',
    '\\u',
    '\\u00',
    '_x00',
  ],
];

/** One piece, or two or three that follow one another. */
export const hostilePiece = (random: () => number): string =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(LETTERS, random)).join('');

/** `{n}` in a piece is how many are before it. */
function filled(piece: string, letters: number): string {
  const count = Math.ceil(letters / piece.length);
  if (!piece.includes('{n}')) return piece.repeat(count);
  return Array.from({ length: count }, (_, n) => piece.replace('{n}', `${n}`)).join('');
}

export class LinearWork {
  constructor(
    private readonly library: Hexcodes,
    private readonly folder: string,
  ) {}

  static readonly places = PLACES.map(({ name }) => name);

  /** @returns what took more than its bytes allow, or undefined. */
  async faultOf(place: string, piece: string): Promise<string | undefined> {
    const found = PLACES.find(({ name }) => name === place)!;
    const letters = found.isCell ? 12_000 : 60_000;
    const cpuOf = (times: number): Promise<number> => this.#cpuMs(found, filled(piece, times * letters));
    return faultOf(cpuOf, `${place}, ${JSON.stringify(piece)}`);
  }

  /** @returns what took more than its bytes allow in a text of bounded length: a message, the head of a file */
  async faultOfText(reader: 'message' | 'head', piece: string): Promise<string | undefined> {
    const [letters, repeated] = reader === 'message' ? [1000, 50] : [16_000, 1];
    const cpuOf = (times: number): Promise<number> => {
      const text = filled(piece, times * letters);
      return cpuMs(async () => {
        for (let i = 0; i < repeated; i++)
          if (reader === 'head') foreignFile(text);
          else findCode(this.library, text.slice(0, 4096));
      });
    };
    return faultOf(cpuOf, `${reader}, ${JSON.stringify(piece)}`);
  }

  async #cpuMs(place: Place, text: string): Promise<number> {
    const path = join(this.folder, `hostile.${place.name.split(' ')[0]}`);
    writeFileSync(path, place.file(text));
    return cpuMs(() => this.#convert(path, place.operation));
  }

  async #convert(path: string, operation: Place['operation']): Promise<void> {
    const output = join(this.folder, 'out.ndjson');
    await encodeFile(this.library, path, output, { operation }).catch((error: unknown) => {
      if ((error as Error).name !== 'CliFailure') throw error;
    });
  }
}

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** A busy machine disturbs single runs; work that is not in proportion shows in each. */
async function faultOf(cpuOf: (times: number) => Promise<number>, name: string): Promise<string | undefined> {
  let small = Number.POSITIVE_INFINITY;
  let large = Number.POSITIVE_INFINITY;
  for (let again = 0; again < 4; again++) {
    large = Math.min(large, await cpuOf(4));
    if (large < MAX_RATIO * FIXED_MS) return undefined;
    small = Math.min(small, await cpuOf(1));
    if (large < MAX_RATIO * (small + FIXED_MS)) return undefined;
  }
  return `${name}: ${large.toFixed(0)} ms for four times the bytes of ${small.toFixed(0)} ms`;
}
