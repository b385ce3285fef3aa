// Recognises a file by its first bytes: the kinds that are read by way of another one, and those that cannot be read,
// each with the way out.

import { badInput, CliFailure, EXIT } from '../exit-codes.js';

interface Unreadable {
  /** The first bytes as Latin-1, or a pattern for them. */
  readonly starts: string | RegExp;
  readonly what: string;
  readonly hint: string;
}

const PIPE = (tool: string): string => `Unpack it first: ${tool} FILE | hexcodes …`;

const ZIP = 'PK\x03\x04';

const UNREADABLE: readonly Unreadable[] = [
  { starts: /^BZh[1-9]1AY&SY/, what: 'packed with bzip2', hint: PIPE('bzip2 -dc') },
  { starts: '\xfd7zXZ\0', what: 'packed with xz', hint: PIPE('xz -dc') },
  { starts: '\x04"M\x18', what: 'packed with LZ4', hint: PIPE('lz4 -dc') },
  { starts: "7z\xbc\xaf'\x1c", what: 'a 7z archive', hint: PIPE('7z x -so') },
  { starts: 'Rar!\x1a\x07', what: 'a RAR archive', hint: PIPE('unrar p -inul') },
  { starts: ZIP, what: 'a ZIP archive', hint: PIPE('unzip -p') },
  {
    starts: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    what: 'an Excel workbook of before 2007 (.xls), or one with a password',
    hint: 'Save it as .xlsx or as CSV UTF-8, without a password.',
  },
  {
    starts: "\0\0'\n",
    what: 'a shapefile',
    hint: 'Convert it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE',
  },
  { starts: '%PDF-', what: 'a PDF document', hint: 'Ask for the table itself, as CSV or .xlsx.' },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i,
    what: 'a web page',
    hint: 'Perhaps the page of a login was saved in place of the file.',
  },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|kml|gpx)/i,
    what: 'XML, and neither GPX nor KML',
    hint: 'Perhaps ogr2ogr reads it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE',
  },
  {
    starts: /^(?:\xef\xbb\xbf)?\s*\[\s*[[{]/,
    what: 'a JSON array',
    hint: "One object a line is read: jq -c '.[]' FILE | hexcodes …",
  },
];

const GZIP = '\x1f\x8b';
const ZSTD = '(\xb5/\xfd';

/** How a content is packed, by its first bytes. */
export function packingOf(head: Uint8Array): 'gzip' | 'zstd' | null {
  const text = latin1(head);
  return text.startsWith(GZIP) ? 'gzip' : text.startsWith(ZSTD) ? 'zstd' : null;
}

/** @throws CliFailure BAD_INPUT for content that is of none of the formats, but of a kind that is known */
export function refuseUnreadable(head: Uint8Array, file: string): void {
  const text = latin1(head);
  const found = UNREADABLE.find(({ starts }) =>
    typeof starts === 'string' ? text.startsWith(starts) : starts.test(text),
  );
  if (found !== undefined) throw badInput({ file }, `it is ${found.what}, which is not read`, found.hint);
}

const NOT_WRITTEN: Readonly<Record<string, string>> = {
  xls: 'Excel opens -o FILE.xlsx',
  xlsm: 'Excel opens -o FILE.xlsx',
  ods: 'LibreOffice opens -o FILE.xlsx',
  zip: 'Write FILE.gz, or pack the output yourself',
  bz2: 'Write FILE.gz, or pack the output yourself: | bzip2 > FILE',
  xz: 'Write FILE.gz, or pack the output yourself: | xz > FILE',
  zst: 'Write FILE.gz, or pack the output yourself: | zstd > FILE',
  lz4: 'Write FILE.gz, or pack the output yourself: | lz4 > FILE',
  kml: 'Write GeoJSON: -o FILE.geojson',
  kmz: 'Write GeoJSON: -o FILE.geojson',
  gpx: 'Write GeoJSON: -o FILE.geojson',
  shp: 'Write GeoJSON: -o FILE.geojson',
  gpkg: 'Write GeoJSON: -o FILE.geojson',
  sqlite: 'Write CSV, and import it',
};

/** @throws CliFailure USAGE for a name of an output whose extension promises what is not written */
export function refuseUnwritable(path: string): void {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const hint = NOT_WRITTEN[extension];
  if (hint !== undefined)
    throw new CliFailure(EXIT.USAGE, `${path}: .${extension} is not written`, `${hint}.`);
}

function latin1(head: Uint8Array): string {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 4096)).toString('latin1');
}
