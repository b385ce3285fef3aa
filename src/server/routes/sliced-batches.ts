// Large JSON batches, converted in this thread: a slice in each turn of the event loop, one batch after the other, so
// that nobody waits longer than for one slice. Body and answer are in memory that later batches use again: new memory
// for each of them costs more than the conversion. A batch is done before the next one begins, so that few answers are
// in memory at a time, and that of the answer stays in the processor's cache.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { type Batch, BatchConversion, type ConvertedBatch } from '../../hexcodes/wire/rows/batch.js';
import type { Exchange } from '../exchange.js';
import { keptMemory } from '../kept-memory.js';
import { itemsAllowance } from '../offload.js';

/** Steps of a slice, of 1,024 items each: some 0.3 ms together. */
const SLICE_STEPS = 2;
/** Longer bodies take too long to be searched for their members. */
const MAX_BYTES = 1024 * 1024;
/** Batches under way at a time. Others go to the pool, which has more cores. */
const MAX_BATCHES = 16;
/** Sinks that are kept for later batches. */
const KEPT_SINKS = 4;
/** Bytes of an answer are at most some two times those of its body. */
const HELD_PER_BYTE = 3;

/** How a batch may end: one of them is called, once. */
export interface SliceEnds {
  /** The answer is a view that holds until the exchange is over. */
  converted(batch: ConvertedBatch): void;
  /** The items are too much work for this thread. The body holds during the call. */
  tooMuch(body: Uint8Array): void;
  /** The batch is no JSON, which the exchange is told behind this, or the peer is gone: items converted until then. */
  givenUp(total: number, failed: number): void;
}

/** One batch, and its memory. */
class Work {
  #conversion: BatchConversion | undefined;
  #sink: ByteSink | undefined;

  constructor(
    readonly x: Exchange,
    readonly batch: Batch,
    readonly ends: SliceEnds,
    private readonly kernel: Kernel,
    private readonly sinks: ByteSink[],
  ) {}

  /** Begun with the first slice: until then it needs no memory for an answer. */
  get conversion(): BatchConversion {
    if (this.#conversion === undefined) {
      this.#sink = this.sinks.pop() ?? new ByteSink();
      this.#conversion = new BatchConversion(this.kernel, this.batch, this.#sink);
    }
    return this.#conversion;
  }

  /** Items converted so far, and how many of them are not OK. */
  get counts(): { readonly total: number; readonly failed: number } {
    return this.#conversion?.counts ?? { total: 0, failed: 0 };
  }

  /** The socket has read the answer, or never will. */
  leave(): void {
    keptMemory.giveBack(this.batch.bytes);
    if (this.#sink !== undefined && this.sinks.length < KEPT_SINKS) this.sinks.push(this.#sink);
  }
}

export class SlicedBatches {
  readonly #work: Work[] = [];
  readonly #sinks: ByteSink[] = [];
  #running = 0;
  #isTurnDue = false;

  constructor(private readonly kernel: Kernel) {}

  /** Whether a body of this size may be converted here. */
  mayTake(sizeBytes: number): boolean {
    return sizeBytes <= MAX_BYTES && this.#running < MAX_BATCHES;
  }

  /**
   * Keeps the body and converts the batch from the next turn on.
   * @throws OverBudgetError where a limit of held bytes would be passed
   */
  convert(x: Exchange, batch: Batch, ends: SliceEnds): void {
    x.hold(HELD_PER_BYTE * batch.bytes.length);
    const work = new Work(x, { ...batch, bytes: x.body.keep(batch.bytes) }, ends, this.kernel, this.#sinks);
    this.#running++;
    x.onOver = () => {
      this.#running--;
      const { total, failed } = work.counts;
      work.leave();
      const at = this.#work.indexOf(work);
      if (at < 0) return;
      this.#work.splice(at, 1);
      ends.givenUp(total, failed);
    };
    this.#work.push(work);
    this.#askForTurn();
  }

  #askForTurn(): void {
    if (this.#isTurnDue || this.#work.length === 0) return;
    this.#isTurnDue = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurnDue = false;
    const [work] = this.#work;
    work?.x.guard(() => this.#slice(work));
    this.#askForTurn();
  };

  #slice(work: Work): void {
    const { batch, ends } = work;
    let isCovered = true;
    let isDone = false;
    try {
      const { conversion } = work;
      const allowance = itemsAllowance();
      for (let steps = 0; isCovered && steps < SLICE_STEPS && !conversion.isDone; steps++)
        isCovered = conversion.step(allowance);
      isDone = conversion.isDone;
    } catch (error) {
      this.#work.shift();
      ends.givenUp(0, 0);
      throw error;
    }
    if (isCovered && !isDone) return;
    this.#work.shift();
    if (isCovered) ends.converted(work.conversion.converted);
    else ends.tooMuch(batch.bytes);
  }
}
