// One sheet of an Excel workbook (.xlsx) as CSV: numbers with all digits that they have, dates as ISO 8601. Rows and
// columns without a value at the end of the sheet are left out. The workbook is held in memory whole, up to the
// ceiling.

import { inflateRawSync } from 'node:zlib';
import { likelySheet } from '../../tables/positions/header-row.js';
import {
  gridBytesOf,
  hasValue,
  isReadPart,
  isSheetPart,
  textOfCell,
  widthOf,
} from '../../tables/xlsx/sheet-grid.js';
import { badInput, CliFailure, reasonOf } from '../exit-codes.js';
import { csvQuoted } from '../formats/csv-rows.js';
import { requireBelowCeiling, wholeContent } from '../held/ceiling.js';

// A workbook before it is read: a ZIP archive whose parts may unpack to any size, and whose cells may be anywhere. The
// reader makes a row for each number up to the last, and a cell for each column. It believes the head of each part, not
// the directory at the end, so it gets an archive of the parts that have been checked.
const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MOST_COMMENT_BYTES = 65_535;
/** Version of ZIP that is needed to read the archive. */
const VERSION = 20;
const STORED = 0;
const DEFLATED = 8;
/** Memory of a byte of XML, as text and as values. */
const XML_FACTOR = 6;
const WAY_OUT = 'Save the sheet as CSV.';

interface Part {
  readonly name: string;
  /** Checksum of the content, as the directory says. */
  readonly crc: number;
  readonly method: number;
  readonly packed: Uint8Array;
  readonly sizeBytes: number;
}

/**
 * @returns an archive of the parts that are read, unpacked
 * @throws CliFailure BAD_INPUT for a workbook that would pass the ceiling
 * @throws Error for an archive that is broken
 */
function checkedWorkbook(bytes: Uint8Array, file: string): Buffer {
  let xmlBytes = bytes.length;
  let gridBytes = 0;
  const require = (): void =>
    requireBelowCeiling({ file }, XML_FACTOR * xmlBytes + gridBytes, 'the workbook', WAY_OUT);
  const parts = partsOf(bytes).filter(({ name }) => isReadPart(name));
  for (const { sizeBytes } of parts) xmlBytes += sizeBytes;
  require();
  const plains: { part: Part; plain: Uint8Array }[] = [];
  for (const part of parts) {
    const plain = unpackedPart(part);
    plains.push({ part, plain });
    if (!isSheetPart(part.name)) continue;
    gridBytes += gridBytesOf(plain);
    require();
  }
  return archiveOf(plains);
}

/** A ZIP archive whose parts are stored as they are. */
function archiveOf(parts: readonly { part: Part; plain: Uint8Array }[]): Buffer {
  const pieces: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { part, plain } of parts) {
    const name = Buffer.from(part.name);
    const local = Buffer.alloc(LOCAL_BYTES);
    local.writeUInt32LE(LOCAL, 0);
    local.writeUInt16LE(VERSION, 4);
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32LE(ENTRY, 0);
    entry.writeUInt16LE(VERSION, 6);
    for (const [head, at] of [
      [local, 14],
      [entry, 16],
    ] as const) {
      head.writeUInt32LE(part.crc, at);
      head.writeUInt32LE(plain.length, at + 4);
      head.writeUInt32LE(plain.length, at + 8);
      head.writeUInt16LE(name.length, at + 12);
    }
    entry.writeUInt32LE(offset, 42);
    pieces.push(local, name, plain);
    directory.push(entry, name);
    offset += LOCAL_BYTES + name.length + plain.length;
  }
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, each) => sum + each.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...pieces, ...directory, end]);
}

/** @throws Error where the part is not as large as it says */
function unpackedPart({ name, method, packed, sizeBytes }: Part): Uint8Array {
  if (method === STORED) {
    if (packed.length !== sizeBytes) throw new Error(`${name} has another size than it says`);
    return packed;
  }
  if (method !== DEFLATED) throw new Error(`${name} is packed in a way that is not read`);
  let plain: Uint8Array;
  try {
    plain = inflateRawSync(packed, { maxOutputLength: Math.max(1, sizeBytes) });
  } catch (error) {
    throw new Error(`${name} is broken, or larger than it says`, { cause: error });
  }
  if (plain.length !== sizeBytes) throw new Error(`${name} has another size than it says`);
  return plain;
}

/** The parts by the directory at the archive's end. */
function partsOf(bytes: Uint8Array): Part[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const least = Math.max(0, bytes.length - END_BYTES - MOST_COMMENT_BYTES);
  let end = bytes.length - END_BYTES;
  while (end >= least && view.getUint32(end, true) !== END) end--;
  if (end < least) throw new Error('the archive has no directory');
  const parts: Part[] = [];
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== ENTRY) throw new Error('the directory of the archive is broken');
    const [packedBytes, sizeBytes] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
    const nameBytes = view.getUint16(at + 28, true);
    const name = Buffer.from(bytes.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes)).toString();
    const local = view.getUint32(at + 42, true);
    if (view.getUint32(local, true) !== LOCAL) throw new Error('the directory of the archive is broken');
    const start = local + LOCAL_BYTES + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (start + packedBytes > bytes.length) throw new Error(`${name} is cut off`);
    const packed = bytes.subarray(start, start + packedBytes);
    const [method, crc] = [view.getUint16(at + 10, true), view.getUint32(at + 16, true)];
    parts.push({ name, method, crc, packed, sizeBytes });
    at += ENTRY_BYTES + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return parts;
}

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
  const bytes = await wholeContent(input, 'the workbook', 'Save the sheet as CSV.');
  const { default: readSheets } = await import('read-excel-file/node');
  let sheets: { sheet: string; data: unknown[][] }[];
  try {
    sheets = (await readSheets(checkedWorkbook(bytes, file), { trim: false })) as typeof sheets;
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
    if (sheet === undefined && filled.length === 0) throw badInput({ file }, 'the workbook has no rows');
    const fault = sheet === undefined ? `${filled.length} sheets with rows` : `no sheet ${sheet}`;
    const listed = names.map((name) => JSON.stringify(name)).join(', ');
    throw badInput(
      { file },
      `${fault}: it has ${listed}`,
      `Name one: --sheet ${JSON.stringify(likelySheet(filled, ({ data }) => data)?.sheet ?? names[0])}.`,
    );
  }
  const width = widthOf(chosen.data);
  return csvOf(chosen.data.slice(headerRow - 1), width);
}

/** The rows that have a value, in chunks: all of them together may be longer than a string can be. */
function* csvOf(rows: readonly unknown[][], width: number): Generator<Uint8Array> {
  let lines: string[] = [];
  let size = 0;
  for (const row of rows) {
    if (!hasValue(row)) continue;
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
