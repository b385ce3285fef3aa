// The options of commands that read points from files, and their values: which files, which columns hold the position,
// how text is written.

import type { Command } from 'commander';
import { CliFailure, EXIT } from '../files/exit-codes.js';
import { FILE_FORMATS, type FileFormat, requireFormat } from '../files/format.js';
import { csvChoiceOf, HEADER_ROW_HELP, inputOptionsOf } from '../files/options.js';
import type { PointFiles } from '../files/points/run-points.js';
import { POINT_CHOICES } from '../tables/shapes/shapes.js';

export interface PointOptions {
  readonly output?: string;
  readonly to?: string;
  readonly from?: string;
  readonly lat?: string;
  readonly lng?: string;
  readonly position?: string;
  readonly delimiter?: string;
  readonly header?: boolean;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly point?: string;
  readonly headerRow?: string;
  readonly quiet?: boolean;
}

/** Adds the options that say how text and workbooks are written, where they do not show it. */
export function addTextOptions(command: Command): Command {
  return command
    .option(
      '--delimiter <character>',
      'of CSV: comma, semicolon, tab or pipe; default: as its first row shows',
    )
    .option('--no-header', 'the first row of CSV is data; columns are called 1, 2, …')
    .option(
      '--encoding <name>',
      'of text: utf-16le, windows-1258, …; default: UTF-8, or by its byte order mark',
    )
    .option('--sheet <name>', 'of a workbook of several sheets: by name or number')
    .option('--header-row <n>', HEADER_ROW_HELP);
}

/** Adds the options that all of these commands have. */
export function addPointOptions(command: Command): Command {
  return addTextOptions(
    command
      .option(
        '-o, --output <file>',
        'write here instead of stdout (-); a file takes its name only when whole',
      )
      .option(
        '--from <format>',
        `format of the input (${FILE_FORMATS.join(', ')}); default: by extension or content`,
      )
      .option('--to <format>', 'format of the output; default: by extension, else csv')
      .option('--lat <column>', 'column of the latitude; default lat or latitude')
      .option('--lng <column>', 'column of the longitude; default lng, longitude or lon')
      .option('--position <column>', 'column of whole positions: lat,lng, WKT, geo:, map links, …')
      .option(`--point <${POINT_CHOICES.join('|')}>`, 'of lines and areas: the point that is meant'),
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
