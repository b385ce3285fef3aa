// Positions of CSV and TSV by the kernel's scan, with values for those columns only that are wanted.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { Input } from '../disk/input.js';
import type { CsvDialect } from '../formats/csv-dialect.js';
import { type ScannedRows, scannedCsv } from '../formats/csv-scan.js';
import type { PointRows, WantedColumns } from './wanted.js';

const [MINUS, POINT, ZERO] = [45, 46, 48] as const;
/** Digits of a number whose value doubles hold, and its quotient by a power of ten. */
const MAX_DIGITS = 15;
const POWERS = Float64Array.from({ length: MAX_DIGITS + 1 }, (_, digits) => 10 ** digits);

/** Kinds of values that columns are made to. */
const [UNWANTED, NUMBER, TEXT] = [0, 1, 2] as const;

/**
 * All rows of an input whose position is in two columns.
 * @throws CliFailure BAD_INPUT as the source of formats/csv.ts
 */
export async function* csvPoints(
  kernel: Kernel,
  input: Input,
  dialect: CsvDialect,
  where: { readonly lat: number; readonly lng: number },
  { numbers, others }: WantedColumns,
): AsyncGenerator<PointRows> {
  const delimiter = dialect.delimiter.charCodeAt(0);
  /** The kind of each column, up to the last that is wanted. */
  const makes = new Uint8Array(Math.max(-1, ...numbers, ...others) + 1).fill(UNWANTED);
  for (const column of numbers) makes[column] = NUMBER;
  for (const column of others) makes[column] = TEXT;
  for await (const rows of scannedCsv(kernel, input, dialect, where)) {
    const { count: rowCount } = rows;
    const latLngDeg = kernel.input.slice(0, 2 * rowCount);
    yield { rows: { rowCount, values: valuesIn(rows, makes, delimiter) }, latLngDeg };
  }
}

function valuesIn(rows: ScannedRows, makes: Uint8Array, delimiter: number): unknown[][] {
  const values: unknown[][] = [];
  if (makes.length === 0) return values;
  const { count, block } = rows;
  for (let column = 0; column < makes.length; column++)
    if (makes[column] !== UNWANTED) values[column] = new Array<unknown>(count);
  for (let row = 0; row < count; row++) {
    if (rows.isQuoted(row)) {
      const fields = rows.fieldsOf(row);
      for (let column = 0; column < makes.length; column++)
        if (makes[column] !== UNWANTED) values[column]![row] = fields[column] ?? '';
      continue;
    }
    const end = rows.endOf(row);
    let at = rows.startOf(row);
    for (let column = 0; column < makes.length; column++) {
      const make = makes[column]!;
      const from = at;
      while (at < end && block[at] !== delimiter) at++;
      if (make === NUMBER) values[column]![row] = numberIn(block, from, at);
      else if (make === TEXT) values[column]![row] = block.toString('utf8', from, at);
      at++;
    }
  }
  return values;
}

/** A short decimal number as its value, any other text as it is. */
function numberIn(bytes: Buffer, start: number, end: number): number | string {
  const isNegative = bytes[start] === MINUS;
  let digits = 0;
  let whole = 0;
  let point = -1;
  for (let at = isNegative ? start + 1 : start; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) {
      whole = 10 * whole + digit;
      digits++;
    } else if (bytes[at] === POINT && point < 0) point = at;
    else return bytes.toString('utf8', start, end);
  }
  if (digits === 0 || digits > MAX_DIGITS) return bytes.toString('utf8', start, end);
  const value = point < 0 ? whole : whole / POWERS[end - point - 1]!;
  return isNegative ? -value : value;
}
