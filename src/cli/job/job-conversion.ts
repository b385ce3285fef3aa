// The conversion of a job, as its plan carries it from the command line that submits it to the workers.
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { FILE_FORMATS, type FileFormat, requireFormat } from '../../files/format.js';
import { loadLibrary } from '../../files/library.js';
import type { ErrorPolicy } from '../../files/request.js';
import {
  addContentOptions,
  addKeptOptions,
  addReadOptions,
  type Conversion,
  type ConversionOptions,
  conversionOf,
  resolutionOf,
} from '../conversion-options.js';

export interface JobConversion extends Conversion {
  /** Format of the outputs; null for those of their inputs. */
  readonly to: FileFormat | null;
  readonly errors: ErrorPolicy;
}

export interface JobConversionOptions extends ConversionOptions {
  readonly decode?: boolean;
  readonly format?: string;
  readonly errors: string;
}

const ENCODE_ONLY = ['lat', 'lng', 'position', 'resolution', 'former', 'certainty'] as const;

export function addJobConversion(command: Command): Command {
  const formats = FILE_FORMATS.join(', ');
  command
    .option('--decode', 'hexcodes to positions; else positions to hexcodes')
    .option('--from <format>', `format of the inputs (${formats}); default: by extension or content`)
    .option('--format <format>', 'format of the outputs; default: that of their inputs');
  addReadOptions(addReadOptions(command, 'encode'), 'decode');
  return addContentOptions(
    addKeptOptions(command).option(
      '--errors <keep|skip|stop>',
      'failed rows: keep with their status, skip, or give up their part',
      'keep',
    ),
  );
}

/** @throws CliFailure USAGE */
export async function jobConversionOf(options: JobConversionOptions): Promise<JobConversion> {
  const { errors, format } = options;
  const isDecode = options.decode === true;
  const wrong = isDecode
    ? ENCODE_ONLY.find((name) => options[name] !== undefined)
    : options.column === undefined
      ? undefined
      : 'column';
  if (wrong !== undefined)
    throw new CliFailure(EXIT.USAGE, `--${wrong} is ${isDecode ? 'not for' : 'for'} --decode`);
  if (errors !== 'keep' && errors !== 'skip' && errors !== 'stop')
    throw new CliFailure(EXIT.USAGE, `--errors ${errors}: must be keep, skip or stop`);
  if (options.former === true && (await loadLibrary()).kernel.formerProvinces === null)
    throw new CliFailure(EXIT.USAGE, '--former: the boundary index has no provinces of before July 2025');
  return {
    ...conversionOf(isDecode ? 'decode' : 'encode', options, resolutionOf(options)),
    to: format === undefined ? null : requireFormat(format, '--format'),
    errors: { kind: errors },
  };
}
