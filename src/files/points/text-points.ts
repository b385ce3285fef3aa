// Positions of CSV, TSV and NDJSON by the kernel's scan, with values for those columns only that are wanted.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { Input } from '../disk/input.js';
import type { FileFormat } from '../format.js';
import { openText } from '../formats/csv/csv.js';
import type { CsvDialect } from '../formats/csv/dialect.js';
import { CsvRowReader } from '../formats/csv/read-csv.js';
import { NdjsonRowReader } from '../formats/ndjson/read-ndjson.js';
import type { TableColumn } from '../formats/table.js';
import { numberIn, type TextRows, textAt } from '../rows/text-rows.js';
import type { PointRows, WantedColumns } from './values.js';

/** Texts whose position is in two columns. */
export interface PointText {
  readonly format: FileFormat;
  readonly dialect: CsvDialect;
  readonly columns: readonly TableColumn[];
  readonly lat: number;
  readonly lng: number;
}

/** All rows of an input. @throws CliFailure BAD_INPUT as the sources of formats/ */
export async function* textPoints(
  kernel: Kernel,
  input: Input,
  text: PointText,
  wanted: WantedColumns,
): AsyncGenerator<PointRows> {
  // Numbers of JSON are as good as their texts, which are as printing gives them.
  const isNumber = (column: number): boolean => text.columns[column]!.kind === 'double';
  const numbers = [...wanted.numbers, ...wanted.others.filter(isNumber)];
  const others = wanted.others.filter((column) => !isNumber(column));
  for await (const rows of text.format === 'ndjson'
    ? ndjsonRows(kernel, input, text, [...numbers, ...others])
    : csvRows(kernel, input, text)) {
    const { rowCount, latLngDeg } = rows;
    const values: unknown[][] = [];
    for (const column of numbers) values[column] = numbersIn(rows, column);
    for (const column of others) values[column] = textsIn(rows, column);
    yield { rows: { rowCount, values }, latLngDeg: latLngDeg.slice(0, 2 * rowCount) };
  }
}

async function* csvRows(
  kernel: Kernel,
  input: Input,
  { dialect, lat, lng }: PointText,
): AsyncGenerator<TextRows> {
  const text = await openText(input, dialect, kernel);
  const delimiter = dialect.delimiter.charCodeAt(0);
  const reader = new CsvRowReader(
    kernel,
    text.names,
    delimiter,
    { lat, lng, code: -1, own: -1 },
    kernel.capacity,
  );
  let before = 0;
  for await (const { rows } of reader.windows(text, text.endOffset, () => before + 1)) {
    yield rows;
    before += rows.rowCount;
  }
}

async function* ndjsonRows(
  kernel: Kernel,
  input: Input,
  { columns, lat, lng }: PointText,
  wanted: readonly number[],
): AsyncGenerator<TextRows> {
  const read = [...new Set([lat, lng, ...wanted])];
  const position = { lat, lng, code: -1, own: -1 };
  const shape = { columns, ...position, read, most: kernel.capacity, fit: 'any' } as const;
  for await (const { rows } of new NdjsonRowReader(kernel, shape).windows(input, 0, 0)) yield rows;
}

function textsIn({ text, rowCount, columns }: TextRows, column: number): (string | null)[] {
  const { starts, ends } = columns[column]!;
  const { buffer, byteOffset, length } = text.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  const texts = new Array<string | null>(rowCount);
  for (let row = 0; row < rowCount; row++)
    texts[row] = starts[row]! < 0 ? null : bytes.toString('utf8', starts[row], ends[row]);
  return texts;
}

/** Short decimal numbers as their values, other texts as they are. */
function numbersIn(rows: TextRows, column: number): (string | number | null)[] {
  const values = new Array<string | number | null>(rows.rowCount);
  const { text, columns } = rows;
  const { starts, ends } = columns[column]!;
  for (let row = 0; row < rows.rowCount; row++) {
    const start = starts[row]!;
    const value = start < 0 ? null : numberIn(text.bytes, start, ends[row]!);
    values[row] = Number.isNaN(value) ? textAt(rows, column, row) : value;
  }
  return values;
}
