// How much of the rows' work a thread may do before it goes on with other work. A row that the kernel reads and writes
// costs some 50 ns; one that the host must read or write, a slow one, costs microseconds. Both are counted, never
// timed.

/**
 * Counts of this thread since its start: rows that the host read or wrote, their bytes, and members of JSON envelopes.
 */
export const slowWork = { rows: 0, bytes: 0, members: 0 };

/** Where rows come from: bodies of /bulk and messages, JSON batches, JSON frames of the stream, and files by lines. */
export const ROW_ORIGINS = ['bulk', 'batch', 'stream', 'file'] as const;

export type RowOrigin = (typeof ROW_ORIGINS)[number];

/**
 * Why the host reads or writes a row instead of the kernel: it is refused with a message; an item of JSON has another
 * spelling; a number is beyond 1e22 or below 1e-27; a code has more than ASCII; the answer has a text to be escaped; a
 * line of a file cannot be copied as it is; a file of a format that is read by bytes is read value by value.
 */
export const SLOW_REASONS = ['refused', 'spelling', 'number', 'code', 'answer', 'line', 'values'] as const;

export type SlowReason = (typeof SLOW_REASONS)[number];

/**
 * Slow rows of this process since its start, reasons within origins. In a thread of the pool: since its last answer,
 * which has taken them along.
 */
const slowRows = new Float64Array(ROW_ORIGINS.length * SLOW_REASONS.length);

export function countSlow(origin: RowOrigin, reason: SlowReason, rows = 1): void {
  slowRows[ROW_ORIGINS.indexOf(origin) * SLOW_REASONS.length + SLOW_REASONS.indexOf(reason)]! += rows;
}

/** The counts of a thread, which begin again; undefined where all are 0. */
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
  /** Takes a slow row; false, and nothing is taken, where it is too much. */
  takeSlow(sizeBytes: number): boolean;
}
