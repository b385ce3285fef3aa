// Status words and error bodies, the same for all endpoints (docs/http.md, Errors).
import type { ParameterFault } from '../hexcodes/wire/params/parameters.js';

export type StatusWord =
  | 'OK'
  | 'INVALID_HEXCODES'
  | 'INVALID_REQUEST'
  | 'NOT_FOUND'
  | 'REQUEST_DENIED'
  | 'OVER_QUERY_LIMIT'
  | 'UNAVAILABLE'
  | 'INTERNAL_ERROR';

/** The status word of an error answer. */
export function wordOf(httpStatus: number): StatusWord {
  switch (httpStatus) {
    case 401:
    case 403:
      return 'REQUEST_DENIED';
    case 404:
      return 'NOT_FOUND';
    case 429:
      return 'OVER_QUERY_LIMIT';
    case 500:
      return 'INTERNAL_ERROR';
    case 503:
      return 'UNAVAILABLE';
    default:
      return 'INVALID_REQUEST';
  }
}

/** How an error that is no defect of this program is answered, where no answer has begun. */
export interface ErrorAnswer {
  readonly status: number;
  /** Default: the message of the error. */
  readonly message?: string;
  readonly retryAfterSec?: number;
  /** The connection is closed after it. */
  readonly close: boolean;
  /** Line of the log; undefined: there is one already, or none is needed. */
  readonly logged?: string;
}

/** Line of the log where an answer ends before it is complete, or is replaced by an error. */
export const CUT_OFF = 'an answer was cut off';

/** An error that says how it is answered. */
export class AnsweredError extends Error {
  constructor(
    message: string,
    readonly answer: ErrorAnswer,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const JSON_TYPE = 'application/json';

/** The input of an encode request as far as it was understood; NaN and -1 where it was not. */
export interface UnderstoodInput {
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
}

const NOTHING_UNDERSTOOD: UnderstoodInput = { latDeg: Number.NaN, lngDeg: Number.NaN, resolution: -1 };

/** The error body: one JSON object and a line end, for people who read it in a terminal. */
export function errorBody(
  word: StatusWord,
  message: string,
  requestId: string,
  faults?: readonly ParameterFault[],
): string {
  const details = faults === undefined ? '' : `,"details":${JSON.stringify(faults)}`;
  return `{"status":"${word}","message":${JSON.stringify(message)},"request_id":"${requestId}"${details}}\n`;
}

/** The error body of encode: first the fields of a result, null where the request does not tell them. */
export function encodeErrorBody(
  word: StatusWord,
  message: string,
  requestId: string,
  faults?: readonly ParameterFault[],
  input: UnderstoodInput = NOTHING_UNDERSTOOD,
): string {
  const lat = Number.isNaN(input.latDeg) ? 'null' : String(input.latDeg);
  const lng = Number.isNaN(input.lngDeg) ? 'null' : String(input.lngDeg);
  const resolution = input.resolution < 0 ? 'null' : String(input.resolution);
  const fields = `{"hexcodes":null,"lat":${lat},"lng":${lng},"resolution":${resolution},"admin_code":null,`;
  return fields + errorBody(word, message, requestId, faults).slice(1);
}

/** All faults in one sentence. */
export function faultsMessage(faults: readonly ParameterFault[]): string {
  return faults.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}
