// Reads files of other programs as CSV: workbooks, GPX and KML. A fault of theirs becomes one of the input.

import type { PointChoice } from '../../tables/shapes/shapes.js';
import { shellWord } from '../../tables/shell-word.js';
import { TableError } from '../../tables/table-error.js';
import { badInput } from '../exit-codes.js';
import type { FileFormat } from '../format.js';
import { beyondCeiling, ceilingBytes, wholeContent } from '../held/ceiling.js';
import type { SheetOptions } from './workbook.js';

/** Options about a content, and the file whose bytes it is. */
export interface Said extends SheetOptions {
  readonly point?: PointChoice | undefined;
}
type Chunks = AsyncIterable<Uint8Array>;
type Read = (
  content: Chunks,
  options: Said,
  file: string,
) => Iterable<Uint8Array> | Chunks | Promise<Iterable<Uint8Array>>;

const WAY_OUT = 'Split it, or convert it to GeoJSON with ogr2ogr.';

const READERS: Partial<Record<FileFormat, () => Promise<Read>>> = {
  xlsx: async () => {
    const { sheetAsCsv } = await import('./workbook.js');
    return sheetAsCsv;
  },
  gpx: async () => {
    const { gpxAsCsv } = await import('../../tables/xml/gpx.js');
    return (content) => gpxAsCsv(content);
  },
  kml: async () => {
    const { kmlAsCsv } = await import('../../tables/xml/kml.js');
    return async (content, { point, passed }, file) => {
      const { bytes, hold } = await held(content, file);
      return kmlAsCsv(bytes, point ?? null, hold, passed);
    };
  },
};

/** The whole of a content, and what counts all that is made of it beside. */
export async function held(
  content: Chunks,
  file: string,
): Promise<{ bytes: Uint8Array; hold: (bytes: number) => void }> {
  const bytes = await wholeContent({ name: file, chunks: () => content }, 'the file', WAY_OUT);
  const most = ceilingBytes();
  let total = bytes.length;
  const hold = (more: number): void => {
    total += more;
    if (total > most) throw beyondCeiling({ file }, total, 'the file', WAY_OUT);
  };
  return { bytes, hold };
}

/** @throws CliFailure BAD_INPUT, also as the chunks come */
export async function* broughtAsCsv(
  format: FileFormat,
  content: Chunks,
  options: Said,
  file: string,
): AsyncGenerator<Uint8Array> {
  try {
    const read = await READERS[format]?.();
    if (read === undefined) throw new TypeError(`${format} has no reader`);
    yield* await read(content, options, file);
  } catch (error) {
    throw asInputFault(error, file);
  }
}

/** A fault of a reader of tables as one of the input; any other as it is. */
export function asInputFault(error: unknown, file: string): unknown {
  if (!(error instanceof TableError)) return error;
  return badInput({ file }, error.message, error.hint?.replaceAll('FILE', shellWord(file)));
}
