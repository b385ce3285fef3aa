// A run of `encode` or `decode` over files as data: the request of the command line, the state that all pipelines
// share, and the result.

import type { Hexcodes } from '../hexcodes/library/hexcodes.js';
import type { Operation } from '../hexcodes/wire/job.js';
import { readResolution } from '../hexcodes/wire/params/number.js';
import { type Position, parsePosition } from '../hexcodes/wire/rows/position-text.js';
import { POINT_CHOICES, type PointChoice } from '../tables/shapes/shapes.js';
import type { ColumnChoice, Sample } from './columns/columns.js';
import { requireEncoding } from './content/kinds.js';
import type { Input, InputOptions } from './disk/input.js';
import type { Reached } from './disk/journal.js';
import type { Targets } from './disk/targets.js';
import { badUsage, requireCount } from './exit-codes.js';
import type { FileFormat } from './format.js';
import { type CsvChoice, type CsvDialect, requireDecimal, requireDelimiter } from './formats/csv/dialect.js';
import type { TableColumn } from './formats/table.js';
import type { Tally } from './tally.js';

/** Destination of failed rows. */
export type ErrorPolicy =
  | { readonly kind: 'keep' | 'skip' | 'stop' }
  | { readonly kind: 'file'; readonly path: string };

export interface FilesRequest {
  readonly operation: Operation;
  /** Paths; `-` is stdin. */
  readonly inputs: readonly string[];
  /** null for stdout. */
  readonly output: string | null;
  /** Formats given by the user; null: by name and content. */
  readonly from: FileFormat | null;
  readonly to: FileFormat | null;
  /** Resolution of rows that name none, 0 to 15. */
  readonly resolution: number;
  readonly isFormer: boolean;
  readonly hasCertainty?: boolean;
  /** Memory in which encode to Parquet sorts rows by cell; null leaves them in their order. */
  readonly sort: { readonly memoryBytes: number } | null;
  readonly columns: ColumnChoice;
  readonly csv: CsvChoice;
  readonly input: InputOptions;
  readonly errors: ErrorPolicy;
  readonly isResume: boolean;
  /** Worker threads at most. */
  readonly threads: number;
  readonly isQuiet: boolean;
  /** Whether to say how the rows were converted. */
  readonly isVerbose?: boolean;
  /** Converts value by value even where a faster path exists, for tests and proofs. */
  readonly pipeline?: 'values';
  /** Uses threads with slices of this size, whatever the size of the input, for tests. */
  readonly sliceBytes?: number;
  /** Ends the run as a failure. */
  readonly signal?: AbortSignal;
}

/** A running conversion, as every pipeline sees it. */
export interface Run {
  readonly request: FilesRequest;
  readonly hexcodes: Hexcodes;
  readonly targets: Targets;
  readonly sourceFormat: FileFormat;
  readonly targetFormat: FileFormat;
  /** Format of the file of failed rows; null without one. */
  readonly rejectsFormat: FileFormat | null;
  /** Dialects of CSV and TSV: of the source, and of the output. */
  readonly source: CsvDialect;
  /** The first bytes of the first input. */
  readonly head: Uint8Array;
  /** Names and first rows of CSV; null for other formats. */
  readonly sample: Sample | null;
  readonly target: CsvDialect;
  /** Size of all inputs on the disk; null if one is a pipe. */
  readonly totalBytes: number | null;
  /** The columns of all inputs of NDJSON, once they have been inferred. */
  inferred?: readonly TableColumn[];
  /** How rows were converted, if that is known only at the end. */
  said?: string;
  /** Opens an input, and closes the previous one. Inputs are opened in order, each once. */
  open(inputNumber: number): Promise<Input>;
  /**
   * Called between two blocks, when all output up to here is written: shows progress, writes the journal when it is
   * due.
   * @throws CliFailure if the user has interrupted the run
   */
  tick(reached: Reached): void;
}

export interface RunResult {
  /** Nothing was done: the output existed, and its counts are not known. */
  readonly isEarlier?: boolean;
  readonly tally: Tally;
  readonly elapsedMs: number;
}

// The options of the command line about how inputs are written, for the commands that read files.

/** Largest number of a header row. */
const MAX_HEADER_ROW = 1000;
export const HEADER_ROW_HELP =
  'row of the header in CSV or a sheet, from 1; default: the first, or below titles the first of 20 with known names';

/** Bytes of `--memory MiB`, of commands that spill to disk when memory is full. @throws CliFailure USAGE */
export const memoryBytesOf = (text: string): number =>
  requireCount('--memory', text, 1, 65_536, ' of MiB') * 2 ** 20;

/** The position of an option. @throws CliFailure USAGE if it is not one on Earth */
export function requirePosition(text: string, option: string): Position {
  const found = parsePosition(text);
  if (found === null || Math.abs(found.latDeg) > 90 || Math.abs(found.lngDeg) > 180) {
    throw badUsage(`${option} ${text}: must be a position in degrees, like 21.0288,105.8525`);
  }
  return found;
}

/** The resolution of `--resolution`. @throws CliFailure USAGE if it is not an integer from 0 to 15 */
export function requireResolution(text: string): number {
  const resolution = readResolution(text);
  if (resolution >= 0) return resolution;
  throw badUsage(`--resolution ${text}: must be an integer from 0 to 15`);
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
    ...(headerRow === undefined
      ? {}
      : { headerRow: requireCount('--header-row', headerRow, 1, MAX_HEADER_ROW) }),
  };
}

/** @throws CliFailure USAGE for any other word */
function requirePoint(text: string): PointChoice {
  const choice = POINT_CHOICES.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw badUsage(`--point ${text}: must be one of ${POINT_CHOICES.join(', ')}`);
}
