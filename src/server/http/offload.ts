// How much work this thread does itself; larger work goes to the pool. One piece of work may hold up this thread for
// half a millisecond, the time of some fifty single requests. For less the pool would not pay: a trip to it (posting,
// waking, moving memory) costs some 100 µs of CPU, as much as 4,000 points in the kernel (npm run bench -- bulk).
import { availableParallelism } from 'node:os';
import { BLOCK_BYTES, type BulkFormat, type BulkJob, FRAME_BLOCK_BYTES } from '../../hexcodes/wire/job.js';
import { RowAllowance, type SlowRows } from '../../hexcodes/wire/rows/row-allowance.js';

/** Points of a binary frame; 25 to 30 ns each. */
const INLINE_POINTS = 16_384;

/**
 * Bytes of a block of a /bulk body. A block of frames has some 20,000 points at most, unless it is one large frame.
 * Rows of text cost 40 to 100 ns each: full blocks go to the pool; those of small or slow bodies, not full, do not.
 */
const INLINE_BLOCK_BYTES: Readonly<Record<BulkFormat, number>> = {
  frames: FRAME_BLOCK_BYTES,
  csv: BLOCK_BYTES / 4,
  ndjson: BLOCK_BYTES / 4,
};

/**
 * Rows that one piece of work, a turn of a body or a JSON frame or batch, converts here. Blocks and frames are bounded
 * in bytes, but a row may have two of them.
 */
const INLINE_ROWS = 16_384;
export const INLINE_ITEMS = 4096;
/** Points of binary frames cost a quarter of a row of text. */
const INLINE_FRAME_POINTS = 65_536;

/**
 * Slow rows (wire/rows/row-allowance.ts) of all pieces of work in one turn of the event loop: half a millisecond. The
 * rest of a piece that has more goes to the pool. A few are left to each piece whatever the others did, so that a
 * small body with an odd row is still answered at once.
 */
const SLOW_ROWS_PER_TURN = 256;
const OWN_SLOW_ROWS = 16;

const slowRowsOfTurn: SlowRows = { left: SLOW_ROWS_PER_TURN };
let isRefillDue = false;

/** How much of a block of a /bulk body this thread may convert. */
export function blockAllowance({ input, output }: BulkJob): RowAllowance {
  return allowanceOf(input === 'frames' && output === 'frames' ? INLINE_FRAME_POINTS : INLINE_ROWS);
}

/** Allowance of `rows` rows of a block, whatever their work: where the limits of a key leave no more. */
export function partAllowance(rows: number): RowAllowance {
  return new RowAllowance(rows, { left: Number.MAX_SAFE_INTEGER }, 0);
}

/** How much of a JSON frame or JSON batch this thread may convert: all of its items, or none. */
export function itemsAllowance(): RowAllowance {
  return allowanceOf(INLINE_ITEMS);
}

function allowanceOf(rows: number): RowAllowance {
  if (!isRefillDue) {
    isRefillDue = true;
    setImmediate(() => {
      isRefillDue = false;
      slowRowsOfTurn.left = SLOW_ROWS_PER_TURN;
    });
  }
  return new RowAllowance(rows, slowRowsOfTurn, OWN_SLOW_ROWS);
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
 * frames are not even searched for their members here; larger batches go slice by slice (routes/batch.ts).
 */
export const INLINE_JSON_BYTES = 128 * 1024;
