// One run of `encode` or `decode` over files: finds the formats, chooses the pipeline (whole-csv.ts for CSV and TSV
// without changes of columns, by-values.ts for what no other knows), and cleans up however the run ends.

import type { Hexcodes } from '../hexcodes/library/hexcodes.js';
import { VERSION } from '../hexcodes/version.js';
import { countSlow } from '../hexcodes/wire/rows/row-report.js';
import { refuseUnwritable } from './content/kinds.js';
import { type Destination, destinationOf, notResumableTo, refuseSameFile } from './disk/destination.js';
import {
  type FileStat,
  type Input,
  type InputOptions,
  openInput,
  statOf,
  withoutEmpty,
} from './disk/input.js';
import { Targets } from './disk/targets.js';
import { drive } from './driver.js';
import { badUsage, CliFailure, EXIT } from './exit-codes.js';
import { type FileFormat, FORMATS, formatOf, formatOfName, isGzipName, writtenFormatOf } from './format.js';
import { dialectOf, sampleOf, targetDialect } from './formats/csv/dialect.js';
import { givenData } from './library.js';
import type { FilesRequest, Run, RunResult } from './request.js';
import { SlowRows } from './tally.js';
import { Interruption, Progress } from './terminal/progress.js';
import { counted } from './terminal/say.js';
import { canCopyRows, wholeCsv } from './whole-csv.js';

/** Files of a run, before any of them is opened. */
interface Files {
  readonly output: Destination;
  readonly rejects: Destination | null;
  readonly stats: readonly (FileStat & { readonly path: string })[];
  /** Format of the output that the user names; null without one. */
  readonly named: FileFormat | null;
}

/** @throws CliFailure for files that no run can have */
function filesOf(request: FilesRequest): Files {
  if (request.sort !== null && request.operation !== 'encode')
    throw badUsage('--sort is for encode, not for decode');
  const output = destinationOf(request.output ?? '-');
  const rejects = request.errors.kind === 'file' ? destinationOf(request.errors.path) : null;
  for (const path of [request.output, rejects?.name ?? null]) if (path !== null) refuseUnwritable(path);
  // A later input that is missing ends the run here, before any work.
  const stats = request.inputs.map((path) => ({ path, ...statOf(path) }));
  refuseSameFile(request.inputs, output, rejects);
  return { output, rejects, stats, named: request.to ?? formatOfName(output.name).format };
}

/** Inputs of a run, of which one is open at a time. */
class Inputs {
  #current: Input;
  #isFirstTaken = false;
  #earlierBytes = 0;
  #readBytes = 0;

  private constructor(
    private readonly paths: readonly string[],
    private readonly options: InputOptions,
    readonly first: Input,
  ) {
    this.#current = first;
  }

  static async of({ inputs, input, csv }: FilesRequest, { named }: Files): Promise<Inputs> {
    const hasFlushes = named === null || FORMATS[named].isText;
    const options = { ...input, hasFlushes, hasHeader: csv.hasHeader };
    return new Inputs(inputs, options, await openInput(inputs[0] ?? '-', options));
  }

  async open(inputNumber: number): Promise<Input> {
    if (inputNumber === 0 && !this.#isFirstTaken) {
      this.#isFirstTaken = true;
      return this.first;
    }
    this.#earlierBytes += this.#current.sizeBytes ?? this.#current.readBytes();
    this.close();
    this.#current = await openInput(this.paths[inputNumber]!, this.options);
    return this.#current;
  }

  /** Bytes up to a row of the open input. Rows that are sorted are gone through again after the last of them. */
  readBytes(rows: number): number {
    this.#readBytes = Math.max(this.#readBytes, this.#earlierBytes + this.#current.readBytes(rows));
    return this.#readBytes;
  }

  close(): void {
    this.#current.close();
  }
}

/**
 * @param say writes a line for the user on stderr, unless the run is quiet
 * @throws CliFailure whose message says what happened and what is left on the disk
 */
