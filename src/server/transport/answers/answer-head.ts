// Writes the status line and the headers of an answer.
import type { UwsResponse } from '../uws.js';

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
  408: '408 Request Timeout',
  413: '413 Content Too Large',
  414: '414 URI Too Long',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/** The header values that all answers to one request have in common. */
export interface CommonHeaders {
  /** "\r\nName: value" of every further header. */
  readonly headerLines: string;
  readonly requestId: string;
  /** "\r\nName: value" of the limits of the key, as they are when the answer begins. */
  readonly limitLines: string;
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
  if (status !== 200) res.writeStatus(STATUS_LINES[status] ?? `${status} Status`);
  if (contentType === '') {
    res.writeHeader('X-Request-Id', common.requestId + common.limitLines + common.headerLines + headerLines);
  } else {
    const lines = `${common.headerLines}\r\nX-Request-Id: ${common.requestId}${common.limitLines}${headerLines}`;
    res.writeHeader('Content-Type', contentType + lines);
  }
}
