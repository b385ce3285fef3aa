// The options of the command line about how inputs are written, for the commands that read files.

import { requireEncoding } from './content/encoding.js';
import type { InputOptions } from './disk/input.js';
import { type CsvChoice, requireDecimal, requireDelimiter } from './formats/csv-dialect.js';

export interface CsvOptions {
  readonly delimiter?: string;
  readonly decimal?: string;
  /** false for --no-header. */
  readonly header?: boolean;
  readonly encoding?: string;
  readonly sheet?: string;
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
export function inputOptionsOf({ encoding, sheet }: CsvOptions): InputOptions {
  return { encoding: encoding === undefined ? undefined : requireEncoding(encoding), sheet };
}
