// Rows that are copied whole, with our columns after them: CSV to CSV, TSV to TSV, NDJSON to NDJSON. The kernel writes
// them, a block or a slice at a time; rows that it cannot answer are converted value by value and put among the others.

import { type BlockReport, type ConvertedRows, ROW_STATUSES, type RowStatus } from '../hexcodes/wire/job.js';
import { type FailedRow, failedRowsOf, packedFailures } from '../hexcodes/wire/rows/row-report.js';
import type { Pool } from '../pool/pool.js';
import type { FileSlice, SliceAnswer, SliceWork } from '../pool/slices.js';
import type { PlainFile } from './disk/plain-file.js';
import type { Batch, Explained, Pipeline, Reading, Wanted } from './driver.js';
import type { Run } from './request.js';
import { isWorthThreads, slicedBatches, startPool, workersOf } from './slices.js';

/** The answer to rows of a block. */
export interface Answer extends ConvertedRows {
  readonly bytes: Uint8Array;
  readonly report: BlockReport;
}

/** An input whose rows are copied. */
export interface WholeInput {
  /** Where its first row is in the content. */
  readonly start: number;
  /** How the threads of a pool convert slices, and how large these are at most. */
  readonly work: SliceWork;
  readonly sliceBytes: number;
  /** Blocks of whole rows from an offset on; each is valid until the next is requested. @throws CliFailure BAD_INPUT */
  blocks(from: number): AsyncIterable<Uint8Array>;
  /**
   * Converts rows of a block from a byte on.
   * @returns the start of the rows to convert next, and bytes that are valid until then
   */
  convert(block: Uint8Array, from: number): Answer & { readonly restAt: number };
  /** Puts the answers to rows that the kernel cannot answer among those that `convert` or a thread has given. */
  mended(block: Uint8Array, answer: Answer, from: number): Promise<Answer>;
  explain(block: Uint8Array, failed: FailedRow): Explained;
}

export class WholeRows implements Pipeline {
  readonly #run: Run;
  readonly #open: (reading: Reading) => Promise<WholeInput>;
  #pool: Pool | undefined;

  /** @param open checks the header of an input */
  constructor(run: Run, open: (reading: Reading) => Promise<WholeInput>) {
    this.#run = run;
    this.#open = open;
  }

  async *batches(reading: Reading): AsyncGenerator<Batch> {
    const whole = await this.#open(reading);
    if (reading.isDone) return;
    const { plain } = reading.input;
    let offset = Math.max(whole.start, reading.from);
    if (plain !== null && isWorthThreads(this.#run)) {
      yield* this.#sliced(whole, plain, offset);
      return;
    }
    for await (const block of whole.blocks(offset)) {
      yield* this.#answers(whole, block, offset);
      offset += block.length;
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }

  async *#answers(whole: WholeInput, block: Uint8Array, offset: number): AsyncGenerator<Batch> {
    for (let at = 0; at < block.length; ) {
      const converted = whole.convert(block, at);
      const answer = await whole.mended(block, converted, at);
      at = converted.restAt;
      yield this.#batch(whole, answer, block, offset + at);
    }
  }

  /** Rows by the threads of a pool, and here those that they leave. */
  async *#sliced(whole: WholeInput, plain: PlainFile, from: number): AsyncGenerator<Batch> {
    const { request, hexcodes, targets } = this.#run;
    this.#pool ??= await startPool(workersOf(request));
    const batchOf = async (answer: SliceAnswer, { offset, sizeBytes }: FileSlice): Promise<Batch> => {
      const block = answer.failed > 0 ? plain.bytesAt(offset, sizeBytes) : answer.bytes.subarray(0, 0);
      const mended = await whole.mended(block, { ...answer, report: answer.report! }, 0);
      return this.#batch(whole, mended, block, offset + sizeBytes);
    };
    const answers = (block: Uint8Array, offset: number): AsyncGenerator<Batch> =>
      this.#answers(whole, block, offset);
    yield* slicedBatches<Batch>({
      kernel: hexcodes.kernel,
      pool: this.#pool,
      work: whole.work,
      file: plain,
      from,
      sliceBytes: Math.min(request.sliceBytes ?? whole.sliceBytes, whole.sliceBytes),
      holdsBytes: targets.output.holdsBytes,
      batchOf,
      async *left({ offset }) {
        for await (const block of whole.blocks(offset)) {
          yield* answers(block, offset);
          return;
        }
      },
    });
  }

