// The rows of a workbook's sheets, for page and command: how large a grid the reader makes of a sheet, before it does;
// which rows and columns count, and the text of a cell.

/** Memory of a cell and of a row that is not there. */
const CELL_BYTES = 16;
const ROW_BYTES = 32;
const ROW = /<(?:\w+:)?row\b[^>]*?\br="(\d+)"/g;
const CELL = /<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,8})(\d+)"/g;
const ROW_START = /<(?:\w+:)?row\b/g;
const SCAN_BYTES = 1 << 20;
const OVERLAP_BYTES = 1024;

/** Parts of the archive that are read: sheets, texts, styles, their list. */
export const isReadPart = (name: string): boolean => /\.(?:xml|rels)$/i.test(name);
export const isSheetPart = (name: string): boolean => /worksheets\//i.test(name);

/**
 * Memory of the grid that the reader makes of a sheet: a row for each number up to the last, and a cell for each column
 * up to the last, wherever a lone cell may be.
 * @param xml of the sheet
 */
export function gridBytesOf(xml: Uint8Array): number {
  const decoder = new TextDecoder('latin1');
  let [rows, columns, filled] = [0, 0, 0];
  for (let at = 0; at < xml.length; at += SCAN_BYTES) {
    const text = decoder.decode(xml.subarray(at, at + SCAN_BYTES + OVERLAP_BYTES));
    for (const [, row] of text.matchAll(ROW)) rows = Math.max(rows, Number(row));
    for (const [, letters = '', row] of text.matchAll(CELL)) {
      rows = Math.max(rows, Number(row));
      columns = Math.max(columns, columnOf(letters));
    }
    filled += text.match(ROW_START)?.length ?? 0;
  }
  // Rows that are left out are made without cells; those that are there, and all below a last column, get all of them.
  return ROW_BYTES * rows + CELL_BYTES * columns * Math.max(filled, rows);
}

/** `A` is 1, `XFD` 16384. */
function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters) column = 26 * column + letter.charCodeAt(0) - 64;
  return column;
}

/** The columns up to the last with a value. */
export const widthOf = (rows: readonly (readonly unknown[])[]): number =>
  rows.reduce((most, row) => Math.max(most, row.findLastIndex((cell) => cell !== null) + 1), 0);

export const hasValue = (row: readonly unknown[]): boolean => row.some((cell) => cell !== null);

/** Numbers with all digits that they have, dates as ISO 8601. */
export function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date)
    return cell
      .toISOString()
      .replace(/T00:00:00\.000Z$/, '')
      .replace(/\.000Z$/, 'Z');
  return String(cell);
}
