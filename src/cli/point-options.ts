// The options of commands that read points from files, and their values: which files, which columns hold the position,
// how text is written.

import type { Command } from 'commander';
import { type ColumnChoice, refuseTwice } from '../files/columns/columns.js';
import { openInput } from '../files/disk/input.js';
import { badUsage } from '../files/exit-codes.js';
import { FILE_FORMATS, type FileFormat, FORMATS, formatOf, requireFormat } from '../files/format.js';
import { dialectOf, sampleOf } from '../files/formats/csv/dialect.js';
import { openSource } from '../files/formats/open.js';
import type { PointFiles } from '../files/points/run-points.js';
import { type CsvOptions, csvChoiceOf, inputOptionsOf } from '../files/request.js';
import { grouped } from '../files/terminal/say.js';
import { addPositionOptions, addTextOptions, POINT_OPTION } from './conversion-options.js';

export interface PointOptions extends CsvOptions {
  readonly output?: string;
  readonly to?: string;
  readonly from?: string;
  readonly lat?: string;
  readonly lng?: string;
  readonly position?: string;
  readonly quiet?: boolean;
}

/**
 * A file as rows in columns, and the first rows of its text.
 * @param searched columns by which the header is found
 * @throws CliFailure BAD_INPUT, also from the batches of the source
 */
export async function openTable(
  path: string,
  options: CsvOptions,
  from: FileFormat | null,
  isCode: (text: string) => boolean,
  searched: ColumnChoice | null = null,
) {
  const input = await openInput(path, inputOptionsOf(options));
  const format = formatOf(input, from);
  const dialect = dialectOf(input, { from: format }, csvChoiceOf(options), isCode, searched);
  const source = await openSource(input, format, 'any', dialect);
  refuseTwice(source.columns, input.name, 'Give one of them another name in the header.');
  const names = source.columns.map(({ name }) => name);
  const rows = FORMATS[format].delimiter === null ? [] : (sampleOf(input.head, dialect)?.rows ?? []);
  return { input, source, sample: { names, rows }, hasHeader: dialect.hasHeader };
}

/** Adds the options that all of these commands share. */
export function addPointOptions(command: Command): Command {
  return addTextOptions(
    addPositionOptions(
      command
        .option(
          '-o, --output <file>',
          'write here instead of stdout (-); a file takes its name only when whole',
        )
        .option(
          '--from <format>',
          `format of the input (${FILE_FORMATS.join(', ')}); default: by extension or content`,
        )
        .option('--to <format>', 'format of the output; default: by extension, else csv'),
    ).addOption(POINT_OPTION),
  ).option('-q, --quiet', 'no progress and no summary on stderr');
}

/** @throws CliFailure USAGE */
export function pointFilesOf(files: readonly string[], options: PointOptions): PointFiles {
  if (files.length === 0 && process.stdin.isTTY === true)
    throw badUsage('nothing to read: name a file, or pipe one in');
  const { lat, lng, position } = options;
  return {
    inputs: files.length === 0 ? ['-'] : files,
    from: options.from === undefined ? null : requireFormat(options.from, '--from'),
    columns: { lat, lng, position, prefix: '' },
    csv: csvChoiceOf(options),
    input: inputOptionsOf(options),
  };
}

/** The format that `--to` names; null without. @throws CliFailure USAGE */
export function formatTo({ to }: PointOptions): FileFormat | null {
  return to === undefined ? null : requireFormat(to, '--to');
}

/** Lines of a summary, for the counts that are not 0. */
export const countLines = (counts: readonly (readonly [count: number, words: string])[]): string[] =>
  counts.filter(([count]) => count > 0).map(([count, words]) => `  ${grouped(count).padStart(12)}  ${words}`);
