// The client's one error class, for refusals by the service and for failures of the connection alike.

export type ClientErrorCode =
  /** The status words of the service's error bodies (docs/http.md). */
  | 'INVALID_REQUEST'
  | 'NOT_FOUND'
  | 'REQUEST_DENIED'
  | 'OVER_QUERY_LIMIT'
  | 'UNAVAILABLE'
  | 'INTERNAL_ERROR'
  /** The service could not be reached, or the connection was lost and every new one failed. */
  | 'NETWORK'
  /** No answer within the timeout. */
  | 'TIMEOUT'
  /** The peer breaks the protocol: it is no hexcodes service, or a proxy stands between. */
  | 'PROTOCOL'
  /** Misuse by the caller. */
  | 'BAD_ARGUMENT'
  /** The stream was cancelled or aborted by the caller. */
  | 'ABORTED';

export interface ClientErrorDetails {
  /** HTTP status, when there was an HTTP answer. */
  readonly httpStatus?: number | undefined;
  /** WebSocket close code, when the stream was closed by the service. */
  readonly closeCode?: number | undefined;
  /** Names the request in the service's log. */
  readonly requestId?: string | undefined;
  readonly retryAfterSec?: number | undefined;
  /** Every fault of the request at once, as the service lists them. */
  readonly details?: readonly { readonly parameter: string; readonly message: string }[] | undefined;
  readonly cause?: unknown;
}

export class HexcodesClientError extends Error {
  override readonly name = 'HexcodesClientError';
  readonly httpStatus: number | undefined;
  readonly closeCode: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSec: number | undefined;
  readonly details: readonly { readonly parameter: string; readonly message: string }[];

  constructor(
    readonly code: ClientErrorCode,
    message: string,
    more: ClientErrorDetails = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.httpStatus = more.httpStatus;
    this.closeCode = more.closeCode;
    this.requestId = more.requestId;
    this.retryAfterSec = more.retryAfterSec;
    this.details = more.details ?? [];
  }
}

const WORDS: ReadonlySet<string> = new Set([
  'INVALID_REQUEST',
  'NOT_FOUND',
  'REQUEST_DENIED',
  'OVER_QUERY_LIMIT',
  'UNAVAILABLE',
  'INTERNAL_ERROR',
]);

/** The error of an HTTP answer that is no success: by its body if that is the service's own, else by its status. */
export function errorOfAnswer(
  httpStatus: number,
  bodyText: string,
  retryAfter: string | null,
): HexcodesClientError {
  const retryAfterSec = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  let body: {
    status?: unknown;
    message?: unknown;
    request_id?: unknown;
    details?: ClientErrorDetails['details'];
  } = {};
  try {
    const parsed: unknown = JSON.parse(bodyText);
    if (typeof parsed === 'object' && parsed !== null) body = parsed;
  } catch {
    // No body of the service: a proxy's page, or uWebSockets.js itself has answered.
  }
  const word = typeof body.status === 'string' && WORDS.has(body.status) ? body.status : wordOf(httpStatus);
  const message = typeof body.message === 'string' ? body.message : `the service answered HTTP ${httpStatus}`;
  return new HexcodesClientError(word as ClientErrorCode, message, {
    httpStatus,
    retryAfterSec,
    requestId: typeof body.request_id === 'string' ? body.request_id : undefined,
    details: Array.isArray(body.details) ? body.details : undefined,
  });
}

function wordOf(httpStatus: number): ClientErrorCode {
  if (httpStatus === 401 || httpStatus === 403) return 'REQUEST_DENIED';
  if (httpStatus === 404) return 'NOT_FOUND';
  if (httpStatus === 429) return 'OVER_QUERY_LIMIT';
  if (httpStatus === 502 || httpStatus === 503 || httpStatus === 504) return 'UNAVAILABLE';
  if (httpStatus >= 500) return 'INTERNAL_ERROR';
  return httpStatus >= 400 ? 'INVALID_REQUEST' : 'PROTOCOL';
}
