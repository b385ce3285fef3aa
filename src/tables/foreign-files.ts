// Kinds of files that are not read, by their first bytes, each with the remedy: usually a command line that converts
// it.

import { shellWord } from './table-error.js';

export interface ForeignFile {
  /** Its name, after "it is". */
  readonly what: string;
  /** A sentence, in which FILE is replaced by the name of the file. */
  readonly hint: string;
  /** JSON from which rows-as-csv.ts makes rows, if it can be held as a whole. */
  readonly isTable?: true;
}

interface Kind extends ForeignFile {
  /** The first bytes in the notation of `shown`, or a pattern for them. */
  readonly starts: string | RegExp;
}

const UNPACK = (tool: string): string => `Unpack it first: ${tool} FILE | hexcodes …`;
const CONVERT = (line: string): string => `Convert it: ${line}`;
const OFFICE = 'soffice --headless --convert-to xlsx FILE';
const GDAL = CONVERT('ogr2ogr -t_srs EPSG:4326 points.geojson FILE');
const GPSBABEL = (type: string): string => CONVERT(`gpsbabel -i ${type} -f FILE -o gpx -F points.gpx`);
const PYTHON = (read: string): string => CONVERT(`python3 -c 'import sys, ${read}' FILE`);

const ZIP = 'PK␃␄';
const SPREAD = 'JSON whose objects go over several lines';
/** XML by its root element, after the byte order mark and declarations. */
const rootXml = (element: string): RegExp =>
  new RegExp(`^(?:\\xef\\xbb\\xbf)?\\s*(?:<[?!][^>]*>\\s*)*<(?:\\w+:)?(?:${element})[\\s>]`);
/** Letters in UTF-16, as in the names of parts of old Office files. */
const wide = (letters: string): string => [...letters].join('␀');

