// `hexcodes encode` and `hexcodes decode`: one position or code on the command line, or the rows of files.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { HexcodesError } from '../../errors.js';
import { DEFAULT_RESOLUTION, type Hexcodes } from '../../library/hexcodes.js';
import type { Operation } from '../../wire/job.js';
import { looksSwapped } from '../../wire/swapped.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { FILE_FORMATS, requireFormat } from '../files/format.js';
import type { ErrorPolicy } from '../files/request.js';
import { loadLibrary } from '../library.js';
import { type Position, parsePosition, requireResolution } from '../position.js';
import { visibleMessage } from '../terminal/visible.js';

interface ConvertOptions {
  output?: string;
  from?: string;
  to?: string;
  lat?: string;
  lng?: string;
  column?: string;
  id?: string;
  keep?: string;
  drop?: string;
  prefix: string;
  resolution?: string;
  errors: string;
  resume?: boolean;
  threads?: string;
  quiet?: boolean;
  json?: boolean;
}

/** Where failed rows are after a run, for the summary; `stop` ends the run without one. */
const FAILED_WENT = { keep: 'kept with their status', skip: 'left out', stop: '' } as const;
const FORMAT_LIST = FILE_FORMATS.join(', ');

/** Declares a command with the options of both directions and those of its own. */
export function declareConvert(program: Command, operation: Operation): Command {
  const isEncode = operation === 'encode';
  const command = program
    .command(operation)
    .argument('[what...]', isEncode ? 'files, or one position: 21.0288,105.8525' : 'files, or one hexcode')
    .option('-o, --output <file>', 'write here instead of stdout (-); a file takes its name only when whole')
    .option('--from <format>', `format of the input (${FORMAT_LIST}); default: by extension or content`)
    .option('--to <format>', 'format of the output; default: by extension, else as the input');
  if (isEncode) {
    command
      .option('--lat <column>', 'column of the latitude; default lat or latitude')
      .option('--lng <column>', 'column of the longitude; default lng, longitude or lon')
      .option(
        '-r, --resolution <0-15>',
        `resolution of rows that name none; default ${DEFAULT_RESOLUTION}, edges of 4.3 m`,
      );
  } else {
    command.option('--column <column>', 'column of the hexcodes; default hexcodes');
  }
  return command
    .option('--id <column>', 'keep this column of the input and no other: short for --keep')
    .option('--keep <columns>', 'keep these columns of the input only, comma-separated')
    .option('--drop <columns>', 'leave these columns of the input out, comma-separated')
    .option('--prefix <text>', 'before the names of the columns that we add', '')
    .option(
      '--errors <keep|skip|stop|FILE>',
      'failed rows: keep with their status, skip, stop, or write to FILE',
      'keep',
    )
    .option('--resume', 'go on with a run that was broken off')
    .option('--threads <n>', `worker threads; default ${availableParallelism()}, one a core`)
    .option('-q, --quiet', 'no progress and no summary on stderr')
    .option('--json', 'one position or code: the whole answer as JSON');
}

export async function convert(operation: Operation, what: string[], options: ConvertOptions): Promise<void> {
  const resolution =
    options.resolution === undefined ? DEFAULT_RESOLUTION : requireResolution(options.resolution);
  const only = what.length === 1 ? what[0]! : null;
  if (only !== null && only !== '-' && !existsSync(only)) {
    const position = parsePosition(only);
    if (operation === 'encode' && position !== null) {
      refuseFileOptions(options, 'one position');
      await answer(options, encodedOne(await loadLibrary(), position, resolution, options.json === true));
      return;
    }
    if (
      operation === 'decode' &&
      !/[/\\]|\.(?:csv|tsv|ndjson|jsonl|geojson|json|parquet|arrow|gz|txt)$/i.test(only)
    ) {
      refuseFileOptions(options, 'one code');
      await answer(options, await decodedOne(await loadLibrary(), only, options.json === true));
      return;
    }
  }
  if (what.length === 0 && process.stdin.isTTY === true) {
    throw new CliFailure(
      EXIT.USAGE,
      'nothing to read: name a file, or pipe one in',
      `See hexcodes ${operation} --help.`,
    );
  }
  await convertWhole(operation, what, options, resolution);
}

