// One sheet of an Excel workbook (.xlsx) as CSV: numbers with all digits that they have, dates as ISO 8601. Rows and
// columns without a value at the end of the sheet are left out. The workbook is held in memory whole, up to the
// ceiling.

import { CliFailure } from '../exit-codes.js';
import { badInput, reasonOf } from '../file-faults.js';
import { csvQuoted } from '../formats/csv-rows.js';
import { wholeContent } from '../held/whole-content.js';
import { checkedWorkbook } from './sound-workbook.js';

/** Letters of a chunk of CSV, about. */
const CHUNK_LETTERS = 256 * 1024;

/**
 * @param sheet name or number from 1; undefined for the only one
 * @throws CliFailure BAD_INPUT for a workbook that cannot be read, and for one of several sheets if none is named
 */
export async function sheetAsCsv(
  source: AsyncIterable<Uint8Array>,
  sheet: string | undefined,
  file: string,
): Promise<Iterable<Uint8Array>> {
  const input = { name: file, chunks: () => source };
  const bytes = await wholeContent(input, 'the workbook', 'Save the sheet as CSV.');
  const { default: readSheets } = await import('read-excel-file/node');
  let sheets: { sheet: string; data: unknown[][] }[];
  try {
    sheets = (await readSheets(checkedWorkbook(bytes, file))) as typeof sheets;
  } catch (error) {
    if (error instanceof CliFailure) throw error;
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
  const width = chosen.data.reduce(
    (widest, row) => Math.max(widest, row.findLastIndex((cell) => cell !== null) + 1),
    0,
  );
  return csvOf(chosen.data, width);
}

/** The rows that have a value, in chunks: all of them together may be longer than a string can be. */
function* csvOf(rows: readonly unknown[][], width: number): Generator<Uint8Array> {
  let lines: string[] = [];
  let size = 0;
  for (const row of rows) {
    if (!row.some((cell) => cell !== null)) continue;
    const fields = Array.from({ length: width }, (_, c) => csvQuoted(textOfCell(row[c]), ','));
    const line = `${fields.join(',')}\n`;
    lines.push(line);
    size += line.length;
    if (size < CHUNK_LETTERS) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    size = 0;
  }
  yield Buffer.from(lines.join(''));
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
