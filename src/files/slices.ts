// A plain file converted by threads: each reads slices of it by itself, and their answers are written in the order of
// the file. Slices that a thread leaves are converted here.

import type { Pool } from '../pool/pool.js';
import type { FileSlice, SliceAnswer, SliceWork } from '../pool/slices.js';
import type { PlainFile } from './disk/plain-file.js';
import type { FilesRequest, Run } from './request.js';

/** Slices with a thread, or answered and not yet written, for each thread. */
const SLICES_PER_THREAD = 4;
/**
 * Inputs up to this size are converted before threads have earned their start. To decode takes two to three times as
 * long.
 */
const INLINE_BYTES = { encode: 256 * 1024 * 1024, decode: 16 * 1024 * 1024 };

/** Whether threads make a run faster that goes by slices. */
export function isWorthThreads({ request, totalBytes }: Pick<Run, 'request' | 'totalBytes'>): boolean {
  if (request.threads === 1 || totalBytes === null) return false;
  return request.sliceBytes !== undefined || totalBytes > INLINE_BYTES[request.operation];
}

/** Starts the workers of a pool, which is loaded only here: most runs need none. */
export async function startPool({ threads }: FilesRequest): Promise<Pool> {
  const [{ Pool }, { workerKernel }] = await Promise.all([import('../pool/pool.js'), import('./library.js')]);
  return new Pool({ kernel: await workerKernel(), threads });
}

interface Sliced {
  readonly pool: Pool;
  readonly work: SliceWork;
  readonly file: PlainFile;
  /** Start of a row or line. */
  readonly from: number;
  readonly sliceBytes: number;
  /** Writes the answer to a slice. */
  written(slice: FileSlice, answer: SliceAnswer): Promise<void>;
  /** Converts and writes what begins with a slice that a thread has left. @returns where that ends */
  left(slice: FileSlice): Promise<number>;
}

interface Pending {
  readonly slice: FileSlice;
  readonly answer: Promise<SliceAnswer | null>;
}

/** Converts a file to its end. */
export async function convertSlices(sliced: Sliced): Promise<void> {
  const { pool, work, file, sliceBytes } = sliced;
  const pending: Pending[] = [];
  const dropped: Promise<unknown>[] = [];
  let next = sliced.from;
  /** A file that grows meanwhile is read no further. */
  let isCut = false;
  const answerOf = async (slice: FileSlice): Promise<SliceAnswer | null> => {
    await pool.whenBodyMayContinue();
    return pool.convertSlice(work, slice);
  };
  const drop = (): void => {
    for (const { answer } of pending.splice(0))
      dropped.push(
        answer.then((given) => given !== null && pool.giveBack(given.bytes)).catch(() => undefined),
      );
  };
  try {
    for (;;) {
      while (!isCut && pending.length < SLICES_PER_THREAD * pool.threads) {
        const slice = file.sliceAt(next, sliceBytes);
        if (slice === null) break;
        isCut = slice.isLast;
        const answer = answerOf(slice);
        // A failure is thrown when this slice is the first. Until then it must not count as an unhandled rejection.
        answer.catch(() => undefined);
        pending.push({ slice, answer });
        next = slice.offset + slice.sizeBytes;
      }
      const first = pending.shift();
      if (first === undefined) return;
      const answer = await first.answer;
      if (answer !== null) {
        await sliced.written(first.slice, answer);
        continue;
      }
      const end = await sliced.left(first.slice);
      if (end === first.slice.offset + first.slice.sizeBytes) continue;
      // The slice ended within a row, so that those behind it begin within one.
      drop();
      next = end;
      isCut = false;
    }
  } finally {
    // The file stays open until no thread reads it.
    drop();
    await Promise.all(dropped);
  }
}
