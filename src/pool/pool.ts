// The pool: worker threads that hold a kernel and nothing else. Large work goes through here, small work stays in
// the caller's tick. The only importer of piscina, with worker.ts.
//
// A block travels in shared memory (block-shelf.ts), its answer comes back as a transferred buffer: a point is copied
// twice each way. The queue is bounded in blocks and in bytes; who comes when it is full is told so at once and says
// so to its peer in the way its place demands, or waits for room. A worker that dies costs the blocks it had one more try;
// they are still there, and conversions are pure, so no row is lost or doubled. A third death is an error.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { BulkJob, ConvertedBlock, Operation } from '../wire/job.js';
import { BrokenBatchError } from '../wire/rows/batch.js';
import { BlockShelf, ROOM_BYTES } from './block-shelf.js';
import type { WorkAnswer, WorkerKernel, WorkOrder } from './worker.js';

export interface PoolOptions {
  readonly kernel: WorkerKernel;
  /** Worker threads; default: one for each core. */
  readonly threads?: number;
  /** Blocks that may wait for a worker; default 32 a thread. */
  readonly maxQueued?: number;
  /** Bytes of all blocks in the pool, waiting or at work; default 64 MiB. */
  readonly maxBytes?: number;
}

/** No room now. Nothing was begun. */
export class PoolFullError extends Error {
  override readonly name = 'PoolFullError';
}

/** The block could not be answered: three workers died over it, or the pool was closed. */
export class PoolLostError extends Error {
  override readonly name = 'PoolLostError';
}

const QUEUED_PER_THREAD = 32;
const BLOCKS_OF_BODIES_PER_THREAD = 2;
/** A megabyte each. */
const ROOMS_KEPT_PER_THREAD = 8;
/** Smaller answers are not worth one. */
const ROOMY_BYTES = 16 * 1024;
/** Each holds about a megabyte while it waits. */
const MAX_WAITING_BODIES = 256;
const MAX_BYTES = 64 * 1024 * 1024;
/** Of the two blocks that a worker has only one is at work, and might be what it died of. */
const TRIES = 3;
const WORKER_NURSERY_MB = 4;
/** How long `close` waits for threads that are still coming up. */
const BOOT_PATIENCE_MS = 5000;
const BOOT_POLL_MS = 10;

export class Pool {
  readonly threads: number;
  readonly #piscina: Piscina<WorkOrder, WorkAnswer>;
  readonly #shelf = new BlockShelf();
  readonly #rooms: ArrayBuffer[] = [];
  readonly #maxBlocks: number;
  readonly #maxBytes: number;
  #blocks = 0;
  #bytes = 0;
  #lostWorkers = 0;
  #completed = 0;
  #closing = false;
  #waiting: (() => void)[] = [];
  /** Threads whose first message is waited for, or has come: it says that their modules are loaded. */
  readonly #known = new WeakSet<Worker>();
  readonly #loaded = new WeakSet<Worker>();

