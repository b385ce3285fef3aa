// One request and its answer, as handlers see them. Once the answer is complete or the connection is closed, every call
// of the answering side does nothing, so handlers need not check.
import { writeHead } from './answers/answer-head.js';
import { ChunkedAnswer } from './answers/chunked-answer.js';
import { SizedAnswer } from './answers/sized-answer.js';
import type { AnswerHooks, StreamedAnswer } from './answers/streamed-answer.js';
import {
  closingInChunks,
  endBodyless,
  fitsEnd,
  isSkippedBody,
  type WholeAnswer,
  writeBody,
  writeRest,
} from './answers/whole-answer.js';
import { ReceivingRequest } from './body/receiving-request.js';
import type { ExchangeContext } from './exchange-context.js';
import { AFTER_BODY } from './headers.js';
import type { UpgradeContext, UwsRequest, UwsResponse } from './uws.js';

const CLOSE_LINE = '\r\nConnection: close';

/**
 * Before a handler returns, it must send or start an answer, ask for the body, or set a deadline; otherwise the answer
 * is 500.
 *
 *   answer in one piece              send
 *   answer of unknown length         startChunked, then write, onDrain and end of what it returns
 *   long answer of known length      startSized, then the same
 *   body in one piece                readBody
 *   body chunk by chunk              streamBody, pause, resume
 */
export class Exchange extends ReceivingRequest {
  #upgradeContext: UpgradeContext | undefined;
  #isUpgrading = false;
  /** The request is refused, and its answer waits for the end of its body. */
  #isAnswerDue = false;

