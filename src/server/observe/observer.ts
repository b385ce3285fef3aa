// Sees every request, frame and refusal of the service once, counts it, and has it logged and traced. On the way of a
// request this is additions in place; names, labels and texts are made at scrape time.
import type { ClientAddresses } from '../http/client-address.js';
import type { Exchange } from '../http/exchange.js';
import { type Logger, withholdKey } from './log.js';
import { Latency, PointCounts, RequestCounts, StreamCounts } from './metrics/request-counts.js';
import { type ClosedStream, RequestLog, type SpanIds } from './request-log.js';

/** Records the spans of some requests. */
export interface Tracer {
  /** Records a request that is over; its span ids, undefined if it is not traced. */
  record(x: Exchange, nowMs: number): SpanIds | undefined;
  close(): Promise<void>;
}

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

  /** Requests are counted and logged in vain, and not traced, until the function that it returns is called. */
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
    this.streamOf(subprotocol).close(stream.code);
    this.log.addStream(stream);
  }

  refused(limit: string): void {
    this.refusals.set(limit, (this.refusals.get(limit) ?? 0) + 1);
  }

  /** Hands on what is still held. */
  async close(): Promise<void> {
    this.log.close();
    await this.#tracer?.close();
  }
}
