// The client's one error class, for rejections by the service and for connection failures.

// The error of an unsuccessful HTTP answer. A body of the service has its own status word; of a body written by a
// proxy or another server, only the HTTP status is used.
/** An HTTP answer, read to its end. */
interface FailedAnswer {
  /** URL of the answer; its query, which may hold a key, is never shown. */
  readonly url: URL;
  readonly httpStatus: number;
  readonly text: string;
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | null;
}

interface ErrorBody {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly request_id?: unknown;
  readonly details?: unknown;
}

/** Status words that are error codes, too. */
const WORDS: ReadonlySet<unknown> = new Set<ClientErrorCode>([
  'INVALID_REQUEST',
  'REQUEST_DENIED',
  'OVER_QUERY_LIMIT',
  'UNAVAILABLE',
  'INTERNAL_ERROR',
]);

/** Error codes by HTTP status, for bodies that the service did not write; every other status is PROTOCOL. */
const FOREIGN: ReadonlyMap<number, ClientErrorCode> = new Map([
  [400, 'INVALID_REQUEST'],
  [401, 'REQUEST_DENIED'],
  [403, 'REQUEST_DENIED'],
  [413, 'INVALID_REQUEST'],
  [414, 'INVALID_REQUEST'],
  [429, 'OVER_QUERY_LIMIT'],
  [431, 'INVALID_REQUEST'],
  [500, 'INTERNAL_ERROR'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'UNAVAILABLE'],
]);

/** Whether an answer is a redirect; in browsers it has no status. */
export const isRedirect = (httpStatus: number): boolean =>
  httpStatus === 0 || (httpStatus >= 300 && httpStatus < 400);

export function errorOfAnswer(answer: FailedAnswer): HexcodesClientError {
  const { url, httpStatus, text, header } = answer;
  const retryAfter = header('retry-after');
  const retryAfterSec = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const body = bodyOf(text);
  const address = `${url.origin}${url.pathname}`;
  const theirs = typeof body.message === 'string' ? body.message : `${address} answered HTTP ${httpStatus}`;
  const more = {
    httpStatus,
    retryAfterSec,
    requestId: typeof body.request_id === 'string' ? body.request_id : undefined,
    details: Array.isArray(body.details) ? (body.details as Fault[]) : undefined,
  };
  if (isRedirect(httpStatus)) return new HexcodesClientError('PROTOCOL', redirectMessage(answer), more);
  if (WORDS.has(body.status)) return new HexcodesClientError(body.status as ClientErrorCode, theirs, more);
  // A position in no province is answered with the members of an encode; an unknown path is not.
  if (httpStatus === 404 && body.status === 'NOT_FOUND' && 'hexcodes' in body)
    return new HexcodesClientError('OUTSIDE_COVERAGE', theirs, more);
  const code = FOREIGN.get(httpStatus);
  if (code !== undefined) return new HexcodesClientError(code, theirs, more);
  const message = `${address} answered HTTP ${httpStatus}, as no hexcodes service does: does baseUrl end in /v1?`;
  return new HexcodesClientError('PROTOCOL', message, more);
}

/** The error of an answer that `fetch` has brought. */
export const errorOfFetch = (url: URL, { status, headers }: Response, text: string): HexcodesClientError =>
  errorOfAnswer({ url, httpStatus: status, text, header: (name) => headers.get(name) });

/** Shows only the origin of the target: its query may hold a key. */
function redirectMessage({ url, httpStatus, header }: FailedAnswer): string {
  const location = header('location');
  const isKnown = location !== null && URL.canParse(location, url);
  const target = isKnown ? ` to ${new URL(location, url).origin}` : '';
  const how = httpStatus === 0 ? '' : ` (HTTP ${httpStatus})`;
  return `${url.origin}${url.pathname} redirects${target}${how}, and key and data go to no other address: is baseUrl that of the service?`;
}

function bodyOf(text: string): ErrorBody {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

export type ClientErrorCode =
  /** The position is valid but lies in no province nor its sea. */
  | 'OUTSIDE_COVERAGE'
  /** There is no province of this code. */
  | 'NOT_FOUND'
  /** Status words of the service's error bodies (docs/http.md). */
  | 'INVALID_REQUEST'
  | 'REQUEST_DENIED'
  | 'OVER_QUERY_LIMIT'
  | 'UNAVAILABLE'
  | 'INTERNAL_ERROR'
  /** The service could not be reached, or the connection was lost and every new one failed. */
  | 'NETWORK'
  /** No answer within the timeout. */
  | 'TIMEOUT'
  /** Another service answers at this address (a `baseUrl` without `/v1`), or a proxy is between. */
  | 'PROTOCOL'
  /** Misuse by the caller: an unknown option, or a number in place of options. */
  | 'BAD_ARGUMENT'
  /** The call or stream was cancelled or aborted by the caller, or the caller's source failed. */
  | 'ABORTED';

/** One fault of a request. */
export interface Fault {
  readonly parameter: string;
  readonly message: string;
}

export interface ClientErrorDetails {
  /** HTTP status, when there was an HTTP answer. */
  readonly httpStatus?: number | undefined;
  /** WebSocket close code, when the stream was closed by the service. */
  readonly closeCode?: number | undefined;
  /** Names the request in the service's log. */
  readonly requestId?: string | undefined;
  /** The wait that the service asks for, with OVER_QUERY_LIMIT and UNAVAILABLE. */
  readonly retryAfterSec?: number | undefined;
  /** All faults of the request, as the service lists them. */
  readonly details?: readonly Fault[] | undefined;
  readonly cause?: unknown;
}

export class HexcodesClientError extends Error {
  override readonly name = 'HexcodesClientError';
  readonly code: ClientErrorCode;
  readonly httpStatus: number | undefined;
  readonly closeCode: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSec: number | undefined;
  readonly details: readonly Fault[];

  constructor(code: ClientErrorCode, message: string, more: ClientErrorDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.httpStatus = more.httpStatus;
    this.closeCode = more.closeCode;
    this.requestId = more.requestId;
    this.retryAfterSec = more.retryAfterSec;
    this.details = more.details ?? [];
  }
}

/** The failure of a connection; its message names the address and the reason. */
export function unreachable(url: URL, cause: unknown): HexcodesClientError {
  return new HexcodesClientError('NETWORK', `${url.origin} cannot be reached: ${reasonOf(cause)}`, { cause });
}

/**
 * `fetch` hides the reason in the cause of its error, and Node the reasons of several addresses in an AggregateError.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name;
}
