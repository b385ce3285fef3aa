// The client for the HTTP endpoints, and the way to the bulk stream. No platform: node.ts and web.ts say which
// socket the stream opens.
import { errorOfAnswer, HexcodesClientError } from './errors.js';
import {
  type Bytes,
  type DecodedPositions,
  decodeRecordsRequest,
  decodeRequest,
  type EncodedCells,
  type EncodedTexts,
  encodeRequest,
  RECORD_BYTES,
} from './frames.js';
import { type OpenSocket, standardSocketOpener, type WebSocketConstructor } from './socket.js';
import { HexcodesStream } from './stream.js';

export interface ClientOptions {
  /** The base address, ending in `/v1`. */
  readonly baseUrl: string | URL;
  readonly apiKey?: string;
  /** For one HTTP call, its retries included; default 30,000. */
  readonly timeoutMs?: number;
  /** How often a call is repeated after 503, 502, 504 or a lost connection; default 2. Calls are pure. */
  readonly retries?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** A standard WebSocket to use for the stream instead of the platform's. */
  readonly WebSocket?: WebSocketConstructor;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** 2.1 of the service contract. */
export interface EncodeAnswer {
  readonly hexcodes: string;
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  readonly admin_code: string;
  readonly status: 'OK';
}

/** 2.2 of the service contract; an invalid code is an answer, not an error. */
export type DecodeAnswer =
  | {
      readonly lat: number;
      readonly lng: number;
      readonly resolution: number;
      readonly hexcodes: string;
      readonly status: 'OK';
    }
  | {
      readonly lat: null;
      readonly lng: null;
      readonly resolution: null;
      readonly hexcodes: string;
      readonly status: 'INVALID_HEXCODES';
    };

export type BatchPoint =
  | readonly [latDeg: number, lngDeg: number]
  | {
      readonly lat: number;
      readonly lng: number;
      readonly resolution?: number;
      readonly id?: string | number;
    };

export interface EncodeBatchResult {
  readonly hexcodes: string | null;
  readonly lat: number | null;
  readonly lng: number | null;
  readonly resolution: number | null;
  readonly admin_code: string | null;
  readonly status: string;
  readonly message?: string;
  readonly id?: string | number;
}

export interface DecodeBatchResult {
  readonly lat: number | null;
  readonly lng: number | null;
  readonly resolution: number | null;
  readonly hexcodes: string | null;
  readonly status: string;
  readonly message?: string;
  readonly id?: string | number;
}

export interface BatchAnswer<Result> {
  readonly status: 'OK';
  readonly summary: { readonly total: number; readonly ok: number; readonly failed: number };
  readonly results: readonly Result[];
}

export interface StreamOptions<In> {
  /** Points to write; without it, write to `writable` yourself. */
  readonly source?: Iterable<In> | AsyncIterable<In>;
  /** Points of one frame, 1 to 65,536; default 4,096, which costs the service least for each point. */
  readonly framePoints?: number;
  /** Attempts in a row without one answer after which the stream gives up; default 8. */
  readonly maxAttempts?: number;
  /** With frames unanswered and nothing heard for so long, connect again; default 60,000. */
  readonly answerTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface EncodeStreamOptions extends StreamOptions<Float64Array> {
  /** 0 to 15; default 13. */
  readonly resolution?: number;
}

/** The service takes at most so many items a batch; longer lists go as several calls. */
const BATCH_ITEMS = 10_000;
const DEFAULT_RESOLUTION = 13;
const LONGEST_RETRY_AFTER_SEC = 10;

export class HexcodesClient {
  readonly #base: URL;
  readonly #apiKey: string | undefined;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;
  readonly #openSocket: OpenSocket;

  constructor(options: ClientOptions, platformSocket?: OpenSocket) {
    const base = new URL(options.baseUrl);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    this.#base = base;
    this.#apiKey = options.apiKey;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#retries = options.retries ?? 2;
    const fetch = options.fetch ?? globalThis.fetch;
    this.#fetch = (input, init) => fetch(input, init);
    if (options.WebSocket !== undefined) {
      this.#openSocket = standardSocketOpener(options.WebSocket, this.#fetch);
    } else if (platformSocket !== undefined) {
      this.#openSocket = platformSocket;
    } else {
      this.#openSocket = () => {
        throw new HexcodesClientError(
          'BAD_ARGUMENT',
          'this platform has no WebSocket: hand one in as `WebSocket`',
        );
      };
    }
  }

