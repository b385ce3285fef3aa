// The error of an HTTP answer that is no success. A body of the service has its own word; of any other body, which a
// proxy or some other server has written, only the HTTP status is known.
import { type ClientErrorCode, type Fault, HexcodesClientError } from '../errors.js';

/** An HTTP answer, read to its end. */
export interface FailedAnswer {
  /** Where it came from; its query, which may hold a key, is never shown. */
  readonly url: URL;
  readonly httpStatus: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

interface ErrorBody {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly request_id?: unknown;
  readonly details?: unknown;
}

/** Status words that become the error's code as they are. */
const WORDS: ReadonlySet<unknown> = new Set<ClientErrorCode>([
  'INVALID_REQUEST',
  'REQUEST_DENIED',
  'OVER_QUERY_LIMIT',
  'UNAVAILABLE',
  'INTERNAL_ERROR',
]);

/** Error codes by HTTP status, for bodies that are not the service's; every other status is PROTOCOL. */
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

export function errorOfAnswer({ url, httpStatus, text, retryAfter }: FailedAnswer): HexcodesClientError {
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
  if (WORDS.has(body.status)) return new HexcodesClientError(body.status as ClientErrorCode, theirs, more);
  // A position in no province is answered with the members of an encode; a path that is none is not.
  if (httpStatus === 404 && body.status === 'NOT_FOUND' && 'hexcodes' in body)
    return new HexcodesClientError('OUTSIDE_COVERAGE', theirs, more);
  const code = FOREIGN.get(httpStatus);
  if (code !== undefined) return new HexcodesClientError(code, theirs, more);
  const message = `${address} answered HTTP ${httpStatus}, as no hexcodes service does: does baseUrl end in /v1?`;
  return new HexcodesClientError('PROTOCOL', message, more);
}

function bodyOf(text: string): ErrorBody {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
