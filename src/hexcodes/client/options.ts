// Options of the client, and the arguments and options of its calls.
import { EXTRA_NAMES, type ExtrasAsked } from '../extras.js';
import { isOptions, unknownOption } from '../wire/params/names.js';
import { HexcodesClientError } from './errors.js';
import type { WebSocketConstructor } from './stream/socket.js';

export interface ClientOptions {
  /** The base address, ending in `/v1`. In a page it may begin with `/`. */
  readonly baseUrl: string | URL;
  readonly apiKey?: string | undefined;
  /** Limit of a call, its retries included (`bulk`: of a refusal's body), at most 2,147,483,647; default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is repeated after 503, 502, 504 or a lost connection; default 2. `bulk` is not repeated. */
  readonly retries?: number | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** A standard WebSocket to use for the stream instead of the platform's. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface EncodeCallOptions extends CallOptions, ExtrasAsked {
  /** H3 resolution, integer 0 to 15; default 13. */
  readonly resolution?: number | undefined;
}

/** A position in degrees, latitude first or by name. */
export type Position = readonly [lat: number, lng: number] | { readonly lat: number; readonly lng: number };

export interface SuggestCallOptions extends CallOptions {
  /** A position that is probably close to the intended code. */
  readonly near?: Position | undefined;
  /** Suggestions at most; the service gives ten at most. */
  readonly limit?: number | undefined;
}

/**
 * One point of a batch: a position, and as an object also a resolution of its own and an id that its result repeats.
 */
export type BatchPoint =
  | readonly [lat: number, lng: number]
  | {
      readonly lat: number;
      readonly lng: number;
      readonly resolution?: number | undefined;
      readonly id?: string | number | undefined;
    };

/** One item of a batch of hexcodes. */
export type BatchHexcode = string | { readonly hexcodes: string; readonly id?: string | number | undefined };

export interface StreamOptions<In> extends CallOptions {
  /** Chunks that the stream writes by itself; without it, the caller writes to `writable`. */
  readonly source?: Iterable<In> | AsyncIterable<In> | undefined;
  /** Most points of one frame, 1 to 65,536; the default, 4,096, costs the service least a point. */
  readonly framePoints?: number | undefined;
  /** Consecutive connections without an answer after which the stream fails; default 18, some 20 seconds. */
  readonly maxAttempts?: number | undefined;
  /** Timeout of the service's next answer while frames are unanswered: then the stream reconnects. Default 60,000. */
  readonly answerTimeoutMs?: number | undefined;
}

export interface EncodeStreamOptions extends StreamOptions<Float64Array> {
  /** H3 resolution, integer 0 to 15; default 13. */
  readonly resolution?: number | undefined;
}

/** A chunk of a decode stream: hexcodes in any spelling, or 20-byte records of them. */
export type HexcodesChunk = readonly string[] | Uint8Array;

// The names of the options of each call: others would be ignored in silence.
export const CLIENT_OPTIONS = ['baseUrl', 'apiKey', 'timeoutMs', 'retries', 'fetch', 'WebSocket'] as const;
export const CALL_OPTIONS = ['signal'] as const;
export const ENCODE_OPTIONS = ['resolution', ...EXTRA_NAMES, 'signal'] as const;
export const SUGGEST_OPTIONS = ['near', 'limit', 'signal'] as const;
const STREAM_OPTIONS = ['source', 'framePoints', 'maxAttempts', 'answerTimeoutMs', 'signal'] as const;
export const STREAMS = {
  encode: ['operation', 'output', 'resolution', ...STREAM_OPTIONS],
  decode: ['operation', ...STREAM_OPTIONS],
} as const;
const BULK_OPTIONS = ['source', 'format', 'answerFormat', 'prefix', 'isGzipped', 'signal'] as const;
export const BULKS = {
  encode: ['operation', 'resolution', ...EXTRA_NAMES, ...BULK_OPTIONS],
  decode: ['operation', ...BULK_OPTIONS],
} as const;

/**
 * @throws HexcodesClientError BAD_ARGUMENT where the options of a call are not an object, such as a resolution, or
 * have an unknown name
 */
export function requireOptions(given: unknown, call: string, known: readonly string[]): void {
  if (!isOptions(given))
    throw new HexcodesClientError(
      'BAD_ARGUMENT',
      `the options of ${call} are an object, not ${String(given)}`,
    );
  const fault = unknownOption(given, known, call);
  if (fault !== undefined) throw new HexcodesClientError('BAD_ARGUMENT', fault);
  const { signal } = given as { readonly signal?: unknown };
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new HexcodesClientError('BAD_ARGUMENT', `signal of ${call} is an AbortSignal`);
}

/** Longest delay of a timer: a longer one fires at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** Bounds of the numeric options. */
const NUMBERS = {
  timeoutMs: [1, MAX_DELAY_MS],
  retries: [0, Number.POSITIVE_INFINITY],
  limit: [1, Number.POSITIVE_INFINITY],
  framePoints: [1, Number.MAX_SAFE_INTEGER],
  maxAttempts: [1, Number.POSITIVE_INFINITY],
  answerTimeoutMs: [1, MAX_DELAY_MS],
} as const;

/**
 * An option that is a number, or its default.
 * @throws HexcodesClientError BAD_ARGUMENT for what is not an integer within its bounds
 */
export function numberOf<N extends keyof typeof NUMBERS>(
  options: { readonly [K in N]?: number | undefined },
  name: N,
  fallback: number,
): number {
  const value: unknown = options[name] === undefined ? fallback : options[name];
  const [least, most] = NUMBERS[name];
  const isWhole = Number.isInteger(value) || value === most;
  if (isWhole && (value as number) >= least && (value as number) <= most) return value as number;
  const range = most === MAX_DELAY_MS ? `${least} to ${most}` : `${least}`;
  throw new HexcodesClientError('BAD_ARGUMENT', `${name} ${String(value)} is not an integer from ${range}`);
}

/**
 * The key as sent in a header, without surrounding blanks, such as a line end read from a file.
 * @throws HexcodesClientError BAD_ARGUMENT, whose message does not repeat the key
 */
export function keyOf({ apiKey }: ClientOptions): string | undefined {
  if (apiKey === undefined) return undefined;
  if (typeof apiKey !== 'string') throw new HexcodesClientError('BAD_ARGUMENT', 'apiKey is not text');
  const key = apiKey.trim();
  if (/^[\x20-\x7e]*$/.test(key)) return key;
  throw new HexcodesClientError('BAD_ARGUMENT', 'apiKey has a character that no header can hold');
}