  constructor(options: PoolOptions) {
    this.threads = options.threads ?? availableParallelism();
    this.#maxBlocks = this.threads + (options.maxQueued ?? QUEUED_PER_THREAD * this.threads);
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#piscina = new Piscina({
      filename: new URL('./worker.js', import.meta.url).href,
      workerData: {
        module: options.kernel.module,
        index: sharedCopy(options.kernel.index),
        reach: sharedCopy(options.kernel.reach),
      } satisfies WorkerKernel,
      minThreads: this.threads,
      maxThreads: this.threads,
      // The bound is ours: it counts bytes too, and it is known before any work is begun.
      maxQueue: Number.POSITIVE_INFINITY,
      stricterFIFO: true,
      // A worker that is done with a block finds the next one at hand, and need not wait for this thread.
      concurrentTasksPerWorker: 2,
      // A worker makes a handful of small objects a block; a large nursery would only fill with them before it is swept.
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_NURSERY_MB },
      // Nothing of the process's environment or arguments is a worker's business.
      env: {},
      argv: [],
    });
    // A worker that dies with no work at hand is reported here; the pool makes another.
    this.#piscina.on('error', () => {});
    this.#piscina.on('workerDestroy', () => this.#replaceWorker());
    this.#watchLoading();
  }

  /** Answers one block of a body, which is copied before this returns. Rejects with PoolFullError if there is no room. */
  async convert(job: BulkJob, block: Uint8Array): Promise<ConvertedBlock> {
    const order = (bytes: Uint8Array): WorkOrder => ({ kind: 'block', job, bytes, room: this.#rooms.pop() });
    return (await this.#run(block, order)) as ConvertedBlock;
  }

  /** A copy of what this thread has answered, in the buffer of an earlier answer if it is worth one. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    if (bytes.length < ROOMY_BYTES || bytes.length > ROOM_BYTES) return new Uint8Array(bytes);
    const room = new Uint8Array(this.#rooms.pop() ?? new ArrayBuffer(ROOM_BYTES), 0, bytes.length);
    room.set(bytes);
    return room;
  }

  /** Takes back the bytes of an answer that nobody will look at again: their buffer serves for another. */
  giveBack({ buffer }: Uint8Array): void {
    const isRoom = buffer instanceof ArrayBuffer && buffer.byteLength === ROOM_BYTES;
    if (isRoom && this.#rooms.length < ROOMS_KEPT_PER_THREAD * this.threads) this.#rooms.push(buffer);
  }

  /** Answers the JSON body of a batch, in the same way. Rejects with BrokenBatchError if its items are no JSON. */
  async answerBatch(operation: Operation, body: Uint8Array): Promise<Uint8Array> {
    return (await this.#run(body, (bytes) => ({ kind: 'batch', operation, bytes }))) as Uint8Array;
  }

  /** Answers one JSON frame of the stream, in the same way. */
  async answerJsonFrame(frame: Uint8Array): Promise<Uint8Array> {
    return (await this.#run(frame, (bytes) => ({ kind: 'json', bytes }))) as Uint8Array;
  }

  /** Answers one binary frame of the stream, in the same way. */
  async answerFrame(frame: Uint8Array): Promise<Uint8Array> {
    return (await this.#run(frame, (bytes) => ({
      kind: 'frame',
      bytes,
      room: this.#rooms.pop(),
    }))) as Uint8Array;
  }

  /** Whether a block may come in now. */
  get hasRoom(): boolean {
    return !this.#closing && this.#blocks < this.#maxBlocks && this.#bytes < this.#maxBytes;
  }

  /** Whether one more body may begin: there is room, and not too many wait for their next block already. */
  get hasRoomForNewBody(): boolean {
    return this.hasRoom && this.#waiting.length < MAX_WAITING_BODIES;
  }

  /**
   * Whether the next block of a body that is under way should come in now. Bodies keep the workers busy and no more, so
   * that they leave the queue to those who cannot wait.
   */
  get hasRoomForBody(): boolean {
    return this.#blocks < BLOCKS_OF_BODIES_PER_THREAD * this.threads && this.#bytes < this.#maxBytes;
  }

  /** Resolves when there is room for the next block of a body; those who wait are served in the order they came. */
  async room(): Promise<void> {
    while (!this.hasRoomForBody || this.#closing) {
      if (this.#closing) throw new PoolLostError('the pool is closed');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  get workers(): readonly { readonly threadId: number; terminate(): Promise<number> }[] {
    return this.#piscina.threads;
  }

  /** Those that whoever must end one from outside may end: one that still loads its modules can take the process with it. */
  get loadedWorkers(): Pool['workers'] {
    return this.#piscina.threads.filter((thread) => this.#loaded.has(thread));
  }

  /** For the metrics. */
  get figures(): { blocks: number; bytes: number; completed: number; lostWorkers: number; queued: number } {
    return {
      blocks: this.#blocks,
      bytes: this.#bytes,
      completed: this.#completed,
      lostWorkers: this.#lostWorkers,
      queued: this.#piscina.queueSize,
    };
  }

  async #run(
    bytes: Uint8Array,
    orderOf: (bytes: Uint8Array) => WorkOrder,
  ): Promise<ConvertedBlock | Uint8Array> {
    if (this.#closing) throw new PoolLostError('the pool is closed');
    if (!this.hasRoom) throw new PoolFullError('the pool is full');
    const block = this.#shelf.copyOf(bytes);
    const sizeBytes = block.length;
    this.#blocks++;
    this.#bytes += sizeBytes;
    try {
      const answer = await this.#try(() => orderOf(block));
      if ('broken' in answer) throw new BrokenBatchError(answer.broken);
      if ('fault' in answer) throw answer.fault;
      return answer.done;
    } finally {
      this.#shelf.giveBack(block);
      this.#blocks--;
      this.#bytes -= sizeBytes;
      this.#completed++;
      this.#admit();
    }
  }

  // The worker answers faults of the work itself as values: a rejection means that the worker is gone.
  async #try(makeOrder: () => WorkOrder): Promise<WorkAnswer> {
    for (let tries = 1; ; tries++) {
      try {
        const order = makeOrder();
        const transferList = 'room' in order && order.room !== undefined ? [order.room] : [];
        return await this.#piscina.run(order, { transferList });
      } catch (cause) {
        this.#lostWorkers++;
        if (tries === TRIES) throw new PoolLostError('three workers died over this block', { cause });
      }
    }
  }

  #admit(): void {
    if (this.#closing || this.hasRoomForBody) {
      const admitted = this.#closing || this.#blocks === 0 ? this.#waiting.length : 1;
      for (const resolve of this.#waiting.splice(0, admitted)) resolve();
    }
  }

  // Piscina makes no new worker for one that died before it was ready; any task does. Left alone, blocks that wait
  // for the last worker would wait for ever.
  #replaceWorker(): void {
    if (this.#closing) return;
    queueMicrotask(() => {
      if (!this.#closing && this.#piscina.threads.length < this.threads) {
        this.#piscina.run({ kind: 'json', bytes: new Uint8Array(0) }).catch(() => {});
      }
      this.#watchLoading();
    });
  }

  /** Must be called in the turn in which a thread is made, before anything of it can arrive. */
  #watchLoading(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#known.has(thread)) continue;
      this.#known.add(thread);
      thread.once('message', () => this.#loaded.add(thread));
    }
  }

  /** Answers what is in the pool, then ends its threads. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
    while (this.#blocks > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    // A thread that is ended while it still loads its modules now and then takes the whole process with it (SIGABRT).
    // Piscina counts the first threads as ready before they are.
    const patienceMs = performance.now() + BOOT_PATIENCE_MS;
    const isLoading = (): boolean => this.#piscina.threads.some((thread) => !this.#loaded.has(thread));
    while (isLoading() && performance.now() < patienceMs) await sleep(BOOT_POLL_MS);
    await this.#piscina.destroy();
  }
}

function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
