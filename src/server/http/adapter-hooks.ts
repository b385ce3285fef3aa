// The transport reports here: answers, refusals, faults and connections that it closes. They are counted and logged,
// and answered where nobody else does.
import type { ServeConfig } from '../../config/config.js';
import { withoutKeys } from '../../config/mask.js';
import { BulkInputError } from '../../hexcodes/wire/job.js';
import { readApiKey } from '../../hexcodes/wire/params/query.js';
import { BrokenBatchError, TooManyItemsError } from '../../hexcodes/wire/rows/batch.js';
import { PoolLostError } from '../../pool/pool.js';
import { PoolFullError } from '../../pool/work-queue.js';
import { CountedLine, type Logger, withholdKey } from '../observe/log.js';
import { Observer } from '../observe/observer.js';
import { openTracer } from '../observe/otlp.js';
import type { AdapterHooks } from '../transport/adapter.js';
import { AnsweredError, CUT_OFF, type ErrorAnswer } from '../transport/answered-error.js';
import { ClientAddresses } from './client-address.js';
import { type Exchange, RequestNotes } from './exchange.js';
import { fail, failUnavailable } from './router.js';

/** Further errors that are no defects of this program. */
const EXPECTED_ERRORS = [AnsweredError, BulkInputError, PoolFullError, PoolLostError];

const DEFECT: ErrorAnswer = { status: 500, message: 'internal error', close: true, logged: CUT_OFF };

/**
 * Ends an exchange over an error that its handler or one of the handler's callbacks throws: one policy for all.
 * Before an answer has begun: the answer of the error, such as 400 for a body that cannot be read, 401 or 403 for a key
 * that was changed meanwhile, 503 past a limit of the budget or where the disk takes nothing; 500 for all else.
 * Afterwards the connection is closed, without the last chunk or short of the Content-Length, so that no client takes a
 * part for the whole.
 */
function endOverError(logger: Logger, x: Exchange, error: unknown): void {
  if (x.state !== 'open') {
    log(logger, x, error, CUT_OFF);
    const reason = error instanceof Error ? error.message : String(error);
    x.abort(withoutKeys(reason, [readApiKey(x.head.rawQuery), x.head.apiKey]));
    return;
  }
  if (error instanceof BrokenBatchError) {
    fail(x, 400, error.message, { faults: error.faults });
    return;
  }
  const { status, message, retryAfterSec, close, logged } = answerOf(error);
  if (logged !== undefined) log(logger, x, error, logged);
  const headerLines = retryAfterSec === undefined ? '' : `\r\nRetry-After: ${retryAfterSec}`;
  fail(x, status, message ?? (error as Error).message, { headerLines, close });
}

function answerOf(error: unknown): ErrorAnswer {
  if (error instanceof AnsweredError) return error.answer;
  if (error instanceof TooManyItemsError) return { status: 413, close: false };
  if (error instanceof BulkInputError) return { status: 400, close: true };
  return DEFECT;
}

/** @param outcome of an error that is no defect of this program */
function log(logger: Logger, x: Exchange, error: unknown, outcome: string): void {
  withholdKey(x);
  const { head } = x;
  const request = { request_id: head.requestId, route: head.pattern };
  if (EXPECTED_ERRORS.some((kind) => error instanceof kind)) {
    const reason = withoutKeys((error as Error).message, [readApiKey(head.rawQuery), head.apiKey]);
    logger.warn({ ...request, reason }, outcome);
  } else {
    logger.error({ ...request, err: error }, 'a handler threw');
  }
}

export async function openObserver(config: ServeConfig, logger: Logger): Promise<Observer> {
  const clients = new ClientAddresses(config.trustedProxies);
  const { otlpEndpoint: endpoint, traceRatio: ratio } = config;
  const line = new CountedLine(logger, 'exports', 'traces could not be handed to the collector');
  const failed = (reason: string): void => line.add({ reason });
  return new Observer({
    logger,
    clients,
    linesPerSecond: config.logRequestsPerSecond,
    tracer: endpoint === undefined ? undefined : await openTracer({ endpoint, ratio, clients, failed }),
  });
}

/** @param isCounted false: requests are neither counted nor logged, for benches that measure what that costs */
export function hooksFor(logger: Logger, observer: Observer, isCounted = true): AdapterHooks<RequestNotes> {
  const floods = new CountedLine(
    logger,
    'connections',
    'refused or closed: too many requests or frames in one turn of the event loop',
  );
  const crowds = new CountedLine(
    logger,
    'connections',
    'closed at once: too many connections are open, of all or of one network',
  );
  return {
    notes: () => new RequestNotes(),
    answered: (x, status) => {
      x.notes.entry?.end(status);
      if (x.head.hasGivenId) withholdKey(x);
      if (isCounted) observer.beforeAnswer(x);
    },
    over: isCounted ? (x) => observer.over(x) : () => {},
    refused: (x, status, message, close) => fail(x, status, message, { close }),
    expired: (x) => {
      if (x.isBodyAwaited) fail(x, 408, 'the body took too long', { close: true });
      else failUnavailable(x, 'the answer took too long', true);
    },
    thrown: (x, error) => endOverError(logger, x, error),
    flooded: () => {
      observer.refusedConnections.flood++;
      floods.add();
    },
    crowded: (reason) => {
      observer.refusedConnections[reason]++;
      crowds.add({ reason });
    },
    cut: (x, reason) => {
      withholdKey(x);
      logger.warn({ request_id: x.head.requestId, route: x.head.pattern, reason }, 'an upload was cut off');
      x.abort(reason);
    },
    socketThrown: (error) => logger.error({ err: error }, 'a WebSocket handler threw'),
  };
}
