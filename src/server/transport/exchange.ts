// One request and its answer, as handlers see them. Once the answer is complete or the connection is closed, every call of
// the answering side does nothing, so handlers need not check.
import { writeHead } from './answers/answer-head.js';
import { ChunkedAnswer } from './answers/chunked-answer.js';
import { SizedAnswer } from './answers/sized-answer.js';
import type { AnswerHooks, StreamedAnswer } from './answers/streamed-answer.js';
import { endBodyless, writeBody, writeRest } from './answers/whole-answer.js';
import { BodyLimits } from './body-limits.js';
import { collectBody } from './collect-body.js';
import type { ExchangeContext } from './exchange-context.js';
import { Guarded } from './guarded.js';
import type { HeaderFields } from './headers.js';
import type { UpgradeContext, UwsRequest, UwsResponse } from './uws.js';

/** Applies once the whole body is received, if the handler has set no deadline. */
const DEFAULT_DEADLINE_MS = 30_000;

/**
 * Before a handler returns, it must send or start an answer, ask for the body, or set a deadline; otherwise the answer is 500.
 *
 *   answer in one piece              send
 *   answer of unknown length         startChunked, then write, onDrain and end of what it returns
 *   long answer of known length      startSized, then the same
 *   body in one piece                readBody
 *   body chunk by chunk              streamBody, pause, resume
 */
export class Exchange extends Guarded implements HeaderFields {
  bodySizeBytes = 0;
  requestId = '';
  hasGivenId = false;
  contentType = '';
  accept = '';
  apiKey: string | undefined = undefined;
  apiKeyConflict = false;
  /** "\r\nName: value" of every further header that any answer to this request has. */
  headerLines = '';

  #req: UwsRequest | undefined;
  #upgradeContext: UpgradeContext | undefined;
  #timer: NodeJS.Timeout | undefined;
  #streamed: StreamedAnswer | undefined;
  #isBodyWanted = false;
  #hasBodyEnded = false;
  #isPaused = false;

  constructor(
    private readonly res: UwsResponse,
    req: UwsRequest,
    private readonly context: ExchangeContext<Exchange>,
    readonly method: string,
    /** The pattern of the route. Logs name it instead of the path, which may contain a key. */
    readonly pattern: string,
    readonly path: string,
    /** The query as it was sent, without "?"; '' if there is none. */
    readonly rawQuery: string,
    upgradeContext?: UpgradeContext,
  ) {
    super();
    this.#req = req;
    this.#upgradeContext = upgradeContext;
  }

  /** The first value of a header, '' if absent. Like all of the request, readable until the handler returns (README U8). */
  header(lowerCaseName: string): string {
    return this.#request().getHeader(lowerCaseName);
  }

