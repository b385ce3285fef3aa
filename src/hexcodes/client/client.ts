// The client: one method a call of the service, and `stream` for an unlimited number of points. It is independent of
// the platform: node.ts and web.ts say how the stream opens its sockets. Positions are WGS 84 degrees, latitude
// first.

import { ADMIN_UNITS } from '../admin-units.js';
import { onlyExtras } from '../extras.js';
import { MAX_BATCH_ITEMS, RECORD_BYTES, RECORD_TEXT_BYTES } from '../wire/limits.js';
import { shown } from '../wire/params/names.js';
import { DEFAULT_RESOLUTION } from '../wire/params/number.js';
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
import { HexcodesClientError } from './errors.js';
import { type BulkAnswer, type BulkOptions, bulk, HttpCalls } from './http.js';
import {
  type BatchHexcode,
  type BatchPoint,
  BULKS,
  CALL_OPTIONS,
  type CallOptions,
  CLIENT_OPTIONS,
  type ClientOptions,
  ENCODE_OPTIONS,
  type EncodeCallOptions,
  type EncodeStreamOptions,
  type HexcodesChunk,
  keyOf,
  numberOf,
  type Position,
  requireOptions,
  STREAMS,
  type StreamOptions,
  SUGGEST_OPTIONS,
  type SuggestCallOptions,
} from './options.js';
import {
  type DecodedPositions,
  type EncodedCells,
  type EncodedTexts,
  framesOfHexcodes,
  framesOfPairs,
  type RequestFrame,
  requireOperation,
  requireSource,
} from './stream/frames.js';
import { type OpenSocket, standardSocketOpener } from './stream/socket.js';
import { HexcodesStream } from './stream/stream.js';

// Batches of any length, as several calls of the size that the service accepts. Their results are one list, with the
// names of the library.
/** A result as the service writes it. */
interface Served {
  readonly status: string;
  /** Index of a failed item in its call. */
  readonly index?: number;
}

async function batch<Item, Result>(
  http: HttpCalls,
  path: string,
  items: readonly Item[],
  signal: AbortSignal | undefined,
  body: (part: readonly Item[]) => object,
  inOurWords: (result: Served) => Served,
): Promise<BatchAnswer<Result>> {
  if (!Array.isArray(items)) throw badArgument('a batch is an array of items');
  const results: Served[] = [];
  for (let first = 0; first === 0 || first < items.length; first += MAX_BATCH_ITEMS) {
    const sent = items.slice(first, first + MAX_BATCH_ITEMS);
    const part = rowsOf<Served>(await http.post(path, body(sent), signal), 'results');
    if (part.length !== sent.length)
      throw new HexcodesClientError('PROTOCOL', `${path} was not answered with a result for each item`);
    for (const [i, result] of part.entries())
      results.push(inOurWords(result.index === undefined ? result : { ...result, index: first + i }));
  }
  const ok = results.filter(({ status }) => status === 'OK').length;
  const summary = { total: results.length, ok, failed: results.length - ok };
  return { status: 'OK', summary, results: results as Result[] };
}

/** @throws HexcodesClientError PROTOCOL where an answer has no such list of objects, as that of another peer */
function rowsOf<Row extends object>(answer: object, name: string): Row[] {
  const rows = (answer as { readonly [member: string]: unknown })[name];
  if (Array.isArray(rows) && rows.every((row) => typeof row === 'object' && row !== null)) return rows;
  throw new HexcodesClientError('PROTOCOL', `the answer has no ${name}, as no hexcodes service answers`);
}

function pairsOf(latLng: Float64Array): [number, number][] {
  if (latLng.length % 2 !== 0) throw badArgument(`positions are pairs: ${latLng.length} numbers are odd`);
  return Array.from({ length: latLng.length / 2 }, (_, i) => [latLng[2 * i]!, latLng[2 * i + 1]!]);
}

