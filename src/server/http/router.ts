// Routes, and everything they share. A request is checked in this order: path, method, key, then by its handler
// (docs/http.md, Requests). A route for GET answers HEAD too, every route answers OPTIONS, and other methods with
// 405.

import { type Gunzip, gunzip, gunzipSync } from 'node:zlib';
import { withoutKeys } from '../../config/mask.js';
import { isOneSlip, queryHint } from '../../hexcodes/wire/params/names.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { DIFFERS, mayHoldKey, readApiKey, readQuery } from '../../hexcodes/wire/params/query.js';
import { boundFault, type KeyInfo, NEW_KEY, SCOPE_BITS, type Scope } from '../keys/key-record.js';
import { type KeyRing, OpenWork } from '../keys/key-ring.js';
import { methodName, withholdKey } from '../observe/log.js';
import { OPERATIONS, type UsageOperation } from '../observe/operations.js';
import type { SocketData, WebSocketRoute } from '../transport/adapter.js';
import {
  codeOf,
  type ErrorCode,
  encodeErrorBody,
  errorBody,
  JSON_TYPE,
  type UnderstoodInput,
  wordOf,
} from './answers.js';
import type { Adapter, ClientAddresses, Exchange } from './exchange.js';

export interface Route {
  /** A pattern of the adapter: `/v1/meta`, `/v1/hexcodes/:code`. */
  readonly path: string;
  /** Default: GET. */
  readonly methods?: readonly ('GET' | 'POST')[];
  /**
   * A scope: the handler is called with the key of the request; a request without an active key of this scope is
   * rejected. 'key': any scope.
   */
  readonly access: Scope | 'key' | 'open';
  /** The operation of its requests in usage; default `lookup`. */
  readonly operation?: UsageOperation;
  /**
   * Parameters of its query: unknown ones are ignored, and named in Hexcodes-Hint. Default: the handler checks them.
   */
  readonly parameters?: readonly string[];
  /** The key may also be in the query parameter `key`, where products with a setting for keys put it. */
  readonly readsKeyParameter?: boolean;
  handle(x: Exchange, key: KeyInfo): void;
  /** Handles WebSocket handshakes; all other requests go to `handle`. */
  readonly socket?: SocketRoute;
}

/** The WebSockets of a route. `upgrade` is called with the key, and must accept the upgrade or answer. */
export interface SocketRoute<T extends SocketData = SocketData> extends Omit<WebSocketRoute<T>, 'upgrade'> {
  upgrade(x: Exchange, key: KeyInfo): void;
}

export const ENCODE_PATH = '/v1/hexcodes/encode';
export const DECODE_PATH = '/v1/hexcodes/decode';

/** Stands for the key in an open route. */
const ANYONE: KeyInfo = { ...NEW_KEY, id: '', scopes: [], generation: 0, scopeBits: 0, isBound: false };

/** The service uses no browser credentials, so the wildcards stand for every origin and every header. */
const CORS = '\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: *';
/** Headers of an answer to a request whose URL contains a key: no cache may store it. */
const CORS_NO_STORE = `${CORS}\r\nCache-Control: private, no-store`;
/** Some browsers do not support the wildcard, and it never covers Authorization. */
const ALLOWED_HEADERS =
  '*, Accept, Accept-Language, Authorization, Baggage, Cache-Control, Content-Encoding, Content-Type, ' +
  'Hexcodes-Answer, Hexcodes-Data, Idempotency-Key, If-None-Match, Pragma, Sentry-Trace, Traceparent, Tracestate, ' +
  'X-API-Key, X-Request-Id, X-Requested-With';
const ALLOW_HEADERS = `\r\nAccess-Control-Allow-Headers: ${ALLOWED_HEADERS}`;
const PREFLIGHT = `${ALLOW_HEADERS}\r\nAccess-Control-Max-Age: 86400`;
const ANY_METHOD = `\r\nAccess-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS${ALLOW_HEADERS}`;

const KEY_WANTED =
  'an API key is needed, as header X-API-Key, Authorization: Bearer, or query parameter apikey; the one given, if any, is not valid';

export interface Failure {
  readonly faults?: readonly ParameterFault[];
  /** Input of an encode request, as far as it was understood. */
  readonly input?: UnderstoodInput;
  /** Further "\r\nName: value" lines. */
  readonly headerLines?: string;
  readonly close?: boolean;
  /** Default: that of the status and the faults. */
  readonly code?: ErrorCode;
}

