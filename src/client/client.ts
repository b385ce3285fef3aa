// The client: one method a call of the service, and `stream` for points without end. It knows no platform: node.ts
// and web.ts say which WebSocket the stream opens. Positions are WGS 84 degrees, latitude first.
import { DEFAULT_RESOLUTION } from '../wire/params/resolution.js';
import { HexcodesClientError } from './errors.js';
import {
  type DecodedPositions,
  type EncodedCells,
  type EncodedTexts,
  framesOfHexcodes,
  framesOfPairs,
  type RequestFrame,
} from './frames.js';
import { HttpCalls } from './http-calls.js';
import type {
  BatchAnswer,
  BatchPoint,
  CallOptions,
  ClientOptions,
  DecodeAnswer,
  DecodeBatchResult,
  EncodeAnswer,
  EncodeBatchResult,
  EncodeStreamOptions,
  StreamOptions,
} from './public.js';
import { type OpenSocket, standardSocketOpener } from './socket.js';
import { HexcodesStream } from './stream.js';

/** Most items of one batch call; longer lists become several calls. */
const BATCH_ITEMS = 10_000;

export class HexcodesClient {
  readonly #base: URL;
  readonly #apiKey: string | undefined;
  readonly #http: HttpCalls;
  readonly #openSocket: OpenSocket;

  /** @param platformSocket opens the stream's socket where the options bring no WebSocket */
  constructor(options: ClientOptions, platformSocket?: OpenSocket) {
    const base = new URL(options.baseUrl);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    this.#base = base;
    this.#apiKey = options.apiKey;
    const fetch = options.fetch ?? globalThis.fetch;
    this.#http = new HttpCalls({
      baseUrl: base,
      apiKey: options.apiKey,
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 2,
      fetch,
    });
    if (options.WebSocket !== undefined) {
      this.#openSocket = standardSocketOpener(options.WebSocket, fetch);
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

  /**
   * The hexcode of a position, at resolution 13 unless given.
   * @throws HexcodesClientError NOT_FOUND where the position lies in no province of Viet Nam nor its coastal sea
   */
  encode(
    latDeg: number,
    lngDeg: number,
    options: CallOptions & { readonly resolution?: number } = {},
  ): Promise<EncodeAnswer> {
    const { resolution, signal } = options;
    return this.#http.post(
      'hexcodes/encode',
      { lat: latDeg, lng: lngDeg, ...(resolution === undefined ? {} : { resolution }) },
      signal,
    );
  }

  /** The centre of a hexcode's cell. A text that is no hexcode is answered with INVALID_HEXCODES, not thrown. */
  decode(hexcodes: string, options: CallOptions = {}): Promise<DecodeAnswer> {
    return this.#http.post('hexcodes/decode', { hexcodes }, options.signal);
  }

  /** Encodes any number of points; each has its own status, and the results are in the order of the points. */
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

  /** Decodes any number of hexcodes, in any spelling that decode reads; each has its own status, in their order. */
  decodeBatch(
    hexcodes: readonly (string | { readonly hexcodes: string; readonly id?: string | number })[],
    options: CallOptions = {},
  ): Promise<BatchAnswer<DecodeBatchResult>> {
    return this.#batch('hexcodes/decode/batch', hexcodes, options.signal, (part) => ({ hexcodes: part }));
  }

  /** A stream of positions: chunks of (latDeg, lngDeg) pairs are written, hexcodes or H3 cells are read. */
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output?: 'text' },
  ): HexcodesStream<Float64Array, EncodedTexts>;
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output: 'cells' },
  ): HexcodesStream<Float64Array, EncodedCells>;
  /** A stream of hexcodes: chunks of texts, or of 20-byte records as `EncodedTexts.records` holds them, are written. */
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
    frames: (chunk: In, maxPoints: number) => Iterable<RequestFrame>,
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
      const part = await this.#http.post<BatchAnswer<Result>>(
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
}
