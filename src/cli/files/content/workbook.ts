// One sheet of an Excel workbook (.xlsx) as CSV: numbers with all digits that they have, dates as ISO 8601. Rows and columns
// without a value at the end of the sheet are left out. The workbook is held in memory whole.

import { badInput, reasonOf } from '../../file-faults.js';
import { csvQuoted } from '../formats/csv-rows.js';

/**
 * @param sheet name or number from 1; undefined for the only one
 * @throws CliFailure BAD_INPUT for a workbook that cannot be read, and for one of several sheets if none is named
 */
export async function sheetAsCsv(
  source: AsyncIterable<Uint8Array>,
  sheet: string | undefined,
  file: string,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of source) parts.push(chunk);
  const { default: readSheets } = await import('read-excel-file/node');
  let sheets: { sheet: string; data: unknown[][] }[];
  try {
    sheets = (await readSheets(Buffer.concat(parts))) as typeof sheets;
  } catch (error) {
    throw badInput({ file }, `the workbook cannot be read (${reasonOf(error)})`);
  }
  const names = sheets.map((each) => each.sheet);
  const filled = sheets.filter(({ data }) => data.length > 0);
  const chosen =
    sheet === undefined
      ? filled.length === 1
        ? filled[0]
        : undefined
      : (sheets.find((each) => each.sheet === sheet) ?? sheets[Number(sheet) - 1]);
  if (chosen === undefined) {
    const fault = sheet === undefined ? `${filled.length} sheets with rows` : `no sheet ${sheet}`;
    const listed = names.map((name) => JSON.stringify(name)).join(', ');
    throw badInput({ file }, `${fault}: it has ${listed}`, `Name one: --sheet ${JSON.stringify(names[0])}.`);
  }
  const width = Math.max(0, ...chosen.data.map((row) => row.findLastIndex((cell) => cell !== null) + 1));
  const lines = chosen.data
    .filter((row) => row.some((cell) => cell !== null))
    .map(
      (row) => `${Array.from({ length: width }, (_, c) => csvQuoted(textOfCell(row[c]), ',')).join(',')}\n`,
    );
  return Buffer.from(lines.join(''));
}

function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date)
    return cell
      .toISOString()
      .replace(/T00:00:00\.000Z$/, '')
      .replace(/\.000Z$/, 'Z');
  return String(cell);
}