  #batch(whole: WholeInput, answer: Answer, block: Uint8Array, endOffset: number): Batch<FailedRow> {
    const { output, rejects } = this.#run.targets;
    const { rows, failed, byStatus, report } = answer;
    return {
      rows,
      failed,
      byStatus,
      byAdmin: report.byAdmin,
      endOffset,
      failures: () => failedRowsOf(report),
      explain: (failure) => whole.explain(block, failure),
      async write(wanted) {
        const target = wanted === 'failed' ? rejects : output;
        await target?.write(wanted === 'all' ? answer.bytes : rowsOf(answer, wanted));
      },
    };
  }
}

function rowsOf({ bytes, report }: Answer, wanted: Wanted): Buffer {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { answerStart, answerEnd } of failedRowsOf(report)) {
    parts.push(wanted === 'ok' ? bytes.subarray(at, answerStart) : bytes.subarray(answerStart, answerEnd));
    at = answerEnd;
  }
  if (wanted === 'ok') parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/** The answer to a row that was converted value by value. */
export interface SlowAnswer {
  /** Number and bounds of the row in the block. */
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly status: RowStatus;
  /** Bounds of the bytes of an answer whose place it takes. */
  readonly answerStart: number;
  readonly answerEnd: number;
  readonly bytes: Uint8Array;
}

/**
 * An answer with slow ones among its rows.
 * @param slow in the order of their rows, for each of which the answer has a failed row or none
 * @param blank numbers of lines that are not rows, which the answer counts
 * @param slowAdmins the slow ones that are OK, by province
 */
export function spliced(
  answer: Answer,
  slow: readonly SlowAnswer[],
  blank: readonly number[],
  slowAdmins: Uint32Array,
): Answer {
  const byStatus = answer.byStatus.slice();
  const byAdmin = answer.report.byAdmin.map((rows, admin) => rows + slowAdmins[admin]!);
  const parts: Uint8Array[] = [];
  const failures: FailedRow[] = [];
  const before = failedRowsOf(answer.report);
  let next = 0;
  let gone = 0;
  let at = 0;
  let shift = 0;
  const rowIn = (row: number): number => {
    while (gone < blank.length && blank[gone]! < row) gone++;
    return row - gone;
  };
  const moveTo = (row: number): void => {
    for (let each = before[next]; each !== undefined && each.row < row; each = before[++next]) {
      const [answerStart, answerEnd] = [each.answerStart + shift, each.answerEnd + shift];
      failures.push({ ...each, row: rowIn(each.row), answerStart, answerEnd });
    }
  };
  for (const { bytes, ...each } of slow) {
    moveTo(each.row);
    const replaced = before[next];
    if (replaced?.row === each.row) {
      byStatus[ROW_STATUSES.indexOf(replaced.status)]!--;
      next++;
    }
    byStatus[ROW_STATUSES.indexOf(each.status)]!++;
    parts.push(answer.bytes.subarray(at, each.answerStart), bytes);
    at = each.answerEnd;
    const answerStart = each.answerStart + shift;
    if (each.status !== 'OK')
      failures.push({ ...each, row: rowIn(each.row), answerStart, answerEnd: answerStart + bytes.length });
    shift += bytes.length - (each.answerEnd - each.answerStart);
  }
  moveTo(Number.POSITIVE_INFINITY);
  parts.push(answer.bytes.subarray(at));
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return {
    bytes: Buffer.concat(parts),
    rows,
    failed: failures.length,
    byStatus,
    report: { byAdmin, failures: packedFailures(failures) },
  };
}
