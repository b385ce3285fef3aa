// The pool: worker threads that hold only a kernel, for work too large for the event loop. Blocks are passed in
// shared memory, answers are transferred back. The queue is bounded in blocks and in bytes: excess work is rejected
// before it begins, and bodies under way wait. A block whose worker died is retried, three times in all; conversions
// have no side effects, so no row is lost or duplicated.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { BulkInputError, type BulkJob, type ConvertedBlock, type Operation } from '../hexcodes/wire/job.js';
import {
  BrokenBatchError,
  type CountedAnswer,
  TooManyItemsError,
  uncounted,
} from '../hexcodes/wire/rows/batch.js';
import { addSlowRows } from '../hexcodes/wire/rows/row-report.js';
import {
  ANSWER_BUFFER_BYTES,
  type FileSlice,
  FreeBlocks,
  type SliceAnswer,
  type SliceWork,
  sharedCopy,
} from './slices.js';
import { defaultThreads } from './usable-cores.js';
import { PoolFullError, WorkQueue } from './work-queue.js';
import type { CountedWork, WorkAnswer, WorkerKernel, WorkOrder } from './worker.js';

export interface PoolOptions {
  readonly kernel: WorkerKernel;
  /** Most worker threads; default: one for each core, up to four. */
  readonly threads?: number;
  /**
   * Idle time after which a thread ends; threads are started on demand. Undefined: all are started at once, and stay.
   */
  readonly threadIdleMs?: number;
  /** Blocks that a worker holds, the one in work included, and as many of bodies that are admitted; 2 by default. */
  readonly blocksPerThread?: number;
  /** Most blocks that wait for a worker; default 32 a thread. */
  readonly maxQueued?: number;
  /** Most bytes of all blocks in the pool, waiting or being answered; default 64 MiB. */
  readonly maxBytes?: number;
  /** Called when a block is answered, with its time in the queue and its time with a worker. */
  readonly timed?: (waitedMs: number, ranMs: number) => void;
  /** Time after which a block counts as hung and all workers are ended. Undefined: none. */
  readonly hangMs?: number;
}

/** Present and total counts. */
interface PoolFigures {
  /** Current blocks in the pool, and their bytes. */
  readonly blocks: number;
  readonly bytes: number;
  readonly queued: number;
  /** Bodies that wait to submit their next block. */
  readonly waitingBodies: number;
  /** Blocks answered, or given up, since the start. */
  readonly completed: number;
  readonly lostWorkers: number;
}

/** The block will not be answered: three workers died over it, none starts, or the pool is closed. */
export class PoolLostError extends Error {
  override readonly name = 'PoolLostError';
}

const QUEUED_PER_THREAD = 32;
/** With its next block at hand, a worker need not wait for this thread's event loop. */
const BLOCKS_PER_THREAD = 2;
/** An answer buffer is about a megabyte. */
const ANSWER_BUFFERS_PER_THREAD = 8;
/** A smaller answer gets a buffer of its own size. */
const MIN_BUFFERED_BYTES = 16 * 1024;
/** A waiting body holds about a megabyte. */
const MAX_WAITING_BODIES = 256;
const MAX_BYTES = 64 * 1024 * 1024;
/** A worker holds two blocks, and only one of them may have killed it: two attempts would be too few. */
const TRIES = 3;
const WORKER_NURSERY_MB = 4;
const TICK_MS = 1000;
const NO_BYTES = new Uint8Array(0);
/** Makes piscina start a worker. */
const EMPTY_TASK: WorkOrder = { kind: 'json', bytes: NO_BYTES, maxPoints: 0 };
/** Longest wait of `close` for threads that still load their modules. */
const LOADING_TIMEOUT_MS = 5000;
const LOADING_POLL_MS = 10;

/** A block that a worker has, or that waits for one to start. */
interface RunningBlock {
  /** Age in ticks of this event loop: time during which the process is stopped does not count. */
  ticks: number;
  giveUp: (fault: PoolLostError) => void;
}

export class Pool {
  readonly threads: number;
  readonly #piscina: Piscina<WorkOrder, CountedWork>;
  readonly #freeBlocks = new FreeBlocks();
  /** Free, each of ANSWER_BUFFER_BYTES. */
  readonly #answerBuffers: ArrayBuffer[] = [];
  readonly #queue: WorkQueue;
  #lostWorkers = 0;
  #completed = 0;
  #isClosing = false;
  #onEmpty: (() => void) | undefined;
  readonly #running = new Set<RunningBlock>();
  /** Consecutive workers that died before they had loaded their modules. */
  #failedStarts = 0;
  /** Set while no worker starts, for instance without memory or files; the next attempt is made at that time. */
  #noStart: { readonly fault: PoolLostError; untilMs: number } | undefined;
  /** Timer of an attempt each second while no worker starts, because no work may come that would make one. */
  #trying: NodeJS.Timeout | undefined;
  readonly #ticking: NodeJS.Timeout | undefined;
  readonly #watched = new WeakSet<Worker>();
  /** Threads whose first message has come, which they post once their modules are loaded. */
  readonly #loaded = new WeakSet<Worker>();

