// The options of the command line about how inputs are written, for the commands that read files.

import { readResolution } from '../hexcodes/wire/params/number.js';
import { type Position, parsePosition } from '../hexcodes/wire/rows/position-text.js';
import { POINT_CHOICES, type PointChoice } from '../tables/shapes/shapes.js';
import { requireEncoding } from './content/kinds.js';
import type { InputOptions } from './disk/input.js';
import { CliFailure, EXIT } from './exit-codes.js';
import { type CsvChoice, requireDecimal, requireDelimiter } from './formats/csv/dialect.js';

/** Largest number of a header row. */
export const MAX_HEADER_ROW = 1000;
export const HEADER_ROW_HELP =
  'row of the header in CSV or a sheet, from 1; default: the first, or below titles the first of 20 with known names';

// `--memory MiB` of commands that continue on disk when memory is full.
const MIB = 2 ** 20;

/** Bytes. @throws CliFailure USAGE */
export function memoryBytesOf(text: string): number {
  const mib = Number(text);
  if (Number.isInteger(mib) && mib >= 1 && mib <= 65_536) return mib * MIB;
  throw new CliFailure(EXIT.USAGE, `--memory ${text}: must be a whole number of MiB from 1 to 65536`);
}

/** The position of an option. @throws CliFailure USAGE if it is not one on Earth */
export function requirePosition(text: string, option: string): Position {
  const found = parsePosition(text);
  if (found === null || Math.abs(found.latDeg) > 90 || Math.abs(found.lngDeg) > 180) {
    throw new CliFailure(
      EXIT.USAGE,
      `${option} ${text}: must be a position in degrees, like 21.0288,105.8525`,
    );
  }
  return found;
}

/** The resolution of `--resolution`. @throws CliFailure USAGE if it is not an integer from 0 to 15 */
export function requireResolution(text: string): number {
  const resolution = readResolution(text);
  if (resolution >= 0) return resolution;
  throw new CliFailure(EXIT.USAGE, `--resolution ${text}: must be an integer from 0 to 15`);
}

export interface CsvOptions {
  readonly delimiter?: string;
  readonly decimal?: string;
  /** false for --no-header. */
  readonly header?: boolean;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly point?: string;
  readonly headerRow?: string;
}

/** @throws CliFailure USAGE */
export function csvChoiceOf({ delimiter, decimal, header }: CsvOptions): CsvChoice {
  return {
    delimiter: delimiter === undefined ? null : requireDelimiter(delimiter),
    decimal: decimal === undefined ? '.' : requireDecimal(decimal),
    hasHeader: header !== false,
  };
}

/** @throws CliFailure USAGE */
export function inputOptionsOf({ encoding, sheet, point, headerRow }: CsvOptions): InputOptions {
  return {
    encoding: encoding === undefined ? undefined : requireEncoding(encoding),
    sheet,
    ...(point === undefined ? {} : { point: requirePoint(point) }),
    ...(headerRow === undefined ? {} : { headerRow: requireHeaderRow(headerRow) }),
  };
}

/** @throws CliFailure USAGE for any other word */
function requirePoint(text: string): PointChoice {
  const choice = POINT_CHOICES.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new CliFailure(EXIT.USAGE, `--point ${text}: must be one of ${POINT_CHOICES.join(', ')}`);
}

/** @throws CliFailure USAGE */
function requireHeaderRow(text: string): number {
  const row = Number(text);
  if (/^\d+$/.test(text) && row >= 1 && row <= MAX_HEADER_ROW) return row;
  throw new CliFailure(
    EXIT.USAGE,
    `--header-row ${text}: must be a whole number from 1 to ${MAX_HEADER_ROW}`,
  );
}
