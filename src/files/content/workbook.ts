// One sheet of an Excel workbook (.xlsx) as CSV: numbers with all digits that they have, dates as ISO 8601. Rows and
// columns without a value at the end of the sheet are left out. The workbook is held in memory whole, up to the
// ceiling.

import { likelySheet } from '../../tables/positions/header-row.js';
import { badInput, CliFailure, reasonOf } from '../exit-codes.js';
import { csvQuoted } from '../formats/csv-rows.js';
import { requireBelowCeiling, wholeContent } from '../held/ceiling.js';

/** Memory of a byte of XML, as text and as values. */
const XML_FACTOR = 6;
const WAY_OUT = 'Save the sheet as CSV.';
/** Letters of a chunk of CSV, about. */
const CHUNK_LETTERS = 256 * 1024;

/**
 * @param sheet name or number from 1; undefined for the only one
 * @param headerRow number of the first row that is read, as Excel counts them
 * @throws CliFailure BAD_INPUT for a workbook that cannot be read, and for one of several sheets if none is named
 */
export async function sheetAsCsv(
  source: AsyncIterable<Uint8Array>,
  sheet: string | undefined,
  file: string,
  headerRow = 1,
): Promise<Iterable<Uint8Array>> {
  const input = { name: file, chunks: () => source };
  const bytes = await wholeContent(input, 'the workbook', WAY_OUT);
  const { sheetsOf, textRowsOf } = await import('../../tables/xlsx/xlsx-sheets.js');
  const requireMemory = (xmlBytes: number, gridBytes: number): void =>
    requireBelowCeiling({ file }, XML_FACTOR * xmlBytes + gridBytes, 'the workbook', WAY_OUT);
  let sheets: Awaited<ReturnType<typeof sheetsOf>>;
  try {
    sheets = await sheetsOf(bytes, requireMemory);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw badInput({ file }, `the workbook cannot be read (${reasonOf(error)})`);
  }
  const filled = sheets.filter(({ cells }) => cells.length > 0);
  const chosen =
    sheet === undefined
      ? filled.length === 1
        ? filled[0]
        : undefined
      : (sheets.find(({ name }) => name === sheet) ?? sheets[Number(sheet) - 1]);
  if (chosen === undefined) {
    if (sheet === undefined && filled.length === 0) throw badInput({ file }, 'the workbook has no rows');
    const fault = sheet === undefined ? `${filled.length} sheets with rows` : `no sheet ${sheet}`;
    const listed = sheets.map(({ name }) => JSON.stringify(name)).join(', ');
    const likely = likelySheet(filled, ({ cells }) => cells) ?? sheets[0];
    throw badInput(
      { file },
      `${fault}: it has ${listed}`,
      `Name one: --sheet ${JSON.stringify(likely?.name)}.`,
    );
  }
  return csvOf(textRowsOf(chosen, headerRow - 1));
}

/** Rows in chunks: all of them together may be longer than a string can be. */
function* csvOf(rows: Iterable<readonly string[]>): Generator<Uint8Array> {
  let lines: string[] = [];
  let size = 0;
  for (const fields of rows) {
    const line = `${fields.map((field) => csvQuoted(field, ',')).join(',')}\n`;
    lines.push(line);
    size += line.length;
    if (size < CHUNK_LETTERS) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    size = 0;
  }
  yield Buffer.from(lines.join(''));
}
