// The sheets of an Excel workbook as rows of texts, for the page. The command's reader, which is of Node, holds a
// ceiling of its own (files/content/workbook.ts); what counts as a row, and its texts, are of one code.
import { unzipSync, zipSync } from 'fflate';
import readSheets from 'read-excel-file/universal';
import { TableError } from '../table-error.js';
import { gridBytesOf, hasValue, isReadPart, isSheetPart, textOfCell, widthOf } from './sheet-grid.js';

interface SheetRows {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}

/** XML of a workbook in all: the reader makes some six times of it. */
const MOST_XML_BYTES = 256 * 2 ** 20;
/** Grids of all sheets: a lone cell at XFD1048576 would make one of 256 GiB. */
const MOST_GRID_BYTES = 2 ** 30;
const TOO_LARGE = 'The workbook would take more memory than a page may; save the sheet as CSV';

/**
 * All sheets, without blank rows, and columns behind the last with a value.
 * @throws TableError for one that is too large. @throws Error for what is no workbook
 */
export async function sheetsOf(bytes: Uint8Array): Promise<SheetRows[]> {
  const archive = unpacked(bytes);
  const sheets = (await readSheets(archive, { trim: false })) as unknown as {
    sheet: string;
    data: unknown[][];
  }[];
  return sheets.map(({ sheet, data }) => {
    const width = widthOf(data);
    return {
      name: sheet,
      rows: data.filter(hasValue).map((row) => Array.from({ length: width }, (_, c) => textOfCell(row[c]))),
    };
  });
}

/** The archive with its parts as they are: the reader unpacks large ones in workers that the policy forbids. */
function unpacked(bytes: Uint8Array): ArrayBuffer {
  let size = 0;
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!isReadPart(name)) return false;
      size += originalSize;
      if (size > MOST_XML_BYTES) throw new TableError(TOO_LARGE);
      return true;
    },
  });
  let gridBytes = 0;
  for (const [name, xml] of Object.entries(parts)) if (isSheetPart(name)) gridBytes += gridBytesOf(xml);
  if (gridBytes > MOST_GRID_BYTES) throw new TableError(TOO_LARGE);
  const { buffer, byteOffset, length } = zipSync(parts, { level: 0 });
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + length);
}