  /** Position to hexcode. A position in no province is an error with code NOT_FOUND. */
  encode(
    latDeg: number,
    lngDeg: number,
    options: CallOptions & { readonly resolution?: number } = {},
  ): Promise<EncodeAnswer> {
    const { resolution, signal } = options;
    return this.#call(
      'hexcodes/encode',
      { lat: latDeg, lng: lngDeg, ...(resolution === undefined ? {} : { resolution }) },
      signal,
    );
  }

  /** Hexcode to the centre of its cell. */
  decode(hexcodes: string, options: CallOptions = {}): Promise<DecodeAnswer> {
    return this.#call('hexcodes/decode', { hexcodes }, options.signal);
  }

  /** Any number of points; every one has its own status in the results. */
  encodeBatch(
    points: readonly BatchPoint[],
    options: CallOptions & { readonly resolution?: number } = {},
  ): Promise<BatchAnswer<EncodeBatchResult>> {
    const { resolution, signal } = options;
    return this.#batch('hexcodes/encode/batch', points, signal, (part) => ({
      ...(resolution === undefined ? {} : { resolution }),
      points: part,
    }));
  }

  /** Any number of hexcodes, spelled as people spell them; every one has its own status in the results. */
  decodeBatch(
    hexcodes: readonly (string | { readonly hexcodes: string; readonly id?: string | number })[],
    options: CallOptions = {},
  ): Promise<BatchAnswer<DecodeBatchResult>> {
    return this.#batch('hexcodes/decode/batch', hexcodes, options.signal, (part) => ({ hexcodes: part }));
  }

  /** A stream of positions: chunks of (latDeg, lngDeg) pairs in, hexcodes or H3 cells out. */
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output?: 'text' },
  ): HexcodesStream<Float64Array, EncodedTexts>;
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output: 'cells' },
  ): HexcodesStream<Float64Array, EncodedCells>;
  /** A stream of hexcodes: chunks of texts, or of 20-byte records as `EncodedTexts.records` gives them. */
  stream(
    options: StreamOptions<readonly string[] | Uint8Array> & { readonly operation: 'decode' },
  ): HexcodesStream<readonly string[] | Uint8Array, DecodedPositions>;
  stream(
    options: (EncodeStreamOptions | StreamOptions<readonly string[] | Uint8Array>) & {
      readonly operation: 'encode' | 'decode';
      readonly output?: 'text' | 'cells';
      readonly resolution?: number;
    },
  ): unknown {
    if (options.operation === 'encode') {
      const { resolution = DEFAULT_RESOLUTION, output = 'text', source } = options;
      if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15) {
        throw new HexcodesClientError('BAD_ARGUMENT', `resolution ${resolution} is no integer of 0 to 15`);
      }
      return this.#open<Float64Array, EncodedTexts | EncodedCells>(
        options,
        source as StreamOptions<Float64Array>['source'],
        (chunk, maxPoints) => framesOfPairs(chunk, maxPoints, resolution, output === 'cells'),
      );
    }
    return this.#open<readonly string[] | Uint8Array, DecodedPositions>(
      options,
      options.source as StreamOptions<readonly string[] | Uint8Array>['source'],
      framesOfHexcodes,
    );
  }

  #open<In, Out extends EncodedTexts | EncodedCells | DecodedPositions>(
    options: Omit<StreamOptions<never>, 'source'>,
    source: StreamOptions<In>['source'],
    frames: (chunk: In, maxPoints: number) => Iterable<{ frame: Bytes; points: number }>,
  ): HexcodesStream<In, Out> {
    const { framePoints = 4096, maxAttempts = 8, answerTimeoutMs = 60_000, signal } = options;
    if (!Number.isInteger(framePoints) || framePoints < 1) {
      throw new HexcodesClientError('BAD_ARGUMENT', `framePoints ${framePoints} is no positive integer`);
    }
    const url = new URL('hexcodes/stream', this.#base);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const stream = new HexcodesStream<In, Out>({
      url,
      apiKey: this.#apiKey,
      openSocket: this.#openSocket,
      frames,
      framePoints,
      maxAttempts,
      answerTimeoutMs,
      signal,
    });
    if (source !== undefined) void stream.pump(source);
    return stream;
  }

  async #batch<Item, Result>(
    path: string,
    items: readonly Item[],
    signal: AbortSignal | undefined,
    body: (part: readonly Item[]) => object,
  ): Promise<BatchAnswer<Result>> {
    const results: Result[] = [];
    const summary = { total: 0, ok: 0, failed: 0 };
    for (let first = 0; first === 0 || first < items.length; first += BATCH_ITEMS) {
      const part = await this.#call<BatchAnswer<Result>>(
        path,
        body(items.slice(first, first + BATCH_ITEMS)),
        signal,
      );
      for (const result of part.results) results.push(result);
      summary.total += part.summary.total;
      summary.ok += part.summary.ok;
      summary.failed += part.summary.failed;
    }
    return { status: 'OK', summary, results };
  }

  async #call<Answer>(path: string, body: object, callerSignal: AbortSignal | undefined): Promise<Answer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = callerSignal === undefined ? timeout : AbortSignal.any([timeout, callerSignal]);
    for (let attempt = 0; ; attempt++) {
      let error: HexcodesClientError;
      try {
        const answer = await this.#fetch(new URL(path, this.#base), {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            ...(this.#apiKey === undefined ? {} : { 'X-API-Key': this.#apiKey }),
          },
          body: JSON.stringify(body),
          signal,
        });
        const text = await answer.text();
        if (answer.ok) return parseAnswer<Answer>(text);
        error = errorOfAnswer(answer.status, text, answer.headers.get('retry-after'));
        if (error.code !== 'UNAVAILABLE') throw error;
      } catch (cause) {
        if (cause instanceof HexcodesClientError) throw cause;
        this.#rethrowAbort(cause, timeout, callerSignal);
        error = new HexcodesClientError('NETWORK', 'the service cannot be reached', { cause });
      }
      if (attempt >= this.#retries) throw error;
      const pauseSec = Math.min(error.retryAfterSec ?? 0, LONGEST_RETRY_AFTER_SEC);
      await pause(Math.max(pauseSec * 1000, 100 * 2 ** attempt * (0.5 + Math.random() / 2)), signal).catch(
        (reason) => this.#rethrowAbort(reason, timeout, callerSignal),
      );
    }
  }

  #rethrowAbort(cause: unknown, timeout: AbortSignal, callerSignal: AbortSignal | undefined): void {
    if (callerSignal?.aborted) throw new HexcodesClientError('ABORTED', 'the call was aborted', { cause });
    if (!timeout.aborted) return;
    throw new HexcodesClientError('TIMEOUT', `no answer within ${this.#timeoutMs} ms`, { cause });
  }
}

