// One sheet of an Excel workbook (.xlsx) as CSV. Rows and columns without a value at the end of the sheet are left out.
// Its shared texts are held in memory, up to the ceiling, and so is the workbook where it is not a plain file.

import { likelySheet } from '../../tables/positions/header-row.js';
import { CsvLines } from '../../tables/rows-as-csv.js';
import type { Sheet } from '../../tables/xlsx/workbook.js';
import type { PlainFile } from '../disk/plain-file.js';
import { badInput } from '../exit-codes.js';
import { requireBelowCeiling, wholeContent } from '../held/ceiling.js';

const WAY_OUT = 'Save the sheet as CSV.';

export interface SheetOptions {
  readonly plain: PlainFile | null;
  readonly sheet?: string | undefined;
  readonly headerRow?: number | undefined;
  /** Called with the share of the content that has become rows, where all of it is read before the first row. */
  readonly passed: (share: number) => void;
}

/**
 * @param options the sheet by name or number from 1, undefined for the only one; the number of the first row that is
 *   read, as Excel counts them; the file whose bytes are the source, where there is one
 * @throws CliFailure BAD_INPUT for one of several sheets if none is named.
 * @throws TableError for a workbook that cannot be read, also as the chunks come
 */
export async function sheetAsCsv(
  source: AsyncIterable<Uint8Array>,
  { plain, sheet, headerRow = 1, passed }: SheetOptions,
  file: string,
): Promise<Iterable<Uint8Array>> {
  const input = { name: file, chunks: () => source };
  const whole = plain === null ? await wholeContent(input, 'the workbook', WAY_OUT) : null;
  const { sheetsOf } = await import('../../tables/xlsx/workbook.js');
  let held = whole?.length ?? 0;
  const hold = (more: number): void => {
    held += more;
    requireBelowCeiling({ file }, held, 'the workbook', WAY_OUT);
  };
  const chosen = chosenSheet(sheetsOf(whole ?? plain!.ranges(), hold), sheet, file);
  return csvOf(chosen.rows(headerRow - 1, passed));
}

function chosenSheet(sheets: readonly Sheet[], sheet: string | undefined, file: string): Sheet {
  if (sheet !== undefined) {
    const chosen = sheets.find(({ name }) => name === sheet) ?? sheets[Number(sheet) - 1];
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

function* csvOf(rows: Iterable<readonly string[]>): Generator<Uint8Array> {
  const lines = new CsvLines();
  for (const fields of rows) if (lines.add(fields)) yield lines.take();
  yield lines.take();
}
