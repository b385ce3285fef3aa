// The options of commands that read points from files, and their values: which files, which columns hold the position,
// how text is written.

import type { Command } from 'commander';
import { CliFailure, EXIT } from '../files/exit-codes.js';
import { FILE_FORMATS, type FileFormat, requireFormat } from '../files/format.js';
import { type CsvOptions, csvChoiceOf, inputOptionsOf } from '../files/options.js';
import type { PointFiles } from '../files/points/run-points.js';
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

/** Adds the options that all of these commands have. */
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
    throw new CliFailure(EXIT.USAGE, 'nothing to read: name a file, or pipe one in');
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

/** Lines of a summary, of the counts that are not 0. */
export const countLines = (counts: readonly (readonly [count: number, words: string])[]): string[] =>
  counts.filter(([count]) => count > 0).map(([count, words]) => `  ${grouped(count).padStart(12)}  ${words}`);
