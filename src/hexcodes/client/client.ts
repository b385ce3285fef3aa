// The client: one method a call of the service, and `stream` for points without end. It knows no platform: node.ts
// and web.ts say how the stream opens its sockets. Positions are WGS 84 degrees, latitude first.
import { DEFAULT_RESOLUTION } from '../wire/params/resolution.js';
import type {
  AdminUnitAnswer,
  AdminUnitRow,
  BatchAnswer,
  DecodeAnswer,
  DecodeBatchResult,
  EncodeAnswer,
  EncodeBatchResult,
  MetaAnswer,
  ReadAnswer,
  SuggestedCode,
} from './answers.js';
import { baseUrlOf } from './base-url.js';
import { HexcodesClientError } from './errors.js';
import { decodeBatch, encodeBatch } from './http/batches.js';
import { type BulkAnswer, type BulkOptions, bulk } from './http/bulk.js';
import { HttpCalls } from './http/calls.js';
import { allAdminUnits, oneAdminUnit, readCode, suggestCodes } from './http/lookups.js';
import {
  type BatchHexcode,
  type BatchPoint,
  type CallOptions,
  type ClientOptions,
  type EncodeCallOptions,
  type EncodeStreamOptions,
  type HexcodesChunk,
  requireOptions,
  type StreamOptions,
  type SuggestCallOptions,
} from './options.js';
import { requireOperation, requireSource } from './stream/chunks.js';
import {
  type DecodedPositions,
  type EncodedCells,
  type EncodedTexts,
  framesOfHexcodes,
  framesOfPairs,
  type RequestFrame,
} from './stream/frames.js';
import { type OpenSocket, standardSocketOpener } from './stream/socket.js';
import { HexcodesStream } from './stream/stream.js';

/** The parts of the client that differ between platforms. */
export interface Platform {
  /** Opens the stream's socket where the options bring no WebSocket; absent where the platform has none. */
  readonly openSocket: OpenSocket | undefined;
  /** Whether `fetch` sends a body while it is made. */
  readonly streamsBodies: boolean;
}

export class HexcodesClient {
  readonly #base: URL;
  readonly #apiKey: string | undefined;
  readonly #http: HttpCalls;
  readonly #openSocket: OpenSocket;
  readonly #streamsBodies: boolean;

  /** @throws HexcodesClientError BAD_ARGUMENT for a `baseUrl` that is no address */
  constructor(options: ClientOptions, platform: Platform) {
    requireOptions(options, 'HexcodesClient');
    const base = baseUrlOf(options.baseUrl);
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
    this.#openSocket =
      options.WebSocket === undefined
        ? (platform.openSocket ?? noWebSocket)
        : standardSocketOpener(options.WebSocket, fetch);
    this.#streamsBodies = platform.streamsBodies;
  }

  /**
   * The hexcode of a position.
   * @param lat latitude, degrees, -90 to 90
   * @param lng longitude, degrees, -180 to 180
   * @throws HexcodesClientError OUTSIDE_COVERAGE for a position in no province of Viet Nam nor its sea, INVALID_REQUEST
   *   for what is no position
   */
  async encode(lat: number, lng: number, options: EncodeCallOptions = {}): Promise<EncodeAnswer> {
    requireOptions(options, 'encode');
    const { resolution, former, certainty, signal } = options;
    const body = {
      ...{ lat, lng },
      ...(resolution === undefined ? {} : { resolution }),
      ...(former === undefined ? {} : { former }),
      ...(certainty === undefined ? {} : { certainty }),
    };
    return this.#http.post('hexcodes/encode', body, signal);
  }

  /** The centre of a hexcode's cell. A text that is no hexcode is answered with INVALID_HEXCODES, not thrown. */
  async decode(hexcodes: string, options: CallOptions = {}): Promise<DecodeAnswer> {
    requireOptions(options, 'decode');
    return this.#http.post('hexcodes/decode', { hexcodes }, options.signal);
  }