async function convertWhole(
  operation: Operation,
  what: string[],
  options: ConvertOptions,
  resolution: number,
): Promise<void> {
  const listed = (text: string | undefined): string[] | undefined =>
    text?.split(',').map((name) => name.trim());
  if (options.json === true) {
    throw new CliFailure(EXIT.USAGE, '--json is for one position or code', 'For files: --to ndjson.');
  }
  if (options.keep !== undefined && options.id !== undefined) {
    throw new CliFailure(EXIT.USAGE, '--keep and --id exclude one another', 'Name all columns in --keep.');
  }
  const keep = listed(options.keep) ?? (options.id === undefined ? undefined : [options.id]);
  if (keep !== undefined && options.drop !== undefined) {
    throw new CliFailure(EXIT.USAGE, '--keep (or --id) and --drop exclude one another');
  }
  const threads = Number(options.threads ?? availableParallelism());
  if (!Number.isInteger(threads) || threads < 1 || threads > 256) {
    throw new CliFailure(EXIT.USAGE, `--threads ${options.threads}: must be a whole number from 1 to 256`);
  }
  // A reader that closes the pipe early (`| head`) ends the run without failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.OK);
  });
  const isQuiet = options.quiet === true;
  const say = (line: string): void => {
    if (!isQuiet) process.stderr.write(`${visibleMessage(line)}\n`);
  };
  const errors = errorPolicy(options.errors);
  // Loaded here, so that one position or code is answered without formats and pool.
  const [{ convertFiles }, { summaryOf }, { paintFor }] = await Promise.all([
    import('../files/run.js'),
    import('../files/summary.js'),
    import('../terminal/paint.js'),
  ]);
  const { tally, elapsedMs } = await convertFiles(
    await loadLibrary(),
    {
      operation,
      inputs: what.length === 0 ? ['-'] : what,
      output: options.output ?? null,
      from: options.from === undefined ? null : requireFormat(options.from, '--from'),
      to: options.to === undefined ? null : requireFormat(options.to, '--to'),
      resolution,
      columns: {
        lat: options.lat,
        lng: options.lng,
        code: options.column,
        keep,
        drop: listed(options.drop),
        prefix: options.prefix,
      },
      errors,
      isResume: options.resume === true,
      threads,
      isQuiet,
    },
    say,
  );
  if (isQuiet) return;
  const failedWent = errors.kind === 'file' ? `in ${errors.path}` : FAILED_WENT[errors.kind];
  process.stderr.write(summaryOf(tally, operation, elapsedMs, failedWent, paintFor(process.stderr)));
}

/** The options that only rows of files have. */
const FILE_OPTIONS = [
  'from',
  'to',
  'lat',
  'lng',
  'column',
  'id',
  'keep',
  'drop',
  'prefix',
  'errors',
  'resume',
  'threads',
] as const satisfies (keyof ConvertOptions)[];
const DEFAULTS: Partial<ConvertOptions> = { prefix: '', errors: 'keep' };

function refuseFileOptions(options: ConvertOptions, what: string): void {
  const name = FILE_OPTIONS.find((each) => options[each] !== DEFAULTS[each]);
  if (name === undefined) return;
  throw new CliFailure(EXIT.USAGE, `--${name} is for files: it does not apply to ${what}`);
}

/** Writes the answer to one position or code to stdout, or where `--output` says. */
async function answer({ output }: ConvertOptions, text: string): Promise<void> {
  if (output === undefined || output === '-') {
    process.stdout.write(`${text}\n`);
    return;
  }
  const { writeWhole } = await import('../files/disk/targets.js');
  await writeWhole(output, Buffer.from(`${text}\n`));
}

function errorPolicy(text: string): ErrorPolicy {
  return text === 'keep' || text === 'skip' || text === 'stop'
    ? { kind: text }
    : { kind: 'file', path: text };
}

function encodedOne(hexcodes: Hexcodes, position: Position, resolution: number, isJson: boolean): string {
  const { latDeg, lngDeg } = position;
  try {
    const encoded = hexcodes.encode(latDeg, lngDeg, resolution);
    return isJson ? JSON.stringify(encoded) : encoded.hexcodes;
  } catch (error) {
    if (!(error instanceof HexcodesError)) throw error;
    const hint = looksSwapped(hexcodes.kernel, latDeg, lngDeg)
      ? `Perhaps: hexcodes encode ${lngDeg},${latDeg}`
      : undefined;
    throw new CliFailure(EXIT.FAILED, error.message, hint);
  }
}

async function decodedOne(hexcodes: Hexcodes, text: string, isJson: boolean): Promise<string> {
  const read = hexcodes.read(text);
  if (read === null) throw (await import('./inspect.js')).notAHexcode(hexcodes, text);
  const { hexcodes: code, lat, lng, resolution, admin_code } = read;
  return isJson ? JSON.stringify({ hexcodes: code, lat, lng, resolution, admin_code }) : `${lat},${lng}`;
}
