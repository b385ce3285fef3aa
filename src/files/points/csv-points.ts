// Positions of CSV and TSV by the kernel's scan, with values for those columns only that are wanted.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { Input } from '../disk/input.js';
import type { CsvDialect } from '../formats/csv-dialect.js';
import { openText } from '../formats/csv-header.js';
import { CsvRowReader } from '../rows/read-csv.js';
import { numberIn, type TextRows, textAt } from '../rows/text-rows.js';
import type { PointRows, WantedColumns } from './wanted.js';

/**
 * All rows of an input whose position is in two columns.
 * @throws CliFailure BAD_INPUT as the source of formats/csv.ts
 */
export async function* csvPoints(
  kernel: Kernel,
  input: Input,
  dialect: CsvDialect,
  { lat, lng }: { readonly lat: number; readonly lng: number },
  { numbers, others }: WantedColumns,
): AsyncGenerator<PointRows> {
  const text = await openText(input, dialect, kernel);
  const delimiter = dialect.delimiter.charCodeAt(0);
  const reader = new CsvRowReader(kernel, text.names, delimiter, lat, lng, kernel.capacity);
  let before = 0;
  for await (const { rows } of reader.windows(text, text.endOffset, () => before + 1)) {
    const { rowCount } = rows;
    const values: unknown[][] = [];
    for (const column of numbers) values[column] = numbersIn(rows, column);
    for (const column of others) values[column] = textsIn(rows, column);
    yield { rows: { rowCount, values }, latLngDeg: rows.latLngDeg.slice(0, 2 * rowCount) };
    before += rowCount;
  }
}

function textsIn(rows: TextRows, column: number): string[] {
  const texts = new Array<string>(rows.rowCount);
  for (let row = 0; row < rows.rowCount; row++) texts[row] = textAt(rows, column, row);
  return texts;
}

/** Short decimal numbers as their values, other texts as they are. */
function numbersIn(rows: TextRows, column: number): (string | number)[] {
  const values = new Array<string | number>(rows.rowCount);
  const { text, columns } = rows;
  const { starts, ends } = columns[column]!;
  for (let row = 0; row < rows.rowCount; row++) {
    const value = numberIn(text.bytes, starts[row]!, ends[row]!);
    values[row] = Number.isNaN(value) ? textAt(rows, column, row) : value;
  }
  return values;
}
