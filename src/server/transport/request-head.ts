// The head of a request for handlers. Its headers are read in one pass, which fills in the fields that every handler
// needs, and finds headers that uWS accepts although two servers may read them differently (request smuggling; see
// README U10).
import { randomBytes } from 'node:crypto';
import { keyInCredentials } from '../../config/mask.js';
import type { UwsRequest } from './load-uws.js';

/** Longest path and query together; a longer one is answered 414. */
export const TARGET_LIMIT_BYTES = 8192;

/** Value of Hexcodes-Answer: the answer, even a refusal, begins after the whole body. */
export const AFTER_BODY = 'after-body';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const CONTINUE = '100-continue';
const BODY_SIZE = /^\d{1,15}$/;

/** New ids are a prefix of this process and a counter. */
const idPrefix = `${randomBytes(9).toString('base64url').replaceAll('-', '.')}.`;
let idCount = 0;

const joined = (values: string, value: string): string => (values === '' ? value : `${values},${value}`);

export class RequestHead {
  /** Bytes announced for the body; 0 for no body, -1 for a chunked one. */
  bodySizeBytes = 0;
  /** uWS closes the connection as soon as the answer ends, even before the end of the body (README U37). */
  isClosing = false;
  /** The X-Request-Id header if it is 1 to 128 of A-Z a-z 0-9 . _ -, otherwise a new id. */
  requestId = '';
  /** Whether the request id is that of the header. */
  hasGivenId = false;
  /** The Content-Type header; all of them, joined by commas, where they differ. */
  contentType = '';
  /** All Content-Encoding headers, joined by commas; '' if there is none. */
  contentEncoding = '';
  /** All Accept headers, joined by commas; '' if there is none. */
  accept = '';
  /** The key of the header X-API-Key or Authorization; undefined if absent. */
  apiKey: string | undefined = undefined;
  /** Two different keys were sent in headers. */
  apiKeyConflict = false;
  /** All X-Forwarded-For headers, joined by commas; '' if there is none. Likewise the two of W3C Trace Context. */
  forwardedFor = '';
  traceparent = '';
  tracestate = '';
  /** All Hexcodes-Answer headers in lower case, joined by commas; '' if there is none. */
  answerTime = '';
  /** All Expect headers, joined by commas; '' if there is none. */
  expectation = '';
  /** All Hexcodes-Data headers in lower case, joined by commas; '' if there is none. */
  dataVersion = '';
  #req: UwsRequest | undefined;

  constructor(
    req: UwsRequest,
    readonly method: string,
    /** The pattern of the route. Logs name it instead of the path, which may contain a key. */
    readonly pattern: string,
    readonly path: string,
    /** The query as it was sent, without "?"; '' if there is none. */
    readonly rawQuery: string,
  ) {
    this.#req = req;
  }

  /** Bytes of path and query. */
  get targetBytes(): number {
    return this.path.length + (this.rawQuery === '' ? 0 : 1 + this.rawQuery.length);
  }

  /**
   * Whether the client expects the interim answer 100, in any spelling and however often (RFC 9110, 10.1.1), or
   * something that is not supported. uWS itself answers `100-continue` in this spelling only.
   */
  get expected(): 'nothing' | 'continue' | 'unknown' {
    const { expectation } = this;
    if (expectation === '' || expectation === CONTINUE) return 'nothing';
    const members = expectation.split(',').map((member) => member.trim().toLowerCase());
    if (members.some((member) => member !== CONTINUE && member !== '')) return 'unknown';
    return this.bodySizeBytes === 0 ? 'nothing' : 'continue';
  }

  /**
   * uWS may be wrong about the end of a chunked body, so the request is the last one on its connection (README U33).
   */
  get isBodyChunked(): boolean {
    return this.bodySizeBytes < 0;
  }

  /**
   * The first value of a header, '' if absent. Like all of the request, readable until the handler returns (README U8).
   */
  header(lowerCaseName: string): string {
    return this.#request().getHeader(lowerCaseName);
  }

  /** All values of a header, in the order sent. */
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

  /** The handler has not returned yet. */
  get isReadable(): boolean {
    return this.#req !== undefined;
  }

