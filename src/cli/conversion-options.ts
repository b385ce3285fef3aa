// The options of encode and decode for converting rows of files, and the conversion that they describe.

import { type Command, Option } from 'commander';
import type { ColumnChoice } from '../files/columns/columns.js';
import { badUsage } from '../files/exit-codes.js';
import { requireFormat } from '../files/format.js';
import {
  type CsvOptions,
  csvChoiceOf,
  type FilesRequest,
  HEADER_ROW_HELP,
  inputOptionsOf,
  requireResolution,
} from '../files/request.js';
import { DEFAULT_RESOLUTION } from '../hexcodes/library/hexcodes.js';
import type { Operation } from '../hexcodes/wire/job.js';
import { POINT_CHOICES } from '../tables/shapes/shapes.js';

export interface ConversionOptions extends CsvOptions {
  readonly from?: string;
  readonly lat?: string;
  readonly lng?: string;
  readonly position?: string;
  readonly column?: string;
  readonly id?: string;
  readonly keep?: string[];
  readonly drop?: string[];
  readonly prefix: string;
  readonly resolution?: string;
  readonly former?: boolean;
  readonly certainty?: boolean;
}

/** How rows are converted, whichever files they are in. */
export type Conversion = Pick<
  FilesRequest,
  'operation' | 'from' | 'resolution' | 'isFormer' | 'hasCertainty' | 'columns' | 'csv' | 'input'
>;

/** Options for the position of each row. */
export const addPositionOptions = (command: Command): Command =>
  command
    .option('--lat <column>', 'column of the latitude; default lat or latitude')
    .option('--lng <column>', 'column of the longitude; default lng, longitude or lon')
    .option('--position <column>', 'column of whole positions: lat,lng, WKT, geo:, map links, …');

export const POINT_OPTION = new Option(
  `--point <${POINT_CHOICES.join('|')}>`,
  'of lines and areas: the point that is meant',
);

/** Options for the position or the code of each row. */
export function addReadOptions(command: Command, operation: Operation): Command {
  if (operation === 'decode')
    return command.option('--column <column>', 'column of the hexcodes; default hexcodes');
  return addPositionOptions(command)
    .addOption(POINT_OPTION)
    .option(
      '-r, --resolution <0-15>',
      `resolution of rows that name none; default ${DEFAULT_RESOLUTION}, edges of 4.3 m`,
    )
    .option('--former', 'add former_province, the province before July 2025')
    .option('--certainty', 'add border_m and certainty: how sure the province is');
}

/** The columns of the output. */
export function addKeptOptions(command: Command): Command {
  return command
    .option('--id <column>', 'keep this column of the input and no other: short for --keep')
    .option(
      '--keep <columns>',
      'keep these columns of the input only, comma-separated; may be repeated',
      listed,
    )
    .option(
      '--drop <columns>',
      'leave these columns of the input out, comma-separated; may be repeated',
      listed,
    )
    .option('--prefix <text>', 'before the names of the columns that we add', '');
}

/** A name in double quotes, with inner ones doubled, or up to the next comma. */
const LISTED_NAME = /\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|$)/gy;

/** The names in a repeatable option: each value is a comma-separated list, like a row of CSV. */
export function listed(value: string, before: readonly string[] = []): string[] {
  const names: string[] = [];
  for (const { 0: part, 1: quoted, 2: plain, index } of value.matchAll(LISTED_NAME)) {
    // An empty rest is a name only after a comma.
    if (part === '' && index > 0 && value[index - 1] !== ',') break;
    names.push(quoted?.replaceAll('""', '"') ?? plain!);
  }
  return [...before, ...names];
}

/** The options that the command line gives. */
export const givenOptions = (command: Command): readonly Option[] =>
  command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');

/** Values of an option that may be given several times. */
export const gathered = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Options for reading text and workbooks that do not describe themselves. */
export function addTextOptions(command: Command, writesCsv = false): Command {
  command.option(
    '--delimiter <character>',
    'of CSV: comma, semicolon, tab or pipe; default: as its first row shows',
  );
  if (writesCsv)
    command.option('--decimal <sign>', 'of the numbers that we write to CSV: point or comma', 'point');
  return command
    .option('--no-header', 'the first row of CSV is data; columns are called 1, 2, …')
    .option(
      '--encoding <name>',
      'of text: utf-16le, windows-1258, …; default: UTF-8, or by its byte order mark',
    )
    .option('--sheet <name>', 'of a workbook of several sheets: by name or number')
    .option('--header-row <n>', HEADER_ROW_HELP);
}

/** @throws CliFailure USAGE */
export function resolutionOf({ resolution }: ConversionOptions): number {
  return resolution === undefined ? DEFAULT_RESOLUTION : requireResolution(resolution);
}

/** @throws CliFailure USAGE for options that exclude one another */
export function columnsOf(options: ConversionOptions): ColumnChoice {
  if (options.keep !== undefined && options.id !== undefined) {
    throw badUsage('--keep and --id exclude one another', 'Name all columns in --keep.');
  }
  const keep = options.keep ?? (options.id === undefined ? undefined : [options.id]);
  if (keep !== undefined && options.drop !== undefined) {
    throw badUsage('--keep (or --id) and --drop exclude one another');
  }
  const { lat, lng, position, column, prefix } = options;
  return { lat, lng, position, code: column, keep, drop: options.drop, prefix };
}

/** @throws CliFailure USAGE */
export function conversionOf(
  operation: Operation,
  options: ConversionOptions,
  resolution: number,
): Conversion {
  return {
    operation,
    from: options.from === undefined ? null : requireFormat(options.from, '--from'),
    resolution,
    isFormer: options.former === true,
    ...(options.certainty === true ? { hasCertainty: true } : {}),
    columns: columnsOf(options),
    csv: csvChoiceOf(options),
    input: inputOptionsOf(options),
  };
}
