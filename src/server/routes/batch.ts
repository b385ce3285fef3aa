// POST /v1/hexcodes/encode/batch and /decode/batch: many points or codes in one JSON body, answered in one JSON body.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { type Operation, OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import { MAX_BATCH_BYTES, MAX_BATCH_ITEMS } from '../../hexcodes/wire/limits.js';
import { queryHint } from '../../hexcodes/wire/params/names.js';
import {
  type Batch,
  BatchConversion,
  batchBody,
  type ConvertedBatch,
  convertAllowed,
  MIN_ITEM_BYTES,
  openBatch,
} from '../../hexcodes/wire/rows/batch.js';
import type { Pool } from '../../pool/pool.js';
import { PoolFullError } from '../../pool/work-queue.js';
import { JSON_TYPE } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import { isJson, requireJson } from '../http/negotiation.js';
import { INLINE_ITEMS, INLINE_JSON_BYTES, itemsAllowance } from '../http/offload.js';
import { fail, failUnavailable, type Route, readWhole } from '../http/router.js';
import type { Entry } from '../ledger/ledger.js';
import { admitPoints, allLimitLines, failOverLimit, refusePoints } from '../ledger/limit-answers.js';
import { WAIT } from '../ledger/rates.js';
import { keptMemory } from '../transport/request-body.js';

// Large JSON batches, converted in this thread: a slice in each turn of the event loop, one batch after the other, so
// that nobody waits longer than for one slice. Body and answer are in memory that later batches use again: new memory
// for each of them costs more than the conversion. A batch is done before the next one begins, so that few answers are
// in memory at a time, and that of the answer stays in the processor's cache.

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
interface SliceEnds {
  /** The answer is a view that is valid until the exchange is over. */
  converted(batch: ConvertedBatch): void;
  /** The items are too much work for this thread. The body holds during the call. */
  tooMuch(body: Uint8Array): void;
  /** The batch is not JSON, which the exchange is told after this, or the peer is gone: items converted until then. */
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

/** Long enough for some four hundred batches of 1,000 points. */
const MAX_MS = 1000;

/**
 * How long one turn of the event loop has worked on batches. With more requests ready than it can answer soon, a turn
 * would go on until all are answered, each later than the one before, and the transport would close the last of them
 * without an answer. So those that find a second of work before them are refused at once, and may come again.
 */
export class TurnTime {
  #startMs = 0;
  #isOver = true;