  constructor(private readonly options: PoolOptions) {
    const { blocksPerThread = BLOCKS_PER_THREAD } = options;
    this.threads = options.threads ?? defaultThreads();
    this.#queue = new WorkQueue({
      running: blocksPerThread * this.threads,
      blocks: this.threads + (options.maxQueued ?? QUEUED_PER_THREAD * this.threads),
      bytes: options.maxBytes ?? MAX_BYTES,
      bodyBlocks: blocksPerThread * this.threads,
    });
    this.#piscina = new Piscina({
      filename: new URL('./worker.js', import.meta.url).href,
      workerData: {
        module: options.kernel.module,
        index: sharedCopy(options.kernel.index),
        reach: sharedCopy(options.kernel.reach),
      } satisfies WorkerKernel,
      ...(options.threadIdleMs === undefined
        ? { minThreads: this.threads }
        : { minThreads: 0, idleTimeout: options.threadIdleMs }),
      maxThreads: this.threads,
      // The pool bounds the queue itself: it counts bytes, too, and rejects before a block is copied.
      maxQueue: Number.POSITIVE_INFINITY,
      stricterFIFO: true,
      concurrentTasksPerWorker: blocksPerThread,
      // A worker allocates a few small objects a block, which would only fill a large nursery between collections.
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_NURSERY_MB },
      // Workers get neither the environment nor the arguments of the process.
      env: {},
      argv: [],
    });
    // Emitted when a worker dies without a task; #replaceWorker makes another.
    this.#piscina.on('error', (error: Error) => this.#countFailedStart(error));
    this.#piscina.on('workerDestroy', () => this.#replaceWorker());
    this.#watchLoading();
    const { hangMs } = options;
    if (hangMs === undefined) return;
    this.#ticking = setInterval(() => this.#tick(Math.ceil(hangMs / TICK_MS)), TICK_MS);
    this.#ticking.unref();
  }

  /** Seconds for which the oldest block has been with a worker. */
  get oldestS(): number {
    let ticks = 0;
    for (const block of this.#running) ticks = Math.max(ticks, block.ticks);
    return (ticks * TICK_MS) / 1000;
  }

  /** Why no block is answered: no worker starts. */
  get absence(): string | undefined {
    return this.#noStart?.fault.message;
  }

  /** Piscina does not reveal which worker has which block: all are ended, and their other blocks are retried. */
  #tick(most: number): void {
    let isHung = false;
    for (const block of this.#running) isHung = ++block.ticks === most || isHung;
    if (isHung) for (const worker of this.loadedWorkers) void worker.terminate();
  }

  #countFailedStart(cause: Error): void {
    if (this.loadedWorkers.length > 0 || ++this.#failedStarts < TRIES) return;
    const fault = new PoolLostError(`no thread of the pool starts: ${cause.message}`, { cause });
    this.#noStart = { fault, untilMs: performance.now() + TICK_MS };
    for (const block of this.#running) block.giveUp(fault);
    this.#tryToStart();
  }

  #tryToStart(): void {
    if (this.#trying !== undefined || this.#isClosing) return;
    // The empty task of a failed attempt is cancelled by the next one.
    let before = new AbortController();
    this.#trying = setInterval(() => {
      before.abort();
      before = new AbortController();
      this.#piscina.run(EMPTY_TASK, { signal: before.signal }).catch(() => {});
      this.#watchLoading();
    }, TICK_MS);
    this.#trying.unref();
  }

  #stopTrying(): void {
    clearInterval(this.#trying);
    this.#trying = undefined;
  }

  /**
   * Answers one block of a body. The block is copied before this returns.
   * @param key of the caller, for fair turns; here and below, callers without keys share one
   * @throws PoolFullError, PoolLostError, BulkInputError (as convertBlock), all as rejections
   */
  async convert(job: BulkJob, block: Uint8Array, key = ''): Promise<ConvertedBlock> {
    const order = (bytes: Uint8Array): WorkOrder => ({
      kind: 'block',
      job,
      bytes,
      answerBuffer: this.#answerBuffers.pop(),
    });
    return (await this.#run(key, block, order, true)) as ConvertedBlock;
  }

  /**
   * Answers a slice of a file, which the worker reads. The file must stay open until then.
   * @returns null for one that the caller must convert itself
   * @throws PoolFullError, PoolLostError, BulkInputError (as convertBlock), all as rejections
   */
  async convertSlice(work: SliceWork, slice: FileSlice): Promise<SliceAnswer | null> {
    const order = (): WorkOrder => ({ kind: 'slice', work, slice, answerBuffer: this.#answerBuffers.pop() });
    return (await this.#run('', NO_BYTES, order, true)) as SliceAnswer | null;
  }

  /** A copy of an answer that this thread has made, in an answer buffer unless it is small. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    if (bytes.length < MIN_BUFFERED_BYTES || bytes.length > ANSWER_BUFFER_BYTES) return new Uint8Array(bytes);
    const buffer = this.#answerBuffers.pop() ?? new ArrayBuffer(ANSWER_BUFFER_BYTES);
    const copy = new Uint8Array(buffer, 0, bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Takes back an answer that is no longer read, for reuse of its buffer. */
  giveBack({ buffer }: Uint8Array): void {
    const isAnswerBuffer = buffer instanceof ArrayBuffer && buffer.byteLength === ANSWER_BUFFER_BYTES;
    const isWanted = this.#answerBuffers.length < ANSWER_BUFFERS_PER_THREAD * this.threads;
    if (isAnswerBuffer && isWanted) this.#answerBuffers.push(buffer);
  }

  /**
   * Answers the JSON body of a batch, like `convert`.
   * @param maxPoints a batch with more is not converted, and its answer is empty
   * @throws BrokenBatchError, TooManyItemsError as rejections
   */
  async answerBatch(
    operation: Operation,
    body: Uint8Array,
    key = '',
    maxPoints = Number.POSITIVE_INFINITY,
  ): Promise<CountedAnswer> {
    const order = (bytes: Uint8Array): WorkOrder => ({ kind: 'batch', operation, bytes, maxPoints });
    return (await this.#run(key, body, order)) as CountedAnswer;
  }

  /**
   * Answers one JSON frame of the stream, like `convert`.
   * @param refusalOf answers the frame if the pool cannot. It reads all of it, so it is not called in advance
   * @param maxPoints a frame with more is answered as one over the limit
   */
  async answerJsonFrame(
    frame: Uint8Array,
    refusalOf: (frame: Uint8Array) => Uint8Array<ArrayBuffer>,
    key = '',
    maxPoints = Number.POSITIVE_INFINITY,
  ): Promise<CountedAnswer> {
    const order = (bytes: Uint8Array): WorkOrder => ({ kind: 'json', bytes, maxPoints });
    const refusal = (bytes: Uint8Array): CountedAnswer => uncounted(refusalOf(bytes));
    return (await this.#run(key, frame, order, false, refusal)) as CountedAnswer;
  }

  /** Answers one binary frame of the stream, like `convert`. */
  async answerFrame(frame: Uint8Array, key = ''): Promise<Uint8Array> {
    return (await this.#run(key, frame, (bytes) => ({
      kind: 'frame',
      bytes,
      answerBuffer: this.#answerBuffers.pop(),
    }))) as Uint8Array;
  }

  mayTakeBlock(key = ''): boolean {
    return !this.#isClosing && this.#queue.mayEnter(key);
  }

  /** Whether it accepts a block of another body; not if too many bodies already wait. */
  mayBeginBody(key = ''): boolean {
    return this.mayTakeBlock(key) && this.#queue.waitingBodies < MAX_WAITING_BODIES;
  }

  /** Whether a body under way may submit its next block. */
  mayTakeBodyBlock(key = ''): boolean {
    return this.#queue.mayEnterOfBody(key);
  }

  /** Resolves when a body under way may submit its next block: the keys take turns, and so do the bodies of a key. */
  async whenBodyMayContinue(key = ''): Promise<void> {
    while (!this.mayTakeBodyBlock(key) || this.#isClosing) {
      if (this.#isClosing) throw new PoolLostError('the pool is closed');
      await this.#queue.waitForBody(key);
    }
  }

  get workers(): readonly { readonly threadId: number; terminate(): Promise<number> }[] {
    return this.#piscina.threads;
  }

  /** Workers that have loaded their modules. Terminating one earlier can abort the process (SIGABRT). */
  get loadedWorkers(): Pool['workers'] {
    return this.#piscina.threads.filter((thread) => this.#loaded.has(thread));
  }

  /** Figures for metrics and tests. */
  get figures(): PoolFigures {
    return {
      blocks: this.#queue.blocks,
      bytes: this.#queue.bytes,
      completed: this.#completed,
      lostWorkers: this.#lostWorkers,
      queued: this.#queue.waitingBlocks,
      waitingBodies: this.#queue.waitingBodies,
    };
  }

  async #run(
    key: string,
    bytes: Uint8Array,
    orderOf: (bytes: Uint8Array) => WorkOrder,
    isOfBody = false,
    refusalOf?: (bytes: Uint8Array) => CountedAnswer,
  ): Promise<ConvertedBlock | CountedAnswer | SliceAnswer | Uint8Array | null> {
    if (this.#isClosing) throw new PoolLostError('the pool is closed');
    if (!this.mayTakeBlock(key)) throw new PoolFullError('the pool is full');
    const enteredMs = performance.now();
    const queued = this.#queue.enter(key, bytes.length, isOfBody);
    const block = this.#freeBlocks.copyOf(bytes);
    try {
      await queued.turn;
      const startedMs = performance.now();
      const answer = await this.#try(() => orderOf(block));
      this.options.timed?.(startedMs - enteredMs, performance.now() - startedMs);
      if ('broken' in answer) throw new BrokenBatchError(answer.broken);
      if ('tooMany' in answer) throw new TooManyItemsError(answer.tooMany);
      if ('unreadable' in answer) throw new BulkInputError(answer.unreadable);
      if ('fault' in answer) throw answer.fault;
      if ('left' in answer) return null;
      return answer.done;
    } catch (error) {
      if (refusalOf === undefined) throw error;
      return refusalOf(block);
    } finally {
      this.#freeBlocks.giveBack(block);
      this.#queue.leave(queued);
      this.#completed++;
      this.#admit();
    }
  }

  /** A rejection means that the worker has died: it returns failures of the work itself as values. */
  async #try(makeOrder: () => WorkOrder): Promise<WorkAnswer> {
    for (let tries = 1; ; tries++) {
      if (this.#noStart !== undefined) {
        if (performance.now() < this.#noStart.untilMs) throw this.#noStart.fault;
        // This block is the next attempt.
        this.#noStart.untilMs = performance.now() + TICK_MS;
      }
      const block: RunningBlock = { ticks: 0, giveUp: () => {} };
      const givenUp = new Promise<never>((_, reject) => (block.giveUp = reject));
      try {
        const order = makeOrder();
        const buffer = 'answerBuffer' in order ? order.answerBuffer : undefined;
        const transferList = buffer === undefined ? [] : [buffer];
        const work = this.#piscina.run(order, { transferList });
        this.#watchLoading();
        this.#running.add(block);
        const { answer, slow } = await Promise.race([work, givenUp]);
        if (slow !== undefined) addSlowRows(slow);
        return answer;
      } catch (cause) {
        if (cause instanceof PoolLostError) throw cause;
        this.#lostWorkers++;
        if (tries === TRIES) throw new PoolLostError('three workers died over this block', { cause });
      } finally {
        this.#running.delete(block);
      }
    }
  }

  /** Lets one waiting body continue for each finished block, or all of them if no block is left. */
  #admit(): void {
    const isEmpty = this.#queue.blocks === 0;
    if (isEmpty) this.#onEmpty?.();
    if (this.#isClosing || this.#queue.hasSpaceForBody) this.#queue.callBodies(this.#isClosing || isEmpty);
  }

  /**
   * Piscina replaces a worker that died while loading only when the next task comes, so an empty task is run. Without
   * it, blocks that wait when the last worker dies would never be answered.
   */
  #replaceWorker(): void {
    if (this.#isClosing) return;
    queueMicrotask(() => {
      const isWanted = this.options.threadIdleMs === undefined || this.#queue.blocks + this.#running.size > 0;
      if (!this.#isClosing && isWanted && this.#piscina.threads.length < this.threads) {
        this.#piscina.run(EMPTY_TASK).catch(() => {});
      }
      this.#watchLoading();
    });
  }

  /** Starts a thread. Resolves when it answers, or none starts, which `absence` says. */
  async start(): Promise<void> {
    await this.#try(() => EMPTY_TASK).catch(() => {});
  }

  /** To be called in the same turn of the event loop in which threads are made, before their first message. */
  #watchLoading(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#watched.has(thread)) continue;
      this.#watched.add(thread);
      thread.once('message', () => {
        this.#loaded.add(thread);
        this.#failedStarts = 0;
        this.#noStart = undefined;
        this.#stopTrying();
      });
    }
  }

  /** Answers the blocks in the pool, rejects others, then ends the threads. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearInterval(this.#ticking);
    this.#stopTrying();
    this.#queue.callBodies(true);
    if (this.#queue.blocks > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    // A thread that is terminated while it loads its modules can abort the process (SIGABRT), and piscina calls the
    // first threads ready before they are.
    const deadlineMs = performance.now() + LOADING_TIMEOUT_MS;
    const isLoading = (): boolean => this.#piscina.threads.some((thread) => !this.#loaded.has(thread));
    while (isLoading() && performance.now() < deadlineMs) await sleep(LOADING_POLL_MS);
    await this.#piscina.destroy();
  }
}
