// The report that a job may ask for besides the answers of a block: OK rows by province, and the failed rows with the
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

/** Collects the report of one block while it is converted. */
export class RowReport {
  readonly #memory: TextMemory;
  readonly #operation: Operation;
  readonly #failures: number[] = [];
  /** Rows of the block that earlier scans have found. */
  #rowsBefore = 0;

  constructor(memory: TextMemory, operation: Operation) {
    memory.adminCounts.fill(0);
    this.#memory = memory;
    this.#operation = operation;
  }

  /**
   * Adds the failed rows among those that the kernel's CSV writer has just written.
   * @param from the first of them in the table of rows
   * @param to the one after the last
   * @param shiftBytes from the address of their answers to the offset in the answer to the block
   * @param okBefore OK rows that were counted before them
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

  /** Counts provinces, once the answers to all rows of a scan are written. `isConverted`: they were not refused. */
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
