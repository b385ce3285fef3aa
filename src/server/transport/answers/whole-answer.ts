// Writes an answer whose body is there as a whole. The caller has corked the response; see README U18, U19 and U23.
import type { UwsResponse } from '../load-uws.js';

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  204: '204 No Content',
  206: '206 Partial Content',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
  413: '413 Content Too Large',
  414: '414 URI Too Long',
  415: '415 Unsupported Media Type',
  416: '416 Range Not Satisfiable',
  417: '417 Expectation Failed',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/**
 * Header line of every answer after which the connection stays: clients that read it let go of an idle connection
 * before the older build closes it, 8 s after its last answer at the earliest (README U24).
 */
export const KEPT_LINE = '\r\nKeep-Alive: timeout=7';

/** The header values that all answers to one request have in common. */
interface CommonHeaders {
  /** "\r\nName: value" of every further header. */
  readonly headerLines: string;
  readonly head: { readonly requestId: string };
  /** Header lines that change until the answer begins. */
  readonly lateHeaderLines: string;
  /** `writeContinue` was called for it. */
  readonly isContinued: boolean;
}

/**
 * Writes the interim answer 100, whole: uWS writes one status line only, and ends it by CR LF; the status line of the
 * answer itself then is a line of its first header (README U17).
 */
export function writeContinue(res: UwsResponse): void {
  res.writeStatus('100 Continue\r\n');
}

/**
 * Passes all headers to uWS in one call, as a call costs more than the bytes. That works because writeHeader does not
 * escape CR LF (README U17); so only trusted text may come here: constants, and request ids, whose characters are
 * checked. `headerLines`: "\r\nName: value" of headers that this answer alone has. The status line 200 is written by
 * uWS.
 */
export function writeHead(
  res: UwsResponse,
  common: CommonHeaders,
  status: number,
  contentType: string,
  headerLines: string,
): void {
  const statusLine = STATUS_LINES[status] ?? `${status} Status`;
  const before = common.isContinued ? `HTTP/1.1 ${statusLine}\r\n` : '';
  if (status !== 200 && !common.isContinued) res.writeStatus(statusLine);
  if (contentType === '') {
    res.writeHeader(
      `${before}X-Request-Id`,
      common.head.requestId + common.lateHeaderLines + common.headerLines + headerLines,
    );
  } else {
    const lines = `${common.headerLines}\r\nX-Request-Id: ${common.head.requestId}${common.lateHeaderLines}${headerLines}`;
    res.writeHeader(`${before}Content-Type`, contentType + lines);
  }
}

/** Bodyless answers that a connection may stay open after: a burst, and a rate each second. */
const BODYLESS_BURST = 1000;
const BODYLESS_PER_SECOND = 10;

/**
 * uWS says of a body whether the socket takes it, but not of a head alone. So a peer that asks for heads and never
 * reads them would fill our memory. Beyond a rate that honest peers hardly reach, each such answer closes its
 * connection.
 */
export class BodylessAnswers {
  #left = BODYLESS_BURST;
  #filledMs = performance.now();

  /** Counts an answer. False if its connection must be closed. */
  take(): boolean {
    if (this.#left < 1) {
      const nowMs = performance.now();
      const earned = ((nowMs - this.#filledMs) / 1000) * BODYLESS_PER_SECOND;
      this.#left = Math.min(BODYLESS_BURST, this.#left + earned);
      this.#filledMs = nowMs;
    }
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

/** An answer in one piece. */
export interface WholeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** "\r\nName: value" of headers that it alone has. */
  readonly headerLines: string;
  /** The connection is closed after it. */
  readonly close: boolean;
}

/** Writes the end of an answer without a body, after a head that is already written. `isHead`: of a HEAD request. */
export function endBodyless(
  res: UwsResponse,
  isHead: boolean,
  body: string | Uint8Array,
  close: boolean,
): void {
  const sizeBytes = isHead ? sizeOf(body) : 0;
  // On a connection that stays open, uWS would take a size given to endWithoutBody for bytes that are still to be sent.
  // A 204 or 304 must not have a Content-Length; only with one does uWS close the connection after it.
  if (close) res.endWithoutBody(sizeBytes, true);
  else if (isHead) res.writeHeader('Content-Length', String(sizeBytes)).endWithoutBody();
  else res.endWithoutBody();
}

/** Larger bodies do not fit uWS's cork together with their head; `end` may drop such a body (README U19). */
const MAX_END_BYTES = 15_000;

/** After them the end of the body is in doubt, or there is a defect. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([408, 500]);

/**
 * Whether uWS itself skips the rest of a small body after an answer with this status; the client closes the connection,
 * if it is told to.
 */
export const mayBeSkipped = (status: number): boolean => !CLOSING_STATUSES.has(status);

/**
 * A whole body as the end of the head, for `writeHead`: for answers after which the body of the request is still read.
 * uWS goes on reading as long as it takes the request for unanswered, and writes the last CR LF of this itself (README
 * U38).
 */
export function closingInChunks(body: string): string {
  const sizeBytes = Buffer.byteLength(body).toString(16);
  const chunks = body === '' ? '0' : `${sizeBytes}\r\n${body}\r\n0`;
  return `\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}\r\n`;
}

/** Whether `end` may write a body, head and all: a character takes three bytes at most. */
export function fitsEnd(body: string | Uint8Array): boolean {
  return body.length <= MAX_END_BYTES / 3 || (typeof body !== 'string' && body.length <= MAX_END_BYTES);
}

/**
 * Writes the body after a head that is already written. Returns true if the answer is complete. False: the socket has
 * not taken all of it, and `writeRest` goes on; until then another request on the connection closes it (README U12). So
 * a peer that asks on and does not read is closed after a few answers, and cannot fill our memory.
 */
export function writeBody(res: UwsResponse, body: string | Uint8Array, close: boolean): boolean {
  // Not `end` for others, however small: after many answers in one cork it may drop any body (README U19).
  if (close || body.length === 0) {
    res.end(body, close);
    return true;
  }
  const [, isDone] = res.tryEnd(body, sizeOf(body));
  return isDone;
}

/** Writes what `writeBody` could not, as fast as the socket takes it; `done` is called when it has taken everything. */
export function writeRest(
  res: UwsResponse,
  body: string | Uint8Array,
  isOver: () => boolean,
  done: () => void,
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  res.onWritable((offsetBytes) => {
    if (isOver()) return true;
    const [isTaken, isDone] = res.tryEnd(bytes.subarray(offsetBytes), bytes.length);
    if (isDone) done();
    return isTaken;
  });
}

/** In bytes. */
export const sizeOf = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.length;
