// How much work this thread does itself; larger work goes to the pool. One piece of work may hold up this thread for
// half a millisecond, the time of some fifty single requests. Below that the pool does not pay: a round trip
// (posting, waking, moving memory) costs some 100 µs of CPU, as much as 4,000 points in the kernel (npm run bench --
// bulk).
import { availableParallelism } from 'node:os';
import { BLOCK_BYTES, type BulkFormat, type BulkJob, FRAME_BLOCK_BYTES } from '../../hexcodes/wire/job.js';
import type { RowAllowance } from '../../hexcodes/wire/rows/row-report.js';

/** Points of a binary frame; 25 to 30 ns each. */
const INLINE_POINTS = 16_384;

/**
 * Bytes of a block of a /bulk body. A block of frames has some 20,000 points at most, unless it is one large frame.
 * Rows of text cost 40 to 100 ns each: full blocks go to the pool; partial ones, of small or slow bodies, do not.
 */
const INLINE_BLOCK_BYTES: Readonly<Record<BulkFormat, number>> = {
  frames: FRAME_BLOCK_BYTES,
  csv: BLOCK_BYTES / 4,
  ndjson: BLOCK_BYTES / 4,
};

/**
 * Rows that one piece of work, a turn of a body or a JSON frame or batch, converts here. Blocks and frames are
 * bounded in bytes, but a row may take only two.
 */
const INLINE_ROWS = 16_384;
export const INLINE_ITEMS = 4096;
/** Points of binary frames cost a quarter of a row of text. */
const INLINE_FRAME_POINTS = 65_536;

/**
 * Slow rows (wire/rows/row-report.ts) of all pieces of work in one turn of the event loop: half a millisecond. A
 * piece with more sends its rest to the pool. Each piece may do a few in any case, so that a small body with an odd
 * row is still answered at once.
 */
const SLOW_ROWS_PER_TURN = 256;
const OWN_SLOW_ROWS = 16;

/** Slow rows are counted with their bytes: this number of bytes costs as much as one more row. */
const SLOW_ROW_BYTES = 64;

/** Budget of slow rows that several pieces of work share. */
interface SlowRows {
  left: number;
}

/** The allowance of one piece of work of this thread. */
export class WorkAllowance implements RowAllowance {
  rows: number;
  #ownSlow: number;
  /** A slow row was refused. */
  isSlowSpent = false;

  /**
   * @param rows that one piece of work may convert
   * @param sharedSlow slow rows of all pieces
   * @param ownSlow slow rows of this piece, for when the shared ones are used up
   */
  constructor(
    rows: number,
    private readonly sharedSlow: SlowRows,
    ownSlow: number,
  ) {
    this.rows = rows;
    this.#ownSlow = ownSlow;
  }

  takeRows(count: number): void {
    this.rows = Math.max(0, this.rows - count);
  }

  takeSlow(sizeBytes: number): boolean {
    const cost = 1 + Math.floor(sizeBytes / SLOW_ROW_BYTES);
    if (cost <= this.sharedSlow.left) this.sharedSlow.left -= cost;
    else if (cost <= this.#ownSlow) this.#ownSlow -= cost;
    else this.isSlowSpent = true;
    return !this.isSlowSpent;
  }
}

const slowRowsOfTurn: SlowRows = { left: SLOW_ROWS_PER_TURN };
let isRefillDue = false;

/** How much of a block of a /bulk body this thread may convert. */
export function blockAllowance({ input, output }: BulkJob): WorkAllowance {
  return allowanceOf(input === 'frames' && output === 'frames' ? INLINE_FRAME_POINTS : INLINE_ROWS);
}

/** Allowance of `rows` rows of a block, whatever their work: where the limits of a key leave no more. */
export function partAllowance(rows: number): WorkAllowance {
  return new WorkAllowance(rows, { left: Number.MAX_SAFE_INTEGER }, 0);
}

/** How much of a JSON frame or JSON batch this thread may convert: all of its items, or none. */
export function itemsAllowance(): WorkAllowance {
  return allowanceOf(INLINE_ITEMS);
}

function allowanceOf(rows: number): WorkAllowance {
  if (!isRefillDue) {
    isRefillDue = true;
    setImmediate(() => {
      isRefillDue = false;
      slowRowsOfTurn.left = SLOW_ROWS_PER_TURN;
    });
  }
  return new WorkAllowance(rows, slowRowsOfTurn, OWN_SLOW_ROWS);
}

/** Interval at which the number of cores is read: it rarely changes, and only from outside the process. */
const CORES_VALID_MS = 1000;
let cores = availableParallelism();
let coresKnownMs = performance.now();

/** On one core a worker could not run beside this thread: it would only add a trip to the same work. */
function hasOneCore(): boolean {
  const nowMs = performance.now();
  if (nowMs - coresKnownMs >= CORES_VALID_MS) {
    cores = availableParallelism();
    coresKnownMs = nowMs;
  }
  return cores === 1;
}

/** The largest block that is converted in this thread. */
export function inlineBlockBytes(format: BulkFormat): number {
  return hasOneCore() ? Number.POSITIVE_INFINITY : INLINE_BLOCK_BYTES[format];
}

/** Whether a binary frame of this many points is answered in this thread. */
export function isInlineFrame(points: number): boolean {
  return points <= INLINE_POINTS || hasOneCore();
}

/**
 * Bytes of a JSON frame or JSON batch, some 3,000 points; 100 to 150 ns each, reading and writing included. Larger
 * frames are not even parsed here; larger batches are converted slice by slice (routes/batch.ts).
 */
export const INLINE_JSON_BYTES = 128 * 1024;
