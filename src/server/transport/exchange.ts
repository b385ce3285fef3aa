// One request and its answer, as handlers see them. Once the answer is complete or the connection is closed, every call
// of the answering side does nothing, so handlers need not check.

import { ChunkedAnswer } from './answers/chunked-answer.js';
import {
  type AnswerHooks,
  type CorkHolder,
  SizedAnswer,
  type StreamedAnswer,
} from './answers/streamed-answer.js';
import {
  type BodylessAnswers,
  closingInChunks,
  endBodyless,
  fitsEnd,
  KEPT_LINE,
  mayBeSkipped,
  sizeOf,
  type WholeAnswer,
  writeBody,
  writeContinue,
  writeHead,
  writeRest,
} from './answers/whole-answer.js';
import { type Account, type Admission, type Budget, OverBudgetError, type Turns } from './limits.js';
import type { UpgradeContext, UwsResponse } from './load-uws.js';
import {
  type BodyBounds,
  type BodyOwner,
  MAX_SMALL_BYTES,
  type RefusedBodies,
  RequestBody,
} from './request-body.js';
import { AFTER_BODY, type RequestHead } from './request-head.js';

/**
 * The state of an exchange, and its callbacks: all errors that they throw end at one policy. An exception that
 * reached uWS would end the process (README U6).
 */
export abstract class Guarded {
  /** 'answering': the status line is written; 'over': the answer is complete or the connection closed. */
  state: 'open' | 'answering' | 'over' = 'open';
  /** Called once when the state is 'over'. */
  onOver: (() => void) | undefined = undefined;

  /** Handles an error: answers it if no answer has begun, else closes the connection. */
  protected abstract thrown(error: unknown): void;

  /** Runs a callback unless the state is 'over'; `thrown` handles what it throws. */
  guard(work: () => void): void {
    if (this.state === 'over') return;
    try {
      work();
    } catch (error) {
      this.thrown(error);
    }
  }

  /** `guard` in a turn of the event loop of its own. */
  nextTurn(work: () => void): void {
    setImmediate(() => this.guard(work));
  }

  /** `guard` with the value of a promise; `reject` handles its rejection. */
  after<T>(promise: Promise<T>, work: (value: T) => void): void {
    promise.then(
      (value) => this.guard(() => work(value)),
      (error: unknown) => this.reject(error),
    );
  }

  /** Ends the exchange with an error, unless it is over. */
  reject(error: unknown): void {
    if (this.state !== 'over') this.thrown(error);
  }

  protected notifyOver(): void {
    const { onOver } = this;
    if (onOver === undefined) return;
    this.onOver = undefined;
    try {
      onOver();
    } catch (error) {
      this.thrown(error);
    }
  }
}

/** Supplied by the owner of the adapter, for all exchanges. */
export interface ExchangeHooks<X> {
  /** Called right before a status line is written. */
  answered(x: X, status: number): void;
  /** Called once for each request, when its answer is complete, its connection closed, or it has become a WebSocket. */
  over(x: X): void;
  /** A handler or a callback failed: answers the error if no answer has begun, else closes the connection. */
  thrown(x: X, error: unknown): void;
  /** The peer sends in a way that harms others: logs the reason and closes the connection. */
  cut(x: X, reason: string): void;
  /** The deadline passed before a status line was written. Answers 408 if the body has not ended, else 503. */
  expired(x: X): void;
}

export interface ExchangeLimits extends BodyBounds {
  /** Counts what is held for each request. */
  readonly budget: Budget;
}

/** Shared by all exchanges of one adapter. */
export interface ExchangeContext<X> extends ExchangeLimits {
  readonly hooks: ExchangeHooks<X>;
  /** Exchanges whose handler has returned and whose answer is not complete. */
  readonly pending: Set<X>;
  readonly corkHolder: CorkHolder;
  readonly turns: Turns;
  readonly admission: Admission;
  readonly bodylessAnswers: BodylessAnswers;
  readonly refusedBodies: RefusedBodies;
  /** The service is stopping: every answer has `Connection: close`. */
  isClosing: boolean;
}

const CLOSE_LINE = '\r\nConnection: close';

/** Applies once the whole body is received, if the handler has set no deadline. */
const DEFAULT_DEADLINE_MS = 30_000;