  /** All values of a header, in the order they were sent. */
  headerValues(lowerCaseName: string): string[] {
    const values: string[] = [];
    this.#request().forEach((name, value) => {
      if (name === lowerCaseName) values.push(value);
    });
    return values;
  }

  /** The path segment at the pattern's `:name` number `index`, percent-encoded as it was sent. */
  parameter(index: number): string {
    return this.#request().getParameter(index) ?? '';
  }

  remoteAddress(): string {
    return Buffer.from(this.res.getRemoteAddressAsText()).toString('latin1');
  }

  /**
   * Calls `work` once with the whole body, valid during that call. If the body is longer than the limit, `tooLarge` is
   * called instead, before more than the limit is buffered; it must answer and close the connection.
   */
  readBody(limitBytes: number, tooLarge: () => void, work: (body: Uint8Array) => void): void {
    if (this.bodySizeBytes > limitBytes) tooLarge();
    else this.streamBody(collectBody(limitBytes, tooLarge, work));
  }

  /** Calls `work` with each chunk of the body, valid during that call, until the answer is over. */
  streamBody(work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#isBodyWanted = true;
    const limits = new BodyLimits(this.context.turns, this.context.maxPastStopBytes);
    this.res.onData((chunk, isLast) => {
      if (this.state === 'over') return;
      const fault = limits.faultOf(chunk.byteLength, this.#isPaused);
      if (fault !== undefined) {
        this.context.hooks.cut(this, fault);
        return;
      }
      const bytes = new Uint8Array(chunk);
      if (!isLast) {
        this.guard(() => work(bytes, false));
      } else if (this.#isBodyChunked) {
        // Not in the turn in which uWS believes that the body ended (README U33).
        const copy = bytes.slice();
        this.nextTurn(() => this.#endBody(copy, work));
      } else {
        this.#endBody(bytes, work);
      }
    });
  }

  #endBody(lastChunk: Uint8Array, work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#hasBodyEnded = true;
    this.guard(() => work(lastChunk, true));
    this.#streamed?.setBodyEnded();
    if (this.state === 'open' && this.#timer === undefined) this.deadline(DEFAULT_DEADLINE_MS);
  }

  /** uWS may be wrong about where such a body ends, so the request is the last one on its connection (README U33). */
  get #isBodyChunked(): boolean {
    return this.bodySizeBytes < 0;
  }

  /** Stops reading the body, and uWS's timeout, until `resume` or the end of the answer. See README U26 to U28. */
  pause(): void {
    if (this.state === 'over' || this.#isPaused) return;
    this.#isPaused = true;
    this.res.pause();
    this.#streamed?.setReadingStopped(true);
  }

  resume(): void {
    if (this.state === 'over' || !this.#isPaused) return;
    this.#isPaused = false;
    this.res.resume();
    this.#streamed?.setReadingStopped(false);
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
    this.context.hooks.answered(this, status);
    const isLast = close || this.context.isClosing || this.#isBodyChunked;
    if (this.#req !== undefined) this.#write(status, contentType, body, headerLines, isLast);
    else this.res.cork(() => this.#write(status, contentType, body, headerLines, isLast));
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
      this.#over();
    } else if (writeBody(res, body, close)) {
      this.#over();
    } else {
      this.state = 'answering';
      const isOver = (): boolean => this.state === 'over';
      writeRest(res, body, isOver, () => this.#over());
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
    this.context.hooks.answered(this, status);
    clearTimeout(this.#timer);
    const closing = this.#isBodyChunked ? '\r\nConnection: close' : '';
    const streamed = create({
      writeHead: () => writeHead(this.res, this, status, contentType, headerLines + closing),
      ending: () => this.resume(),
      lastWrite: () => {
        // A connection that is paused when its answer ends is never read again (README U29).
        if (this.#isBodyChunked) this.res.pause();
      },
      finished: () => this.#over(),
      guard: (work) => this.guard(work),
    });
    this.#streamed = streamed;
    if (this.#isPaused) streamed.setReadingStopped(true);
    if (this.#hasBodyEnded) streamed.setBodyEnded();
    return streamed;
  }

  /** Calls the `expired` hook if no status line is written after that time. Replaces an earlier deadline. */
  deadline(timeoutMs: number): void {
    clearTimeout(this.#timer);
    if (this.state !== 'open') return;
    this.#timer = setTimeout(() => {
      if (this.state === 'open') this.guard(() => this.context.hooks.expired(this));
    }, timeoutMs);
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
    this.state = 'over';
    this.res.upgrade(userData, key, protocol, '', context);
  }

  /** The handler has returned: the request can no longer be read. */
  leaveFirstTick(): void {
    this.#req = undefined;
    this.#upgradeContext = undefined;
    if (this.state === 'over') return;
    this.context.pending.add(this);
    if (this.state === 'open' && !this.#isBodyWanted && this.#timer === undefined) {
      this.thrown(new Error('a handler returned without an answer'));
    }
  }

  /** The connection is closed. */
  gone(): void {
    if (this.state === 'over') return;
    this.#streamed?.drop();
    this.#over();
  }

  #over(): void {
    this.state = 'over';
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    if (this.#req === undefined) this.context.pending.delete(this);
    this.notifyOver();
  }

  protected thrown(error: unknown): void {
    this.context.hooks.thrown(this, error);
  }

  #request(): UwsRequest {
    if (this.#req === undefined) throw new Error('the request can be read in the first tick only');
    return this.#req;
  }
}
