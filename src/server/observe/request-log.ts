// A line of the log for each request and each stream that has ended, bounded for each second: one line says how many
// more there were. Answers of 500 and above have a limit of their own, so that a flood of others does not hide them.
import type { ClientAddresses } from '../client-address.js';
import { type Logger, methodName } from '../log.js';
import type { Exchange } from '../transport/exchange.js';
import { readTraceparent } from './trace-context.js';

const SECOND_MS = 1000;

/** Ids of W3C Trace Context, in hexadecimal. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A stream that is closed. */
export interface ClosedStream {
  /** Request id of its handshake. */
  readonly requestId: string;
  readonly keyId: string;
  readonly client: string;
  readonly route: string;
  readonly code: number;
  readonly frames: number;
  readonly points: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly openMs: number;
}

export class RequestLog {
  readonly #answers: LimitedLines;
  readonly #failures: LimitedLines;

  constructor(
    logger: Logger,
    private readonly clients: ClientAddresses,
    linesPerSecond: number,
  ) {
    // At debug level every request has its line.
    const limit = logger.isLevelEnabled('debug') ? Number.POSITIVE_INFINITY : linesPerSecond;
    this.#answers = new LimitedLines(logger, 'info', limit);
    this.#failures = new LimitedLines(logger, 'error', limit);
  }

  /** Whether an answer of this status may still have a line in this second. */
  mayLog(status: number): boolean {
    return (status >= 500 ? this.#failures : this.#answers).mayTake;
  }

  /** Logs a request that is over. `span`: the one that was recorded; else the line has that of the caller. */
  add(x: Exchange, nowMs: number, span: SpanIds | undefined): void {
    // A WebSocket has its line when it is closed.
    if (x.status === 101) return;
    const lines = x.status >= 500 ? this.#failures : this.#answers;
    if (lines.take(x.status)) lines.log(this.#fieldsOf(x, nowMs, span), messageOf(x));
  }

  addStream(stream: ClosedStream): void {
    if (!this.#answers.take(101)) return;
    const { requestId, keyId, client, route, code, frames, points, bytesIn, bytesOut, openMs } = stream;
    const who = { request_id: requestId, key_id: keyId, client, route };
    const amount = { frames, points, bytes_in: bytesIn, bytes_out: bytesOut };
    this.#answers.log({ ...who, close_code: code, ...amount, duration_ms: rounded(openMs) }, 'stream closed');
  }

  /** Lines that were left out since the start. */
  get skipped(): number {
    return this.#answers.skipped + this.#failures.skipped;
  }

  /** Logs what is still only counted. */
  close(): void {
    this.#answers.close();
    this.#failures.close();
  }

  #fieldsOf(x: Exchange, nowMs: number, span: SpanIds | undefined): Record<string, unknown> {
    const ids = span ?? callersSpan(x);
    const { entry } = x;
    return {
      request_id: x.requestId,
      ...(ids === undefined ? {} : { trace_id: ids.traceId, span_id: ids.spanId }),
      ...(x.keyId === '' ? {} : { key_id: x.keyId }),
      client: this.clients.of(x),
      method: methodName(x),
      route: x.pattern,
      ...(x.status === 0 ? {} : { http_status: x.status }),
      ...(entry === undefined || entry.points === 0
        ? {}
        : { points: entry.points, failed_points: entry.failedPoints }),
      ...x.position,
      bytes_in: x.bytesIn,
      bytes_out: x.bytesOut,
      duration_ms: rounded(nowMs - x.startedMs),
    };
  }
}

function callersSpan({ traceparent }: Exchange): SpanIds | undefined {
  const context = traceparent === '' ? undefined : readTraceparent(traceparent);
  return context && { traceId: context.traceId, spanId: context.parentId };
}

function messageOf({ status, isComplete }: Exchange): string {
  if (status === 0) return 'closed without an answer';
  return isComplete ? 'answered' : 'closed within its answer';
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Statuses are below this. */
const STATUS_COUNT = 600;

/** Lines of one level, a bounded number in each second. */
class LimitedLines {
  skipped = 0;
  /** Lines left in this second. */
  #left: number;
  #counted = 0;
  readonly #byStatus = new Uint32Array(STATUS_COUNT);
  readonly #isEnabled: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly logger: Logger,
    private readonly level: 'info' | 'error',
    private readonly perSecond: number,
  ) {
    this.#left = perSecond;
    this.#isEnabled = logger.isLevelEnabled(level);
  }

  get mayTake(): boolean {
    return this.#isEnabled && (this.#left > 0 || this.#timer === undefined);
  }

  /** Whether the next line may be logged; else it is counted. */
  take(status: number): boolean {
    if (!this.#isEnabled) return false;
    if (this.perSecond === Number.POSITIVE_INFINITY) return true;
    if (this.#timer === undefined) {
      this.#left = this.perSecond;
      this.#timer = setTimeout(() => this.close(), SECOND_MS);
      this.#timer.unref();
    }
    if (this.#left > 0) {
      this.#left--;
      return true;
    }
    this.skipped++;
    this.#counted++;
    this.#byStatus[status]!++;
    return false;
  }

  log(fields: object, message: string): void {
    this.logger[this.level](fields, message);
  }

  /** Ends the second. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#counted === 0) return;
    const counts = [...this.#byStatus].flatMap((count, status) =>
      count === 0 ? [] : [[status, count] as const],
    );
    const requests = this.#counted;
    this.#counted = 0;
    this.#byStatus.fill(0);
    this.log({ requests, by_status: Object.fromEntries(counts) }, 'further requests of this second');
  }
}