  /** All about one code. A text that is no hexcode is answered with INVALID_HEXCODES, not thrown. */
  async read(hexcodes: string, options: CallOptions = {}): Promise<ReadAnswer> {
    requireOptions(options, 'read');
    return readCode(this.#http, hexcodes, options);
  }

  /** Valid codes one slip away from a text, at most ten: with `near` the nearest first, else the likelier slips. */
  async suggest(text: string, options: SuggestCallOptions = {}): Promise<SuggestedCode[]> {
    requireOptions(options, 'suggest');
    return suggestCodes(this.#http, text, options);
  }

  /**
   * Encodes any number of points; each has its own status, and the results are in the order of the points.
   * @param points positions, or lat, lng, lat, lng, … as one array of numbers
   */
  async encodeBatch(
    points: readonly BatchPoint[] | Float64Array,
    options: EncodeCallOptions = {},
  ): Promise<BatchAnswer<EncodeBatchResult>> {
    requireOptions(options, 'encodeBatch');
    return encodeBatch(this.#http, points, options);
  }

  /**
   * Decodes any number of hexcodes; each has its own status, and the results are in their order.
   * @param hexcodes texts in any spelling that decode reads, or 20-byte records as the library makes them
   */
  async decodeBatch(
    hexcodes: readonly BatchHexcode[] | Uint8Array,
    options: CallOptions = {},
  ): Promise<BatchAnswer<DecodeBatchResult>> {
    requireOptions(options, 'decodeBatch');
    return decodeBatch(this.#http, hexcodes, options);
  }

  /**
   * Sends CSV, NDJSON or frames of any length and returns the answer when it begins; read it while the rest is sent.
   * Nothing is sent twice, and `timeoutMs` does not count. In a browser a stream is sent when all of it is there.
   */
  async bulk(options: BulkOptions): Promise<BulkAnswer> {
    requireOptions(options, 'bulk');
    return bulk(this.#http.settings, options, this.#streamsBodies);
  }

  /** The 34 provinces; the place of each is its admin number. */
  async adminUnits(options: CallOptions = {}): Promise<AdminUnitRow[]> {
    requireOptions(options, 'adminUnits');
    return allAdminUnits(this.#http, options);
  }

  /**
   * One province with its boundary.
   * @throws HexcodesClientError NOT_FOUND
   */
  async adminUnit(adminCode: string, options: CallOptions = {}): Promise<AdminUnitAnswer> {
    requireOptions(options, 'adminUnit');
    return oneAdminUnit(this.#http, adminCode, options);
  }

  /** Versions of the service, and the source of its boundaries. */
  async meta(options: CallOptions = {}): Promise<MetaAnswer> {
    requireOptions(options, 'meta');
    return this.#http.get('meta', options.signal);
  }

  /** A stream of positions: chunks of (lat, lng) pairs are written, hexcodes or H3 cells are read. */
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output?: 'text' },
  ): HexcodesStream<Float64Array, EncodedTexts>;
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output: 'cells' },
  ): HexcodesStream<Float64Array, EncodedCells>;
  /** A stream of hexcodes: chunks of texts, or of 20-byte records as `EncodedTexts.records` holds them, are written. */
  stream(
    options: StreamOptions<HexcodesChunk> & { readonly operation: 'decode' },
  ): HexcodesStream<HexcodesChunk, DecodedPositions>;
  stream(
    options: (EncodeStreamOptions | StreamOptions<HexcodesChunk>) & {
      readonly operation: 'encode' | 'decode';
      readonly output?: 'text' | 'cells';
      readonly resolution?: number;
    },
  ): unknown {
    requireOptions(options, 'stream');
    const { operation, output, resolution = DEFAULT_RESOLUTION, source } = options;
    requireOperation(operation);
    requireSource(source, operation);
    if (output !== undefined && (operation === 'decode' || (output !== 'text' && output !== 'cells')))
      throw badArgument(`output is 'text' or 'cells', of encode only; not ${JSON.stringify(output)}`);
    if (operation === 'decode') {
      const texts = source as StreamOptions<HexcodesChunk>['source'];
      return this.#open<HexcodesChunk, DecodedPositions>(options, texts, framesOfHexcodes);
    }
    if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
      throw badArgument(`resolution ${resolution} is no integer of 0 to 15`);
    return this.#open<Float64Array, EncodedTexts | EncodedCells>(
      options,
      source as StreamOptions<Float64Array>['source'],
      (chunk, maxPoints) => framesOfPairs(chunk, maxPoints, resolution, output === 'cells'),
    );
  }

  #open<In, Out extends EncodedTexts | EncodedCells | DecodedPositions>(
    options: Omit<StreamOptions<never>, 'source'>,
    source: StreamOptions<In>['source'],
    frames: (chunk: In, maxPoints: number) => Iterable<RequestFrame>,
  ): HexcodesStream<In, Out> {
    const { framePoints = 4096, maxAttempts = 12, answerTimeoutMs = 60_000, signal } = options;
    if (!Number.isInteger(framePoints) || framePoints < 1)
      throw badArgument(`framePoints ${framePoints} is no positive integer`);
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
}

const noWebSocket: OpenSocket = () => {
  throw badArgument('this platform has no WebSocket: hand one in as `WebSocket`');
};

function badArgument(message: string): HexcodesClientError {
  return new HexcodesClientError('BAD_ARGUMENT', message);
}
