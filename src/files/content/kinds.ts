// Recognises a file by its first bytes: formats that are converted to another before reading, and formats that cannot
// be read, each with the remedy.

import { type ForeignFile, foreignFile, hintFor } from '../../tables/foreign-files.js';
import { badInput, badUsage, type CliFailure } from '../exit-codes.js';

const GZIP = '\x1f\x8b';
const ZSTD = '(\xb5/\xfd';
/** A skippable frame, which pzstd writes first. */
const ZSTD_SKIPPED = '*M\x18';

/** The compression of a content, by its first bytes. */
export function packingOf(head: Uint8Array): 'gzip' | 'zstd' | null {
  const text = latin1(head);
  // The first byte alone is not text.
  if (text.startsWith(GZIP) || text === GZIP[0]) return 'gzip';
  const isSkipped = text.startsWith(ZSTD_SKIPPED, 1) && text[0]! >= 'P' && text[0]! <= '_';
  return isSkipped || text.startsWith(ZSTD) ? 'zstd' : null;
}

/** @throws CliFailure BAD_INPUT for content of a known kind that is none of the formats */
export function refuseUnreadable(head: Uint8Array, file: string): void {
  const found = foreignFile(latin1(head));
  if (found !== undefined) throw notRead(found, file);
}

/** The failure for a file of a known kind that is not read. */
export function notRead(found: ForeignFile, file: string): CliFailure {
  // A pipe has no name for a line of a shell.
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

/** @throws CliFailure USAGE for an output whose extension is that of a format that is not written */
export function refuseUnwritable(path: string): void {
  const extension = /\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const hint = NOT_WRITTEN.get(extension);
  if (hint !== undefined) throw badUsage(`${path}: .${extension} is not written`, `${hint}.`);
}

function latin1(head: Uint8Array): string {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 16_384)).toString('latin1');
}

// Text in other encodings than UTF-8, as UTF-8 with a byte order mark, so that spreadsheets read the output as they
// read the input.

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const LF = 10;
/** Longest line that is decoded as a whole, in characters. */
const MAX_LINE = 16 * 2 ** 20;
const LONG_LINE = 'Perhaps it is not text, or in another encoding.';

/**
 * The name of an encoding in the Encoding Standard.
 * @throws CliFailure USAGE for an unknown name
 */
export function requireEncoding(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw badUsage(
      `--encoding ${name}: is not known`,
      'Known are utf-8, utf-16le, utf-16be, windows-1258, windows-1252 and the others of the Encoding Standard.',
    );
  }
}

/** The encoding of a text by its byte order mark; null for UTF-8 and where there is none. */
export function encodingOf(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null;
}

/** @throws CliFailure BAD_INPUT for bytes that the encoding does not have */
export async function* inUtf8(
  source: AsyncIterable<Uint8Array>,
  encoding: string,
  file: string,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  // Windows-1258 writes a tone after its letter; the two may be in two chunks, but not in two lines.
  const isComposed = encoding === 'windows-1258';
  let readBytes = 0;
  let rest = '';
  const decoded = (bytes: Uint8Array | null): string => {
    try {
      return bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw badInput({ file }, `not ${encoding} after byte ${readBytes}`);
    }
  };
  yield MARK;
  for await (const chunk of source) {
    const text = rest + decoded(chunk);
    readBytes += chunk.length;
    const end = isComposed ? text.lastIndexOf('\n') + 1 : text.length;
    rest = text.slice(end);
    if (rest.length > MAX_LINE)
      throw badInput({ file }, `a line of more than ${MAX_LINE / 2 ** 20} MiB of ${encoding}`, LONG_LINE);
    // An empty chunk marks a flush point.
    if (end > 0 || chunk.length === 0)
      yield Buffer.from(isComposed ? text.slice(0, end).normalize('NFC') : text);
  }
  const last = rest + decoded(null);
  if (last !== '') yield Buffer.from(isComposed ? last.normalize('NFC') : last);
}

export function encodingHint(bytes: Uint8Array): string {
  const feed = bytes.indexOf(LF);
  const isWide = bytes.includes(0) && (feed < 0 || bytes[feed + 1] === 0 || bytes[feed - 1] === 0);
  if (isWide) return 'Perhaps it is UTF-16: --encoding utf-16le.';
  return bytes.includes(0)
    ? "tr -d '\\000' takes such bytes out."
    : 'If it is in another encoding, name it: --encoding windows-1258, for instance.';
}
