// Sends counts to the worker thread every few seconds, one batch at a time. A batch waits here until the store has
// acknowledged it, and is sent again with the same number, so that it is counted once; meanwhile counting continues.
// So a full disk or a store that is away costs only the memory of one batch for each hour. Limits that processes
// share request a flush sooner.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { StoreOptions } from '../keys/store/open-store.js';
import { HeartbeatWatch } from '../observe/heartbeat.js';
import { keepLeftover, mergedBatch, type Stored, type StoredUse, type UsageBatch } from './batch.js';
import type { UsageOrder, UsageReply, UsageWorkerData } from './worker.js';

/** Where usage is counted. */
export interface UsageSource {
  /**
   * Takes counts, of some keys if there are many; undefined if there are none.
   * @param isCut whether all counts so far are taken, part by part
   */
  take(number: number, isCut: boolean): UsageBatch | undefined;
  /** Whether counts remain to be taken. */
  readonly hasCounts: boolean;
  /** Whether counts from before the start of the flush remain to be taken. */
  readonly isFlushing: boolean;
  /**
   * Learns the use of keys by all processes that share the store.
   * @param isLatest no batch was taken after this one
   */
  learn(batch: UsageBatch, stored: Stored, isLatest: boolean): void;
  /** Called before each flush, to follow the clock. */
  tick(): void;
}

export interface FlusherOptions {
  readonly address: StoreOptions;
  readonly flushMs: number;
  /** Time for which counts of hours are kept; 0: for good. */
  readonly keepDays: number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** How long a stop waits for the last batches. */
const STOP_TIMEOUT_MS = 3000;
/** How long a start waits for what is stored. */
const LOAD_TIMEOUT_MS = 10_000;
/** Minimum interval of requested flushes. */
const HURRY_MS = 20;
/** Timeout of requests for usage, and of rates that processes share, for an answer of the store. */
const PATIENCE_MS = 500;
/**
 * Time after which a store that has not answered counts as away: quotas then wait, because they could be exceeded.
 */
const AWAY_MS = 4000;

/** A batch in parts of some keys each: one of many keys would hold up the event loop. */
interface PartedBatch {
  readonly parts: UsageBatch[];
  isWhole: boolean;
}

export class UsageFlusher {
  readonly #node = randomBytes(8).toString('hex');
  /** Batches that the store has not acknowledged, oldest first. */
  readonly #queue: PartedBatch[] = [];
  #worker: Worker | undefined;
  readonly #heartbeat = new HeartbeatWatch(() => this.#lose(this.#worker, 'hangs'));
  #source: UsageSource | undefined;
  #timer: NodeJS.Timeout | undefined;
  #batches = 0;
  /** The batch under way. */
  #sending: PartedBatch | undefined;
  /** When the store was sent something last, by performance.now(). */
  #sentMs = 0;
  #isHurried = false;
  #isUrgent = false;
  #soon: NodeJS.Timeout | undefined;
  /** Why usage cannot be stored at the moment, as a sentence. */
  fault: string | undefined;
  /** Failures of the store so far. */
  failures = 0;
  #onLoaded: ((stored: StoredUse | undefined) => void) | undefined;
  #onSettled: (() => void) | undefined;
  /** Waiters for the answers to the next batch and to the current one. */
  #asking: (() => void)[] = [];
  #asked: (() => void)[] = [];

  constructor(private readonly options: FlusherOptions) {}

  /** That the thread does not answer, as a sentence. */
  get silence(): string | undefined {
    const { silentS } = this.#heartbeat;
    return silentS === undefined
      ? undefined
      : `the thread that stores usage has not answered for ${silentS} s`;
  }

  /** The store cannot be used, or has not answered for seconds. */
  get isAway(): boolean {
    return this.fault !== undefined || this.#waitedMs > AWAY_MS;
  }

  /** The store cannot be used, or takes long. */
  get isSlow(): boolean {
    return this.fault !== undefined || this.#waitedMs > PATIENCE_MS;
  }

