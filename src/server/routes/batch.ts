// POST /v1/hexcodes/encode/batch and /decode/batch: many points or codes in one JSON body, answered in one JSON body.
import type { Kernel } from '../../kernel/kernel.js';
import { type Pool, PoolLostError } from '../../pool/pool.js';
import { PoolFullError } from '../../pool/work-queue.js';
import { ByteSink } from '../../wire/bytes/byte-sink.js';
import type { Operation } from '../../wire/job.js';
import {
  batchBody,
  type ConvertedBatch,
  convertAllowed,
  MAX_BATCH_BYTES,
  openBatch,
} from '../../wire/rows/batch.js';
import { OVER_LIMIT_MESSAGE, OVERLOADED_MESSAGE } from '../../wire/status-messages.js';
import { JSON_TYPE } from '../answers.js';
import { TurnTime } from '../budget/turn-time.js';
import { admitPoints, failOverLimit, limitLines, refusePoints } from '../limits/limit-answers.js';
import type { LimitRefusal } from '../limits/limit-state.js';
import { requireJson, requirePlainBody, utf8TypeOf } from '../media-types.js';
import { INLINE_JSON_BYTES, itemsAllowance } from '../offload.js';
import { fail, failTooLarge, failUnavailable, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';

/** How long an answer of the pool may take. */
const POOL_DEADLINE_MS = 30_000;

/** A batch was refused, and would be let in by now. */
const LIMIT_PASSED: LimitRefusal = { kind: 'rate', message: OVER_LIMIT_MESSAGE, waitMs: 0 };

/** Of most answers of this thread. Memory for each anew would make the garbage collector run twice a second under load. */
const USUAL_ANSWER_BYTES = 128 * 1024;

/** Converts batches: small ones in this thread, with a sink and a buffer of answers that serve them all. */
interface Converter {
  readonly kernel: Kernel;
  readonly pool: Pool;
  readonly sink: ByteSink;
  readonly answer: Uint8Array<ArrayBuffer>;
  readonly turn: TurnTime;
}

/** @param turnMs how long one turn of the event loop takes up batches */
export function addBatch(router: Router, kernel: Kernel, pool: Pool, turnMs?: number): void {
  const converter: Converter = {
    ...{ kernel, pool, sink: new ByteSink(), turn: new TurnTime(turnMs) },
    answer: new Uint8Array(USUAL_ANSWER_BYTES),
  };
  const handle = (operation: Operation) => (x: Exchange) => {
    // Before anything is read: a refusal has to cost little of the time that is missing.
    if (converter.turn.isUp) {
      failUnavailable(x, OVERLOADED_MESSAGE);
      return;
    }
    if (!requireJson(x)) return;
    if (x.contentType !== '' && utf8TypeOf(x.contentType) !== JSON_TYPE) {
      fail(x, 415, 'the body must be application/json, in UTF-8');
      return;
    }
    if (x.bodySizeBytes === 0) {
      fail(x, 400, 'body is required', { faults: [{ parameter: 'body', message: 'is required' }] });
      return;
    }
    if (!requirePlainBody(x)) return;
    if (x.bodySizeBytes > INLINE_JSON_BYTES && !pool.mayTakeBlock(x.keyId)) {
      failUnavailable(x, OVERLOADED_MESSAGE, true);
      return;
    }
    x.readBody(
      MAX_BATCH_BYTES,
      () => failTooLarge(x, MAX_BATCH_BYTES),
      (body) => answerBatch(x, converter, operation, body),
    );
  };
  for (const operation of ['encode', 'decode'] as const) {
    router.add({
      path: `/v1/hexcodes/${operation}/batch`,
      methods: ['POST'],
      access: operation,
      operation: `${operation}_batch`,
      handle: handle(operation),
    });
  }
}

/** @throws BrokenBatchError, TooManyItemsError, which are answered 400 and 413 */
function answerBatch(
  x: Exchange,
  { kernel, pool, sink, answer, turn }: Converter,
  operation: Operation,
  body: Uint8Array,
): void {
  if (body.length > INLINE_JSON_BYTES) {
    answerByPool(x, pool, operation, body);
    return;
  }
  // The body may have come in a later turn than the head.
  if (turn.isUp) {
    failUnavailable(x, OVERLOADED_MESSAGE);
    return;
  }
  const batch = openBatch(operation, body);
  const { count } = batch.items;
  if (!admitPoints(x, count)) return;
  let converted: ConvertedBatch | undefined;
  try {
    converted = convertAllowed(kernel, batch, sink, itemsAllowance());
  } finally {
    const { total, failed } = converted ?? { total: 0, failed: 0 };
    x.meter?.settle(x.operation, count, total - failed, failed);
    x.countPoints(total - failed, failed);
  }
  if (converted === undefined) answerByPool(x, pool, operation, body);
  else {
    x.isBodyView = true;
    x.send(200, JSON_TYPE, batchBody(converted, '', answer));
  }
}

/** How many points there are is seen in the pool, so it is told how many there may be, and they are taken afterwards. */
function answerByPool(x: Exchange, pool: Pool, operation: Operation, body: Uint8Array): void {
  const { meter } = x;
  const before = meter?.pointsRefusal(1);
  if (before !== undefined) {
    failOverLimit(x, before);
    return;
  }
  x.deadline(POOL_DEADLINE_MS);
  pool.answerBatch(operation, body, x.keyId, meter?.mostPoints()).then(
    ({ bytes, total, failed, refused }) => {
      if (refused > 0) {
        refusePoints(x, meter?.pointsRefusal(refused) ?? LIMIT_PASSED, refused);
        return;
      }
      meter?.reserve(total);
      meter?.settle(x.operation, total, total - failed, failed);
      x.countPoints(total - failed, failed);
      if (meter !== undefined) x.limitLines = limitLines(meter);
      x.send(200, JSON_TYPE, bytes);
    },
    (error: unknown) => {
      const isOverloaded = error instanceof PoolFullError || error instanceof PoolLostError;
      if (isOverloaded) failUnavailable(x, OVERLOADED_MESSAGE);
      else x.reject(error);
    },
  );
}
