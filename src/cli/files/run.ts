// One run of `encode` or `decode` over files: finds the formats, picks the way through (text.ts for CSV and TSV as they
// stand, tables for everything else), and sees that it ends cleanly however it ends.

import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { Hexcodes } from '../../library/node.js';
import { VERSION } from '../../version.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { Interruption } from '../terminal/interruption.js';
import { Progress } from '../terminal/progress.js';
import { convertText, isTextRun } from './by-bytes.js';
import { convertTables } from './by-columns.js';
import { type FileStat, type Input, openInput, statOf } from './disk/input.js';
import { Targets } from './disk/targets.js';
import { type FileFormat, formatOfBytes, formatOfName } from './format.js';
import type { FilesRequest, Run, RunResult } from './request.js';

/**
 * @param say tells the user something on stderr, unless quiet
 * @throws CliFailure whose message says what happened and what is left on the disk
 */
export async function convertFiles(
  hexcodes: Hexcodes,
  request: FilesRequest,
  say: (line: string) => void,
): Promise<RunResult> {
  const { inputs, output } = request;
  const first = await openInput(inputs[0] ?? '-');
  const sourceFormat =
    request.from ??
    (first.path === null ? null : formatOfName(first.path).format) ??
    formatOfBytes(first.head);
  const targetFormat = request.to ?? (output === null ? null : formatOfName(output).format) ?? sourceFormat;
  // A missing second input is told before any work.
  const stats = inputs.map((path) => ({ path, ...statOf(path) }));
  const targets = new Targets({
    path: output,
    rejectsPath: request.errors.kind === 'file' ? request.errors.path : null,
    notResumable: reasonNotToResume(request, targetFormat),
    isResume: request.isResume,
    digest: digestOf(request, sourceFormat, targetFormat, stats),
  });
  if (targets.note !== null) say(targets.note);
  if (targets.isDone) return { tally: targets.tally, elapsedMs: 0 };
  const progress = new Progress(request.isQuiet, targets.tally.rows);
  const totalBytes = stats.every(({ sizeBytes }) => sizeBytes !== null)
    ? stats.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)
    : null;
  const interruption = new Interruption();
  let current: Input | null = first;
  let isFirstTaken = false;
  let earlierBytes = 0;
  const run: Run = {
    request,
    hexcodes,
    targets,
    sourceFormat,
    targetFormat,
    interruption,
    totalBytes,
    async open(inputNumber) {
      if (inputNumber === 0 && !isFirstTaken) {
        isFirstTaken = true;
        return first;
      }
      if (current !== null) {
        earlierBytes += current.readBytes();
        current.close();
      }
      current = await openInput(inputs[inputNumber] as string);
      return current;
    },
    tick(inputNumber, inputOffset) {
      targets.checkpoint(inputNumber, inputOffset, progress.elapsedMs);
      const { tally } = targets;
      progress.update({
        rows: tally.rows,
        failedRows: tally.failedRows,
        readBytes: earlierBytes + (current?.readBytes() ?? 0),
        totalBytes,
      });
      if (!interruption.isAsked) return;
      targets.checkpoint(inputNumber, inputOffset, progress.elapsedMs, true);
      throw interrupted(targets, interruption);
    },
  };
  try {
    await (isTextRun(run) ? convertText(run) : convertTables(run));
    await targets.finish(progress.elapsedMs);
    return { tally: targets.tally, elapsedMs: progress.elapsedMs };
  } catch (error) {
    const isOursToKeep =
      interruption.isAsked || (error instanceof CliFailure && error.exitCode === EXIT.BAD_OUTPUT);
    targets.abandon(isOursToKeep);
    throw error;
  } finally {
    progress.stop();
    interruption.end();
    current?.close();
  }
}

function interrupted(targets: Targets, interruption: Interruption): CliFailure {
  const rows = targets.tally.rows.toLocaleString('en');
  if (!targets.isResumable) {
    return new CliFailure(
      interruption.exitCode,
      `interrupted after ${rows} rows`,
      'The unfinished output was removed.',
    );
  }
  return new CliFailure(
    interruption.exitCode,
    `interrupted after ${rows} rows, which are kept`,
    'The same command with --resume goes on from there.',
  );
}

/** Why a run with this output cannot be resumed; null if it can. */
function reasonNotToResume(request: FilesRequest, format: FileFormat): string | null {
  const { output, inputs, errors } = request;
  if (output === null) return 'What went to stdout cannot be resumed';
  if (inputs.includes('-')) return 'What came from stdin cannot be resumed';
  if (!['csv', 'tsv', 'ndjson'].includes(format)) return `Output in ${format} cannot be resumed`;
  if (extname(output).toLowerCase() === '.gz') return 'Output in gzip cannot be resumed';
  if (errors.kind === 'file') {
    const rejects = formatOfName(errors.path);
    if (rejects.gzip || !['csv', 'tsv', 'ndjson', null].includes(rejects.format)) {
      return `A file of failed rows like ${errors.path} cannot be resumed`;
    }
  }
  return null;
}

function digestOf(
  request: FilesRequest,
  sourceFormat: FileFormat,
  targetFormat: FileFormat,
  inputs: readonly (FileStat & { readonly path: string })[],
): string {
  const { operation, resolution, columns, errors } = request;
  const shape = { VERSION, operation, resolution, columns, errors, sourceFormat, targetFormat, inputs };
  return createHash('sha256').update(JSON.stringify(shape)).digest('hex');
}
