// The main loop of a conversion: a pipeline reads inputs in batches and writes them, and the loop counts their rows.
// whole-rows.ts copies whole rows of text, by-rows.ts fields.

import { looksSwapped, ROW_STATUSES, type RowStatus } from '../hexcodes/wire/job.js';
import type { Input } from './disk/input.js';
import type { Run } from './request.js';
import { type RowFailure, SWAP_TRIES, stopped } from './tally.js';

/** Which rows of a batch are written. */
export type Wanted = 'all' | 'ok' | 'failed';

export interface Failure {
  /** Row number in the batch, from 0. */
  readonly row: number;
  readonly status: RowStatus;
}

/** The fields of a failed row. */
export interface Explained {
  /** lat and lng as read, NaN where they are not numbers; absent where a row has no pair of them. */
  readonly degrees?: readonly [lat: number, lng: number];
  /** The columns to blame, with their values. */
  fault(): string;
}

/** Converted rows. The next batch reuses the memory of this one. */
export interface Batch<F extends Failure = Failure> {
  readonly rows: number;
  readonly failed: number;
  /** Rows by status, in the order of ROW_STATUSES. */
  readonly byStatus: ArrayLike<number>;
  /** Rows that are OK, by province. */
  readonly byAdmin: ArrayLike<number>;
  /** Offset in the content, in bytes, from which a later run can resume after these rows; -1 where it cannot. */
  readonly endOffset: number;
  /** Failed rows in the order of the rows. */
  failures(): Iterable<F>;
  explain(failure: F): Explained;
  /** Writes all rows, only the OK ones, or only the others. */
  write(wanted: Wanted): Promise<void>;
}

/** How far an input has been converted. */
export interface Reading {
  readonly input: Input;
  readonly inputNumber: number;
  /** Whether an earlier run has converted all of it. */
  readonly isDone: boolean;
  /** Offset in the content at which an earlier run ended; 0 if there was none. */
  readonly from: number;
  /** Rows converted so far. */
  rows: number;
}

/** One way to read and write rows. */
export interface Pipeline {
  /**
   * The rows of an input from `from` on. None where it is done, but its header is checked.
   * @throws CliFailure BAD_INPUT
   */
  batches(reading: Reading): AsyncGenerator<Batch>;
  /** Writes the end of the output, after the last row. */
  end?(): Promise<void>;
  /** Called at the end of the run, even if it failed. */
  close?(): Promise<void> | void;
}

/** @throws CliFailure */
export async function drive(run: Run, pipeline: Pipeline): Promise<void> {
  const { request, targets, tick } = run;
  const { from } = targets;
  try {
    for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
      const input = await run.open(inputNumber);
      const isResumed = inputNumber === from?.inputNumber;
      const reading: Reading = {
        input,
        inputNumber,
        isDone: from !== null && inputNumber < from.inputNumber,
        from: isResumed ? from.inputOffset : 0,
        rows: isResumed ? from.inputRows : 0,
      };
      for await (const batch of pipeline.batches(reading)) {
        count(run, batch, reading);
        if (batch.failed === 0 || request.errors.kind === 'keep') await batch.write('all');
        else {
          await batch.write('ok');
          if (targets.rejects !== null) await batch.write('failed');
        }
        reading.rows += batch.rows;
        if (batch.endOffset >= 0)
          tick({ inputNumber, inputOffset: batch.endOffset, inputRows: reading.rows });
      }
    }
    await pipeline.end?.();
  } finally {
    await pipeline.close?.();
  }
}

/** Counts the rows of a batch. @throws CliFailure for the row that ends the run */
function count(run: Run, batch: Batch, reading: Reading): void {
  const { tally } = run.targets;
  const { rows, failed, byStatus, byAdmin } = batch;
  if (failed > 0) noteFailures(run, batch, reading);
  tally.rows += rows;
  for (let status = 1; failed > 0 && status < byStatus.length; status++)
    tally.fail(ROW_STATUSES[status] as RowFailure, byStatus[status]);
  for (let admin = 0; admin < byAdmin.length; admin++) tally.byAdmin[admin]! += byAdmin[admin]!;
}

/** Notes the first row of each reason, and counts positions that would have a code with lat and lng exchanged. */
function noteFailures({ request, hexcodes, targets }: Run, batch: Batch, { input, rows }: Reading): void {
  const { tally } = targets;
  const { first, failed } = tally;
  const isStop = request.errors.kind === 'stop';
  let tries = tally.failedRows;
  const hasFirst = ROW_STATUSES.some(
    (word, status) => word !== 'OK' && batch.byStatus[status]! > 0 && !first.has(word as RowFailure),
  );
  if (!isStop && !hasFirst && tries >= SWAP_TRIES) return;
  for (const failure of batch.failures()) {
    const isTried = tries++ < SWAP_TRIES;
    const reason = failure.status as RowFailure;
    if (!isStop && !isTried && first.has(reason)) continue;
    const explained = batch.explain(failure);
    if (!first.has(reason)) {
      first.set(reason, { file: input.name, row: rows + 1 + failure.row, fault: explained.fault() });
      // A Map keeps reasons in the order in which they first occurred.
      failed.set(reason, failed.get(reason) ?? 0);
    }
    if (isStop) throw stopped(first.get(reason)!, reason);
    const { degrees } = explained;
    if (isTried && degrees !== undefined && looksSwapped(hexcodes.kernel, degrees[0], degrees[1]))
      tally.swapped++;
  }
}