/** Answers an error, in the form of the request's endpoint. */
export function fail(x: Exchange, status: number, message: string, failure: Failure = {}): void {
  if (!x.headerLines.startsWith(CORS_NO_STORE))
    x.headerLines = (mayHoldKey(x.head.path, x.head.rawQuery) ? CORS_NO_STORE : CORS) + x.notes.dataLine;
  const { faults, input, headerLines = '', close = false } = failure;
  withholdKey(x);
  // A message may quote the body, such as the names of its columns.
  const presented = [readApiKey(x.head.rawQuery), x.head.apiKey];
  const said = withoutKeys(message, presented);
  const saidFaults = faults?.map((fault) => ({ ...fault, message: withoutKeys(fault.message, presented) }));
  const { path, requestId } = x.head;
  const word = wordOf(status);
  const code = failure.code ?? codeOf(status, saidFaults);
  const error = { code, message: said, param: saidFaults?.[0]?.parameter ?? null };
  const body =
    path === ENCODE_PATH
      ? encodeErrorBody(word, said, requestId, saidFaults, input)
      : errorBody(word, said, requestId, saidFaults, path === DECODE_PATH ? undefined : error);
  x.send(status, JSON_TYPE, body, headerLines + x.notes.hint, close);
}

const HINT_LINE = '\r\nHexcodes-Hint: ';

/** The hint about unknown parameters, after the message of an error. */
export function hintAfter(x: Exchange): string {
  return x.notes.hint === '' ? '' : `; ${x.notes.hint.slice(HINT_LINE.length)}`;
}

/** Answers 503: the request may be sent again in a second. */
export function failUnavailable(x: Exchange, message: string, close = false): void {
  fail(x, 503, message, { headerLines: '\r\nRetry-After: 1', close });
}

/** Answers 413 and closes the connection: the rest of the body is not read. */
function failTooLarge(x: Exchange, limitBytes: number): void {
  fail(x, 413, `the body exceeds ${limitBytes} bytes`, { close: true });
}

export class Router {
  readonly #paths: string[] = [];

  constructor(
    private readonly adapter: Adapter,
    private readonly ring: KeyRing,
    private readonly addresses: ClientAddresses,
    /** Counts a request of an admitted key; false where its limits reject it, and it is answered. */
    private admit: (x: Exchange, key: KeyInfo) => boolean = () => true,
  ) {}

  /** Makes `admit` count until the returned function is called. */
  rehearse(admit: (x: Exchange, key: KeyInfo) => boolean): () => void {
    const { admit: own } = this;
    this.admit = admit;
    return () => {
      this.admit = own;
    };
  }

