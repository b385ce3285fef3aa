// The report that a job may request besides the answers of a block: OK rows by province, and the failed rows with the
// offsets of their answers. The kernel has both at hand; here they become plain numbers that can be posted between
// threads.

import type { TextMemory } from '../../kernel/text-memory.js';
import { type BlockReport, type Operation, ROW_STATUSES, type RowStatus } from '../job.js';

/** Rows count from 0 in the block, blank lines not counted. */
export interface FailedRow {
  readonly row: number;
  readonly status: RowStatus;
  /** Bounds of the row in the block, without its line end. */
  readonly start: number;
  readonly end: number;
  /** Bounds of its answer in the answer to the block, with its line end. */
  readonly answerStart: number;
  readonly answerEnd: number;
}

const NUMBERS_PER_ROW = 6;

/** Collects the report of one block during its conversion. */
export class RowReport {
  readonly #memory: TextMemory;
  readonly #operation: Operation;
  readonly #failures: number[] = [];
  /** Rows of the block in earlier scans. */
  #rowsBefore = 0;

  constructor(memory: TextMemory, operation: Operation) {
    memory.adminCounts.fill(0);
    this.#memory = memory;
    this.#operation = operation;
  }

  /**
   * Adds the failed rows among those that the kernel's CSV writer has just written.
   * @param from first of these rows in the table of rows
   * @param to after the last one
   * @param shiftBytes from the address of their answers to the offset in the answer to the block
   * @param okBefore OK rows counted before them
   */
  addWritten(from: number, to: number, shiftBytes: number, okBefore: number): void {
    const memory = this.#memory;
    if (memory.statusCounts[0]! - okBefore === to - from) return;
    for (let index = memory.nextFailed(from, to); index < to; index = memory.nextFailed(index + 1, to)) {
      const status = memory.statusOf(index);
      const row = memory.rowBounds(index);
      const answer = memory.answerBounds(index);
      this.#failures.push(this.#rowsBefore + index, status, row[0], row[1]);
      this.#failures.push(answer[0] + shiftBytes, answer[1] + shiftBytes);
    }
  }

  /**
   * Counts provinces, once the answers to all rows of a scan are written.
   * @param isConverted false for rows that were rejected
   */
  endScan(count: number, isConverted: boolean): void {
    this.#rowsBefore += count;
    if (!isConverted) return;
    const { exports } = this.#memory;
    if (this.#operation === 'encode') exports.countEncoded(count);
    else exports.countDecoded(count);
  }

  result(): BlockReport {
    return { byAdmin: this.#memory.adminCounts.slice(), failures: new Uint32Array(this.#failures) };
  }
}

/** Failed rows, in the order of the block, as a report has them. */
export const packedFailures = (rows: readonly FailedRow[]): Uint32Array =>
  Uint32Array.from(
    rows.flatMap(({ row, status, start, end, answerStart, answerEnd }) => [
      row,
      ROW_STATUSES.indexOf(status),
      start,
      end,
      answerStart,
      answerEnd,
    ]),
  );

/** The failed rows of a report, in the order of the block. */
export function failedRowsOf({ failures }: BlockReport): FailedRow[] {
  return Array.from({ length: failures.length / NUMBERS_PER_ROW }, (_, i) => {
    const at = i * NUMBERS_PER_ROW;
    return {
      row: failures[at]!,
      status: ROW_STATUSES[failures[at + 1]!]!,
      start: failures[at + 2]!,
      end: failures[at + 3]!,
      answerStart: failures[at + 4]!,
      answerEnd: failures[at + 5]!,
    };
  });
}

// Limits the work for rows that a thread does in one turn. A row that the kernel reads and writes costs some 50 ns;
// one that the host must read or write, a slow one, costs microseconds. Both are counted, never timed.

/**
 * Counts of this thread since its start: rows that the host read or wrote, their bytes, and members of JSON envelopes.
 */
export const slowWork = { rows: 0, bytes: 0, members: 0 };

/** Where rows come from: bodies of /bulk and messages, JSON batches, JSON frames of the stream, and files by lines. */
const ROW_ORIGINS = ['bulk', 'batch', 'stream', 'file'] as const;

export type RowOrigin = (typeof ROW_ORIGINS)[number];

/**
 * Why the host reads or writes a row instead of the kernel: it is rejected with a message; an item of JSON has
 * another spelling; a number is beyond 1e22 or below 1e-27; a code is not ASCII; the answer has a text to be escaped;
 * a line of a file cannot be copied unchanged; a file in a format that is converted by bytes is converted value by
 * value.
 */
const SLOW_REASONS = ['refused', 'spelling', 'number', 'code', 'answer', 'line', 'values'] as const;

export type SlowReason = (typeof SLOW_REASONS)[number];

/**
 * Slow rows of this process since its start, reasons within origins. In a thread of the pool: since its last answer,
 * which carried them.
 */
const slowRows = new Float64Array(ROW_ORIGINS.length * SLOW_REASONS.length);

export function countSlow(origin: RowOrigin, reason: SlowReason, rows = 1): void {
  slowRows[ROW_ORIGINS.indexOf(origin) * SLOW_REASONS.length + SLOW_REASONS.indexOf(reason)]! += rows;
}

/** The counts of a thread, which are reset; undefined where all are 0. */
export function takeSlowRows(): Float64Array | undefined {
  if (slowRows.every((rows) => rows === 0)) return undefined;
  const taken = slowRows.slice();
  slowRows.fill(0);
  return taken;
}

/** Adds what a thread has counted. */
export function addSlowRows(more: Float64Array): void {
  for (const [n, rows] of more.entries()) slowRows[n]! += rows;
}

/** All counts since the start. */
export function slowRowCounts(): { origin: RowOrigin; reason: SlowReason; rows: number }[] {
  return ROW_ORIGINS.flatMap((origin, o) =>
    SLOW_REASONS.map((reason, r) => ({ origin, reason, rows: slowRows[o * SLOW_REASONS.length + r]! })),
  );
}

/** The rows of one piece of work that a thread may convert, and the slow ones among them. */
export interface RowAllowance {
  /** Rows that may still be converted. */
  readonly rows: number;
  takeRows(count: number): void;
  /** Takes a slow row; returns false and takes nothing where it exceeds the limit. */
  takeSlow(sizeBytes: number): boolean;
}
