// The head of a request, as handlers read it, and what metrics and logs note of the request and its answer.
import type { Entry } from '../ledger/entry.js';
import type { StreamedAnswer } from './answers/streamed-answer.js';
import type { Visit } from './door/door.js';
import { Guarded } from './guarded.js';
import type { HeaderFields } from './headers.js';
import type { UwsRequest, UwsResponse } from './uws.js';

/** Longest path and query together; more is answered 414. */
export const TARGET_LIMIT_BYTES = 8192;

const NO_POSITION = {};
const NO_ADDRESS = new Uint8Array(0);

export abstract class RequestHead extends Guarded implements HeaderFields, Visit {
  abstract get visitState(): Visit['visitState'];
  bodySizeBytes = 0;
  isEndUnseen = false;
  requestId = '';
  hasGivenId = false;
  contentType = '';
  accept = '';
  apiKey: string | undefined = undefined;
  apiKeyConflict = false;
  /** In the ledger of its key; undefined before that is known, and where nothing is counted. */
  entry: Entry | undefined = undefined;
  /** The operation of the request in usage: a place in OPERATIONS. */
  operation = 0;
  forwardedFor = '';
  traceparent = '';
  tracestate = '';
  answerTime = '';
  /** "\r\nName: value" of every further header that any answer to this request has. */
  headerLines = '';
  limitLines = '';

  /** Time of the start by performance.now(). */
  readonly startedMs = performance.now();
  /** Whose request it is, and whose bytes are counted; '' for nobody's. */
  keyId = '';
  /** Status of the answer; 0 as long as there is none, 101 for a WebSocket. */
  status = 0;
  /** The whole answer is written. */
  isComplete = false;
  /** To be set where the memory of a whole answer may be overwritten once `send` returns. */
  isBodyView = false;
  /** Bytes of the body that have come. */
  bytesIn = 0;
  /** Fields with the position or code of a single call; {} unless the log is to have them. */
  position: Readonly<Record<string, string | number>> = NO_POSITION;

  /** An answer that is written piece by piece; otherwise the size of the whole. */
  protected streamed: StreamedAnswer | undefined;
  protected wholeBytes = 0;
  #peer: Uint8Array | undefined;

  /**
   * Asked before a body is worked on that came later than its head, and before its answer: false if the request is
   * answered.
   */
  mayGoOn: (() => boolean) | undefined;
  receive: Visit['receive'];
  hasReceived = false;
  isClosedInside = false;
  onLeave: Visit['onLeave'];
  protected isAttached = false;
  protected isBodyWanted = false;
  protected hasBodyEnded = false;
  #req: UwsRequest | undefined;

  constructor(
    protected readonly res: UwsResponse,
    req: UwsRequest,
    readonly method: string,
    /** The pattern of the route. Logs name it instead of the path, which may contain a key. */
    readonly pattern: string,
    readonly path: string,
    /** The query as it was sent, without "?"; '' if there is none. */
    readonly rawQuery: string,
  ) {
    super();
    this.#req = req;
  }

  /** Path and query. */
  get targetBytes(): number {
    return this.path.length + (this.rawQuery === '' ? 0 : 1 + this.rawQuery.length);
  }

  /** Bytes of the answer's body that are written. */
  get bytesOut(): number {
    return this.streamed?.sentBytes ?? this.wholeBytes;
  }

  /** The request has a body, or says that it has one of no bytes. */
  get mayHaveBody(): boolean {
    return this.bodySizeBytes !== 0 || this.isEndUnseen;
  }

  /** Hears from uWS when the connection closes. uWS has one callback for that, which was the door's before. */
  attach(): void {
    if (this.isAttached) return;
    this.isAttached = true;
    this.res.onAborted(() => this.gone());
  }

  /** The connection is closed. */
  protected abstract gone(): void;

  /** The address of the peer, in four or sixteen bytes; none if it was not kept and the answer has begun. */
  get peerAddress(): Uint8Array {
    if (this.#peer === undefined && this.state === 'open') this.keepPeerAddress();
    return this.#peer ?? NO_ADDRESS;
  }

  /** To be called before the status line is written: once the answer is complete uWS cannot be asked any more. */
  keepPeerAddress(): void {
    this.#peer ??= new Uint8Array(this.res.getRemoteAddress()).slice();
  }

  get hasValidKey(): boolean {
    return this.keyId !== '';
  }

  /** Makes `receive` the callback of uWS for the body. */
  takeBody(): void {
    this.res.onData((chunk, isLast) => {
      this.hasReceived = true;
      this.receive?.(chunk, isLast);
    });
  }

  /** The handler has asked for the body, and its end has not come. */
  get isBodyAwaited(): boolean {
    return this.isBodyWanted && !this.hasBodyEnded;
  }

  /**
   * The first value of a header, '' if absent. Like all of the request, readable until the handler returns (README U8).
   */
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

  /** uWS may be wrong about where such a body ends, so the request is the last one on its connection (README U33). */
  protected get isBodyChunked(): boolean {
    return this.bodySizeBytes < 0;
  }

  /** The handler has not returned yet. */
  protected get isReadable(): boolean {
    return this.#req !== undefined;
  }

  /** The handler has returned. */
  protected endReading(): void {
    this.#req = undefined;
  }

  #request(): UwsRequest {
    if (this.#req === undefined) throw new Error('the request can be read in the first tick only');
    return this.#req;
  }
}