  add(route: Route): void {
    const { methods = ['GET'] } = route;
    const allowed = [...methods.flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m])), 'OPTIONS'];
    const allow = `\r\nAllow: ${allowed.join(', ')}`;
    const preflight = `\r\nAccess-Control-Allow-Methods: ${allowed.join(', ')}${PREFLIGHT}${allow}`;
    const { access, readsKeyParameter = false, parameters } = route;
    const known = parameters && [...parameters, 'apikey', ...(readsKeyParameter ? ['key'] : [])];
    this.#paths.push(route.path);
    const operation = OPERATIONS.indexOf(route.operation ?? 'lookup');
    const letIn = (x: Exchange, handle: Route['handle'], isKeyInQuery = false): void => {
      x.notes.operation = operation;
      if (known !== undefined && x.head.rawQuery !== '') {
        const hint = queryHint(x.head.rawQuery, known);
        if (hint !== '') x.notes.hint = HINT_LINE + hint;
      }
      const key = access === 'open' ? ANYONE : this.#authorize(x, access, isKeyInQuery);
      if (key !== undefined) handle(x, key);
    };
    const { handle, socket } = route;
    if (socket !== undefined)
      this.adapter.websocket(route.path, { ...socket, upgrade: (x) => letIn(x, socket.upgrade) });
    const run =
      access === 'open'
        ? (x: Exchange) => {
            x.headerLines = CORS;
            handle(x, ANYONE);
          }
        : (x: Exchange) => letIn(x, handle, readsKeyParameter && takeKeyParameter(x));
    for (const method of methods) {
      this.adapter.route(method === 'GET' ? 'get' : 'post', route.path, run);
      if (method === 'GET') this.adapter.route('head', route.path, run);
    }
    this.adapter.route('options', route.path, (x) => {
      x.headerLines = CORS;
      x.send(204, '', '', preflight);
    });
    this.adapter.route('any', route.path, (x) => {
      if (readsKeyParameter) x.headerLines = CORS_NO_STORE;
      const name = methodName(x);
      // uWS has no route for a method in lower case.
      const message = allowed.includes(name)
        ? `methods are in upper case: ${name}`
        : `${name} is not allowed here`;
      fail(x, 405, message, { headerLines: allow });
    });
  }

  /**
   * Answers every other path with 404, unless `answer` does. To be called once, after all routes are added. A
   * preflight passes: otherwise a browser would hide the 404 and its hint from the page.
   * @param answer returns false, and leaves the request untouched, where it does not know the path
   */
  addNotFound(answer: (x: Exchange) => boolean): void {
    const failOr = (x: Exchange): void => {
      if (!answer(x)) fail(x, 404, `there is nothing at this path${wayOut(x, this.#paths)}`);
    };
    this.adapter.route('options', '/*', (x) => {
      if (x.head.header('access-control-request-method') === '') failOr(x);
      else {
        x.headerLines = CORS;
        x.send(204, '', '', ANY_METHOD);
      }
    });
    this.adapter.route('any', '/*', failOr);
  }

  /**
   * The key of the request if it has the scope and its limits allow a request; otherwise undefined, and the request
   * is answered.
   */
  #authorize(x: Exchange, access: Scope | 'key', isKeyInQuery: boolean): KeyInfo | undefined {
    const inQuery = readApiKey(x.head.rawQuery);
    x.headerLines = inQuery === undefined && !isKeyInQuery ? CORS : CORS_NO_STORE;
    if (
      inQuery === null ||
      x.head.apiKeyConflict ||
      (inQuery && x.head.apiKey && inQuery !== x.head.apiKey)
    ) {
      const fault = { parameter: 'apikey', message: 'is given more than once with different values' };
      fail(x, 400, `apikey ${fault.message}`, { faults: [fault] });
      return undefined;
    }
    const verdict = this.ring.check(inQuery || x.head.apiKey || '');
    if (verdict.kind === 'allowed') {
      const { key } = verdict;
      x.keyId = key.id;
      if (access !== 'key' && (key.scopeBits & SCOPE_BITS[access]) === 0) {
        fail(x, 403, `this API key has no scope ${access}`);
        return undefined;
      }
      const fault = key.isBound
        ? boundFault(key, x.head.header('origin'), this.addresses.certain(x))
        : undefined;
      if (fault !== undefined) {
        fail(x, 403, fault);
        return undefined;
      }
      if (!this.admit(x, key)) return undefined;
      if (x.head.bodySizeBytes !== 0) {
        const origin = x.head.header('origin');
        x.mayGoOn = () => this.isStillLetIn(x, key, access, origin);
      }
      return key;
    }
    if (verdict.kind === 'disabled') fail(x, 403, 'this API key is disabled');
    else fail(x, 401, KEY_WANTED, { headerLines: '\r\nWWW-Authenticate: ApiKey realm="hexcodes"' });
    return undefined;
  }

  /** Watches the key of an admitted request. Without an origin: call it before the handler returns. */
  workOf(x: Exchange, key: KeyInfo, access: Scope | 'key', origin = x.head.header('origin')): OpenWork {
    const source = { origin, address: this.addresses.certain(x) };
    return new OpenWork(this.ring, key, access === 'key' ? undefined : access, source);
  }

  /** Checks a request again after a slow body. False if it is answered. */
  private isStillLetIn(x: Exchange, key: KeyInfo, access: Scope | 'key', origin: string): boolean {
    if (x.state !== 'open' || this.ring.current(key) === key) return true;
    const { fault } = this.workOf(x, key, access, origin);
    if (fault !== undefined) fail(x, fault.status, fault.message);
    return fault === undefined;
  }
}

/** Takes the query parameter `key` as if it were the header X-API-Key. @returns whether the query has one */
function takeKeyParameter(x: Exchange): boolean {
  const { text, fault } = readQuery(x.head.rawQuery, ['key']).key;
  if (text === undefined && fault === undefined) return false;
  // A text that cannot be read is not a key.
  const given = text ?? '';
  if (fault === DIFFERS || (x.head.apiKey && x.head.apiKey !== given)) x.head.apiKeyConflict = true;
  x.head.apiKey ||= given;
  return true;
}

