// Large JSON batches, converted in this thread: a slice in each turn of the event loop, of one batch after the other,
// so that nobody waits longer than for one slice. Body and answer are in buffers that later batches use again: new
// memory for each of them costs more than the conversion.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { type Batch, BatchConversion, type ConvertedBatch } from '../../hexcodes/wire/rows/batch.js';
import type { Exchange } from '../exchange.js';
import { itemsAllowance } from '../offload.js';

/** Steps of a slice, of 1,024 items each: some 0.3 ms together. */
const SLICE_STEPS = 2;
/** Longer bodies take too long to be searched for their members. */
const MOST_BYTES = 1024 * 1024;
/** Batches under way at a time. Others go to the pool, which has more cores. */
const MOST_BATCHES = 16;
/** Buffers that are kept for later batches. */
const KEPT_LANES = 4;
/** Bytes of an answer are at most some two times those of its body. */
const HELD_PER_BYTE = 3;

/** Buffers of one batch. */
interface Lane {
  body: Uint8Array;
  readonly sink: ByteSink;
}

interface Work {
  readonly x: Exchange;
  readonly conversion: BatchConversion;
  readonly body: Uint8Array;
  readonly ends: SliceEnds;
}

/** How a batch may end: one of them is called, once. */
export interface SliceEnds {
  /** The answer is a view that holds until the exchange is over. */
  converted(batch: ConvertedBatch): void;
  /** The items are too much work for this thread. The body holds during the call. */
  tooMuch(body: Uint8Array): void;
  /** The batch is no JSON, which the exchange is told behind this, or the peer is gone: items converted until then. */
  givenUp(total: number, failed: number): void;
}

export class SlicedBatches {
  readonly #work: Work[] = [];
  readonly #lanes: Lane[] = [];
  #running = 0;
  #isTurnDue = false;

  constructor(private readonly kernel: Kernel) {}

  /** Whether a body of this size may be converted here. */
  mayTake(sizeBytes: number): boolean {
    return sizeBytes <= MOST_BYTES && this.#running < MOST_BATCHES;
  }

  /**
   * Copies the body and converts the batch from the next turn on.
   * @throws OverBudgetError where a limit of held bytes would be passed
   */
  convert(x: Exchange, batch: Batch, ends: SliceEnds): void {
    const { length } = batch.bytes;
    x.hold(HELD_PER_BYTE * length);
    const lane = this.#laneOf(length);
    const body = lane.body.subarray(0, length);
    body.set(batch.bytes);
    const conversion = new BatchConversion(this.kernel, { ...batch, bytes: body }, lane.sink);
    this.#running++;
    // The socket may read the answer until then.
    x.onOver = () => {
      this.#running--;
      if (this.#lanes.length < KEPT_LANES) this.#lanes.push(lane);
      const at = this.#work.findIndex((work) => work.x === x);
      if (at < 0) return;
      this.#work.splice(at, 1);
      const { total, failed } = conversion.counts;
      ends.givenUp(total, failed);
    };
    this.#work.push({ x, conversion, body, ends });
    this.#askForTurn();
  }

  #laneOf(sizeBytes: number): Lane {
    const lane = this.#lanes.pop() ?? { body: new Uint8Array(0), sink: new ByteSink() };
    if (lane.body.length < sizeBytes) lane.body = new Uint8Array(sizeBytes);
    return lane;
  }

  #askForTurn(): void {
    if (this.#isTurnDue || this.#work.length === 0) return;
    this.#isTurnDue = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurnDue = false;
    const work = this.#work.shift();
    if (work !== undefined) work.x.guard(() => this.#slice(work));
    this.#askForTurn();
  };

  #slice(work: Work): void {
    const { conversion, body, ends } = work;
    let isCovered = true;
    try {
      const allowance = itemsAllowance();
      for (let steps = 0; isCovered && steps < SLICE_STEPS && !conversion.isDone; steps++)
        isCovered = conversion.step(allowance);
    } catch (error) {
      ends.givenUp(0, 0);
      throw error;
    }
    if (!isCovered) ends.tooMuch(body);
    else if (conversion.isDone) ends.converted(conversion.converted);
    else this.#work.push(work);
  }
}
