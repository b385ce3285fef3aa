// `hexcodes encode` and `hexcodes decode`: one position or code on the command line, or the rows of files.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { badUsage, CliFailure, EXIT, requireCount } from '../../files/exit-codes.js';
import { FILE_FORMATS, requireFormat, WRITTEN_FORMATS } from '../../files/format.js';
import { loadLibrary } from '../../files/library.js';
import { type ErrorPolicy, type FilesRequest, memoryBytesOf } from '../../files/request.js';
import { type FailedRow, ROW_FAILURES, type Tally } from '../../files/tally.js';
import { duration } from '../../files/terminal/progress.js';
import {
  counted,
  grouped,
  type Paint,
  paintFor,
  shellWord,
  visible,
  visibleMessage,
} from '../../files/terminal/say.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { EXTRAS, extraFault, extrasOf, onlyExtras } from '../../hexcodes/extras.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Operation } from '../../hexcodes/wire/job.js';
import { hasUnclearS } from '../../hexcodes/wire/rows/angle-text.js';
import {
  addKeptOptions,
  addReadOptions,
  addTextOptions,
  type ConversionOptions,
  columnsOf,
  conversionOf,
  givenOptions,
  resolutionOf,
} from '../conversion-options.js';
import { answersTo, givenTexts, isPath } from './given-texts.js';
import { otherCommand, UNCLEAR_S } from './other-command.js';

const MAX_THREADS = 256;
const DEFAULT_THREADS = Math.min(availableParallelism(), MAX_THREADS);

function noFileNorPosition(hexcodes: Hexcodes, what: readonly string[]): CliFailure {
  const text = JSON.stringify(what.join(' '));
  const isShortLink = /^https?:/i.test(what[0]!);
  return new CliFailure(
    EXIT.BAD_INPUT,
    `${text} is not a file, and not a position`,
    isShortLink
      ? 'The link holds no position. Open it, and copy the long address of the browser.'
      : (otherCommand(hexcodes, what.join(' ')) ??
          (hasUnclearS(what.join(' ')) ? UNCLEAR_S : undefined) ??
          'A position is written like 21.0288,105.8525.'),
  );
}

/** The location and the fault of a failed row, as a sentence. */
function wordsOf({ file, row, fault }: FailedRow): string {
  return `${file}, row ${row}: ${fault}`;
}

/**
 * @param elapsedMs of this run; the tally adds earlier runs
 * @param failedWent destination of the failed rows, as text
 */
