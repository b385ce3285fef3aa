// One request and its answer, as handlers see them. Once the answer is complete or the connection is closed, every call of
// the answering side does nothing, so handlers need not check.
import { type Account, OverBudgetError } from '../budget/budget.js';
import { writeHead } from './answers/answer-head.js';
import { ChunkedAnswer } from './answers/chunked-answer.js';
import { SizedAnswer } from './answers/sized-answer.js';
import type { AnswerHooks, StreamedAnswer } from './answers/streamed-answer.js';
import { endBodyless, fitsEnd, writeBody, writeRest } from './answers/whole-answer.js';
import { BodyLimits } from './body/body-limits.js';
import { collectBody } from './body/collect-body.js';
import type { ExchangeContext } from './exchange-context.js';
import { RequestHead } from './request-head.js';
import type { UpgradeContext, UwsRequest, UwsResponse } from './uws.js';

/** Applies once the whole body is received, if the handler has set no deadline. */
const DEFAULT_DEADLINE_MS = 30_000;
const CLOSE_LINE = '\r\nConnection: close';

/**
 * Before a handler returns, it must send or start an answer, ask for the body, or set a deadline; otherwise the answer is 500.
 *
 *   answer in one piece              send
 *   answer of unknown length         startChunked, then write, onDrain and end of what it returns
 *   long answer of known length      startSized, then the same
 *   body in one piece                readBody
 *   body chunk by chunk              streamBody, pause, resume
 */
export class Exchange extends RequestHead {
  #upgradeContext: UpgradeContext | undefined;
  #account: Account | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPaused = false;
  /** To be set where the memory of a whole answer may be overwritten once `send` returns. */
  isBodyView = false;

  constructor(
    res: UwsResponse,
    req: UwsRequest,
    private readonly context: ExchangeContext<Exchange>,
    method: string,
    pattern: string,
    path: string,
    rawQuery: string,
    upgradeContext?: UpgradeContext,
  ) {
    super(res, req, method, pattern, path, rawQuery);
    this.#upgradeContext = upgradeContext;
  }