function parseAnswer<Answer>(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch (cause) {
    throw new HexcodesClientError('PROTOCOL', 'the service answered 200 with something that is no JSON', {
      cause,
    });
  }
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, delayMs);
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

function* framesOfPairs(
  pairsDeg: Float64Array,
  maxPoints: number,
  resolution: number,
  cells: boolean,
): Generator<{ frame: Bytes; points: number }> {
  if (!(pairsDeg instanceof Float64Array) || pairsDeg.length % 2 !== 0) {
    throw new HexcodesClientError('BAD_ARGUMENT', 'a chunk is a Float64Array of (latDeg, lngDeg) pairs');
  }
  for (let first = 0; first * 2 < pairsDeg.length; first += maxPoints) {
    const points = Math.min(maxPoints, pairsDeg.length / 2 - first);
    yield { frame: encodeRequest(pairsDeg, first, points, resolution, cells), points };
  }
}

function* framesOfHexcodes(
  hexcodes: readonly string[] | Uint8Array,
  maxPoints: number,
): Generator<{ frame: Bytes; points: number }> {
  const records = hexcodes instanceof Uint8Array ? hexcodes : undefined;
  if (records !== undefined && records.length % RECORD_BYTES !== 0) {
    throw new HexcodesClientError('BAD_ARGUMENT', `records are ${RECORD_BYTES} bytes each`);
  }
  const count = records === undefined ? hexcodes.length : records.length / RECORD_BYTES;
  for (let first = 0; first < count; first += maxPoints) {
    const points = Math.min(maxPoints, count - first);
    const frame =
      records === undefined
        ? decodeRequest(hexcodes as readonly string[], first, points)
        : decodeRecordsRequest(records, first, points);
    yield { frame, points };
  }
}
