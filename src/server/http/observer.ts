// Observes every request, frame and refusal of the service once, as the transport reports it: counts, logs and traces
// it, and answers it if nobody else does. During a request this is a few additions; names, labels and texts are made
// at scrape time.
import type { ServeConfig } from '../../config/config.js';
import { withoutKeys } from '../../config/mask.js';
import { BulkInputError, OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import { readApiKey } from '../../hexcodes/wire/params/query.js';
import { BrokenBatchError, TooManyItemsError } from '../../hexcodes/wire/rows/batch.js';
import { PoolLostError } from '../../pool/pool.js';
import { PoolFullError } from '../../pool/work-queue.js';
import { CountedLine, type Logger, withholdKey } from '../observe/log.js';
import { Latency, PointCounts, RequestCounts, StreamCounts } from '../observe/metrics/request-counts.js';
import { openTracer, type Tracer } from '../observe/otlp.js';
import { type ClosedStream, RequestLog } from '../observe/request-log.js';
import type { AdapterHooks } from '../transport/adapter.js';
import { AnsweredError, CUT_OFF, type ErrorAnswer } from '../transport/limits.js';
import { ClientAddresses, type Exchange, RequestNotes } from './exchange.js';
import { fail, failUnavailable } from './router.js';

export interface ObserverOptions {
  readonly logger: Logger;
  readonly clients: ClientAddresses;
  readonly linesPerSecond: number;
  readonly tracer?: Tracer | undefined;
}

export class Observer {
  requests = new RequestCounts();
  readonly points = new PointCounts();
  readonly streams: Record<string, StreamCounts> = {};
  readonly poolWaits = new Latency();
  readonly poolRuns = new Latency();
  readonly refusedConnections = { flood: 0, crowd: 0, share: 0 };
  /** Refusals by the limit that was reached. */
  readonly refusals = new Map<string, number>();
  readonly clients: ClientAddresses;
  log: RequestLog;
  #tracer: Tracer | undefined;

  constructor({ logger, clients, linesPerSecond, tracer }: ObserverOptions) {
    this.clients = clients;
    this.log = new RequestLog(logger, clients, linesPerSecond);
    this.#tracer = tracer;
  }

  /** Requests are not counted in metrics, log and traces until the returned function is called. */
  rehearse(log: RequestLog): () => void {
    const { requests, log: ownLog } = this;
    const tracer = this.#tracer;
    [this.requests, this.log, this.#tracer] = [new RequestCounts(), log, undefined];
    return () => {
      log.close();
      [this.requests, this.log, this.#tracer] = [requests, ownLog, tracer];
    };
  }

  /** To be called before the status line of an answer is written. */
  beforeAnswer(x: Exchange): void {
    if (this.#tracer !== undefined || this.log.mayLog(x.status)) x.keepPeerAddress();
  }

  /** A request is over. */
  over(x: Exchange): void {
    const nowMs = performance.now();
    // A request with a status had its key withheld before the answer.
    if (x.status === 0 && x.head.hasGivenId) withholdKey(x);
    this.requests.add(x, nowMs);
    x.notes.entry?.isOver(nowMs);
    this.log.add(x, nowMs, this.#tracer?.record(x, nowMs));
  }

  /** The counts of a subprotocol of the stream. */
  streamOf(subprotocol: string): StreamCounts {
    this.streams[subprotocol] ??= new StreamCounts();
    return this.streams[subprotocol];
  }

  streamClosed(subprotocol: string, stream: ClosedStream): void {
    this.streamOf(subprotocol).close(stream.code, stream.isPeersCode);
    this.log.addStream(stream);
  }

  refused(limit: string): void {
    this.refusals.set(limit, (this.refusals.get(limit) ?? 0) + 1);
  }

  /** Flushes everything that is buffered. */
  async close(): Promise<void> {
    this.log.close();
    await this.#tracer?.close();
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

/** @param isCounted false: requests are neither counted nor logged, for benches that measure the cost of this */
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

/** Further errors that are not defects of this program. */
const EXPECTED_ERRORS = [AnsweredError, BulkInputError, PoolFullError, PoolLostError];

const DEFECT: ErrorAnswer = { status: 500, message: 'internal error', close: true, logged: CUT_OFF };

/**
 * Ends an exchange over an error of its handler or of a callback: one policy for all. Before an answer has begun: the
 * answer of the error, such as 400 for a body that cannot be read, 401 or 403 for a key that was changed meanwhile,
 * 503 over a limit of the budget or for a full disk; 500 for all others. Afterwards the connection is closed, without
 * the last chunk or short of the Content-Length, so that no client takes a part for the whole.
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
  if (error instanceof PoolLostError)
    return { ...DEFECT, status: 503, message: OVERLOADED_MESSAGE, retryAfterSec: 1 };
  return DEFECT;
}

/** @param outcome of an error that is not a defect of this program */
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
