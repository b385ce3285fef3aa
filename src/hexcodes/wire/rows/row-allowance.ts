// How much of the rows' work a thread may do before it goes on with other work. A row that the kernel reads and writes
// costs some 50 ns; one that the host must read or write, a slow one, costs microseconds. Both are counted, never
// timed.

/** Slow rows are counted with their bytes: this number of bytes costs as much as one more row. */
const SLOW_ROW_BYTES = 64;

/**
 * Counts of this thread since its start: rows that the host read or wrote, their bytes, and members of JSON envelopes.
 */
export const slowWork = { rows: 0, bytes: 0, members: 0 };

/** Slow rows that several pieces of work may still do together. */
export interface SlowRows {
  left: number;
}

export class RowAllowance {
  #rows: number;
  #ownSlow: number;
  readonly #sharedSlow: SlowRows;
  #isSlowSpent = false;

  /**
   * @param rows that one piece of work may convert
   * @param sharedSlow slow rows of all pieces
   * @param ownSlow slow rows of this piece, for when the shared ones are used up
   */
  constructor(rows: number, sharedSlow: SlowRows, ownSlow: number) {
    this.#rows = rows;
    this.#sharedSlow = sharedSlow;
    this.#ownSlow = ownSlow;
  }

  /** Rows that may still be converted. */
  get rows(): number {
    return this.#rows;
  }

  /** A slow row was refused. */
  get isSlowSpent(): boolean {
    return this.#isSlowSpent;
  }

  takeRows(count: number): void {
    this.#rows = Math.max(0, this.#rows - count);
  }

  /** Takes a slow row; false, and nothing is taken, where it is too much. */
  takeSlow(sizeBytes: number): boolean {
    const cost = 1 + Math.floor(sizeBytes / SLOW_ROW_BYTES);
    if (cost <= this.#sharedSlow.left) this.#sharedSlow.left -= cost;
    else if (cost <= this.#ownSlow) this.#ownSlow -= cost;
    else this.#isSlowSpent = true;
    return !this.#isSlowSpent;
  }
}