export async function convertFiles(
  hexcodes: Hexcodes,
  given: FilesRequest,
  say: (line: string) => void,
): Promise<RunResult> {
  const files = filesOf(given);
  const request = { ...given, inputs: await withoutEmpty(given.inputs, given.from, given.input) };
  const inputs = await Inputs.of(request, files);
  try {
    const { head } = inputs.first;
    const sourceFormat = formatOf(inputs.first, request.from);
    const targetFormat = files.named ?? writtenFormatOf(sourceFormat);
    if (request.sort !== null && targetFormat !== 'parquet')
      throw badUsage(`--sort is for Parquet, not for ${targetFormat}`, 'Add --to parquet.');
    const isCode = (text: string): boolean => hexcodes.isValid(text);
    const formats = { from: sourceFormat, to: targetFormat };
    const source = dialectOf(inputs.first, formats, request.csv, isCode, request.columns);
    const sample = FORMATS[sourceFormat].delimiter === null ? null : sampleOf(head, source);
    const target = targetDialect(source, sourceFormat, targetFormat, request.csv);
    const targets = openTargets(request, files, sourceFormat, targetFormat);
    if (targets.note !== null) say(targets.note);
    if (source.titleRows > 0)
      say(
        `${source.titleRows === 1 ? 'The row' : `The ${source.titleRows} rows`} above the header ${source.titleRows === 1 ? 'is' : 'are'} left out. --header-row N names another header.`,
      );
    if (targets.isDone) return { tally: targets.tally, elapsedMs: 0, isEarlier: targets.from === null };
    const { rejects, stats } = files;
    const opened = {
      request,
      hexcodes,
      targets,
      sourceFormat,
      targetFormat,
      rejectsFormat: rejects === null ? null : (formatOfName(rejects.name).format ?? targetFormat),
      source,
      target,
      head,
      sample,
      totalBytes: stats.every(({ sizeBytes }) => sizeBytes !== null)
        ? stats.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)
        : null,
    };
    return await convertOpened(opened, inputs, say);
  } finally {
    inputs.close();
  }
}

function openTargets(
  request: FilesRequest,
  { output, rejects, stats }: Files,
  sourceFormat: FileFormat,
  targetFormat: FileFormat,
): Targets {
  const made = [...stats, ...givenData().map((data) => ({ ...data, ...statOf(data.path) }))];
  const inputsMs = made.reduce((latest, { modifiedMs = null }) => {
    return Math.max(latest, modifiedMs ?? Number.POSITIVE_INFINITY);
  }, Number.NEGATIVE_INFINITY);
  const shape = shapeOf(request, sourceFormat, targetFormat, made);
  const notResumable = reasonNotToResume(request, output, rejects, targetFormat);
  return new Targets({ output, rejects, notResumable, isResume: request.isResume, shape, inputsMs });
}

/** Converts rows, and shows how far it is, until the user interrupts it. */
async function convertOpened(
  opened: Omit<Run, 'open' | 'tick'>,
  inputs: Inputs,
  say: (line: string) => void,
): Promise<RunResult> {
  const { request, targets, totalBytes } = opened;
  const progress = new Progress(request.isQuiet, targets.tally.rows);
  const interruption = new Interruption();
  const run: Run = {
    ...opened,
    open: (inputNumber) => inputs.open(inputNumber),
    tick(reached) {
      targets.checkpoint(reached, progress.elapsedMs);
      const { rows, failedRows } = targets.tally;
      progress.update({ rows, failedRows, readBytes: inputs.readBytes(reached.inputRows), totalBytes });
      if (request.signal?.aborted === true) throw new CliFailure(EXIT.FAILED, 'broken off');
      if (!interruption.isAsked) return;
      targets.checkpoint(reached, progress.elapsedMs, true);
      throw interrupted(targets, interruption);
    },
  };
  const slowRows = new SlowRows();
  const rowsBefore = targets.tally.rows;
  try {
    const chosen = await convertOn(run);
    if (request.isVerbose === true) say(run.said ?? chosen);
    await targets.finish(progress.elapsedMs);
    const slow = slowRows.sentence(targets.tally.rows - rowsBefore, request.isVerbose === true);
    if (slow !== null) say(slow);
    return { tally: targets.tally, elapsedMs: progress.elapsedMs };
  } catch (error) {
    // After an interruption or a full disk the user can resume; after any other failure the same run fails again.
    const isWorthKeeping =
      interruption.isAsked || (error instanceof CliFailure && error.exitCode === EXIT.BAD_OUTPUT);
    targets.abandon(isWorthKeeping);
    throw error;
  } finally {
    progress.stop();
    interruption.end();
  }
}

