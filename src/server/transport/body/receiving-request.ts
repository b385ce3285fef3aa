// A request and how its body comes: in one piece or chunk by chunk, paused, held, and by a deadline; and what becomes
// of the rest once the request is refused.
import { type Account, OverBudgetError } from '../../budget/budget.js';
import { Deadline } from '../answers/deadline.js';
import type { ExchangeContext } from '../exchange-context.js';
import { RequestHead } from '../request-head.js';
import type { UwsRequest, UwsResponse } from '../uws.js';
import { BodyLimits } from './body-limits.js';
import { collectBody } from './collect-body.js';
import { RefusedBody } from './refused-bodies.js';

/** Applies once the whole body is received, if the handler has set no deadline. */
const DEFAULT_DEADLINE_MS = 30_000;

export abstract class ReceivingRequest extends RequestHead {
  protected account: Account | undefined;
  /** Deadline by which a status line must be written. */
  protected readonly timeout = new Deadline();
  /** The reading of the body is stopped. */
  protected isPaused = false;
  /** The turn of the event loop in which the body was asked for. */
  #headTurn = 0;
  /** The last chunk has come. */
  #isReceived = false;
  #refused: RefusedBody | undefined;

  constructor(
    res: UwsResponse,
    req: UwsRequest,
    protected readonly context: ExchangeContext<ReceivingRequest>,
    method: string,
    pattern: string,
    path: string,
    rawQuery: string,
  ) {
    super(res, req, method, pattern, path, rawQuery);
  }

  /**
   * Calls `work` once with the whole body, valid during that call. If the body is longer than the limit, `tooLarge` is
   * called instead, before more than the limit is buffered; it must answer and close the connection. A body that comes
   * in several chunks has a deadline, and its bytes are held.
   */
  readBody(limitBytes: number, tooLarge: () => void, work: (body: Uint8Array) => void): void {
    const hold = (bytes: number): void => {
      if (!this.timeout.isSet) this.deadline(this.context.bodyTimeoutMs);
      this.hold(bytes);
    };
    if (this.bodySizeBytes > limitBytes) tooLarge();
    else this.streamBody(collectBody(limitBytes, tooLarge, hold, work));
  }

  /**
   * Says how many bytes are held for this request, or are about to be; 0 begins to count the request as under way.
   * @throws OverBudgetError if a limit would be passed
   */
  hold(bytes: number): void {
    this.account ??= this.context.budget.open(this.keyId, 'requests');
    const refusal = this.account.hold(bytes);
    if (refusal !== undefined) throw new OverBudgetError(refusal);
  }

  /** Calls `work` with each chunk of the body, valid during that call, until the answer is over. */
  streamBody(work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#receive((bytes, isLast) => {
      if (!isLast) this.guard(() => work(bytes, false));
      // Not in the turn in which uWS believes that the body ended (README U33).
      else if (this.isBodyChunked) this.#endBodyLater(bytes.slice(), work);
      else this.#endBody(bytes, work);
    });
  }

  /** Calls `work` with each chunk, valid during the call, until the answer is over. */
  #receive(work: (bytes: Uint8Array, isLast: boolean) => void): void {
    this.isBodyWanted = true;
    this.#headTurn = this.context.turns.number;
    const limits = new BodyLimits(this.context.turns, this.context.maxPastStopBytes);
    this.receive = (chunk, isLast) => {
      if (isLast) this.#isReceived = true;
      if (this.#refused !== undefined) {
        this.#drop(this.#refused, limits, chunk.byteLength, isLast);
        return;
      }
      if (this.state === 'over') return;
      this.bytesIn += chunk.byteLength;
      const fault = limits.faultOf(chunk.byteLength, this.isPaused);
      if (fault === undefined) work(new Uint8Array(chunk), isLast);
      else this.context.hooks.cut(this, fault);
    };
    this.takeBody();
  }

  /** The request has a body whose end has not come. */
  protected get isBodyComing(): boolean {
    return this.bodySizeBytes !== 0 && !this.#isReceived;
  }

  /** The rest of the body is read, which nobody wants any more. */
  protected get isReadingOn(): boolean {
    return this.#refused?.isOver === false;
  }

  /**
   * Reads the rest of the body, which nobody wants any more, and calls `ended` then, or once a bound is reached; not if
   * the connection is closed before. False if that cannot be: the body has ended, its end cannot be seen any more, or
   * too many are read on.
   */
  protected readOn(ended: () => void): boolean {
    const { refusedBodies } = this.context;
    const isSeen = this.isBodyWanted || this.isReadable;
    if (this.#refused !== undefined || !this.isBodyComing || !isSeen) return false;
    if (!refusedBodies.take(this.keyId)) return false;
    const over = (): void => refusedBodies.giveBack(this.keyId);
    if (!this.isBodyWanted) this.#receive(() => {});
    this.#refused = new RefusedBody(ended, over, this.isBodyChunked);
    return true;
  }

  /** The connection is closed, and the answer was over before. */
  protected leaveRefused(): void {
    this.#refused?.gone();
  }

  #drop(refused: RefusedBody, limits: BodyLimits, sizeBytes: number, isLast: boolean): void {
    if (limits.faultOf(sizeBytes, false) === undefined) refused.take(sizeBytes, isLast);
    else refused.take(Number.POSITIVE_INFINITY, false);
  }

  #endBodyLater(lastChunk: Uint8Array, work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.nextTurn(() => this.#endBody(lastChunk, work));
  }

  #endBody(lastChunk: Uint8Array, work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.hasBodyEnded = true;
    this.timeout.clear();
    this.guard(() => {
      const isLate = this.context.turns.number !== this.#headTurn;
      if (!isLate || this.mayGoOn?.() !== false) work(lastChunk, true);
    });
    this.streamed?.setBodyEnded();
    if (this.state !== 'open') return;
    if (!this.timeout.isSet) this.deadline(DEFAULT_DEADLINE_MS);
    if (this.account === undefined) this.guard(() => this.hold(0));
  }

  /** Stops reading the body, and uWS's timeout, until `resume` or the end of the answer. See README U26 to U28. */
  pause(): void {
    if (this.state === 'over' || this.isPaused) return;
    this.isPaused = true;
    this.res.pause();
    this.streamed?.setReadingStopped(true);
  }

  resume(): void {
    if (this.state === 'over' || !this.isPaused) return;
    this.isPaused = false;
    this.res.resume();
    this.streamed?.setReadingStopped(false);
  }

  /** Calls the `expired` hook if no status line is written after that time. Replaces an earlier deadline. */
  deadline(timeoutMs: number): void {
    if (this.state !== 'open') return;
    this.timeout.set(timeoutMs, () => {
      if (this.state === 'open') this.guard(() => this.context.hooks.expired(this));
    });
  }
}
