// Reads the headers of a request in one pass: fills in the fields that every handler needs, and finds those headers
// that uWS accepts although two servers may read them differently (request smuggling; see README U10).
import { randomBytes } from 'node:crypto';
import type { UwsRequest } from './uws.js';

/** The headers that handlers use. */
export interface HeaderFields {
  /** Bytes announced for the body; 0 for no body, -1 for a chunked one. */
  bodySizeBytes: number;
  /**
   * uWS may not report the end of the request behind its handler: the body is chunked, of no bytes, or of an unclear
   * size.
   */
  isEndUnseen: boolean;
  /** The X-Request-Id header if it is 1 to 128 of A-Z a-z 0-9 . _ -, otherwise a new id. */
  requestId: string;
  /** The request id is the one of the header. */
  hasGivenId: boolean;
  contentType: string;
  /** All Accept headers, joined by commas; '' if there is none. */
  accept: string;
  /** The X-API-Key header; undefined if absent. */
  apiKey: string | undefined;
  /** Two X-API-Key headers with different values were sent. */
  apiKeyConflict: boolean;
  /** All X-Forwarded-For headers, joined by commas; '' if there is none. Likewise the two of W3C Trace Context. */
  forwardedFor: string;
  traceparent: string;
  tracestate: string;
  /** The Hexcodes-Answer header; '' if there is none. */
  answerTime: string;
}

/** Value of Hexcodes-Answer: the answer, also a refusal, begins when the whole body has come. */
export const AFTER_BODY = 'after-body';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const BODY_SIZE = /^\d{1,15}$/;

/** New ids are a prefix of this process and a count. */
const idPrefix = `${randomBytes(9).toString('base64url').replaceAll('-', '.')}.`;
let idCount = 0;

const joined = (values: string, value: string): string => (values === '' ? value : `${values},${value}`);

/** Visits the headers of one request after the other: stores what handlers use, and counts what may be ambiguous. */
class HeaderVisitor {
  fields: HeaderFields | undefined = undefined;
  hosts = 0;
  contentLengths = 0;
  contentLength = '';
  transferEncodings = 0;
  transferEncoding = '';

  start(fields: HeaderFields): void {
    this.fields = fields;
    this.hosts = 0;
    this.contentLengths = 0;
    this.transferEncodings = 0;
  }

  /** Callback of `forEach`, which calls it without `this`. */
  readonly visit = (name: string, value: string): void => {
    const fields = this.fields as HeaderFields;
    switch (name) {
      case 'host':
        this.hosts++;
        break;
      case 'accept':
        fields.accept = joined(fields.accept, value);
        break;
      case 'x-api-key':
        if (fields.apiKey !== undefined && fields.apiKey !== value) fields.apiKeyConflict = true;
        fields.apiKey = value;
        break;
      case 'content-type':
        fields.contentType = value;
        break;
      case 'x-request-id':
        fields.requestId = value;
        break;
      case 'x-forwarded-for':
        fields.forwardedFor = joined(fields.forwardedFor, value);
        break;
      case 'traceparent':
        fields.traceparent = joined(fields.traceparent, value);
        break;
      case 'tracestate':
        fields.tracestate = joined(fields.tracestate, value);
        break;
      case 'content-length':
        this.contentLengths++;
        this.contentLength = value;
        break;
      case 'hexcodes-answer':
        fields.answerTime = value.trim().toLowerCase();
        break;
      case 'transfer-encoding':
        this.transferEncodings++;
        this.transferEncoding = value;
        break;
    }
  };
}

/** One object for all requests, as they are read one at a time. */
const visitor = new HeaderVisitor();

/**
 * Fills `fields`, which must be as in a new Exchange. Returns a sentence if the request is ambiguous: the end of its
 * body is then in doubt.
 */
export function readHeaders(req: UwsRequest, fields: HeaderFields): string | undefined {
  visitor.start(fields);
  req.forEach(visitor.visit);
  const { requestId } = fields;
  fields.hasGivenId = requestId !== '' && REQUEST_ID.test(requestId);
  if (!fields.hasGivenId) fields.requestId = idPrefix + idCount++;
  const { contentLengths, contentLength, transferEncodings } = visitor;
  fields.isEndUnseen =
    transferEncodings > 0 || contentLengths > 1 || (contentLengths > 0 && !(Number(contentLength) > 0));
  if (visitor.hosts > 1) return 'more than one Host header';
  if (visitor.contentLengths > 0) {
    if (visitor.contentLengths > 1) return 'more than one Content-Length header';
    if (!BODY_SIZE.test(visitor.contentLength)) return 'Content-Length is not a number of bytes';
    if (visitor.transferEncodings > 0) return 'both Content-Length and Transfer-Encoding';
    fields.bodySizeBytes = Number(visitor.contentLength);
  } else if (visitor.transferEncodings > 0) {
    if (visitor.transferEncodings > 1 || visitor.transferEncoding.toLowerCase() !== 'chunked')
      return 'a Transfer-Encoding other than chunked';
    fields.bodySizeBytes = -1;
  }
  return undefined;
}