/** Formats between which rows can be converted without a value being read. */
const READ_BY_BYTES: ReadonlySet<FileFormat> = new Set(['csv', 'tsv', 'ndjson', 'parquet', 'arrow']);

/** Converts by the fastest path that knows the formats. @returns which it was, and why */
async function convertOn(run: Run): Promise<string> {
  const isFree = run.request.pipeline !== 'values';
  if (isFree && canCopyRows(run)) {
    await drive(run, wholeCsv(run));
    return 'Converted by bytes: rows were copied as they are.';
  }
  const pair = `from ${run.sourceFormat} to ${run.targetFormat}`;
  let reason = pair;
  if (isFree && run.sourceFormat === 'parquet' && run.targetFormat === 'parquet') {
    const { planChunks } = await import('./by-chunks-plan.js');
    const plan = await planChunks(run);
    if (plan !== null) {
      const { ChunkPipeline } = await import('./by-chunks.js');
      await drive(run, new ChunkPipeline(run, plan));
      return 'Converted by column chunks: kept columns were copied as they are.';
    }
  }
  if (isFree && run.sourceFormat === 'ndjson' && run.targetFormat === 'ndjson') {
    const { planLines, wholeLines } = await import('./whole-lines.js');
    const plan = await planLines(run);
    if (typeof plan !== 'string') {
      await drive(run, wholeLines(run, plan));
      return 'Converted by bytes: lines were copied as they are.';
    }
    reason = plan;
  }
  if (isFree) {
    const { planRows, rowPipeline } = await import('./by-rows.js');
    const plan = await planRows(run);
    if (typeof plan !== 'string') {
      await drive(run, await rowPipeline(run, plan));
      return `Converted by rows of bytes: from ${run.sourceFormat} to ${run.targetFormat}.`;
    }
    if (reason === pair) reason = plan;
  }
  const rowsBefore = run.targets.tally.rows;
  const { valuePipeline } = await import('./by-values.js');
  await drive(run, await valuePipeline(run));
  const hasFastPath = READ_BY_BYTES.has(run.sourceFormat) && READ_BY_BYTES.has(run.targetFormat);
  if (hasFastPath) countSlow('file', 'values', run.targets.tally.rows - rowsBefore);
  return `Converted value by value: ${reason}.`;
}

function interrupted(targets: Targets, { exitCode }: Interruption): CliFailure {
  const message = `interrupted after ${counted(targets.tally.rows, 'row')}`;
  return targets.isResumable
    ? new CliFailure(
        exitCode,
        `${message}, which are kept`,
        'The same command with --resume goes on from there.',
      )
    : new CliFailure(exitCode, message, 'The unfinished output was removed.');
}

/** Why a run with this output cannot be resumed; null if it can. */
function reasonNotToResume(
  { inputs }: FilesRequest,
  output: Destination,
  rejects: Destination | null,
  format: FileFormat,
): string | null {
  const reason = notResumableTo(output);
  if (reason !== null) return reason;
  if (inputs.includes('-')) return 'What came from stdin cannot be resumed';
  if (!FORMATS[format].isResumable) return `Output in ${format} cannot be resumed`;
  if (isGzipName(output.name)) return 'Output in gzip cannot be resumed';
  if (rejects !== null) {
    const named = formatOfName(rejects.name);
    const isOther = named.format !== null && !FORMATS[named.format].isResumable;
    if (rejects.kind !== 'file' || named.gzip || isOther) {
      return `A file of failed rows like ${rejects.name} cannot be resumed`;
    }
  }
  return null;
}

/** All that shapes the output, as a text: a journal of another one must not be continued. */
function shapeOf(
  request: FilesRequest,
  sourceFormat: FileFormat,
  targetFormat: FileFormat,
  inputs: Files['stats'],
): string {
  const { operation, resolution, isFormer, hasCertainty, sort, columns, errors, csv, input } = request;
  return JSON.stringify({
    VERSION,
    operation,
    resolution,
    isFormer,
    ...(hasCertainty === undefined ? {} : { hasCertainty }),
    sort,
    columns,
    errors,
    csv,
    input,
    sourceFormat,
    targetFormat,
    inputs,
  });
}