  /** @param nowMs a clock that nobody sets */
  constructor(
    private readonly maxMs = MAX_MS,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** The turn should take up no more work. A turn begins when this is first asked for in it. */
  get isUp(): boolean {
    if (!this.#isOver) return this.nowMs() - this.#startMs >= this.maxMs;
    this.#isOver = false;
    this.#startMs = this.nowMs();
    setImmediate(() => {
      this.#isOver = true;
    });
    return false;
  }
}

/** How long an answer of the pool may take. */
const POOL_DEADLINE_MS = 30_000;

/** Converts batches: small ones in this thread at once, with a sink that serves them all, larger ones by slices. */
interface Converter {
  readonly kernel: Kernel;
  readonly pool: Pool;
  readonly sink: ByteSink;
  readonly turn: TurnTime;
  readonly slices: SlicedBatches;
}

interface BatchDeps {
  readonly kernel: Kernel;
  readonly pool: Pool;
  /** `batchTurnMs`: how long one turn of the event loop takes up batches. */
  readonly tuning: { readonly batchTurnMs?: number };
}

export function batchRoutes({ kernel, pool, tuning }: BatchDeps): Route[] {
  const converter: Converter = {
    kernel,
    pool,
    sink: new ByteSink(),
    turn: new TurnTime(tuning.batchTurnMs),
    slices: new SlicedBatches(kernel),
  };
  const handle = (operation: Operation) => (x: Exchange) => {
    // Before anything is read: a refusal has to cost little of the time that is missing.
    if (converter.turn.isUp) {
      failUnavailable(x, OVERLOADED_MESSAGE);
      return;
    }
    addHint(x, queryHint(x.head.rawQuery, ['apikey'], 'is not read from the query of a batch'));
    if (!requireJson(x)) return;
    if (!isJson(x.head.contentType)) {
      fail(x, 415, 'the body must be application/json, in UTF-8');
      return;
    }
    if (x.head.bodySizeBytes === 0) {
      fail(x, 400, 'body is required', { faults: [{ parameter: 'body', message: 'is required' }] });
      return;
    }
    const { bodySizeBytes } = x.head;
    const isForPool = bodySizeBytes > INLINE_JSON_BYTES && !converter.slices.mayTake(bodySizeBytes);
    if (isForPool && !pool.mayTakeBlock(x.keyId)) {
      failUnavailable(x, OVERLOADED_MESSAGE, true);
      return;
    }
    readWhole(x, MAX_BATCH_BYTES, (body) => answerBatch(x, converter, operation, body));
  };
  return (['encode', 'decode'] as const).map((operation) => ({
    path: `/v1/hexcodes/${operation}/batch`,
    methods: ['POST'],
    access: operation,
    operation: `${operation}_batch`,
    handle: handle(operation),
  }));
}

/** Names that a batch does not have are ignored, and a header says so. */
function addHint({ notes }: Exchange, hint = ''): void {
  if (hint === '' || notes.hint.endsWith(hint)) return;
  notes.hint = notes.hint === '' ? `\r\nHexcodes-Hint: ${hint}` : `${notes.hint}, ${hint}`;
}

/** @throws BrokenBatchError, TooManyItemsError, which are answered 400 and 413 */
function answerBatch(x: Exchange, converter: Converter, operation: Operation, body: Uint8Array): void {
  const { kernel, pool, slices, turn } = converter;
  if (body.length > INLINE_JSON_BYTES && !slices.mayTake(body.length)) {
    answerByPool(x, pool, operation, body);
    return;
  }
  // The body may have come in a later turn than the head.
  if (turn.isUp) {
    failUnavailable(x, OVERLOADED_MESSAGE);
    return;
  }
  const batch = openBatch(operation, body, kernel);
  addHint(x, batch.hint);
  let kept: Uint8Array | undefined;
  const later = (): void =>
    answerHere(x, converter, operation, openBatch(operation, kept as Uint8Array, kernel));
  if (admitPoints(x, batch.items.count, later)) answerHere(x, converter, operation, batch);
  else if (x.state === 'open') {
    // The body is gone after this turn.
    x.hold(body.length);
    kept = body.slice();
  }
}

/** Converts a batch whose points are reserved, in this thread unless its items prove to be too much work. */
function answerHere(x: Exchange, converter: Converter, operation: Operation, batch: Batch): void {
  const { kernel, pool, sink, slices } = converter;
  const { count } = batch.items;
  const isLarge = batch.bytes.length > INLINE_JSON_BYTES || count > INLINE_ITEMS;
  if (isLarge && slices.mayTake(batch.bytes.length)) {
    answerBySlices(x, converter, operation, batch);
    return;
  }
  let converted: ConvertedBatch | undefined;
  try {
    converted = convertAllowed(kernel, batch, sink, itemsAllowance());
  } catch (error) {
    x.notes.entry?.done(0, 0, count);
    throw error;
  }
  if (converted === undefined) {
    x.deadline(POOL_DEADLINE_MS);
    void runInPool(x, pool, operation, batch.bytes, { points: count, isBound: false });
    return;
  }
  x.notes.entry?.done(converted.total - converted.failed, converted.failed, count);
  x.isBodyView = true;
  x.send(200, JSON_TYPE, batchBody(converted), x.notes.hint);
}

function answerBySlices(x: Exchange, { pool, slices }: Converter, operation: Operation, batch: Batch): void {
  const { count } = batch.items;
  const settle = (total: number, failed: number): void => x.notes.entry?.done(total - failed, failed, count);
  x.deadline(POOL_DEADLINE_MS);
  try {
    slices.convert(x, batch, {
      converted(batch) {
        settle(batch.total, batch.failed);
        if (x.mayGoOn?.() === false) return;
        x.send(200, JSON_TYPE, batchBody(batch), x.notes.hint);
      },
      tooMuch: (body) => void runInPool(x, pool, operation, body, { points: count, isBound: false }),
      givenUp: settle,
    });
  } catch (error) {
    settle(0, 0);
    throw error;
  }
}

/** Only a bound of the points is known until the pool has read the body, so that is reserved, or what is left. */
function answerByPool(x: Exchange, pool: Pool, operation: Operation, body: Uint8Array): void {
  const { entry } = x.notes;
  x.deadline(POOL_DEADLINE_MS);
  const bound = Math.min(MAX_BATCH_ITEMS, Math.floor(body.length / MIN_ITEM_BYTES));
  const points = entry?.admitUpTo(bound) ?? bound;
  if (typeof points === 'number') {
    // Where more may be in it than is left, it is perhaps needed a second time.
    const given = points === bound ? body : body.slice();
    void runInPool(x, pool, operation, given, { points, isBound: true });
  } else if (points !== WAIT) failOverLimit(x, points);
  else {
    // The body is gone after this turn.
    x.hold(body.length);
    const kept = body.slice();
    const admitted = (entry as Entry).whenAdmittedUpTo(bound).then((outcome) => {
      if (typeof outcome !== 'number') x.guard(() => failOverLimit(x, outcome));
      else if (x.state === 'over') entry?.doneWithin(outcome, 0, 0);
      else void runInPool(x, pool, operation, kept, { points: outcome, isBound: true });
    });
    admitted.catch((error: unknown) => x.reject(error));
  }
}

/** Points reserved for a batch: exactly its own, or as many as it may have at most. */
interface Reserved {
  readonly points: number;
  readonly isBound: boolean;
}

/** Answers a batch by the pool, unless it has more points than are reserved: then it comes again with its count. */
async function runInPool(
  x: Exchange,
  pool: Pool,
  operation: Operation,
  body: Uint8Array,
  { points, isBound }: Reserved,
): Promise<void> {
  const { entry } = x.notes;
  const settle = (ok: number, failed: number): void => {
    if (isBound) entry?.doneWithin(points, ok, failed);
    else entry?.done(ok, failed, points);
  };
  try {
    const answered = await pool.answerBatch(operation, body, x.keyId, points).catch((error: unknown) => {
      settle(0, 0);
      throw error;
    });
    const { bytes, total, failed, refused } = answered;
    addHint(x, answered.hint);
    settle(total - failed, failed);
    if (x.mayGoOn?.() === false) return;
    if (refused === 0) {
      if (entry?.key.hasLimits === true) x.lateHeaderLines = allLimitLines(entry.key);
      x.send(200, JSON_TYPE, bytes, x.notes.hint);
      return;
    }
    const refusal = await (entry as Entry).whenAdmitted(refused);
    if (refusal !== undefined) refusePoints(x, refusal, refused);
    else if (x.state === 'over') entry?.done(0, 0, refused);
    else await runInPool(x, pool, operation, body, { points: refused, isBound: false });
  } catch (error) {
    if (error instanceof PoolFullError) failUnavailable(x, OVERLOADED_MESSAGE);
    else x.reject(error);
  }
}
