// The sheets of an Excel workbook as rows of texts, for command and page.
import readSheets from 'read-excel-file/universal';
import { hasValue, textOfCell, widthOf } from './sheet-grid.js';
import { checkedArchive } from './workbook-archive.js';

export interface Sheet {
  readonly name: string;
  /** Values of cells, from the first row on. */
  readonly cells: readonly (readonly unknown[])[];
}

/**
 * All sheets of a workbook.
 * @param requireMemory throws where a workbook with this XML and these grids would pass what may be held
 * @throws Error for what is no workbook
 */
export async function sheetsOf(
  bytes: Uint8Array,
  requireMemory: (xmlBytes: number, gridBytes: number) => void,
): Promise<Sheet[]> {
  const { buffer, byteOffset, length } = checkedArchive(bytes, requireMemory);
  const whole = length === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + length);
  const sheets = await readSheets(whole as ArrayBuffer, { trim: false });
  return sheets.map(({ sheet, data }) => ({ name: sheet, cells: data }));
}

/** Rows with a value as texts, up to the last column with one. @param first the first row that is read, from 0 */
export function* textRowsOf({ cells }: Sheet, first = 0): Generator<string[]> {
  const width = widthOf(cells);
  for (let i = first; i < cells.length; i++) {
    const row = cells[i]!;
    if (hasValue(row)) yield Array.from({ length: width }, (_, c) => textOfCell(row[c]));
  }
}