  /**
   * Calls `work` once with the whole body, valid during that call. If the body is longer than the limit, `tooLarge` is
   * called instead, before more than the limit is buffered; it must answer and close the connection. A body that comes in
   * several chunks has a deadline, and its bytes are held.
   */
  readBody(limitBytes: number, tooLarge: () => void, work: (body: Uint8Array) => void): void {
    const hold = (bytes: number): void => {
      if (this.#timer === undefined) this.deadline(this.context.bodyTimeoutMs);
      this.hold(bytes);
    };
    if (this.bodySizeBytes > limitBytes) tooLarge();
    else this.streamBody(collectBody(limitBytes, tooLarge, hold, work));
  }

  /** Counts points or codes that are converted for this request. */
  countPoints(ok: number, failed: number): void {
    this.points += ok + failed;
    this.failedPoints += failed;
    this.context.hooks.converted(this, ok, failed);
  }

  /**
   * Says how many bytes are held for this request, or are about to be; 0 begins to count the request as under way.
   * @throws OverBudgetError if a limit would be passed
   */
  hold(bytes: number): void {
    this.#account ??= this.context.budget.open(this.keyId, 'requests');
    const refusal = this.#account.hold(bytes);
    if (refusal !== undefined) throw new OverBudgetError(refusal);
  }

  /** Calls `work` with each chunk of the body, valid during that call, until the answer is over. */
  streamBody(work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.isBodyWanted = true;
    const limits = new BodyLimits(this.context.turns, this.context.maxPastStopBytes);
    this.res.onData((chunk, isLast) => {
      if (this.state === 'over') return;
      this.bytesIn += chunk.byteLength;
      const fault = limits.faultOf(chunk.byteLength, this.#isPaused);
      if (fault !== undefined) {
        this.context.hooks.cut(this, fault);
        return;
      }
      const bytes = new Uint8Array(chunk);
      if (!isLast) {
        this.guard(() => work(bytes, false));
      } else if (this.isBodyChunked) {
        // Not in the turn in which uWS believes that the body ended (README U33).
        const copy = bytes.slice();
        this.nextTurn(() => this.#endBody(copy, work));
      } else {
        this.#endBody(bytes, work);
      }
    });
  }

  #endBody(lastChunk: Uint8Array, work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.hasBodyEnded = true;
    this.#clearDeadline();
    this.guard(() => work(lastChunk, true));
    this.streamed?.setBodyEnded();
    if (this.state !== 'open') return;
    if (this.#timer === undefined) this.deadline(DEFAULT_DEADLINE_MS);
    if (this.#account === undefined) this.guard(() => this.hold(0));
  }

  /** Stops reading the body, and uWS's timeout, until `resume` or the end of the answer. See README U26 to U28. */
  pause(): void {
    if (this.state === 'over' || this.#isPaused) return;
    this.#isPaused = true;
    this.res.pause();
    this.streamed?.setReadingStopped(true);
  }

  resume(): void {
    if (this.state === 'over' || !this.#isPaused) return;
    this.#isPaused = false;
    this.res.resume();
    this.streamed?.setReadingStopped(false);
  }

  /** Sends a whole answer. `headerLines`: "\r\nName: value" of further headers, of trusted text. */
  send(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headerLines = '',
    close = false,
  ): void {
    if (this.state !== 'open') return;
    // A connection that is paused when the answer ends would never be read again (README U29).
    this.resume();
    this.state = 'over';
    this.status = status;
    this.context.hooks.answered(this, status);
    // A large body that uWS itself would close after is not seen to leave: there the client closes.
    const isLeft = this.context.isClosing && !fitsEnd(body);
    const isLast = close || this.isBodyChunked || (this.context.isClosing && !isLeft);
    const lines = isLeft && !isLast ? `${headerLines}${CLOSE_LINE}` : headerLines;
    if (this.isReadable) this.#write(status, contentType, body, lines, isLast);
    else this.res.cork(() => this.#write(status, contentType, body, lines, isLast));
  }

  #write(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    lines: string,
    close: boolean,
  ): void {
    const { res } = this;
    writeHead(res, this, status, contentType, lines);
    const isHead = this.method === 'HEAD';
    if (isHead || status === 204 || status === 304) {
      endBodyless(res, isHead, body, close || !this.context.bodylessAnswers.take());
      this.#over(true);
      return;
    }
    this.wholeBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (writeBody(res, body, close)) {
      this.#over(true);
    } else {
      this.state = 'answering';
      this.guard(() => this.hold((this.#account?.heldBytes ?? 0) + this.wholeBytes));
      const isOver = (): boolean => this.state === 'over';
      if (!isOver()) writeRest(res, this.isBodyView ? body.slice() : body, isOver, () => this.#over(true));
    }
  }

  /** Starts an answer of unknown length; not for HEAD. `mayEndLate`: see ChunkedAnswer. */
  startChunked(
    status: number,
    contentType: string,
    headerLines = '',
    mayEndLate = false,
  ): StreamedAnswer | undefined {
    const create = (hooks: AnswerHooks): StreamedAnswer =>
      new ChunkedAnswer(this.res, hooks, this.context.corkHolder, mayEndLate);
    return this.#startStreamed(status, contentType, headerLines, create);
  }

  /**
   * Starts an answer of `totalBytes`, at least one. The whole body of the request must have been received, and not in
   * chunks.
   */
  startSized(
    status: number,
    contentType: string,
    headerLines: string,
    totalBytes: number,
  ): StreamedAnswer | undefined {
    // There is nothing left to read, and a connection left paused would never be read again (README U29).
    this.resume();
    const create = (hooks: AnswerHooks): StreamedAnswer =>
      new SizedAnswer(this.res, hooks, totalBytes, this.context.corkHolder);
    return this.#startStreamed(status, contentType, headerLines, create);
  }

  /** Returns undefined if the request is answered already. */
  #startStreamed(
    status: number,
    contentType: string,
    headerLines: string,
    create: (hooks: AnswerHooks) => StreamedAnswer,
  ): StreamedAnswer | undefined {
    if (this.state !== 'open') return undefined;
    this.state = 'answering';
    this.status = status;
    this.context.hooks.answered(this, status);
    this.#clearDeadline();
    const closing = this.isBodyChunked || this.context.isClosing ? CLOSE_LINE : '';
    const streamed = create({
      writeHead: () => writeHead(this.res, this, status, contentType, headerLines + closing),
      ending: () => this.resume(),
      lastWrite: () => {
        // A connection that is paused when its answer ends is never read again (README U29).
        if (this.isBodyChunked) this.res.pause();
      },
      finished: () => this.#over(true),
      guard: (work) => this.guard(work),
    });
    this.streamed = streamed;
    if (this.#isPaused) streamed.setReadingStopped(true);
    if (this.hasBodyEnded) streamed.setBodyEnded();
    return streamed;
  }

  /** Calls the `expired` hook if no status line is written after that time. Replaces an earlier deadline. */
  deadline(timeoutMs: number): void {
    this.#clearDeadline();
    if (this.state !== 'open') return;
    this.#timer = setTimeout(() => {
      if (this.state === 'open') this.guard(() => this.context.hooks.expired(this));
    }, timeoutMs);
  }

  #clearDeadline(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Closes the connection at once. The client sees an incomplete answer. */
  abort(): void {
    if (this.state !== 'over') this.res.close();
  }

  /** Accepts a WebSocket upgrade. To be called before the upgrade handler returns. */
  acceptUpgrade<T>(userData: T, protocol: string): void {
    const context = this.#upgradeContext;
    if (this.state !== 'open' || context === undefined) return;
    const key = this.header('sec-websocket-key');
    this.status = 101;
    this.#over(true);
    this.res.upgrade(userData, key, protocol, '', context);
  }

  /** The handler has returned: the request can no longer be read. */
  leaveFirstTick(): void {
    this.endReading();
    this.#upgradeContext = undefined;
    if (this.state === 'over') return;
    this.context.pending.add(this);
    this.keepPeerAddress();
    if (this.state === 'open' && !this.isBodyWanted && this.#timer === undefined) {
      this.thrown(new Error('a handler returned without an answer'));
    }
  }

  /** The connection is closed. */
  gone(): void {
    if (this.state === 'over') return;
    this.streamed?.drop();
    this.#over(false);
  }

  #over(isComplete: boolean): void {
    this.state = 'over';
    this.isComplete = isComplete;
    this.#account?.close();
    this.#clearDeadline();
    if (!this.isReadable) this.context.pending.delete(this);
    this.notifyOver();
    this.context.hooks.over(this);
  }

  protected thrown(error: unknown): void {
    this.context.hooks.thrown(this, error);
  }
}