const NO_ADDRESS = new Uint8Array(0);

/**
 * Before a handler returns, it must send or start an answer, ask for the body, or set a deadline; otherwise the answer
 * is 500.
 *
 *   answer in one piece              send
 *   answer of unknown length         startChunked, then write, onDrain and end of what it returns
 *   long answer of known length      startSized, then the same
 *   body in one piece                body.read
 *   body chunk by chunk              body.stream, body.pause, body.resume
 *
 * `N`: notes of the owner of the adapter, which the transport does not read.
 */
export class Exchange<N = unknown> extends Guarded implements BodyOwner {
  /** "\r\nName: value" of every further header that any answer to this request has. */
  headerLines = '';
  /** Header lines that change until the answer begins. */
  lateHeaderLines = '';
  /** Id of the key whose bytes are counted; '' without a key. */
  keyId = '';
  /** Time of the start by performance.now(). */
  readonly startedMs = performance.now();
  /** Status of the answer; 0 as long as there is none, 101 for a WebSocket. */
  status = 0;
  /** The whole answer is written. */
  isComplete = false;
  /** Why the service has closed the connection; undefined where it has not. */
  abortReason: string | undefined;
  /** To be set where the memory of a whole answer may be overwritten once `send` returns. */
  isBodyView = false;
  /**
   * Called before a body that came later than its head is processed, and before its answer: false if the request has
   * been answered.
   */
  mayGoOn: (() => boolean) | undefined;
  isContinued = false;
  #body: RequestBody | undefined;
  #account: Account | undefined;
  /** Deadline by which a status line must be written. */
  #deadline: NodeJS.Timeout | undefined;
  /** An answer that is written piece by piece; otherwise the size of the whole. */
  #streamed: StreamedAnswer | undefined;
  #wholeBytes = 0;
  #peer: Uint8Array | undefined;
  #isAttached = false;
  /** Whether the request is rejected and its answer waits for the end of its body. */
  #isAnswerDue = false;

  constructor(
    private readonly res: UwsResponse,
    readonly head: RequestHead,
    private readonly context: ExchangeContext<Exchange<N>>,
    readonly notes: N,
    private upgradeContext?: UpgradeContext,
  ) {
    super();
  }

  /** The body of the request. */
  get body(): RequestBody {
    this.#body ??= new RequestBody(this, this.res, this.context);
    return this.#body;
  }

  /** Bytes of the request's body that have come. */
  get bytesIn(): number {
    return this.#body?.bytesIn ?? 0;
  }

