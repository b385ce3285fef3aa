// One run of `encode` or `decode` over files: finds the formats, chooses the pipeline (whole-csv.ts for CSV and TSV
// without changes of columns, by-values.ts for what no other knows), and cleans up however the run ends.

import { createHash } from 'node:crypto';
import type { Hexcodes } from '../hexcodes/library/hexcodes.js';
import { VERSION } from '../hexcodes/version.js';
import { countSlow } from '../hexcodes/wire/rows/row-allowance.js';
import { refuseUnwritable } from './content/kinds.js';
import { type Destination, destinationOf, notResumableTo, refuseSameFile } from './disk/destination.js';
import { type FileStat, type Input, openInput, statOf } from './disk/input.js';
import { Targets } from './disk/targets.js';
import { drive } from './driver.js';
import { CliFailure, EXIT } from './exit-codes.js';
import { type FileFormat, FORMATS, formatOf, formatOfName, isGzipName, writtenFormatOf } from './format.js';
import { dialectOf, sampleOf, searchedBy, targetDialect } from './formats/csv-dialect.js';
import type { FilesRequest, Run, RunResult } from './request.js';
import { SlowRows } from './slow-rows.js';
import { Interruption, Progress } from './terminal/progress.js';
import { grouped } from './terminal/say.js';
import { canCopyRows, wholeCsv } from './whole-csv.js';

/**
 * @param say writes a line for the user on stderr, unless the run is quiet
 * @throws CliFailure whose message says what happened and what is left on the disk
 */
export async function convertFiles(
  hexcodes: Hexcodes,
  request: FilesRequest,
  say: (line: string) => void,
): Promise<RunResult> {
  const { inputs } = request;
  if (request.sort !== null && request.operation !== 'encode')
    throw new CliFailure(EXIT.USAGE, '--sort is for encode, not for decode');
  const output = destinationOf(request.output ?? '-');
  const rejects = request.errors.kind === 'file' ? destinationOf(request.errors.path) : null;
  for (const path of [request.output, rejects?.name ?? null]) if (path !== null) refuseUnwritable(path);
  // A later input that is missing ends the run here, before any work.
  const stats = inputs.map((path) => ({ path, ...statOf(path) }));
  refuseSameFile(inputs, output, rejects);
  const named = request.to ?? formatOfName(output.name).format;
  const hasRests = named === null || FORMATS[named].isText;
  const inputOptions = { ...request.input, hasRests, hasHeader: request.csv.hasHeader };
  const first = await openInput(inputs[0] ?? '-', inputOptions);
  const sourceFormat = formatOf(first, request.from);
  const targetFormat = named ?? writtenFormatOf(sourceFormat);
  if (request.sort !== null && targetFormat !== 'parquet') {
    first.close();
    throw new CliFailure(EXIT.USAGE, `--sort is for Parquet, not for ${targetFormat}`, 'Add --to parquet.');
  }
  const isCode = (text: string): boolean => hexcodes.isValid(text);
  const source = dialectOf(
    first.head,
    sourceFormat,
    request.csv,
    isCode,
    searchedBy(request.columns, request.input),
  );
  const sample = FORMATS[sourceFormat].delimiter === null ? null : sampleOf(first.head, source);
  const target = targetDialect(source, sourceFormat, targetFormat, request.csv);
  const digest = digestOf(request, sourceFormat, targetFormat, stats);
  const notResumable = reasonNotToResume(request, output, rejects, targetFormat);
  let targets: Targets;
  try {
    const inputsMs = stats.reduce((latest, { modifiedMs = null }) => {
      return Math.max(latest, modifiedMs ?? Number.POSITIVE_INFINITY);
    }, Number.NEGATIVE_INFINITY);
    targets = new Targets({ output, rejects, notResumable, isResume: request.isResume, digest, inputsMs });
  } catch (error) {
    first.close();
    throw error;
  }
  if (targets.note !== null) say(targets.note);
  if (source.titleRows > 0)
    say(
      `${source.titleRows === 1 ? 'The row' : `The ${source.titleRows} rows`} above the header ${source.titleRows === 1 ? 'is' : 'are'} left out. --header-row N names another header.`,
    );
  if (targets.isDone) {
    first.close();
    return { tally: targets.tally, elapsedMs: 0, isEarlier: targets.from === null };
  }
  const progress = new Progress(request.isQuiet, targets.tally.rows);
  const totalBytes = stats.every(({ sizeBytes }) => sizeBytes !== null)
    ? stats.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)
    : null;
  const interruption = new Interruption();
  let current: Input = first;
  let isFirstTaken = false;
  let earlierBytes = 0;
  let readBytes = 0;
  const run: Run = {
    request,
    hexcodes,
    targets,
    sourceFormat,
    targetFormat,
    rejectsFormat: rejects === null ? null : (formatOfName(rejects.name).format ?? targetFormat),
    source,
    target,
    head: first.head,
    sample,
    totalBytes,
    async open(inputNumber) {
      if (inputNumber === 0 && !isFirstTaken) {
        isFirstTaken = true;
        return first;
      }
      earlierBytes += current.sizeBytes ?? current.readBytes();
      current.close();
      current = await openInput(inputs[inputNumber]!, inputOptions);
      return current;
    },
    tick(reached) {
      targets.checkpoint(reached, progress.elapsedMs);
      const { tally } = targets;
      // Rows that are sorted are gone through again after the last of them.
      readBytes = Math.max(readBytes, earlierBytes + current.readBytes(reached.inputRows));
      progress.update({
        rows: tally.rows,
        failedRows: tally.failedRows,
        readBytes,
        totalBytes,
      });
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
    current.close();
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
  const message = `interrupted after ${grouped(targets.tally.rows)} rows`;
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

/** Digest of all that shapes the output: a journal of another digest must not be continued. */
function digestOf(
  request: FilesRequest,
  sourceFormat: FileFormat,
  targetFormat: FileFormat,
  inputs: readonly (FileStat & { readonly path: string })[],
): string {
  const { operation, resolution, isFormer, hasCertainty, sort, columns, errors, csv, input } = request;
  const shape = {
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
  };
  return createHash('sha256').update(JSON.stringify(shape)).digest('hex');
}
