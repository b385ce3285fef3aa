// One request and its answer, as handlers see them. Once the answer is complete or the connection is closed, every call of
// the answering side does nothing, so handlers need not check.
import { writeHead } from './answers/answer-head.js';
import { ChunkedAnswer } from './answers/chunked-answer.js';
import { SizedAnswer } from './answers/sized-answer.js';
import type { AnswerHooks, StreamedAnswer } from './answers/streamed-answer.js';
import { type BodylessAnswers, endBodyless, writeBody, writeRest } from './answers/whole-answer.js';
import { collectBody } from './collect-body.js';
import type { CorkHolder } from './cork-holder.js';
import { Guarded } from './guarded.js';
import type { HeaderFields } from './headers.js';
import { ChunkCount, type Turns } from './turns.js';
import type { UpgradeContext, UwsRequest, UwsResponse } from './uws.js';

/** Supplied by the owner of the adapter, for all exchanges. */
export interface ExchangeHooks {
  /** Called right before a status line is written. */
  answered(x: Exchange, status: number): void;
  /** A handler or a callback failed: answers the error if no answer has begun, else closes the connection. */
  thrown(x: Exchange, error: unknown): void;
  /** The peer sends in a way that harms others: logs the reason and closes the connection. */
  cut(x: Exchange, reason: string): void;
  /** The deadline passed before a status line was written. Answers 503. */
  expired(x: Exchange): void;
}

/** Shared by all exchanges of one adapter. */
export interface ExchangeContext {
  readonly hooks: ExchangeHooks;
  /** Exchanges whose handler has returned and whose answer is not complete. */
  readonly pending: Set<Exchange>;
  readonly corkHolder: CorkHolder;
  readonly turns: Turns;
  readonly bodylessAnswers: BodylessAnswers;
  /** What may still come of a body after `pause` and before `resume`; a peer that brings more is cut off. */
  readonly maxPastStopBytes: number;
  /** The service is stopping: every answer has `Connection: close`. */
  isClosing: boolean;
}

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
  #pastStopBytes = 0;

  constructor(
    private readonly res: UwsResponse,
    req: UwsRequest,
    private readonly context: ExchangeContext,
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

  // --- request, readable until the handler returns (README U8) ---

  /** The first value of a header, '' if absent. */
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

  // --- body ---

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
    const chunks = new ChunkCount(this.context.turns);
    this.res.onData((chunk, isLast) => {
      if (this.state === 'over') return;
      if (!chunks.take()) {
        this.context.hooks.cut(this, 'too many chunks of a body in one turn of the event loop');
        return;
      }
      if (this.#isPaused) this.#pastStopBytes += chunk.byteLength;
      if (this.#pastStopBytes > this.context.maxPastStopBytes) {
        this.context.hooks.cut(
          this,
          `the body brought ${this.#pastStopBytes} bytes while reading was stopped`,
        );
        return;
      }
      if (isLast) this.#hasBodyEnded = true;
      this.guard(() => work(new Uint8Array(chunk), isLast));
      if (isLast) this.#streamed?.setBodyEnded();
      if (isLast && this.state === 'open' && this.#timer === undefined) this.deadline(DEFAULT_DEADLINE_MS);
    });
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
    this.#pastStopBytes = 0;
    this.res.resume();
    this.#streamed?.setReadingStopped(false);
  }

  // --- answer ---

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
    const isLast = close || this.context.isClosing;
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

  /** Starts an answer of `totalBytes`, at least one. The whole body of the request must have been received. */
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
    const streamed = create({
      writeHead: () => writeHead(this.res, this, status, contentType, headerLines),
      ending: () => this.resume(),
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

  // --- for the adapter ---

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
