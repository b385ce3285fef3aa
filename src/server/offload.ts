// Where small work ends and large work begins: what is answered at once, by the kernel of the main thread, and what goes to
// the pool. The main thread gives up half a millisecond at most for one piece of work: some
// fifty single requests wait so long. Below that the pool only costs: posting, waking and moving memory take some 100 µs
// of CPU for each trip, as much as 4,000 points take the kernel (npm run bench -- bulk).
import { availableParallelism } from 'node:os';
import { BLOCK_BYTES, type BulkFormat, FRAME_BLOCK_BYTES } from '../wire/job.js';

/** Points of one stream frame; 25 to 30 ns each. */
export const INLINE_POINTS = 16_384;

/**
 * Bytes of a block of a /bulk body. A block of frames holds some 20,000 points at most, unless it is one large frame; rows
 * of text cost 40 to 100 ns each, so full blocks go to the pool and what comes slowly or is small does not.
 */
const INLINE_BLOCK_BYTES: Readonly<Record<BulkFormat, number>> = {
  frames: FRAME_BLOCK_BYTES,
  csv: BLOCK_BYTES / 4,
  ndjson: BLOCK_BYTES / 4,
};

/** How often the number of cores is asked for: it is changed from outside, and rarely. */
const CORES_KNOWN_MS = 1000;
let cores = availableParallelism();
let coresKnownMs = performance.now();

/** Up to how many bytes a block is answered in this thread. On one core nothing would work beside us. */
export function inlineBlockBytes(format: BulkFormat): number {
  const nowMs = performance.now();
  if (nowMs - coresKnownMs >= CORES_KNOWN_MS) {
    cores = availableParallelism();
    coresKnownMs = nowMs;
  }
  return cores === 1 ? Number.POSITIVE_INFINITY : INLINE_BLOCK_BYTES[format];
}

/** Bytes of a JSON frame or batch, some 4,000 points: with reading and writing 150 to 200 ns each. */
export const INLINE_JSON_BYTES = 128 * 1024;
