// A plain file converted by threads: each reads slices of it by itself, and their answers are written in the order of
// the file. Slices that a thread leaves are converted here.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kernel } from '../hexcodes/kernel/kernel.js';
import { ByteSink } from '../hexcodes/wire/bytes/byte-sink.js';
import { ANSWER_BUFFER_BYTES } from '../pool/free-blocks.js';
import type { Pool } from '../pool/pool.js';
import { answerSlice, type FileSlice, type SliceAnswer, type SliceWork } from '../pool/slices.js';
import type { PlainFile } from './disk/plain-file.js';
import type { FilesRequest, Run } from './request.js';

/** Slices with a thread, or answered and not yet written, for each thread; and those that wait for a worker. */
const SLICES_PER_THREAD = 4;
const SLICES_PER_WORKER = 3;
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
export async function startPool(threads: number): Promise<Pool> {
  const [{ Pool }, { workerKernel }] = await Promise.all([import('../pool/pool.js'), import('./library.js')]);
  return new Pool({ kernel: await workerKernel(), threads });
}

/** Workers beside this thread, which converts too. */
export const workersOf = ({ threads }: FilesRequest): number => Math.max(1, threads - 1);

interface Sliced<Batch> {
  readonly kernel: Kernel;
  readonly pool: Pool;
  readonly work: SliceWork;
  readonly file: PlainFile;
  /** Start of a row or line. */
  readonly from: number;
  readonly sliceBytes: number;
  /** Whether the bytes of an answer are still read after they were written. */
  readonly holdsBytes: boolean;
  /** The rows of a slice. */
  batchOf(answer: SliceAnswer, slice: FileSlice): Promise<Batch>;
  /** Rows from the beginning of a slice on that a thread has left. */
  left(slice: FileSlice): AsyncGenerator<Batch>;
}

class PendingSlice {
  /** Undefined until it is there; null where the slice was left. */
  answer: SliceAnswer | null | undefined;
  fault: unknown;
  readonly settled: Promise<void>;

  constructor(
    readonly slice: FileSlice,
    answer: Promise<SliceAnswer | null> | SliceAnswer | null,
    readonly isOfPool: boolean,
  ) {
    if (!(answer instanceof Promise)) this.answer = answer;
    this.settled = Promise.resolve(answer).then(
      (given) => {
        this.answer = given;
      },
      (fault: unknown) => {
        this.fault = fault ?? new Error('a slice without an answer');
      },
    );
  }

  get isSettled(): boolean {
    return this.answer !== undefined || this.fault !== undefined;
  }
}

/** The rows of a file to its end: workers take slices, and so does this thread where it would wait for them. */
export async function* slicedBatches<Batch extends { readonly endOffset: number }>(
  sliced: Sliced<Batch>,
): AsyncGenerator<Batch> {
  const { kernel, pool, work, file, sliceBytes, holdsBytes } = sliced;
  const most = SLICES_PER_THREAD * (pool.threads + 1);
  const pending: PendingSlice[] = [];
  const dropped: Promise<void>[] = [];
  const free: Uint8Array<ArrayBuffer>[] = [];
  const sink = new ByteSink();
  let next = sliced.from;
  /** A file that grows meanwhile is read no further. */
  let isCut = false;
  const cut = (): FileSlice | null => {
    const slice = isCut ? null : file.sliceAt(next, sliceBytes);
    isCut = slice === null || slice.isLast;
    if (slice !== null) next = slice.offset + slice.sizeBytes;
    return slice;
  };
  const ofPool = async (slice: FileSlice): Promise<SliceAnswer | null> => {
    await pool.whenBodyMayContinue();
    return pool.convertSlice(work, slice);
  };
  const giveBack = ({ answer, isOfPool }: PendingSlice): void => {
    if (answer === null || answer === undefined) return;
    if (isOfPool) pool.giveBack(answer.bytes);
    else if (answer.bytes.buffer.byteLength === ANSWER_BUFFER_BYTES)
      free.push(new Uint8Array(answer.bytes.buffer));
  };
  const drop = (): void => {
    for (const each of pending.splice(0)) dropped.push(each.settled.then(() => giveBack(each)));
  };
  try {
    for (;;) {
      const inPool = pending.filter(({ isOfPool, isSettled }) => isOfPool && !isSettled).length;
      for (let n = inPool; n < SLICES_PER_WORKER * pool.threads && pending.length < most; n++) {
        const slice = cut();
        if (slice === null) break;
        pending.push(new PendingSlice(slice, ofPool(slice), true));
      }
      const [first] = pending;
      if (first === undefined) return;
      if (!first.isSettled) {
        const own = pending.length < most ? cut() : null;
        if (own === null) await first.settled;
        else {
          const buffer = free.pop() ?? new Uint8Array(ANSWER_BUFFER_BYTES);
          pending.push(new PendingSlice(own, answerSlice(kernel, work, own, sink, buffer), false));
          await nextTurn();
        }
        continue;
      }
      pending.shift();
      if (first.fault !== undefined) throw first.fault;
      const { slice, answer } = first;
      if (answer !== null && answer !== undefined) {
        yield await sliced.batchOf(answer, slice);
        if (!holdsBytes) giveBack(first);
        await nextTurn();
        continue;
      }
      let end = slice.offset;
      for await (const batch of sliced.left(slice)) {
        yield batch;
        end = batch.endOffset;
      }
      if (end === slice.offset) return;
      if (end === slice.offset + slice.sizeBytes) continue;
      // The slice ended within a row, so that those after it begin within one.
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