  /** When the peer last sent or took bytes of a body, by performance.now(). */
  get progressMs(): number {
    return Math.max(this.startedMs, this.#body?.progressMs ?? 0, this.#streamed?.progressMs ?? 0);
  }

  /** Bytes of the answer's body that are written. */
  get bytesOut(): number {
    return this.#streamed?.sentBytes ?? this.#wholeBytes;
  }

  /** The address of the peer, in four or sixteen bytes; none if it was not kept and the answer has begun. */
  get peerAddress(): Uint8Array {
    if (this.#peer === undefined && this.state === 'open') this.keepPeerAddress();
    return this.#peer ?? NO_ADDRESS;
  }

  /** Call it before the status line is written: once the answer is complete uWS cannot be asked any more. */
  keepPeerAddress(): void {
    this.#peer ??= new Uint8Array(this.res.getRemoteAddress()).slice();
  }

  /** Learns from uWS when the connection closes. */
  attach(): void {
    if (this.#isAttached) return;
    this.#isAttached = true;
    this.res.onAborted(() => this.#gone());
  }

  /** To be called in the handler, before the answer: the client waits for this before it sends the body. */
  sendContinue(): void {
    this.isContinued = true;
    writeContinue(this.res);
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

  /** Calls the `expired` hook if no status line is written after that time. Replaces an earlier deadline. */
  deadline(timeoutMs: number): void {
    if (this.state !== 'open') return;
    this.#clearDeadline();
    this.#deadline = setTimeout(() => {
      if (this.state === 'open') this.guard(() => this.context.hooks.expired(this));
    }, timeoutMs);
  }

  get hasDeadline(): boolean {
    return this.#deadline !== undefined;
  }

  #clearDeadline(): void {
    if (this.#deadline !== undefined) clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  cut(reason: string): void {
    this.context.hooks.cut(this, reason);
  }

  setReadingStopped(isStopped: boolean): void {
    this.#streamed?.setReadingStopped(isStopped);
  }

  endBody(isLate: boolean, work: () => void): void {
    this.#clearDeadline();
    this.guard(() => {
      if (!isLate || this.mayGoOn?.() !== false) work();
    });
    this.#streamed?.setBodyEnded();
    if (this.state !== 'open') return;
    if (!this.hasDeadline) this.deadline(DEFAULT_DEADLINE_MS);
    if (this.#account === undefined) this.guard(() => this.hold(0));
  }

  /** The handler has asked for the body, and its end has not come. */
  get isBodyAwaited(): boolean {
    return this.#body?.isWanted === true && !this.#body.hasEnded;
  }

  /** The request has a body whose end has not come. */
  get #isBodyComing(): boolean {
    return this.head.bodySizeBytes !== 0 && this.#body?.isReceived !== true;
  }

  /** Discards the rest of an incoming body, then calls `ended`; false if that is impossible. */
  #readOn(ended: () => void): boolean {
    return this.#isBodyComing && this.body.readOn(ended);
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
    if (this.head.bodySizeBytes !== 0) this.attach();
    // A connection that is paused when the answer ends would never be read again (README U29).
    this.#body?.resume();
    this.state = 'over';
    const answer = { status, contentType, body, headerLines, close };
    if (this.head.answerTime === AFTER_BODY && this.#mayWait(answer)) return;
    if (this.head.isReadable) this.#answer(answer);
    else this.res.cork(() => this.#answer(answer));
  }

  /** Makes an answer wait for the end of an unwanted body; false if that is impossible. */
  #mayWait(answer: WholeAnswer): boolean {
    if (this.isBodyView || !this.#readOn(() => this.res.cork(() => this.#answer(answer)))) return false;
    this.#isAnswerDue = true;
    this.keepPeerAddress();
    this.#account?.close();
    this.#clearDeadline();
    this.notifyOver();
    return true;
  }

  #answer(answer: WholeAnswer): void {
    const { status, body, headerLines, close } = answer;
    const { isBodyChunked, isClosing, bodySizeBytes } = this.head;
    const isComing = this.#isBodyComing;
    const isRefused = status >= 400 && isComing && !isBodyChunked;
    const isSkipped = isRefused && !isClosing && bodySizeBytes <= MAX_SMALL_BYTES && mayBeSkipped(status);
    // A caller without a key makes way for callers that have one.
    const isUnwanted = this.keyId === '' && this.context.admission.isCrowded;
    // Where uWS would close the connection after a large body, nothing tells when the body has been sent: the client
    // closes.
    const isLeft = (this.context.isClosing || isUnwanted) && !fitsEnd(body);
    const mustClose =
      (isUnwanted && !isLeft) || ((close || isRefused) && !isSkipped) || (isClosing && isComing);
    const isLast = mustClose || isBodyChunked || (this.context.isClosing && !isLeft);
    if (isLast && isComing && !this.#mayEndHead(answer) && this.#mayWait(answer)) return;
    const lines = (isLeft || close) && !isLast ? `${headerLines}${CLOSE_LINE}` : headerLines;
    this.#isAnswerDue = false;
    this.status = status;
    this.context.hooks.answered(this, status);
    this.#write(answer, lines, isLast);
  }

  #isBodyless(status: number): boolean {
    return this.head.method === 'HEAD' || status === 204 || status === 304;
  }

  /** Whether the body of an answer can be written with its head, and the body of the request be read on then. */
  #mayEndHead({ status, body }: WholeAnswer): boolean {
    return !this.#isBodyless(status) && typeof body === 'string' && fitsEnd(body);
  }

  #write(answer: WholeAnswer, lines: string, close: boolean): void {
    const { res, context } = this;
    const { status, contentType, body } = answer;
    const isHead = this.head.method === 'HEAD';
    const isBodyless = this.#isBodyless(status);
    if (close && this.#mayEndHead(answer) && this.#readOn(() => res.close())) {
      writeHead(res, this, status, contentType, lines + closingInChunks(body as string));
      this.#wholeBytes = sizeOf(body);
      this.#over(true);
      return;
    }
    const isLast = close || (isBodyless && !context.bodylessAnswers.take());
    // uWS would end the process: it takes a request for one without an answer if it closes after a head alone, or if
    // `end` drops the body (README U19).
    if (isLast && this.head.isReadable) this.attach();
    writeHead(
      res,
      this,
      status,
      contentType,
      isLast || lines.endsWith(CLOSE_LINE) ? lines : KEPT_LINE + lines,
    );
    if (isBodyless) {
      endBodyless(res, isHead, body, isLast);
      this.#over(true);
      return;
    }
    this.#wholeBytes = sizeOf(body);
    if (writeBody(res, body, close)) {
      this.#over(true);
    } else {
      this.state = 'answering';
      this.guard(() => this.hold((this.#account?.heldBytes ?? 0) + this.#wholeBytes));
      const isEnded = (): boolean => this.state === 'over';
      if (!isEnded()) writeRest(res, this.isBodyView ? body.slice() : body, isEnded, () => this.#over(true));
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

  /** Starts an answer of `totalBytes`, at least one. The whole body of the request must have been received. */
  startSized(
    status: number,
    contentType: string,
    headerLines: string,
    totalBytes: number,
  ): StreamedAnswer | undefined {
    // There is nothing left to read, and a connection left paused would never be read again (README U29).
    this.#body?.resume();
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
    this.attach();
    this.state = 'answering';
    this.status = status;
    this.context.hooks.answered(this, status);
    this.#clearDeadline();
    const closing = this.head.isBodyChunked || this.context.isClosing ? CLOSE_LINE : KEPT_LINE;
    const streamed = create({
      writeHead: () => writeHead(this.res, this, status, contentType, headerLines + closing),
      ending: () => this.#body?.resume(),
      lastWrite: () => {
        // A connection that is paused when its answer ends is never read again (README U29).
        if (this.head.isBodyChunked) this.res.pause();
      },
      notLastWrite: () => {
        if (this.head.isBodyChunked) this.res.resume();
      },
      finished: () => this.#over(true),
      guard: (work) => this.guard(work),
    });
    this.#streamed = streamed;
    if (this.#body?.isPaused === true) streamed.setReadingStopped(true);
    if (this.#body?.hasEnded === true) streamed.setBodyEnded();
    return streamed;
  }

  /** Closes the connection at once. The client sees an incomplete answer. `reason`: for the log. */
  abort(reason: string): void {
    if (this.state === 'over') return;
    this.abortReason = reason;
    this.res.close();
    if (!this.#isAttached) this.#gone();
  }

  /** Accepts a WebSocket upgrade. Call it before the upgrade handler returns. */
  acceptUpgrade<T>(userData: T, protocol: string): void {
    const context = this.upgradeContext;
    if (this.state !== 'open' || context === undefined) return;
    const key = this.head.header('sec-websocket-key');
    this.status = 101;
    this.#over(true);
    this.res.upgrade(userData, key, protocol, '', context);
  }

  /** The handler has returned: the request can no longer be read. */
  leaveFirstTick(): void {
    this.head.endReading();
    this.upgradeContext = undefined;
    if (this.state === 'over' && !this.#isAnswerDue) return;
    this.attach();
    this.keepPeerAddress();
    this.context.pending.add(this);
    if (this.state === 'open' && this.#body?.isWanted !== true && !this.hasDeadline) {
      this.thrown(new Error('a handler returned without an answer'));
    }
    if (this.state === 'open' && this.head.bodySizeBytes !== 0) this.body.hear();
  }

  #gone(): void {
    if (this.state === 'over') {
      this.#body?.leaveRefused();
      if (this.#isAnswerDue) {
        this.#isAnswerDue = false;
        this.#over(false);
      }
      return;
    }
    this.#streamed?.drop();
    this.#over(false);
  }

  #over(isComplete: boolean): void {
    this.state = 'over';
    this.isComplete = isComplete;
    this.#account?.close();
    this.#clearDeadline();
    if (!this.head.isReadable) this.context.pending.delete(this);
    this.notifyOver();
    this.context.hooks.over(this);
  }

  protected thrown(error: unknown): void {
    this.context.hooks.thrown(this, error);
  }
}