  get #isSending(): boolean {
    return this.#sending !== undefined;
  }

  get #waitedMs(): number {
    return this.#isSending ? performance.now() - this.#sentMs : 0;
  }

  /**
   * Flushes soon, if the store is usable.
   * @param isUrgent a request waits for the answer: flushes in this turn of the event loop, or after the current
   * batch
   */
  hurry(isUrgent = false): void {
    this.#isHurried = true;
    this.#isUrgent ||= isUrgent;
    if (this.#isSending || this.fault !== undefined) return;
    if (isUrgent) clearTimeout(this.#soon);
    else if (this.#soon !== undefined) return;
    const waitMs = this.#isUrgent ? 0 : Math.max(0, this.#sentMs + HURRY_MS - performance.now());
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      this.flush();
    }, waitMs);
    this.#soon.unref();
  }

  /** Resolves when the store has answered a batch cut from now on, or is away. */
  async round(): Promise<void> {
    this.hurry();
    if (this.isSlow) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
      this.#asking.push(resolve);
    });
    clearTimeout(timer);
  }

  /** Starts the thread, which opens a store only at its first order. */
  warm(): void {
    this.#worker ??= this.#startWorker();
  }

  /** Resolves to what is stored of a day and a month; to undefined where the store cannot be read. */
  async load(day: string, month: string): Promise<StoredUse | undefined> {
    const loaded = new Promise<StoredUse | undefined>((resolve) => (this.#onLoaded = resolve));
    const timer = setTimeout(() => this.#failed('the store of usage does not answer'), LOAD_TIMEOUT_MS);
    this.#send({ kind: 'load', day, month });
    try {
      return await loaded;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Begins to flush. */
  start(source: UsageSource): void {
    this.#source = source;
    this.#timer = setInterval(() => this.flush(), this.options.flushMs);
    this.#timer.unref();
  }

  /** Takes the counts so far and sends them, or what waits before them. */
  flush(): void {
    this.#source?.tick();
    if (this.#queue.length === 0) this.#take(false);
    this.#sendNext();
  }

  /** Ends the batches of the counts so far: later counts belong to another hour, day or month. */
  cut(): void {
    do this.#take(true);
    while (this.#source?.hasCounts === true);
  }

  /** Takes a part of the incomplete batch, or the first part of a new one. */
  #take(isCut: boolean): void {
    this.#isHurried = false;
    this.#isUrgent = false;
    const source = this.#source;
    const open = this.#queue.at(-1);
    const isOpen = open?.isWhole === false;
    const part = source?.take(isOpen ? this.#batches : this.#batches + 1, isCut);
    if (source === undefined || part === undefined) return;
    const batch = isOpen ? open : { parts: [], isWhole: false };
    if (!isOpen) {
      this.#batches = part.number;
      this.#queue.push(batch);
    }
    batch.parts.push(part);
    batch.isWhole = !(isCut ? source.hasCounts : source.isFlushing);
    if (batch.isWhole) this.#asked.push(...this.#asking.splice(0));
  }

  /** Flushes what is counted, as far as the store takes it, and ends the thread. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#isHurried = false;
    this.cut();
    this.#sendNext();
    if (this.#isSending) {
      const timeout = setTimeout(() => this.#onSettled?.(), STOP_TIMEOUT_MS);
      await new Promise<void>((resolve) => (this.#onSettled = resolve));
      clearTimeout(timeout);
    }
    this.#source = undefined;
    this.#keepUnstored();
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = once(worker, 'exit');
    worker.postMessage({ kind: 'close' } satisfies UsageOrder);
    // A disk or database that does not answer holds the thread, but not the stop.
    await Promise.race([exited, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    void worker.terminate();
  }

  /** Keeps the unstored counts for the next process on this data folder. */
  #keepUnstored(): void {
    const unstored = this.#queue
      .map(({ parts }) => mergedBatch(parts))
      .filter(({ keyIds, returns }) => keyIds.length + returns.length > 0);
    if (unstored.length === 0) return;
    const { address, logger } = this.options;
    const fields = { batches: unstored.length };
    try {
      keepLeftover(address.dataDir, this.#node, unstored);
      const message = 'usage that could not be stored is in a file of the data folder for the next start';
      logger.warn(fields, message);
    } catch {
      logger.error(fields, 'usage that could not be stored until the stop is lost');
    }
  }

  #sendNext(): void {
    const batch = this.#queue[0];
    if (batch === undefined || this.#isSending) return;
    this.#sending = batch;
    this.#sentMs = performance.now();
    this.#sendPart(batch, 0);
  }

  /** Sends a part, and the next one in another turn of the event loop. */
  #sendPart(batch: PartedBatch, at: number): void {
    if (at === batch.parts.length) this.#take(false);
    const part = batch.parts[at];
    if (part === undefined) return;
    const isLast = batch.isWhole && at === batch.parts.length - 1;
    this.#send({ kind: 'add', batch: part, isLast });
    if (isLast) return;
    setImmediate(() => {
      if (this.#sending === batch) this.#sendPart(batch, at + 1);
    });
  }

  #send(order: UsageOrder): void {
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(order);
  }

  #startWorker(): Worker {
    const { address, keepDays } = this.options;
    const heartbeat = this.#heartbeat.begin();
    const workerData: UsageWorkerData = { address, node: this.#node, keepDays, heartbeat };
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData });
    worker.on('message', (reply: UsageReply) => {
      if (this.#worker === worker) this.#replied(reply);
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#failed(error instanceof Error ? error.message : String(error));
    });
    worker.once('exit', () => this.#lose(worker, 'has ended'));
    return worker;
  }

  /** The thread has ended, or hangs. The next flush starts another. */
  #lose(worker: Worker | undefined, how: string): void {
    if (worker === undefined || this.#worker !== worker) return;
    this.#worker = undefined;
    this.#heartbeat.end();
    void worker.terminate();
    if (this.#isSending || this.#onLoaded !== undefined) this.#failed(`the thread that stores usage ${how}`);
  }

  #replied(reply: UsageReply): void {
    if (reply.kind === 'refused') {
      const { path, reason } = reply;
      const message = 'usage of an earlier process is not counted: its file cannot be believed';
      this.options.logger.error({ path, reason }, message);
      return;
    }
    if (reply.kind === 'failed') {
      this.#failed(reply.reason);
      return;
    }
    if (this.fault !== undefined) this.options.logger.info('usage can be stored again');
    this.fault = undefined;
    if (reply.kind === 'loaded') {
      this.#loaded(reply.stored);
      return;
    }
    const batch = this.#queue[0];
    const [first] = batch?.parts ?? [];
    if (first !== undefined && batch !== undefined) {
      const rates = reply.isLast ? batch.parts.flatMap((part) => part.rates) : [];
      this.#source?.learn({ ...first, rates }, reply.stored, this.#queue.length === 1);
    }
    if (!reply.isLast) return;
    this.#queue.shift();
    this.#sending = undefined;
    this.#sendNext();
    if (this.#isSending) return;
    for (const answered of this.#asked.splice(0)) answered();
    this.#settled();
    if (this.#isHurried) this.hurry();
  }

  #failed(reason: string): void {
    this.#sending = undefined;
    this.failures++;
    if (reason !== this.fault) {
      this.fault = reason;
      const message = 'usage cannot be stored; it is kept in memory until it can';
      this.options.logger.error({ reason }, message);
    }
    for (const answered of [...this.#asked.splice(0), ...this.#asking.splice(0)]) answered();
    this.#loaded(undefined);
    this.#settled();
  }

  #loaded(stored: StoredUse | undefined): void {
    this.#onLoaded?.(stored);
    this.#onLoaded = undefined;
  }

  #settled(): void {
    this.#onSettled?.();
    this.#onSettled = undefined;
  }
}
