// A run over files of points: progress, Ctrl-C, and an output that is whole or not there.

import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { statOf } from '../disk/input.js';
import { CliFailure } from '../exit-codes.js';
import { Interruption } from '../terminal/interruption.js';
import { grouped } from '../terminal/paint.js';
import { Progress } from '../terminal/progress.js';
import { type PointBatch, type PointFiles, pointBatches } from './point-files.js';
import { RowsOutput, type RowsOutputRequest } from './rows-output.js';

export interface PointRun {
  readonly files: PointFiles;
  readonly output: Omit<RowsOutputRequest, 'inputs'>;
  readonly isQuiet: boolean;
  /** Takes a batch. */
  take(batch: PointBatch, output: RowsOutput): Promise<void> | void;
  /** After the last batch. */
  end(output: RowsOutput): Promise<void>;
  /** However the run ends. */
  cleanUp?(): void;
}

/**
 * @returns rows read, and how long it took
 * @throws CliFailure, also for an interruption; nothing is left of the output then
 */
export async function runPoints(
  hexcodes: Hexcodes,
  run: PointRun,
): Promise<{ rows: number; elapsedMs: number }> {
  const { inputs } = run.files;
  const stats = inputs.map(statOf);
  const isSized = stats.every(({ sizeBytes }) => sizeBytes !== null);
  const totalBytes = isSized ? stats.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0) : null;
  const output = new RowsOutput({ inputs, ...run.output });
  const progress = new Progress(run.isQuiet, 0);
  const interruption = new Interruption();
  let rows = 0;
  try {
    for await (const batch of pointBatches(hexcodes, run.files)) {
      await run.take(batch, output);
      rows += batch.rows.rowCount;
      progress.update({ rows, failedRows: 0, readBytes: batch.readBytes, totalBytes });
      if (interruption.isAsked)
        throw new CliFailure(
          interruption.exitCode,
          `interrupted after ${grouped(rows)} rows`,
          'The unfinished output was removed.',
        );
    }
    await run.end(output);
    await output.finish();
    return { rows, elapsedMs: progress.elapsedMs };
  } catch (error) {
    output.abandon();
    throw error;
  } finally {
    run.cleanUp?.();
    progress.stop();
    interruption.end();
  }
}
