// Recognises a file by its first bytes: the kinds that are read by way of another one, and those that cannot be read,
// each with the remedy.

import { type ForeignFile, foreignFile, hintFor } from '../../tables/foreign-files.js';
import { badInput, CliFailure, EXIT } from '../exit-codes.js';

const GZIP = '\x1f\x8b';
const ZSTD = '(\xb5/\xfd';

/** How a content is packed, by its first bytes. */
export function packingOf(head: Uint8Array): 'gzip' | 'zstd' | null {
  const text = latin1(head);
  // Its first byte alone is not text.
  return text.startsWith(GZIP) || text === GZIP[0] ? 'gzip' : text.startsWith(ZSTD) ? 'zstd' : null;
}

/** @throws CliFailure BAD_INPUT for content that is of none of the formats, but of a kind that is known */
export function refuseUnreadable(head: Uint8Array, file: string): void {
  const found = foreignFile(latin1(head));
  if (found !== undefined) throw notRead(found, file);
}

/** The refusal of a file of a kind that is known. */
export function notRead(found: ForeignFile, file: string): CliFailure {
  // The content of a pipe has no name that a line of a shell could give.
  const hint = file === '(stdin)' ? found.hint : hintFor(found, file);
  return badInput({ file }, `it is ${found.what}, which is not read`, hint);
}

const NOT_WRITTEN: ReadonlyMap<string, string> = new Map([
  ['xls', 'Excel opens -o FILE.xlsx'],
  ['xlsm', 'Excel opens -o FILE.xlsx'],
  ['ods', 'LibreOffice opens -o FILE.xlsx'],
  ['zip', 'Write FILE.gz, or pack the output yourself'],
  ['bz2', 'Write FILE.gz, or pack the output yourself: | bzip2 > FILE'],
  ['xz', 'Write FILE.gz, or pack the output yourself: | xz > FILE'],
  ['zst', 'Write FILE.gz, or pack the output yourself: | zstd > FILE'],
  ['lz4', 'Write FILE.gz, or pack the output yourself: | lz4 > FILE'],
  ['kml', 'Write GeoJSON: -o FILE.geojson'],
  ['kmz', 'Write GeoJSON: -o FILE.geojson'],
  ['gpx', 'Write GeoJSON: -o FILE.geojson'],
  ['shp', 'Write GeoJSON: -o FILE.geojson'],
  ['gpkg', 'Write GeoJSON: -o FILE.geojson'],
  ['sqlite', 'Write CSV, and import it'],
]);

/** @throws CliFailure USAGE for a name of an output whose extension promises what is not written */
export function refuseUnwritable(path: string): void {
  const extension = /\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const hint = NOT_WRITTEN.get(extension);
  if (hint !== undefined)
    throw new CliFailure(EXIT.USAGE, `${path}: .${extension} is not written`, `${hint}.`);
}

function latin1(head: Uint8Array): string {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 16_384)).toString('latin1');
}
