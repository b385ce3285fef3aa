// One request and its answer, as handlers see them. The request side (header, parameter, remote address) can be read in
// the handler's first tick only; everything else at any time. After the peer has vanished or the answer is complete every
// call of the answer side does nothing, so that no handler needs to ask.
//
//   answer of known length     send(status, type, body)          in the first tick or later
//   answer of unknown length   startChunked(status, type)        then its write(), onDrain, end()
//   one whose length is known  startSized(status, type, ...)     the same
//   whole body                 readBody(limit, tooLarge, work)   work runs with all bytes, valid during the call
//   body as it comes           streamBody(work), pause(), resume()
//   a handler that returns without an answer must have asked for the body or set deadline(); after the last byte of a
//   body an answer that is still owed gets a deadline by itself
import { ChunkedAnswer } from './chunked-answer.js';
import type { CorkHolder } from './cork-holder.js';
import { SizedAnswer } from './sized-answer.js';
import type { AnswerHooks, StreamedAnswer } from './streamed-answer.js';
import type { UpgradeContext, UwsRequest, UwsResponse } from './uws.js';

/** What the owner of the adapter does at the three moments every exchange shares. */
export interface ExchangeHooks {
  /** A status line is about to be written. */
  answered(x: Exchange, status: number): void;
  /** A handler or callback threw; answers 500 if nothing has been answered yet. */
  thrown(x: Exchange, error: unknown): void;
  /** A deadline passed before the first byte of the answer. */
  expired(x: Exchange): void;
}

/** Shared by all exchanges of one adapter. */
export interface ExchangeHome {
  readonly hooks: ExchangeHooks;
  /** Exchanges that outlived their first tick and are not complete. */
  readonly pending: Set<Exchange>;
  readonly corkHolder: CorkHolder;
  /** Set while stopping: answers ask the peer to close the connection. */
  closing: boolean;
}

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  204: '204 No Content',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  413: '413 Content Too Large',
  414: '414 URI Too Long',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/**
 * Bodies above this, which with their head would not fit the binary's cork, go out by tryEnd: `end` loses such a body when
 * the socket has no room left for its head, and keeps a second copy of what the socket did not take.
 */
const TRY_END_BYTES = 15_000;

/** For an answer that is owed after the whole body has come, unless the handler sets another. */
const DEFAULT_DEADLINE_MS = 30_000;

export class Exchange {
  /** Bytes announced for the body; 0 none, -1 a chunked body. */
  bodySizeBytes = 0;
  requestId = '';
  contentType = '';
  accept = '';
  /** The X-API-Key header; undefined if absent. `apiKeyConflict` tells that two different ones came. */
  apiKey: string | undefined = undefined;
  apiKeyConflict = false;
  /** "\r\nName: value" of every further header that each answer to this request carries. */
  headerLines = '';
  /** Called once when the peer vanishes before the answer is complete. */
  onGone: (() => void) | undefined = undefined;
  /** 'answering': a status line is out; 'over': complete or gone. */
  state: 'open' | 'answering' | 'over' = 'open';

  #req: UwsRequest | undefined;
  #upgradeContext: UpgradeContext | undefined;
  #timer: NodeJS.Timeout | undefined;
  #streamed: StreamedAnswer | undefined;
  #bodyAsked = false;
  #bodyEnded = false;
  #paused = false;

  constructor(
    private readonly res: UwsResponse,
    req: UwsRequest,
    private readonly home: ExchangeHome,
    readonly method: string,
    /** The route's pattern: what logs name, since a path may hold anything. */
    readonly pattern: string,
    readonly path: string,
    /** Raw query, '' if none. */
    readonly rawQuery: string,
    upgradeContext?: UpgradeContext,
  ) {
    this.#req = req;
    this.#upgradeContext = upgradeContext;
  }

  // --- request, first tick only ---

  /** First value of a header, '' if absent. */
  header(lowerCaseName: string): string {
    return this.#request().getHeader(lowerCaseName);
  }

