// The formats of src/tables/formats.ts as the command asks for them.

import { isOneSlip } from '../hexcodes/wire/params/names.js';
import {
  FILE_FORMATS,
  type FileFormat,
  FORMATS,
  formatOfBytes,
  formatOfName,
  readFormatOf,
  WRITTEN_FORMATS,
} from '../tables/formats.js';
import { badUsage } from './exit-codes.js';

export {
  FILE_FORMATS,
  type FileFormat,
  FORMAT_TITLES,
  FORMATS,
  type FormatWith,
  formatOfBytes,
  formatOfName,
  isGzipName,
  WRITTEN_FORMATS,
  writtenFormatOf,
} from '../tables/formats.js';

/**
 * A format named on the command line; an output must be a format that is written.
 * @throws CliFailure USAGE for any other word
 */
export function requireFormat(name: string, option: '--from' | '--to' | '--format'): FileFormat {
  const known = option === '--from' ? FILE_FORMATS : WRITTEN_FORMATS;
  const format = known.find((each) => each === name.toLowerCase());
  if (format !== undefined) return format;
  const meant = meantFormat(name, known);
  const hint = meant === undefined ? undefined : `Perhaps: ${option} ${meant}`;
  throw badUsage(`${option} ${name}: must be one of ${known.join(', ')}`, hint);
}

/** Words for formats that are not their extensions, or are extensions of another format here. */
const WORDS: ReadonlyMap<string, FileFormat> = new Map([
  ['json', 'ndjson'],
  ['jsonlines', 'ndjson'],
  ['ldjson', 'ndjson'],
  ['excel', 'xlsx'],
  ['xls', 'xlsx'],
  ['text', 'csv'],
  ['table', 'csv'],
  ['tabs', 'tsv'],
  ['geo', 'geojson'],
  ['map', 'geojson'],
  ['shp', 'geojson'],
  ['shapefile', 'geojson'],
  ['gdb', 'gpkg'],
  ['geopackage', 'gpkg'],
  ['google', 'kml'],
]);

/** The format that a word probably means; GeoJSON for formats that are not written. */
function meantFormat(name: string, known: readonly FileFormat[]): FileFormat | undefined {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '');
  const found =
    WORDS.get(plain) ??
    FILE_FORMATS.find((each) => FORMATS[each].extensions.includes(plain)) ??
    FILE_FORMATS.find((each) => isOneSlip(each, plain));
  return found === undefined || known.includes(found) ? found : 'geojson';
}

/** The format of an input's rows: by option, else by its name, else by its first bytes. */
export function formatOf(
  { path, head }: { readonly path: string | null; readonly head: Uint8Array },
  from: FileFormat | null = null,
): FileFormat {
  const found = formatOfBytes(head);
  // The magic bytes of a binary format are more certain than a name.
  const marked = FORMATS[found].isText ? null : found;
  return readFormatOf(from ?? marked ?? (path === null ? null : formatOfName(path).format) ?? found);
}

/** Whether values are written in the bytes of their types: a workbook takes them as texts. */
export const hasPlainValues = (format: FileFormat): boolean => FORMATS[format].hasTypes && format !== 'xlsx';
