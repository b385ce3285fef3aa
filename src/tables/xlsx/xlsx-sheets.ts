// The sheets of an Excel workbook as rows of texts, for the page. The command's reader, which is of Node, holds a
// ceiling of its own (files/content/workbook.ts).
import { unzipSync, zipSync } from 'fflate';
import readSheets from 'read-excel-file/universal';

interface SheetRows {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}

/** XML of a workbook in all: the reader makes some six times of it. */
const MOST_XML_BYTES = 256 * 2 ** 20;
/** Parts that are read: sheets, texts, styles, their list. */
const READ = /\.(?:xml|rels)$/i;

/** All sheets, without blank rows, and columns behind the last with a value. @throws Error for what is no workbook */
export async function sheetsOf(bytes: Uint8Array): Promise<SheetRows[]> {
  const archive = unpacked(bytes);
  const sheets = (await readSheets(archive)) as unknown as { sheet: string; data: unknown[][] }[];
  return sheets.map(({ sheet, data }) => {
    const filled = data.filter((row) => row.some((cell) => cell !== null));
    const width = filled.reduce(
      (most, row) => Math.max(most, row.findLastIndex((cell) => cell !== null) + 1),
      0,
    );
    return {
      name: sheet,
      rows: filled.map((row) => Array.from({ length: width }, (_, c) => textOf(row[c]))),
    };
  });
}

/** The archive with its parts as they are: the reader unpacks large ones in workers that the policy forbids. */
function unpacked(bytes: Uint8Array): ArrayBuffer {
  let size = 0;
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!READ.test(name)) return false;
      size += originalSize;
      if (size > MOST_XML_BYTES) throw new Error('too large');
      return true;
    },
  });
  const { buffer, byteOffset, length } = zipSync(parts, { level: 0 });
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + length);
}

/** Numbers with all digits that they have, dates as ISO 8601. */
function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date)
    return cell
      .toISOString()
      .replace(/T00:00:00\.000Z$/, '')
      .replace(/\.000Z$/, 'Z');
  return String(cell);
}