  /** All values of a header in order. */
  headerValues(lowerCaseName: string): string[] {
    const values: string[] = [];
    this.#request().forEach((name, value) => {
      if (name === lowerCaseName) values.push(value);
    });
    return values;
  }

  /** A segment of the path that the pattern names `:x`, as sent (percent-encoded). */
  parameter(index: number): string {
    return this.#request().getParameter(index) ?? '';
  }

  remoteAddress(): string {
    return Buffer.from(this.res.getRemoteAddressAsText()).toString('latin1');
  }

  // --- body ---

  /**
   * Collects the body and calls `work` once with all of it; the bytes are valid during the call. Over the limit
   * `tooLarge` is called instead, before anything beyond the limit is kept; it answers and closes the connection.
   */
  readBody(limitBytes: number, tooLarge: () => void, work: (body: Uint8Array) => void): void {
    if (this.bodySizeBytes > limitBytes) {
      tooLarge();
      return;
    }
    let kept = Buffer.alloc(0);
    let size = 0;
    this.streamBody((chunk, isLast) => {
      if (size === 0 && isLast && chunk.length <= limitBytes) {
        work(chunk);
        return;
      }
      if (size + chunk.length > limitBytes) {
        kept = Buffer.alloc(0);
        tooLarge();
        return;
      }
      if (size + chunk.length > kept.length) {
        const grown = Buffer.allocUnsafeSlow(Math.min(limitBytes, Math.max(4096, 2 * (size + chunk.length))));
        grown.set(kept.subarray(0, size));
        kept = grown;
      }
      kept.set(chunk, size);
      size += chunk.length;
      if (isLast) work(kept.subarray(0, size));
    });
  }

  /** Hands on each piece of the body; the bytes are valid during the call only. No call after the answer is over. */
  streamBody(work: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#bodyAsked = true;
    this.res.onData((chunk, isLast) => {
      if (this.state === 'over') return;
      if (isLast) this.#bodyEnded = true;
      this.guard(() => work(new Uint8Array(chunk), isLast));
      if (isLast) this.#streamed?.setBodyEnded();
      if (isLast && this.state === 'open' && this.#timer === undefined) this.deadline(DEFAULT_DEADLINE_MS);
    });
  }

  /** Stops reading this request's body (and its connection's time-out) until `resume` or the end of the answer. */
  pause(): void {
    if (this.state === 'over' || this.#paused) return;
    this.#paused = true;
    this.res.pause();
    this.#streamed?.setReadingStopped(true);
  }

  resume(): void {
    if (this.state === 'over' || !this.#paused) return;
    this.#paused = false;
    this.res.resume();
    this.#streamed?.setReadingStopped(false);
  }

  // --- answer ---

  /** A whole answer. `headerLines` are further "\r\nName: value" pairs of trusted text. */
  send(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headerLines = '',
    close = false,
  ): void {
    if (this.state !== 'open') return;
    // A connection left paused would never be read again, not even its next request.
    this.resume();
    this.state = 'over';
    this.home.hooks.answered(this, status);
    const closeConnection = close || this.home.closing;
    if (this.#req !== undefined) this.#sendCorked(status, contentType, body, headerLines, closeConnection);
    else this.res.cork(() => this.#sendCorked(status, contentType, body, headerLines, closeConnection));
  }

  #sendCorked(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headerLines: string,
    close: boolean,
  ): void {
    const { res } = this;
    this.#writeHead(status, contentType, headerLines);
    if (this.method === 'HEAD') {
      const sizeBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
      // A size handed to the binary would make it wait for that many bytes, and drop the next request.
      if (close) res.endWithoutBody(sizeBytes, true);
      else res.writeHeader('Content-Length', String(sizeBytes)).endWithoutBody();
    } else if (status === 204 || status === 304) {
      // Any argument would become a Content-Length, which these must not have.
      res.endWithoutBody();
    } else if (typeof body === 'string' || body.length <= TRY_END_BYTES || close) {
      res.end(body, close);
    } else {
      this.#sendLarge(body);
      return;
    }
    this.#over();
  }

  #sendLarge(body: Uint8Array): void {
    this.state = 'answering';
    this.res.onWritable((offsetBytes) => {
      if (this.state !== 'answering') return true;
      const [ok, done] = this.res.tryEnd(body.subarray(offsetBytes), body.length);
      if (done) this.#over();
      return ok;
    });
    const [, done] = this.res.tryEnd(body, body.length);
    if (done) this.#over();
  }

  /** Begins an answer of unknown length (a HEAD request must not come here). `isEndApart`: as ChunkedAnswer says. */
  startChunked(
    status: number,
    contentType: string,
    headerLines = '',
    isEndApart = false,
  ): StreamedAnswer | undefined {
    const { corkHolder } = this.home;
    return this.#startStreamed(
      status,
      contentType,
      headerLines,
      (hooks) => new ChunkedAnswer(this.res, hooks, corkHolder, isEndApart),
    );
  }

  /** Begins an answer of `totalBytes`, at least one, to a request whose body has come whole. */
  startSized(
    status: number,
    contentType: string,
    headerLines: string,
    totalBytes: number,
  ): StreamedAnswer | undefined {
    // Nothing more of it is to be stopped; a connection left paused would never be read again.
    this.resume();
    return this.#startStreamed(
      status,
      contentType,
      headerLines,
      (hooks) => new SizedAnswer(this.res, hooks, totalBytes, this.home.corkHolder),
    );
  }

  #startStreamed(
    status: number,
    contentType: string,
    headerLines: string,
    create: (hooks: AnswerHooks) => StreamedAnswer,
  ): StreamedAnswer | undefined {
    if (this.state !== 'open') return undefined;
    this.state = 'answering';
    this.home.hooks.answered(this, status);
    clearTimeout(this.#timer);
    const streamed = create({
      head: () => this.#writeHead(status, contentType, headerLines),
      ending: () => this.resume(),
      finished: () => this.#over(),
      guard: (work) => this.guard(work),
    });
    this.#streamed = streamed;
    if (this.#paused) streamed.setReadingStopped(true);
    if (this.#bodyEnded) streamed.setBodyEnded();
    return streamed;
  }

  /** Answers what the deadline's hook says if no status line is out after that time. */
  deadline(timeoutMs: number): void {
    clearTimeout(this.#timer);
    if (this.state !== 'open') return;
    this.#timer = setTimeout(() => {
      if (this.state === 'open') this.guard(() => this.home.hooks.expired(this));
    }, timeoutMs);
  }

  /** Ends the connection at once: the peer sees a broken answer, never a complete one. */
  abort(): void {
    if (this.state !== 'over') this.res.close();
  }

  /** Accepts a WebSocket upgrade, synchronously in the upgrade handler. */
  acceptUpgrade<T>(userData: T, protocol: string): void {
    const context = this.#upgradeContext;
    if (this.state !== 'open' || context === undefined) return;
    const key = this.header('sec-websocket-key');
    this.state = 'over';
    this.res.upgrade(userData, key, protocol, '', context);
  }

  /** Runs a callback of a handler; whatever it throws becomes the hook's business instead of the process's end. */
  guard(work: () => void): void {
    if (this.state === 'over') return;
    try {
      work();
    } catch (error) {
      this.home.hooks.thrown(this, error);
    }
  }

  // --- for the adapter ---

  /** The first tick is over: the request can no longer be read. */
  leaveFirstTick(): void {
    this.#req = undefined;
    this.#upgradeContext = undefined;
    if (this.state === 'over') return;
    this.home.pending.add(this);
    if (this.state === 'open' && !this.#bodyAsked && this.#timer === undefined) {
      this.home.hooks.thrown(this, new Error('a handler returned without an answer'));
    }
  }

  /** The peer has gone. */
  gone(): void {
    if (this.state === 'over') return;
    this.#streamed?.drop();
    const { onGone } = this;
    this.onGone = undefined;
    if (onGone !== undefined) this.guard(onGone);
    this.#over();
  }

  #over(): void {
    this.state = 'over';
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    if (this.#req === undefined) this.home.pending.delete(this);
  }

  #request(): UwsRequest {
    if (this.#req === undefined) throw new Error('the request can be read in the first tick only');
    return this.#req;
  }

  /**
   * All headers in one call of the binary: its writeHeader passes CR LF through, and a call costs more than the bytes.
   * Only trusted text comes here: constants, and a request id of the allowed characters.
   */
  #writeHead(status: number, contentType: string, headerLines: string): void {
    if (status !== 200) this.res.writeStatus(STATUS_LINES[status] ?? `${status} Status`);
    const lines = `${this.headerLines}\r\nX-Request-Id: ${this.requestId}${headerLines}`;
    if (contentType !== '') this.res.writeHeader('Content-Type', contentType + lines);
    else this.res.writeHeader('X-Request-Id', this.requestId + this.headerLines + headerLines);
  }
}
