// Ends an exchange over an error that its handler or one of the handler's callbacks throws: one policy for all.

import { withoutKeys } from '../config/mask.js';
import { BulkInputError } from '../hexcodes/wire/job.js';
import { readApiKey } from '../hexcodes/wire/params/query.js';
import { BrokenBatchError, TooManyItemsError } from '../hexcodes/wire/rows/batch.js';
import { PoolLostError } from '../pool/pool.js';
import { PoolFullError } from '../pool/work-queue.js';
import { OverBudgetError } from './budget/budget.js';
import { RevokedKeyError, StalledPeerError } from './bulk/flow.js';
import { GzipBodyError } from './bulk/gzip.js';
import { SpoolDiskError, SpoolFullError } from './bulk/spool.js';
import { NotTakenError } from './forward/forwarder.js';
import { type Logger, withholdKey } from './log.js';
import { fail, failNotTaken, failUnavailable } from './router.js';
import type { Exchange } from './transport/exchange.js';

/** Errors that are no defects of this program. */
const EXPECTED_ERRORS = [
  BulkInputError,
  GzipBodyError,
  StalledPeerError,
  RevokedKeyError,
  SpoolFullError,
  SpoolDiskError,
  PoolFullError,
  PoolLostError,
  OverBudgetError,
  NotTakenError,
];

/**
 * Before an answer has begun: 400 for a body that cannot be read, 401 or 403 for a key that was changed meanwhile, 408
 * for a body that stopped coming, 413 for one whose answer is too large to be held, 503 past a limit of the budget or
 * where the disk takes no positions or answers, 500 for all else. Afterwards the connection is closed, without the last
 * chunk or short of the Content-Length, so that no client takes a part for the whole.
 */
export function endOverError(logger: Logger, x: Exchange, error: unknown): void {
  const isOpen = x.state === 'open';
  if (isOpen && error instanceof BrokenBatchError) {
    fail(x, 400, error.message, { faults: error.faults });
  } else if (isOpen && error instanceof TooManyItemsError) {
    fail(x, 413, error.message);
  } else if (isOpen && (error instanceof BulkInputError || error instanceof GzipBodyError)) {
    fail(x, 400, error.message, { close: true });
  } else if (isOpen && error instanceof OverBudgetError) {
    // The budget has it logged.
    failUnavailable(x, error.message, true);
  } else if (isOpen && error instanceof NotTakenError) {
    // The forwarder has it logged.
    failNotTaken(x, error.message);
  } else {
    const isSpool = error instanceof SpoolFullError || error instanceof SpoolDiskError;
    log(logger, x, error, isOpen && isSpool ? 'an answer could not be kept' : 'an answer was cut off');
    if (isOpen && error instanceof SpoolFullError && error.limit === 'request')
      fail(x, 413, error.message, { close: true });
    else if (isOpen && isSpool) failUnavailable(x, error.message, true);
    else if (isOpen && error instanceof RevokedKeyError)
      fail(x, error.fault.status, error.message, { close: true });
    else if (isOpen && error instanceof StalledPeerError)
      fail(x, 408, 'the body took too long', { close: true });
    else if (isOpen) fail(x, 500, 'internal error', { close: true });
    else x.abort();
  }
}

/** @param outcome of an error that is no defect of this program */
function log(logger: Logger, x: Exchange, error: unknown, outcome: string): void {
  withholdKey(x);
  const request = { request_id: x.requestId, route: x.pattern };
  if (EXPECTED_ERRORS.some((kind) => error instanceof kind)) {
    const reason = withoutKeys((error as Error).message, [readApiKey(x.rawQuery), x.apiKey]);
    logger.warn({ ...request, reason }, outcome);
  } else {
    logger.error({ ...request, err: error }, 'a handler threw');
  }
}
