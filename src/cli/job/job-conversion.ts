// The conversion of a job, as its plan carries it from the command line that submits it to the workers.
import type { Command } from 'commander';
import type { JobStore, KnownJob } from '../../bus/jobs/job-store.js';
import type { ConversionChecks } from '../../bus/jobs/read-job.js';
import { openBus } from '../../bus/open-bus.js';
import { type Check, flag, list, object, oneOf, orNull, SchemaFault, text, whole } from '../../bus/schema.js';
import { type BusConfig, NATS_NAMES } from '../../config/config.js';
import type { FilePart } from '../../files/disk/input.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { FILE_FORMATS, type FileFormat, requireFormat, WRITTEN_FORMATS } from '../../files/format.js';
import { loadLibrary } from '../../files/library.js';
import { MOST_HEADER_ROW } from '../../files/options.js';
import type { ErrorPolicy } from '../../files/request.js';
import { POINT_CHOICES } from '../../tables/shapes/shapes.js';
import { requireSubject, sayer } from '../bus-options.js';
import {
  addContentOptions,
  addKeptOptions,
  addReadOptions,
  type Conversion,
  type ConversionOptions,
  conversionOf,
  resolutionOf,
} from '../conversion-options.js';
import { addFlags } from '../settings.js';

// Checks of the members of plans and parts that say how files are converted: the values that `job submit` writes, and
// no others.
const MOST_NAME = 131_072;
const MOST_COLUMNS = 65_536;
const MOST_PART_NUMBER = 10_000_000;

const format: Check<FileFormat> = oneOf(FILE_FORMATS);
const written: Check<FileFormat> = oneOf(WRITTEN_FORMATS);
const name = text(MOST_NAME);
const names = list(name, MOST_COLUMNS);

/** The name of an encoding as the Encoding Standard has it. */
const encoding: Check<string> = (value, member) => {
  const label = text(64)(value, member);
  try {
    if (new TextDecoder(label).encoding === label) return label;
  } catch {
    // Told below.
  }
  throw new SchemaFault(`${member} must be the name of an encoding`);
};

const conversion: Check<JobConversion> = object(
  {
    operation: oneOf(['encode', 'decode']),
    ...{ from: orNull(format), to: orNull(written), resolution: whole(0, 15), isFormer: flag },
    columns: object(
      { prefix: name },
      { lat: name, lng: name, position: name, code: name, keep: names, drop: names },
    ),
    csv: object({
      delimiter: orNull(oneOf([',', ';', '\t', '|'])),
      ...{ decimal: oneOf(['.', ',']), hasHeader: flag },
    }),
    input: object(
      {},
      { encoding, sheet: name, point: oneOf(POINT_CHOICES), headerRow: whole(1, MOST_HEADER_ROW) },
    ),
    // A file of failed rows has a path, which no message may name.
    errors: object({ kind: oneOf(['keep', 'skip', 'stop']) }),
  },
  { hasCertainty: flag },
);

const number = whole(1, MOST_PART_NUMBER);

const range =
  (fileBytes: number): Check<FilePart> =>
  (value, member) => {
    const offset = whole(0, fileBytes);
    const isBytes = typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'bytes';
    const read: FilePart = isBytes
      ? object({ kind: oneOf(['bytes']), number, headBytes: offset, start: offset, end: offset })(
          value,
          member,
        )
      : object({ kind: oneOf(['rows']), number, start: whole(0), end: whole(0) })(value, member);
    const isInOrder = read.start <= read.end && (read.kind === 'rows' || read.headBytes <= read.start);
    if (!isInOrder) throw new SchemaFault(`${member} must not end before it starts`);
    return read;
  };

export const JOB_CHECKS: ConversionChecks = { conversion, range, format };

export interface BusOptions {
  readonly stream: string;
  readonly subject: string;
}

export function addBusOptions(command: Command): Command {
  return addFlags(command, NATS_NAMES)
    .option('--stream <name>', 'stream of the jobs', 'HEXCODES_JOBS')
    .option('--subject <words>', 'before the subjects of jobs', 'hexcodes.job');
}

export const addRootOption = (command: Command): Command =>
  command.option('--root <folder>', 'the folder that all machines share; files of jobs are below it', '.');

/** Runs with the jobs of a stream that is checked; for commands that end by themselves. */
export async function withJobs<T>(
  { stream, subject }: BusOptions,
  settings: BusConfig,
  work: (jobs: JobStore) => Promise<T>,
): Promise<T> {
  const prefix = requireSubject('--subject', subject);
  const bus = await openBus(settings, { isPatient: false, say: sayer(false) });
  try {
    return await work((await bus.jobs(stream, prefix, JOB_CHECKS)).store);
  } finally {
    await bus.close();
  }
}

/** The job whose id begins so. @throws CliFailure USAGE for none, and for several */
export function jobCalled(jobs: readonly KnownJob[], id: string): KnownJob {
  const found = jobs.filter((job) => job.id.startsWith(id.toLowerCase()));
  if (found.length === 1 && id !== '') return found[0]!;
  const words = found.length === 0 ? 'there is no such job' : `${found.length} jobs begin so`;
  throw new CliFailure(EXIT.USAGE, `${id}: ${words}`, 'hexcodes job status lists all jobs.');
}

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
