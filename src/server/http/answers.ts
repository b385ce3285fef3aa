// Status words and error bodies, the same for all endpoints (docs/http.md, Errors).
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';

export type StatusWord =
  | 'OK'
  | 'INVALID_HEXCODES'
  | 'INVALID_REQUEST'
  | 'NOT_FOUND'
  | 'REQUEST_DENIED'
  | 'OVER_QUERY_LIMIT'
  | 'UNAVAILABLE'
  | 'INTERNAL_ERROR';

const WORDS: Readonly<Record<number, StatusWord>> = {
  401: 'REQUEST_DENIED',
  403: 'REQUEST_DENIED',
  404: 'NOT_FOUND',
  429: 'OVER_QUERY_LIMIT',
  500: 'INTERNAL_ERROR',
  503: 'UNAVAILABLE',
};

/** The status word of an error answer. */
export const wordOf = (httpStatus: number): StatusWord => WORDS[httpStatus] ?? 'INVALID_REQUEST';

export const JSON_TYPE = 'application/json';

/** The input of an encode request as far as it was understood; NaN and -1 where it was not. */
export interface UnderstoodInput {
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
}

const NOTHING_UNDERSTOOD: UnderstoodInput = { latDeg: Number.NaN, lngDeg: Number.NaN, resolution: -1 };

/** Codes of a 400. */
export const REQUEST_CODES = ['parameter_missing', 'parameter_invalid', 'request_invalid'] as const;
/** Codes of items that failed, and of 404, beside `not_found`. */
export const ITEM_CODES = ['hexcode_invalid', 'outside_coverage'] as const;

/** Error codes, finer than the status word (docs/http.md, Errors). */
export type ErrorCode =
  | (typeof REQUEST_CODES)[number]
  | (typeof ITEM_CODES)[number]
  | 'key_invalid'
  | 'key_forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'timeout'
  | 'too_large'
  | 'target_too_long'
  | 'media_type_unsupported'
  | 'expectation_failed'
  | 'upgrade_required'
  | 'limit_reached'
  | 'internal'
  | 'unavailable';

/** Codes by the HTTP status of the answer. */
export const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'key_invalid',
  403: 'key_forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'timeout',
  413: 'too_large',
  414: 'target_too_long',
  415: 'media_type_unsupported',
  417: 'expectation_failed',
  426: 'upgrade_required',
  429: 'limit_reached',
  500: 'internal',
  503: 'unavailable',
};

/** The code of an error answer; where parameters are at fault, that of the first. */
export function codeOf(httpStatus: number, faults?: readonly ParameterFault[]): ErrorCode {
  const [first] = faults ?? [];
  if (first === undefined) return CODES[httpStatus] ?? 'request_invalid';
  return first.message.startsWith('is required') ? 'parameter_missing' : 'parameter_invalid';
}

/** The member `error` of every error body except those of the contract's two endpoints, which keep their form. */
export interface ErrorObject {
  readonly code: ErrorCode;
  readonly message: string;
  /** The first parameter at fault. */
  readonly param: string | null;
}

/** The error body: one JSON object and a line end, for people who read it in a terminal. */
export function errorBody(
  word: StatusWord,
  message: string,
  requestId: string,
  faults?: readonly ParameterFault[],
  error?: ErrorObject,
): string {
  const object = error === undefined ? '' : `,"error":${JSON.stringify(error)}`;
  const details = faults === undefined ? '' : `,"details":${JSON.stringify(faults)}`;
  return `{"status":"${word}","message":${JSON.stringify(message)},"request_id":"${requestId}"${details}${object}}\n`;
}

/** The error body of encode: first the fields of a result, null where the request does not have them. */
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
