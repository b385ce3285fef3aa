// A line of the log for each request and each stream that has ended, bounded for each second: one line says how many
// more there were. Answers of 500 and above have a limit of their own, so that a flood of others does not hide them.
import type { ClientAddresses, Exchange } from '../http/exchange.js';
import { type Logger, methodName } from './log.js';

// W3C Trace Context (https://www.w3.org/TR/trace-context/), read strictly: a header that breaks the standard counts as
// absent, as it demands. So what is logged and exported is hexadecimal, and cannot be a key.

export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** Id of the caller's span: 16 such digits. */
  readonly parentId: string;
  /** The caller records its part. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED_FLAG = 1;

/**
 * Undefined for a header that is absent, sent twice, or breaks the standard. Of later versions the known part is read.
 */
export function readTraceparent(text: string): TraceContext | undefined {
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0*$/.test(traceId) || /^0*$/.test(parentId)) return undefined;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 };
}

const MAX_MEMBERS = 32;
const MAX_CHARACTERS = 512;
const MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The members of a tracestate, in order and joined by commas; '' for one that is absent or breaks the standard. */
export function readTracestate(text: string): string {
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const names = new Set(members.map((member) => member.split('=', 1)[0]));
  const isKept =
    members.length <= MAX_MEMBERS &&
    names.size === members.length &&
    members.every((member) => MEMBER.test(member));
  const joined = members.join(',');
  return isKept && joined.length <= MAX_CHARACTERS ? joined : '';
}

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
  /** The code is the peer's. */
  readonly isPeersCode: boolean;
  readonly frames: number;
  readonly points: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly openMs: number;
}

export class RequestLog {
  readonly #answers: LimitedLines;
  readonly #failures: LimitedLines;
  /** Answers that end within themselves. */
  readonly #cuts: LimitedLines;

  constructor(
    logger: Logger,
    private readonly clients: ClientAddresses,
    linesPerSecond: number,
  ) {
    // At debug level every request has its line.
    const limit = logger.isLevelEnabled('debug') ? Number.POSITIVE_INFINITY : linesPerSecond;
    this.#answers = new LimitedLines(logger, 'info', limit);
    this.#failures = new LimitedLines(logger, 'error', limit);
    this.#cuts = new LimitedLines(logger, 'warn', limit);
  }

  /** Whether an answer of this status may still have a line in this second. */
  mayLog(status: number): boolean {
    return (status >= 500 ? this.#failures : this.#answers).mayTake;
  }

  /** Logs a request that is over. `span`: the one that was recorded; else the line has that of the caller. */
  add(x: Exchange, nowMs: number, span: SpanIds | undefined): void {
    // A WebSocket has its line when it is closed.
    if (x.status === 101) return;
    const isCut = x.status > 0 && !x.isComplete;
    const lines = x.status >= 500 ? this.#failures : isCut ? this.#cuts : this.#answers;
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
    return this.#answers.skipped + this.#failures.skipped + this.#cuts.skipped;
  }

  /** Logs what is still only counted. */
  close(): void {
    this.#answers.close();
    this.#failures.close();
    this.#cuts.close();
  }

  #fieldsOf(x: Exchange, nowMs: number, span: SpanIds | undefined): Record<string, unknown> {
    const ids = span ?? callersSpan(x);
    const { entry, position } = x.notes;
    return {
      request_id: x.head.requestId,
      ...(ids === undefined ? {} : { trace_id: ids.traceId, span_id: ids.spanId }),
      ...(x.keyId === '' ? {} : { key_id: x.keyId }),
      client: this.clients.of(x),
      method: methodName(x),
      route: x.head.pattern,
      ...(x.status === 0 ? {} : { http_status: x.status }),
      ...(entry === undefined || entry.points === 0
        ? {}
        : { points: entry.points, failed_points: entry.failedPoints }),
      ...position,
      bytes_in: x.bytesIn,
      bytes_out: x.bytesOut,
      duration_ms: rounded(nowMs - x.startedMs),
      ...(x.isComplete ? {} : endingOf(x, nowMs)),
    };
  }
}

/**
 * Who has ended a request before its answer was complete, and why. uWS tells its own end of a connection (a timeout, a
 * broken chunk) as the peer's, so the time without a byte has to tell them apart.
 */
function endingOf(x: Exchange, nowMs: number): Record<string, unknown> {
  if (x.abortReason !== undefined) return { ended_by: 'service', reason: x.abortReason };
  const restedMs = rounded(nowMs - x.progressMs);
  return { ended_by: 'peer or transport', reason: 'the connection was closed', rested_ms: restedMs };
}

function callersSpan({ head: { traceparent } }: Exchange): SpanIds | undefined {
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
    private readonly level: 'info' | 'warn' | 'error',
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
