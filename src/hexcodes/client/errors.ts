// The client's one error class, for refusals by the service and for failures of the connection alike.

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
  /** Something else than a hexcodes service answers at this address, or a proxy is between. */
  | 'PROTOCOL'
  /** Misuse by the caller. */
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
  readonly retryAfterSec?: number | undefined;
  /** Every fault of the request at once, as the service lists them. */
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

/** `fetch` hides the reason in the cause of its error, and Node that of several addresses in the parts of one. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name;
}
