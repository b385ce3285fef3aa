// Reads files of other programs as CSV: workbooks, GPX and KML. Their faults are reported as faults of the input.

import { likelySheet } from '../../tables/positions.js';
import { csvOf } from '../../tables/rows-as-csv.js';
import type { PointChoice } from '../../tables/shapes/shapes.js';
import { shellWord, TableError } from '../../tables/table-error.js';
import type { Sheet } from '../../tables/xlsx/workbook.js';
import type { PlainFile } from '../disk/plain-file.js';
import { badInput } from '../exit-codes.js';
import type { FileFormat } from '../format.js';
import { beyondCeiling, ceilingBytes, requireBelowCeiling, wholeContent } from '../held/ceiling.js';

// One sheet of an Excel workbook (.xlsx) as CSV. Empty rows and columns at the end of the sheet are omitted. Its
// shared texts are held in memory, up to the ceiling, and so is the workbook unless it is a plain file.

const SAVE_AS_CSV = 'Save the sheet as CSV.';

interface SheetOptions {
  readonly plain: PlainFile | null;
  readonly sheet?: string | undefined;
  readonly headerRow?: number | undefined;
  /**
   * Called with the share of the content that has been passed on as rows, where all of it is read before the first
   * row.
   */
  readonly passed: (share: number) => void;
}

/**
 * @param options the sheet by name or number from 1, undefined for the only one; the number of the first row that is
 *   read, as Excel counts them; the file whose bytes are the source, where there is one
 * @throws CliFailure BAD_INPUT for one of several sheets if none is named.
 * @throws TableError for a workbook that cannot be read, also as the chunks come
 */
async function sheetAsCsv(
  source: AsyncIterable<Uint8Array>,
  { plain, sheet, headerRow = 1, passed }: SheetOptions,
  file: string,
): Promise<Iterable<Uint8Array>> {
  const input = { name: file, chunks: () => source };
  const whole = plain === null ? await wholeContent(input, 'the workbook', SAVE_AS_CSV) : null;
  const { sheetsOf } = await import('../../tables/xlsx/workbook.js');
  let held = whole?.length ?? 0;
  const hold = (more: number): void => {
    held += more;
    requireBelowCeiling({ file }, held, 'the workbook', SAVE_AS_CSV);
  };
  const chosen = chosenSheet(sheetsOf(whole ?? plain!.ranges(), hold), sheet, file);
  return csvOf(chosen.rows(headerRow - 1, passed));
}

function chosenSheet(sheets: readonly Sheet[], sheet: string | undefined, file: string): Sheet {
  if (sheet !== undefined) {
    const chosen =
      sheets.find(({ name }) => name === sheet) ?? sheets[/^\d+$/.test(sheet) ? Number(sheet) - 1 : -1];
    if (chosen !== undefined) return chosen;
  }
  const filled = sheets.filter((each) => each.firstRows(1).length > 0);
  if (sheet === undefined) {
    if (filled.length === 0) throw badInput({ file }, 'the workbook has no rows');
    if (filled.length === 1) return filled[0]!;
  }
  const fault = sheet === undefined ? `${filled.length} sheets with rows` : `no sheet ${sheet}`;
  const listed = sheets.map(({ name }) => JSON.stringify(name)).join(', ');
  const likely = likelySheet(filled) ?? sheets[0];
  throw badInput(
    { file },
    `${fault}: it has ${listed}`,
    `Name one: --sheet ${JSON.stringify(likely?.name)}.`,
  );
}

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
  xlsx: async () => sheetAsCsv,
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

/** A content as a whole, and a counter for everything made of it. */
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

/** A reader's fault of a table as a fault of the input; any other error unchanged. */
export function asInputFault(error: unknown, file: string): unknown {
  if (!(error instanceof TableError)) return error;
  return badInput({ file }, error.message, error.hint?.replaceAll('FILE', shellWord(file)));
}