function summaryOf(
  tally: Tally,
  operation: Operation,
  elapsedMs: number,
  failedWent: string,
  paint: Paint,
): string {
  const total = tally.elapsedBeforeMs + elapsedMs;
  const done = operation === 'encode' ? 'encoded' : 'decoded';
  const ok = tally.rows - tally.failedRows;
  const lines = [
    `${counted(tally.rows, 'row')} in ${duration(total)}: ${paint('green', `${grouped(ok)} ${done}`)}`,
  ];
  if (tally.failedRows > 0) {
    lines[0] += `, ${paint('red', `${grouped(tally.failedRows)} failed`)} (${failedWent})`;
    for (const [reason, count] of tally.failed) {
      lines.push(`  ${grouped(count).padStart(12)}  ${reason}: ${ROW_FAILURES[reason]}`);
      const first = tally.first.get(reason);
      if (first !== undefined)
        lines.push(`${' '.repeat(16)}${paint('dim', visible(`first: ${wordsOf(first)}`))}`);
    }
  }
  const provinces = ADMIN_UNITS.map(({ code, name }, admin) => ({ code, name, rows: tally.byAdmin[admin]! }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows || (a.code < b.code ? -1 : 1));
  for (const { code, name, rows } of provinces) {
    const share = ((100 * rows) / ok).toFixed(1).padStart(5);
    lines.push(`  ${grouped(rows).padStart(12)}  ${paint('dim', `${share} %`)}  ${code.padEnd(3)}  ${name}`);
  }
  if (tally.views > 0) lines.push(paint('yellow', viewsHint(tally.views)));
  // If nothing was done, the failure reports it.
  if (tally.swapped > 0 && ok > 0) lines.push(paint('yellow', swappedHint(tally.swapped)));
  return `${lines.join('\n')}\n`;
}

function viewsHint(count: number): string {
  const have = count === 1 ? '1 link has' : `${grouped(count)} links have`;
  return `${have} no pin: the middle of the view was taken`;
}

function swappedHint(count: number): string {
  const lie = count === 1 ? 'position lies' : 'positions lie';
  return `${grouped(count)} failed ${lie} in Viet Nam with lat and lng exchanged: --lat and --lng name the columns, and GeoJSON has longitude first`;
}

/** Codes with hyphens, for grep. */
const CODE_PATTERN = '[A-Z]{2,3}(-[2-9A-Z]{2,5}){1,3}';

/** The remedy for a column of messages; null unless the first invalid text contains a code. */
async function messagesHint(hexcodes: Hexcodes, { first }: Tally): Promise<string | null> {
  const row = first.get('INVALID_HEXCODES');
  if (row === undefined) return null;
  const { findCode } = await import('../../hexcodes/geometry/find-code.js');
  const found = findCode(hexcodes, row.fault);
  const [code] = found?.kind === 'several' ? found.found : [found];
  if (code?.kind !== 'code') return null;
  const file = existsSync(row.file) ? ` ${shellWord(row.file)}` : '';
  return `There is text around ${code.hexcodes}: a column for decode holds codes alone. To take them out of text: grep -oE '${CODE_PATTERN}'${file} | hexcodes decode`;
}

/** The failure of a run that has written its output, but in which every row failed. */
function nothingDone({ first, swapped }: Tally, operation: Operation, messages: string | null): CliFailure {
  const [[reason, row] = []] = first;
  const of = row === undefined ? '' : `; the first: ${wordsOf(row)} (${reason})`;
  const hint = swapped > 0 ? swappedHint(swapped) : (messages ?? undefined);
  return new CliFailure(EXIT.FAILED, `no row was ${operation}d${of}`, hint);
}

interface ConvertOptions extends ConversionOptions {
  output?: string;
  to?: string;
  sort?: string;
  memory?: string;
  errors: string;
  resume?: boolean;
  threads?: string;
  quiet?: boolean;
  verbose?: boolean;
  json?: boolean;
}

/** Destination of failed rows, for the summary; `stop` ends the run without one. */
const FAILED_WENT = { keep: 'kept with their status', skip: 'left out', stop: '' } as const;
const FORMAT_LIST = FILE_FORMATS.join(', ');
const WRITTEN_LIST = WRITTEN_FORMATS.join(', ');

/** Declares a command with the options of both directions and those of its own. */
export function declareConvert(program: Command, operation: Operation): Command {
  const isEncode = operation === 'encode';
  const command = program
    .command(operation)
    .argument('[what...]', isEncode ? 'files, or a position: 21.0288,105.8525' : 'files, or a hexcode')
    .option('-o, --output <file>', 'write here instead of stdout (-); a file takes its name only when whole')
    .option('--from <format>', `format of the input (${FORMAT_LIST}); default: by extension or content`)
    .option(
      '--to <format>',
      `format of the output (${WRITTEN_LIST}); default: by extension, else as the input`,
    );
  addReadOptions(command, operation);
  if (isEncode) {
    command
      .option('--sort <cell>', 'Parquet sorted by cell, with h3 and a bbox, for plain SQL')
      .option('--memory <MiB>', 'of --sort, for rows; more of them are sorted on the disk; default 256');
  }
  addKeptOptions(command);
  command.option(
    '--errors <keep|skip|stop|FILE>',
    'failed rows: keep with their status, skip, stop, or write to FILE',
    'keep',
  );
  return addTextOptions(command, true)
    .option('--resume', 'go on with a run that was broken off')
    .option('--threads <n>', `worker threads; default ${DEFAULT_THREADS}, one a core`)
    .option('-q, --quiet', 'no progress and no summary on stderr')
    .option('--verbose', 'say how the rows were converted, and why not faster')
    .option('--json', 'one position or code: the whole answer as JSON');
}

export async function convert(
  operation: Operation,
  what: string[],
  options: ConvertOptions,
  command: Command,
): Promise<void> {
  const resolution = resolutionOf(options);
  const extras = extrasOf(options);
  const missing = extras === 0 ? undefined : extraFault(extras, (await loadLibrary()).kernel);
  if (missing !== undefined)
    throw badUsage(`--${missing.parameter}: the boundary index has no provinces from before July 2025`);
  const isFile = what.some((each) => each === '-' || existsSync(each));
  if (what.length > 0 && !isFile) {
    const hexcodes = await loadLibrary();
    const texts = await givenTexts(hexcodes, operation, what);
    if (texts !== null) {
      refuseFileOptions(command, operation === 'encode' ? 'one position' : 'one code');
      const { quiet } = options;
      const asked = { resolution, ...onlyExtras(options) };
      const { lines, notes, failure } = await answersTo(hexcodes, texts, asked, options.json === true);
      if (lines.length > 0) await answer(options, lines.join('\n'));
      if (quiet !== true) for (const note of new Set(notes)) process.stderr.write(`${note}\n`);
      if (failure !== null) throw failure;
      return;
    }
    if (!what.some(isPath)) throw noFileNorPosition(hexcodes, what);
  }
  if (what.length === 0 && process.stdin.isTTY === true) {
    throw badUsage('nothing to read: name a file, or pipe one in', `See hexcodes ${operation} --help.`);
  }
  refuseNumbersForColumns(what, options);
  refuseOutputAsInput(what);
  await convertWhole(operation, what, options, resolution);
}

/** `encode --lat 21.0288 --lng 105.8525`: columns of files have other names. */
function refuseNumbersForColumns(what: readonly string[], { lat = '', lng = '' }: ConvertOptions): void {
  const isDegrees = (text: string): boolean => /^-?\d+\.\d+$/.test(text);
  if (what.length > 0 || !isDegrees(lat) || !isDegrees(lng)) return;
  throw badUsage('--lat and --lng name columns', `Perhaps: hexcodes encode ${lat},${lng}`);
}

/** `encode in.csv out.csv`, as in commands that copy. */
function refuseOutputAsInput(what: readonly string[]): void {
  const last = what.at(-1);
  if (what.length !== 2 || !last || last === '-' || existsSync(last) || !existsSync(what[0]!)) return;
  throw new CliFailure(
    EXIT.BAD_INPUT,
    `cannot read ${last}: no such file or directory`,
    `Perhaps: -o ${shellWord(last)}. Several files are inputs of one run.`,
  );
}

async function convertWhole(
  operation: Operation,
  what: string[],
  options: ConvertOptions,
  resolution: number,
): Promise<void> {
  if (options.json === true) {
    throw badUsage('--json is for one position or code', 'For files: --to ndjson.');
  }
  columnsOf(options);
  const threads = requireCount('--threads', options.threads ?? `${DEFAULT_THREADS}`, 1, MAX_THREADS);
  const sort = sortOf(options);
  const isQuiet = options.quiet === true;
  const say = (line: string): void => {
    if (!isQuiet) process.stderr.write(`${visibleMessage(line)}\n`);
  };
  const errors = errorPolicy(options.errors);
  // Loaded here, so that one position or code is answered without formats and pool.
  const { convertFiles } = await import('../../files/run.js');
  const { tally, elapsedMs, isEarlier } = await convertFiles(
    await loadLibrary(),
    {
      inputs: what.length === 0 ? ['-'] : what,
      output: options.output ?? null,
      to: options.to === undefined ? null : requireFormat(options.to, '--to'),
      ...conversionOf(operation, options, resolution),
      sort,
      errors,
      isResume: options.resume === true,
      threads,
      isQuiet,
      isVerbose: options.verbose === true,
    },
    say,
  );
  if (isEarlier === true) return;
  const messages = operation === 'decode' ? await messagesHint(await loadLibrary(), tally) : null;
  if (!isQuiet) {
    const failedWent = errors.kind === 'file' ? `in ${errors.path}` : FAILED_WENT[errors.kind];
    process.stderr.write(summaryOf(tally, operation, elapsedMs, failedWent, paintFor(process.stderr)));
    if (messages !== null && tally.failedRows < tally.rows)
      process.stderr.write(`${visibleMessage(messages)}\n`);
  }
  if (tally.rows > 0 && tally.failedRows === tally.rows) throw nothingDone(tally, operation, messages);
}

/** @throws CliFailure USAGE */
function sortOf({ sort, memory }: ConvertOptions): FilesRequest['sort'] {
  if (sort !== undefined && sort !== 'cell') throw badUsage(`--sort ${sort}: must be cell`);
  if (sort === undefined && memory !== undefined) throw badUsage('--memory is for --sort');
  return sort === undefined ? null : { memoryBytes: memoryBytesOf(memory ?? '256') };
}

/** The options that apply to one position or code; all others apply to rows of files. */
const OF_ONE = ['output', 'resolution', ...Object.keys(EXTRAS), 'quiet', 'verbose', 'json'];

function refuseFileOptions(command: Command, what: string): void {
  const found = givenOptions(command).find(
    (option) =>
      !OF_ONE.includes(option.attributeName()) &&
      command.getOptionValue(option.attributeName()) !== option.defaultValue,
  );
  if (found === undefined) return;
  const hint = found.long === '--to' ? `For ${what}: --json.` : undefined;
  throw badUsage(`${found.long} is for files: it does not apply to ${what}`, hint);
}

/** Writes the answer to one position or code to stdout, or to `--output`. */
async function answer({ output }: ConvertOptions, text: string): Promise<void> {
  if (output === undefined || output === '-') {
    process.stdout.write(`${text}\n`);
    return;
  }
  const { writeWhole } = await import('../../files/disk/targets.js');
  await writeWhole(output, Buffer.from(`${text}\n`));
}

function errorPolicy(text: string): ErrorPolicy {
  return text === 'keep' || text === 'skip' || text === 'stop'
    ? { kind: text }
    : { kind: 'file', path: text };
}