/** The texts of 20-byte records, as `encodeBatch` of the library makes them. */
function textsOf(records: Uint8Array): string[] {
  if (records.length % RECORD_BYTES !== 0) throw badArgument(`records are ${RECORD_BYTES} bytes each`);
  return Array.from({ length: records.length / RECORD_BYTES }, (_, i) => {
    const bytes = records.subarray(i * RECORD_BYTES, i * RECORD_BYTES + RECORD_TEXT_BYTES);
    const end = bytes.indexOf(0);
    // Records of hexcodes are ASCII; the replacement character is in no hexcode.
    return Array.from(end < 0 ? bytes : bytes.subarray(0, end), (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : '\ufffd',
    ).join('');
  });
}

/** The service reads no longer texts, in UTF-16 units. */
const MAX_TEXT_UNITS = 64;
/** Suggestions that the service gives at most. */
const MAX_SUGGESTIONS = 10;

function noUnit(code: string, cause?: HexcodesClientError): HexcodesClientError {
  return new HexcodesClientError(
    'NOT_FOUND',
    `there is no province or city of the code ${JSON.stringify(code)}`,
    {
      cause,
      httpStatus: cause?.httpStatus,
      requestId: cause?.requestId,
    },
  );
}

function nearOf(near: Position): string {
  const { lat, lng } = Array.isArray(near)
    ? { lat: near[0] as number, lng: near[1] as number }
    : ((near ?? {}) as { lat: number; lng: number });
  if (Number.isFinite(lat) && Number.isFinite(lng)) return `${lat},${lng}`;
  throw badArgument('near is [lat, lng] or { lat, lng } in degrees');
}

/** A text as one segment of a path; undefined for a text that can be neither a segment nor a code. */
function segmentOf(text: string): string | undefined {
  if (typeof text !== 'string') throw badArgument('a code is a text');
  // Dots would navigate in the path; a lone surrogate cannot be encoded.
  if (text === '' || text === '.' || text === '..' || text.length > MAX_TEXT_UNITS) return undefined;
  try {
    const escaped = encodeURIComponent(text);
    // Words such as "encode" name other endpoints; with an escaped first letter they are read as codes.
    return /^[a-z]+$/.test(text) ? `%${text.charCodeAt(0).toString(16)}${escaped.slice(1)}` : escaped;
  } catch {
    return undefined;
  }
}

/**
 * The address with a slash at its end. A text that begins with a slash is resolved against the page.
 * @throws HexcodesClientError BAD_ARGUMENT where it is not an address over HTTP
 */
function baseUrlOf(given: unknown): URL {
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== 'string') throw refused(text, 'it is not text');
  const { location } = globalThis as { location?: { readonly href: string } };
  let url: URL;
  try {
    url = text.startsWith('/') && location !== undefined ? new URL(text, location.href) : new URL(text);
  } catch {
    const isPath = text === '' || text.startsWith('/');
    throw refused(
      text,
      isPath ? 'there is no page whose address it could belong to' : 'it is not an address',
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(text, 'it does not begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw badArgument('baseUrl holds a user name: a proxy key cannot go there');
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}

function refused(given: unknown, reason: string): HexcodesClientError {
  return badArgument(
    `baseUrl ${shown(given)} cannot be used, ${reason}: it reads like http://127.0.0.1:8080/v1`,
  );
}

/** The parts of the client that differ between platforms. */
export interface Platform {
  /** Opens the stream's socket where the options bring no WebSocket; absent where the platform has none. */
  readonly openSocket: OpenSocket | undefined;
  /** Whether `fetch` sends a body while it is still being produced. */
  readonly streamsBodies: boolean;
  /** Sends the bodies of `bulk` where the options bring no `fetch`. */
  readonly fetchBulk?: typeof globalThis.fetch;
}

export class HexcodesClient {
  readonly #base: URL;
  readonly #apiKey: string | undefined;
  readonly #http: HttpCalls;
  readonly #openSocket: OpenSocket;
  readonly #streamsBodies: boolean;
  readonly #fetchBulk: typeof globalThis.fetch;

  /** @throws HexcodesClientError BAD_ARGUMENT for a `baseUrl` that is not an address */
  constructor(options: ClientOptions, platform: Platform) {
    requireOptions(options, 'HexcodesClient', CLIENT_OPTIONS);
    const base = baseUrlOf(options.baseUrl);
    this.#base = base;
    this.#apiKey = keyOf(options);
    const fetch = options.fetch ?? globalThis.fetch;
    this.#http = new HttpCalls({
      baseUrl: base,
      apiKey: this.#apiKey,
      timeoutMs: numberOf(options, 'timeoutMs', 30_000),
      retries: numberOf(options, 'retries', 2),
      fetch,
    });
    this.#openSocket =
      options.WebSocket === undefined
        ? (platform.openSocket ?? noWebSocket)
        : standardSocketOpener(options.WebSocket, fetch);
    this.#streamsBodies = platform.streamsBodies;
    this.#fetchBulk = options.fetch ?? platform.fetchBulk ?? fetch;
  }

  /**
   * The hexcode of a position.
   * @param lat latitude, degrees, -90 to 90
   * @param lng longitude, degrees, -180 to 180
   * @throws HexcodesClientError OUTSIDE_COVERAGE for a position in no province of Viet Nam nor its sea, INVALID_REQUEST
   * for what is not a position
   */
  async encode(lat: number, lng: number, options: EncodeCallOptions = {}): Promise<EncodeAnswer> {
    requireOptions(options, 'encode', ENCODE_OPTIONS);
    const { resolution, signal } = options;
    const body = {
      lat,
      lng,
      ...(resolution === undefined ? {} : { resolution }),
      ...onlyExtras(options),
    };
    return this.#http.post('hexcodes/encode', body, signal);
  }

  /** The centre of a hexcode's cell. A text that is not a hexcode is answered with INVALID_HEXCODES, not thrown. */
  async decode(hexcodes: string, options: CallOptions = {}): Promise<DecodeAnswer> {
    requireOptions(options, 'decode', CALL_OPTIONS);
    return this.#http.post('hexcodes/decode', { hexcodes }, options.signal);
  }

  /** The content of a code. A text that is not a hexcode is answered with INVALID_HEXCODES, not thrown. */
  async read(hexcodes: string, options: CallOptions = {}): Promise<ReadAnswer> {
    requireOptions(options, 'read', CALL_OPTIONS);
    const segment = segmentOf(hexcodes);
    if (segment === undefined)
      return {
        status: 'INVALID_HEXCODES',
        hexcodes,
        message: `${JSON.stringify(hexcodes)} is not a hexcode`,
      };
    const answer = await this.#http.get<ReadAnswer>(`hexcodes/${segment}`, options.signal);
    return answer.status === 'OK' ? answer : { status: answer.status, hexcodes, message: answer.message };
  }

  /** Valid codes one slip away from a text, at most ten: with `near` the nearest first, else the likelier slips. */
  async suggest(text: string, options: SuggestCallOptions = {}): Promise<SuggestedCode[]> {
    requireOptions(options, 'suggest', SUGGEST_OPTIONS);
    const { near, signal } = options;
    const limit = numberOf(options, 'limit', MAX_SUGGESTIONS);
    const query = near === undefined ? '' : `?near=${nearOf(near)}`;
    const segment = segmentOf(text);
    if (segment === undefined) return [];
    const path = `hexcodes/${segment}/suggestions${query}`;
    return rowsOf<SuggestedCode>(await this.#http.get(path, signal), 'suggestions').slice(0, limit);
  }

  /**
   * Encodes any number of points; each has its own status, and the results are in the order of the points.
   * @param points positions, or lat, lng, lat, lng, … as one array of numbers
   */
  async encodeBatch(
    points: readonly BatchPoint[] | Float64Array,
    options: EncodeCallOptions = {},
  ): Promise<BatchAnswer<EncodeBatchResult>> {
    requireOptions(options, 'encodeBatch', ENCODE_OPTIONS);
    const { resolution, signal, ...others } = options;
    const items = points instanceof Float64Array ? pairsOf(points) : points;
    const extras = { ...(resolution === undefined ? {} : { resolution }), ...onlyExtras(others) };
    return batch(
      this.#http,
      'hexcodes/encode/batch',
      items,
      signal,
      (part) => ({ ...extras, points: part }),
      // The service's status of a position in no province is named after its HTTP status.
      (result) => (result.status === 'NOT_FOUND' ? { ...result, status: 'OUTSIDE_COVERAGE' } : result),
    );
  }

  /**
   * Decodes any number of hexcodes; each has its own status, and the results are in their order.
   * @param hexcodes texts in any spelling that decode reads, or 20-byte records as the library makes them
   */
  async decodeBatch(
    hexcodes: readonly BatchHexcode[] | Uint8Array,
    options: CallOptions = {},
  ): Promise<BatchAnswer<DecodeBatchResult>> {
    requireOptions(options, 'decodeBatch', CALL_OPTIONS);
    const items = hexcodes instanceof Uint8Array ? textsOf(hexcodes) : hexcodes;
    return batch(
      this.#http,
      'hexcodes/decode/batch',
      items,
      options.signal,
      (part) => ({ hexcodes: part }),
      (result) =>
        result.status === 'INVALID_REQUEST'
          ? { lat: null, lng: null, resolution: null, hexcodes: null, ...result }
          : result,
    );
  }

  /**
   * Sends CSV, NDJSON or frames of any length and returns the answer when it begins; read it while the rest is sent.
   * Nothing is repeated, `timeoutMs` bounds the body of a refusal. A browser collects a stream before it is sent.
   */
  async bulk(options: BulkOptions): Promise<BulkAnswer> {
    if (options?.operation === 'decode') requireOptions(options, 'bulk of decode', BULKS.decode);
    else requireOptions(options, 'bulk', BULKS.encode);
    return bulk({ ...this.#http.settings, fetch: this.#fetchBulk }, options, this.#streamsBodies);
  }

  /** The 34 provinces; the index of each is its admin number. */
  async adminUnits(options: CallOptions = {}): Promise<AdminUnitRow[]> {
    requireOptions(options, 'adminUnits', CALL_OPTIONS);
    return rowsOf(await this.#http.get('admin-units', options.signal), 'admin_units');
  }

  /**
   * One province with its boundary.
   * @throws HexcodesClientError NOT_FOUND
   */
  async adminUnit(adminCode: string, options: CallOptions = {}): Promise<AdminUnitAnswer> {
    requireOptions(options, 'adminUnit', CALL_OPTIONS);
    const segment = segmentOf(adminCode);
    if (segment === undefined) throw noUnit(adminCode);
    try {
      return await this.#http.get<AdminUnitAnswer>(`admin-units/${segment}`, options.signal);
    } catch (error) {
      // The service answers an unknown province like an unknown path.
      const isAnswered = error instanceof HexcodesClientError && error.httpStatus === 404 && error.requestId;
      if (isAnswered && !ADMIN_UNITS.some((unit) => unit.code === adminCode)) throw noUnit(adminCode, error);
      throw error;
    }
  }

  /** Versions of the service, and the source of its boundaries. */
  async meta(options: CallOptions = {}): Promise<MetaAnswer> {
    requireOptions(options, 'meta', CALL_OPTIONS);
    return this.#http.get('meta', options.signal);
  }

  /** A stream of positions: chunks of (lat, lng) pairs are written, hexcodes or H3 cells are read. */
  stream(
    options: EncodeStreamOptions & { readonly operation: 'encode'; readonly output?: 'text' | undefined },
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
      readonly output?: 'text' | 'cells' | undefined;
      readonly resolution?: number | undefined;
    },
  ): unknown {
    if (options?.operation === 'decode') requireOptions(options, 'stream of decode', STREAMS.decode);
    else requireOptions(options, 'stream', STREAMS.encode);
    const { operation, output, resolution = DEFAULT_RESOLUTION, source } = options;
    requireOperation(operation);
    requireSource(source, operation);
    if (output !== undefined && output !== 'text' && output !== 'cells')
      throw badArgument(`output is 'text' or 'cells', not ${shown(output)}`);
    if (operation === 'decode') {
      const texts = source as StreamOptions<HexcodesChunk>['source'];
      return this.#open<HexcodesChunk, DecodedPositions>(options, texts, framesOfHexcodes);
    }
    if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
      throw badArgument(`resolution ${String(resolution)} is not an integer from 0 to 15`);
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
    const url = new URL('hexcodes/stream', this.#base);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const stream = new HexcodesStream<In, Out>({
      url,
      apiKey: this.#apiKey,
      openSocket: this.#openSocket,
      frames,
      framePoints: numberOf(options, 'framePoints', 4096),
      maxAttempts: numberOf(options, 'maxAttempts', 18),
      answerTimeoutMs: numberOf(options, 'answerTimeoutMs', 60_000),
      signal: options.signal,
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