/** Paths of the admin port that people try here. */
const ON_ADMIN_PORT: readonly string[] = [
  '/livez',
  '/readyz',
  '/metrics',
  '/activity',
  '/health',
  '/healthz',
];

/** The probable fault of an unknown path. The path is not repeated: it may hold a key. */
function wayOut({ head: { path } }: Exchange, patterns: readonly string[]): string {
  if (ON_ADMIN_PORT.includes(path)) {
    const there = path.startsWith('/health') ? '/livez and /readyz are' : `${path} is`;
    return `; ${there} on the admin port (--admin-port, 9090 unless it is set)`;
  }
  const meant = meantPath(path, patterns);
  return meant === undefined
    ? '; /openapi.json lists the paths'
    : `; perhaps ${meant.replace(/:(\w+)/g, '{$1}')}`;
}

/**
 * The route that was probably meant: with another case, other slashes or one wrong letter in a segment, or the only one
 * that ends as the path does.
 */
function meantPath(path: string, patterns: readonly string[]): string | undefined {
  const segments = path
    .toLowerCase()
    .split('/')
    .filter((each) => each !== '');
  const last = segments.at(-1);
  if (last === undefined) return undefined;
  const fits = (pattern: string, isSame: (literal: string, segment: string) => boolean): boolean => {
    const literals = pattern.split('/').slice(1);
    return (
      literals.length === segments.length &&
      literals.every((literal, i) => literal.startsWith(':') || isSame(literal, segments[i] as string))
    );
  };
  // Paths with fewer variable segments are more specific.
  const byWords = [...patterns].sort((a, b) => a.split(':').length - b.split(':').length);
  const endingAlike = patterns.filter((pattern) => pattern.endsWith(`/${last}`));
  return (
    byWords.find((pattern) => fits(pattern, (literal, segment) => literal === segment)) ??
    (endingAlike.length === 1 ? endingAlike[0] : undefined) ??
    byWords.find((pattern) => fits(pattern, isOneSlip))
  );
}

// Bodies that are collected before any work, plain or decompressed. The bound holds for both sizes, and is counted as
// held before decompression.

/** Larger bodies are unpacked in another thread. */
const INLINE_BYTES = 65_536;

/** Result of zlib with the option `info`, which its types do not know. */
interface Unpacked {
  readonly buffer: Uint8Array;
  readonly engine: Gunzip;
}

/**
 * Calls `work` with the whole body, valid during that call. A body over the bound, packed or unpacked, is answered
 * 413; an incomplete gzip 400; another Content-Encoding 415.
 */
export function readWhole(x: Exchange, limitBytes: number, work: (body: Uint8Array) => void): void {
  const encoding = x.head.contentEncoding.trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== '' && encoding !== 'identity') {
    fail(x, 415, 'the Content-Encoding of a body must be gzip, or none');
    return;
  }
  const tooLarge = (): void => failTooLarge(x, limitBytes);
  const read = isGzip ? (body: Uint8Array): void => unpack(x, body, limitBytes, work) : work;
  x.body.read(limitBytes, tooLarge, read);
}

function unpack(x: Exchange, body: Uint8Array, limitBytes: number, work: (body: Uint8Array) => void): void {
  x.hold(limitBytes);
  const { length } = body;
  const options = { maxOutputLength: limitBytes, info: true };
  const unpacked = (error: NodeJS.ErrnoException | null, result: unknown): void => {
    if (x.state === 'over') return;
    if (error?.code === 'ERR_BUFFER_TOO_LARGE') {
      failTooLarge(x, limitBytes);
      return;
    }
    const { buffer, engine } = (result ?? {}) as Partial<Unpacked>;
    // Zlib ends without an error at a zero byte after a member, and leaves what follows.
    if (error || buffer === undefined || engine?.bytesWritten !== length)
      fail(x, 400, 'the body is not valid gzip', {
        faults: [{ parameter: 'body', message: 'is not valid gzip' }],
      });
    else work(buffer);
  };
  if (limitBytes > INLINE_BYTES) {
    // The body, and the size of its view, are valid in this turn only.
    const kept = body.slice();
    gunzip(kept, options, (error, result) => x.guard(() => unpacked(error, result)));
    return;
  }
  let result: unknown;
  try {
    result = gunzipSync(body, options);
  } catch (error) {
    unpacked(error as NodeJS.ErrnoException, undefined);
    return;
  }
  unpacked(null, result);
}