const KINDS: readonly Kind[] = [
  { starts: /^BZh[1-9]1AY&SY/, what: 'packed with bzip2', hint: UNPACK('bzip2 -dc') },
  { starts: '\xfd7zXZ␀', what: 'packed with xz', hint: UNPACK('xz -dc') },
  { starts: '␟\x8b', what: 'packed with gzip twice', hint: UNPACK('gzip -dc') },
  { starts: /^[^␀].{256}ustar/s, what: 'a tar archive', hint: UNPACK('tar -xOf') },
  { starts: '(\xb5/\xfd', what: 'packed with Zstandard', hint: UNPACK('zstd -dc') },
  { starts: '␄"M␘', what: 'packed with LZ4', hint: UNPACK('lz4 -dc') },
  { starts: "7z\xbc\xaf'␜", what: 'a 7z archive', hint: UNPACK('7z x -so') },
  { starts: 'Rar!␚␇', what: 'a RAR archive', hint: UNPACK('unrar p -inul') },
  {
    starts: /^PK␃␄.{26}mimetypeapplication\/vnd\.oasis\.opendocument/s,
    what: 'an OpenDocument spreadsheet',
    hint: `Save it as .xlsx: ${OFFICE}`,
  },
  {
    starts: /^PK␃␄.{26}[^␀]{0,200}\.(?:shp|shx|dbf|prj|cpg)/is,
    what: 'a shapefile in a ZIP archive',
    hint: CONVERT('ogr2ogr -t_srs EPSG:4326 points.geojson /vsizip/FILE'),
  },
  { starts: ZIP, what: 'a ZIP archive', hint: UNPACK('unzip -p') },
  {
    starts: new RegExp(`^\\xd0\\xcf␑\\xe0.*${wide('EncryptedPackage')}`, 's'),
    what: 'an Excel workbook with a password',
    hint: 'Save it as .xlsx without a password.',
  },
  {
    starts: '\xd0\xcf␑\xe0\xa1\xb1␚\xe1',
    what: 'an Excel workbook from before 2007 (.xls), or one with a password',
    hint: `Save it as .xlsx without a password: ${OFFICE}`,
  },
  { starts: "␀␀'\n", what: 'a shapefile', hint: GDAL },
  { starts: 'fgb␃', what: 'FlatGeobuf', hint: GDAL },
  {
    // Version, date of the last change, and sizes of the head and of a row, which are not text.
    starts: /^[␃\x30\x31\x43\x63\x83\x8b\xcb\xf5\xfb].[␁-␌\t\n][␁-␟\t\n\r].{4}.{4}␀/s,
    what: 'a dBase table',
    hint: CONVERT('ogr2ogr -lco GEOMETRY=AS_XY points.csv FILE'),
  },
  {
    // The coordinate system is not given in it.
    starts: /^(?:\xef\xbb\xbf)?\s*\{\s*"type"\s*:\s*"Topology"/,
    what: 'TopoJSON',
    hint: 'If its coordinates are degrees: ogr2ogr -a_srs EPSG:4326 points.geojson FILE',
  },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*\{(?=.*"geometryType"\s*:\s*"esriGeometry)/s,
    what: 'ESRI JSON',
    hint: GDAL,
  },
  { starts: /^!table\s/i, what: 'a MapInfo table', hint: GDAL },
  { starts: /^Version \d+\s+(?:Charset|Delimiter|CoordSys|Columns)\b/i, what: 'MapInfo MIF', hint: GDAL },
  {
    starts: /^\s*0\r?\n\s*SECTION\r?\n/,
    what: 'a drawing (DXF)',
    hint: `It says no system of coordinates. If they are degrees: ogr2ogr -a_srs EPSG:4326 points.geojson FILE`,
  },
  { starts: /^.{8}\.FIT/s, what: 'a Garmin FIT file', hint: GPSBABEL('garmin_fit') },
  { starts: 'MsRcf␀', what: 'a Garmin database', hint: GPSBABEL('gdb') },
  { starts: /^\$G[A-Z]{4},/, what: 'NMEA sentences', hint: GPSBABEL('nmea') },
  { starts: /^A[^\r\n]{3,60}\r?\nH[FOP]/, what: 'an IGC track', hint: GPSBABEL('igc') },
  { starts: /^OziExplorer /, what: 'an OziExplorer file', hint: GPSBABEL('ozi') },
  { starts: /^ID;P/, what: 'a SYLK table', hint: `Save it as .xlsx: ${OFFICE}` },
  { starts: /^TABLE\r?\n0,1\r?\n/, what: 'a DIF table', hint: `Save it as .xlsx: ${OFFICE}` },
  {
    starts: /^(?:RD[AX][2-9]\n)?(?:X\n␀␀␀[␂␃]|A\n[23]\n)/,
    what: 'data of R',
    hint: CONVERT(`Rscript -e 'write.csv(readRDS(commandArgs(TRUE)), "points.csv", row.names = FALSE)' FILE`),
  },
  {
    starts: /^ORC.{0,8}[␀-␈]/s,
    what: 'an ORC file',
    hint: PYTHON(
      'pyarrow.orc, pyarrow.parquet; pyarrow.parquet.write_table(pyarrow.orc.read_table(sys.argv[1]), "points.parquet")',
    ),
  },
  {
    starts: /^\x80[␂-␅](?:\x95|c|\})/,
    what: 'a pickle of Python',
    hint: PYTHON('pandas; pandas.read_pickle(sys.argv[1]).to_csv("points.csv", index=False)'),
  },
  {
    starts: /^Obj␁/,
    what: 'an Avro file',
    hint: PYTHON('polars; polars.read_avro(sys.argv[1]).write_parquet("points.parquet")'),
  },
  {
    starts: '<stata_dta>',
    what: 'data of Stata',
    hint: PYTHON('pandas; pandas.read_stata(sys.argv[1]).to_csv("points.csv", index=False)'),
  },
  { starts: '\x89HDF', what: 'an HDF5 file', hint: 'Write the table as CSV or Parquet.' },
  {
    starts: /^.{8}DUCK/s,
    what: 'a DuckDB database',
    hint: `Write the table: duckdb FILE "COPY (SELECT …) TO 'points.parquet'"`,
  },
  {
    starts: /^␀␁␀␀Standard (?:Jet|ACE) DB/,
    what: 'an Access database',
    hint: 'Write the table: mdb-export FILE TABLE > points.csv',
  },
  {
    starts: /^PRAGMA \w+=\w+;/,
    what: 'a dump of SQLite',
    hint: `Load it, and write the table: sqlite3 new.db < FILE && sqlite3 -csv -header new.db 'SELECT * FROM TABLE' > points.csv`,
  },
  {
    starts: /^-- (?:MySQL|MariaDB) dump|^\/\*M!\d+|^(?:\s|--[^\n]*\n)*(?:CREATE TABLE|INSERT INTO) `/,
    what: 'a dump of MySQL',
    hint: `Load it, and write the table as TSV: mysql --batch -e 'SELECT …' DATABASE > points.tsv`,
  },
  {
    starts:
      /^(?:\xef\xbb\xbf)?(?:\s|--[^\n]*\n|\\restrict \w+\n|\/\*[^*]*\*\/;?)*(?:SET \w+|CREATE TABLE|INSERT INTO|DROP TABLE|BEGIN;|COPY \S+ \()[\s"'=`]?/,
    what: 'a dump of a database',
    hint: String.raw`Load it, and write the table as CSV: psql -c '\copy (SELECT …) to points.csv csv header'`,
  },
  {
    starts:
      /^(?:\+-[-+]*\+|\xe2\x94\x8c\xe2\x94\x80|(?=[^\n|]*\|)[^\n]*\n-+\+[-+]+)\r?\n|^\xe2\x94\x8c\xe2\x94\x80/,
    what: 'a table that is drawn for people',
    hint: 'Write it as CSV: psql --csv, sqlite3 -csv -header, duckdb -csv, mlr --ocsv; or mysql --batch.',
  },
  { starts: '%PDF-', what: 'a PDF document', hint: 'Ask for the table itself, as CSV or .xlsx.' },
  { starts: '\x89PNG', what: 'a picture', hint: 'Ask for the table itself, as CSV or .xlsx.' },
  { starts: '\xff\xd8\xff', what: 'a picture', hint: 'Ask for the table itself, as CSV or .xlsx.' },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*<(?:(?:!doctype html|html).*<table|table)[\s>]/is,
    what: 'a web page with a table',
    hint: `Save the table as .xlsx: soffice --headless --infilter='HTML (StarCalc)' --convert-to xlsx FILE`,
  },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i,
    what: 'a web page',
    hint: 'Perhaps that of a login was saved in place of the file.',
  },
  {
    starts: rootXml('gnm:Workbook'),
    what: 'a spreadsheet of Gnumeric',
    hint: 'Save it as .xlsx: ssconvert FILE points.xlsx',
  },
  {
    starts: rootXml('document|Workbook'),
    what: 'a spreadsheet as XML',
    hint: `Save it as .xlsx: ${OFFICE}`,
  },
  { starts: rootXml('TrainingCenterDatabase'), what: 'a Garmin training (TCX)', hint: GPSBABEL('gtrnctr') },
  { starts: rootXml('loc'), what: 'a list of geocaches', hint: GPSBABEL('geo') },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|kml|gpx|rss|feed|osm)/i,
    what: 'XML, and neither GPX nor KML',
    hint: 'Perhaps ogr2ogr reads it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE',
  },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*\[\s*[[{]/,
    what: 'a JSON array',
    hint: "One object a line is read: jq -c '.[]' FILE | hexcodes …",
    isTable: true,
  },
  {
    // A collection of features is read however it is written.
    starts: /^(?:\xef\xbb\xbf)?\s*\{[ \t]*\r?\n(?!.*"(?:features|FeatureCollection|Feature|coordinates)")/s,
    what: SPREAD,
    hint: 'One object a line is read: jq -c . FILE | hexcodes …',
    isTable: true,
  },
  {
    // Python's csv writes CR LF, and on Windows its text file makes CR CR LF of them.
    starts: /^[^␀-␈\n]*\r\r\n/,
    what: 'text whose lines end in CR CR LF',
    hint: String.raw`Give them other ends: tr -d '\r' < FILE | hexcodes …`,
  },
  {
    starts: /^(?=[^\r]*\r[^␀-␈\n])[^␀-␈\n]+$/,
    what: 'text whose lines end in CR alone',
    hint: String.raw`Give them other ends: tr '\r' '\n' < FILE | hexcodes …`,
  },
];

// JSON objects that are whole tables, recognised by their first members, each with the line that makes rows of them.

const PANDAS = (orient: string): string =>
  PYTHON(`pandas; pandas.read_json(sys.argv[1]${orient}).to_csv("points.csv", index=False)`);
const JSON_TABLES: readonly Kind[] = [
  { starts: /^\s*\{\s*"columns"\s*:\s*\[/, what: 'a table of pandas', hint: PANDAS(', orient="split"') },
  { starts: /^\s*\{\s*"schema"\s*:\s*\{/, what: 'a table of pandas', hint: PANDAS(', orient="table"') },
  { starts: /^\s*\{\s*"0"\s*:\s*\{/, what: 'a table of pandas', hint: PANDAS(', orient="index"') },
  { starts: /^\s*\{\s*"[^"\\]+"\s*:\s*\{\s*"0"\s*:/, what: 'a table of pandas', hint: PANDAS('') },
];
/** An object around a list of others, as APIs answer. */
const WRAPPED = /^\s*\{.*?"([A-Za-z_]\w*)"\s*:\s*\[\s*\{/s;

/** The kind of an object of JSON that is not a row and no feature. @param text its beginning */
export function jsonTable(text: string): ForeignFile | undefined {
  const table = JSON_TABLES.find(({ starts }) => (starts as RegExp).test(text));
  if (table !== undefined) return table;
  const [, name] = WRAPPED.exec(text) ?? [];
  if (name === undefined || name === 'features') return undefined;
  const hint = `One object a line is read: jq -c '.${name}[]' FILE | hexcodes …`;
  return { what: `an object whose rows are in ${name}`, hint, isTable: true };
}

/** Control characters except blanks as their pictures (`␀` for 0), which are readable in a pattern. */
function shown(text: string): string {
  let head = '';
  for (const character of text) {
    const code = character.charCodeAt(0);
    const isBlank = code === 9 || code === 10 || code === 13;
    head += code < 32 && !isBlank ? String.fromCharCode(0x2400 + code) : character;
  }
  return head;
}

/**
 * The kind of a file that no reader supports.
 * @param text its first bytes as Latin-1; a few thousand suffice
 */
export function foreignFile(text: string): ForeignFile | undefined {
  const head = shown(text);
  const kind = KINDS.find(({ starts }) =>
    typeof starts === 'string' ? head.startsWith(starts) : starts.test(head),
  );
  return kind?.what === SPREAD ? (jsonTable(text) ?? kind) : kind;
}

/** A hint about a file of this name. */
export function hintFor({ hint }: ForeignFile, file: string): string {
  return hint.replaceAll(/(\/vsizip\/)?FILE/g, (_, before: string = '') => shellWord(`${before}${file}`));
}