  /** To be called when the handler has returned. */
  endReading(): void {
    this.#req = undefined;
  }

  #request(): UwsRequest {
    if (this.#req === undefined) throw new Error('the request can be read in the first tick only');
    return this.#req;
  }
}

/**
 * Visits the headers of one request after another: stores the fields that handlers use, and counts headers that may
 * be ambiguous.
 */
class HeaderVisitor {
  head: RequestHead | undefined = undefined;
  hosts = 0;
  contentLengths = 0;
  contentLength = '';
  transferEncodings = 0;
  transferEncoding = '';

  start(head: RequestHead): void {
    this.head = head;
    this.hosts = 0;
    this.contentLengths = 0;
    this.transferEncodings = 0;
  }

  /** Callback of `forEach`, which calls it without `this`. */
  readonly visit = (name: string, value: string): void => {
    const head = this.head as RequestHead;
    switch (name) {
      case 'host':
        this.hosts++;
        break;
      case 'accept':
        head.accept = joined(head.accept, value);
        break;
      case 'x-api-key':
        if (head.apiKey !== undefined && head.apiKey !== value) head.apiKeyConflict = true;
        head.apiKey = value;
        break;
      case 'authorization': {
        const key = keyInCredentials(value);
        if (key === undefined) break;
        if (head.apiKey !== undefined && head.apiKey !== key) head.apiKeyConflict = true;
        head.apiKey = key;
        break;
      }
      case 'content-type':
        if (head.contentType !== value) head.contentType = joined(head.contentType, value);
        break;
      case 'content-encoding':
        head.contentEncoding = joined(head.contentEncoding, value);
        break;
      case 'x-request-id':
        head.requestId = value;
        break;
      case 'x-forwarded-for':
        head.forwardedFor = joined(head.forwardedFor, value);
        break;
      case 'traceparent':
        head.traceparent = joined(head.traceparent, value);
        break;
      case 'tracestate':
        head.tracestate = joined(head.tracestate, value);
        break;
      case 'connection':
        // `close`: uWS checks only the length.
        if (value.length === 5) head.isClosing = true;
        break;
      case 'content-length':
        this.contentLengths++;
        this.contentLength = value;
        break;
      case 'expect':
        head.expectation = joined(head.expectation, value);
        break;
      case 'hexcodes-answer':
        head.answerTime = joined(head.answerTime, value.trim().toLowerCase());
        break;
      case 'hexcodes-data':
        head.dataVersion = joined(head.dataVersion, value.trim().toLowerCase());
        break;
      case 'transfer-encoding':
        this.transferEncodings++;
        this.transferEncoding = value;
        break;
    }
  };
}

/** One object for all requests, which are read one at a time. */
const visitor = new HeaderVisitor();

/**
 * Fills a new head. Returns a sentence if the request is ambiguous: the end of its body is then in doubt, as for a
 * chunked body.
 */
export function readHeaders(req: UwsRequest, head: RequestHead): string | undefined {
  visitor.start(head);
  req.forEach(visitor.visit);
  const { requestId } = head;
  head.hasGivenId = requestId !== '' && REQUEST_ID.test(requestId);
  if (!head.hasGivenId) head.requestId = idPrefix + idCount++;
  const fault = framingFault(head);
  if (fault !== undefined && visitor.contentLengths + visitor.transferEncodings > 0) head.bodySizeBytes = -1;
  return fault;
}

/** Sets the size of the body, or returns a sentence. */
function framingFault(head: RequestHead): string | undefined {
  if (visitor.hosts > 1) return 'more than one Host header';
  if (visitor.contentLengths > 0) {
    if (visitor.contentLengths > 1) return 'more than one Content-Length header';
    if (!BODY_SIZE.test(visitor.contentLength)) return 'Content-Length is not a number of bytes';
    if (visitor.transferEncodings > 0) return 'both Content-Length and Transfer-Encoding';
    head.bodySizeBytes = Number(visitor.contentLength);
  } else if (visitor.transferEncodings > 0) {
    if (visitor.transferEncodings > 1 || visitor.transferEncoding.toLowerCase() !== 'chunked')
      return 'a Transfer-Encoding other than chunked';
    head.bodySizeBytes = -1;
  }
  return undefined;
}