  constructor(
    res: UwsResponse,
    req: UwsRequest,
    context: ExchangeContext<Exchange>,
    method: string,
    pattern: string,
    path: string,
    rawQuery: string,
    upgradeContext?: UpgradeContext,
  ) {
    super(res, req, context as ExchangeContext<ReceivingRequest>, method, pattern, path, rawQuery);
    this.#upgradeContext = upgradeContext;
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
    if (this.isReadable && this.context.door?.mustClose(this) === true) {
      this.abort();
      return;
    }
    if (this.mayHaveBody) this.attach();
    // A connection that is paused when the answer ends would never be read again (README U29).
    this.resume();
    this.state = 'over';
    const answer = { status, contentType, body, headerLines, close };
    if (this.answerTime === AFTER_BODY && this.#mayWait(answer)) return;
    if (this.isReadable) this.#answer(answer);
    else this.res.cork(() => this.#answer(answer));
  }

  /** Lets an answer wait for the end of a body that nobody wants any more; false if it cannot. */
  #mayWait(answer: WholeAnswer): boolean {
    if (this.isBodyView || !this.readOn(() => this.res.cork(() => this.#answer(answer)))) return false;
    this.#isAnswerDue = true;
    this.keepPeerAddress();
    this.account?.close();
    this.timeout.clear();
    this.notifyOver();
    return true;
  }

  #answer(answer: WholeAnswer): void {
    const { status, body, headerLines, close } = answer;
    this.#isAnswerDue = false;
    this.status = status;
    this.context.hooks.answered(this, status);
    const isRefused = status >= 400 && this.isBodyComing && !this.isBodyChunked;
    const isSkipped = isRefused && isSkippedBody(status, this.bodySizeBytes);
    // A large body that uWS itself would close after is not seen to leave: there the client closes.
    const isLeft = this.context.isClosing && !fitsEnd(body);
    const mustClose = (close || isRefused) && !isSkipped;
    const isLast = mustClose || this.isBodyChunked || (this.context.isClosing && !isLeft);
    const lines = (isLeft || close) && !isLast ? `${headerLines}${CLOSE_LINE}` : headerLines;
    this.#write(answer, lines, isLast);
  }

  #write(answer: WholeAnswer, lines: string, close: boolean): void {
    const { res, context } = this;
    const { status, contentType, body } = answer;
    const closesBefore = context.door?.closes;
    const isHead = this.method === 'HEAD';
    const isBodyless = isHead || status === 204 || status === 304;
    const mayReadOn = close && !isBodyless && typeof body === 'string' && fitsEnd(body);
    if (mayReadOn && this.readOn(() => res.close())) {
      writeHead(res, this, status, contentType, lines + closingInChunks(body));
      this.wholeBytes = Buffer.byteLength(body);
      this.#over(true);
      return;
    }
    const isLast = close || (isBodyless && !context.bodylessAnswers.take());
    if (isLast && this.isReadable && context.door !== undefined && context.door.size > 0) {
      this.#closeLater(() => this.#write(answer, lines, true));
      return;
    }
    // uWS would end the process: it takes a request that it closes behind such an answer for one without an answer.
    if (isLast && isBodyless && this.isReadable) this.attach();
    const isOver = (): void => {
      this.isClosedInside = context.door?.closes !== closesBefore;
      this.#over(true);
    };
    writeHead(res, this, status, contentType, lines);
    if (isBodyless) {
      endBodyless(res, isHead, body, isLast);
      isOver();
      return;
    }
    this.wholeBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (writeBody(res, body, close)) {
      isOver();
    } else {
      this.state = 'answering';
      this.guard(() => this.hold((this.account?.heldBytes ?? 0) + this.wholeBytes));
      const isEnded = (): boolean => this.state === 'over';
      if (!isEnded()) writeRest(res, this.isBodyView ? body.slice() : body, isEnded, () => this.#over(true));
    }
  }

  /**
   * Ends the request in a turn of its own: a connection that is closed in its handler could not be told from others by
   * the door.
   */
  #closeLater(work: () => void): void {
    this.#isAnswerDue = true;
    this.attach();
    this.keepPeerAddress();
    setImmediate(() => {
      if (!this.#isAnswerDue) return;
      this.#isAnswerDue = false;
      this.res.cork(work);
    });
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
    this.attach();
    this.state = 'answering';
    this.status = status;
    this.context.hooks.answered(this, status);
    this.timeout.clear();
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
    if (this.isPaused) streamed.setReadingStopped(true);
    if (this.hasBodyEnded) streamed.setBodyEnded();
    return streamed;
  }

  /** Closes the connection at once. The client sees an incomplete answer. */
  abort(): void {
    if (this.state === 'over') return;
    if (this.isReadable && this.isAttached) {
      this.state = 'over';
      this.#closeLater(() => this.res.close());
      return;
    }
    this.res.close();
    if (this.isAttached) return;
    // The door has heard it.
    this.isEndUnseen = false;
    this.gone();
  }

  /**
   * Accepts a WebSocket upgrade. To be called before the upgrade handler returns. Where many connections without a key
   * could be taken for this one the upgrade waits for the next turn; if the peer is gone by then, `onOver` is called
   * and no socket opens.
   */
  acceptUpgrade<T>(userData: T, protocol: string): void {
    const context = this.#upgradeContext;
    if (this.state !== 'open' || context === undefined) return;
    const key = this.header('sec-websocket-key');
    const upgrade = (): void => {
      this.status = 101;
      this.#over(true);
      this.res.upgrade(userData, key, protocol, '', context);
    };
    const { door, corkHolder } = this.context;
    if (door?.isLost(this) === true) {
      this.abort();
      return;
    }
    if (door?.isCrowded(this.peerAddress) !== true || !corkHolder.isOpen) {
      door?.forget(this.peerAddress);
      upgrade();
      return;
    }
    this.#isUpgrading = true;
    // Not corked: uWS may close a connection that is upgraded in its own cork outside of the handler (README U40).
    this.nextTurn(() => corkHolder.runUncorked(upgrade));
  }

  /** State for the door: a request is not over while the rest of its body is read, as its connection is busy. */
  get visitState(): Exchange['state'] {
    return this.isReadingOn || this.#isAnswerDue ? 'answering' : this.state;
  }

  /** The handler has returned: the request can no longer be read. */
  leaveFirstTick(): void {
    this.endReading();
    this.#upgradeContext = undefined;
    if (this.visitState === 'over') return;
    this.attach();
    this.keepPeerAddress();
    if (this.state === 'over' && !this.#isAnswerDue) return;
    this.context.pending.add(this);
    if (this.state === 'open' && !this.isBodyWanted && !this.#isUpgrading && !this.timeout.isSet) {
      this.thrown(new Error('a handler returned without an answer'));
    }
  }

  protected gone(): void {
    if (this.state === 'over') {
      this.leaveRefused();
      if (this.#isAnswerDue) {
        this.#isAnswerDue = false;
        this.#over(false);
      } else this.onLeave?.(false);
      return;
    }
    this.streamed?.drop();
    this.#over(false);
  }

  #over(isComplete: boolean): void {
    this.state = 'over';
    this.isComplete = isComplete;
    this.account?.close();
    this.timeout.clear();
    if (!this.isReadable) this.context.pending.delete(this);
    // While the rest of the body is read the connection stays busy: it is closed at the end.
    if (!this.isReadingOn) this.onLeave?.(isComplete && !this.isClosedInside);
    this.notifyOver();
    this.context.hooks.over(this);
  }

  protected thrown(error: unknown): void {
    this.context.hooks.thrown(this, error);
  }
}
