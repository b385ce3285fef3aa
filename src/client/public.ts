// Everything that hexcodes/client exports besides the client itself: the shapes of its options and answers, its one
// error class, and the types of its stream. The same for Node (node.ts) and browsers (web.ts).
import type { WebSocketConstructor } from './socket.js';

export { type ClientErrorCode, HexcodesClientError } from './errors.js';
export type { DecodedPositions, EncodedCells, EncodedTexts, PointStatus } from './frames.js';
export type { StandardWebSocket, WebSocketConstructor } from './socket.js';
export type { HexcodesStream } from './stream.js';

export interface ClientOptions {
  /** The base address, ending in `/v1`. */
  readonly baseUrl: string | URL;
  readonly apiKey?: string;
  /** Limit of one HTTP call, its retries included; default 30,000. */
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

/** The body of a successful encode (docs/http.md). */
export interface EncodeAnswer {
  readonly hexcodes: string;
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  readonly admin_code: string;
  readonly status: 'OK';
}

/** The body of a decode (docs/http.md). An invalid code is an answer, not an error. */
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

/** One point of a batch: degrees, and optionally a resolution of its own and an id that its result repeats. */
export type BatchPoint =
  | readonly [latDeg: number, lngDeg: number]
  | {
      readonly lat: number;
      readonly lng: number;
      readonly resolution?: number;
      readonly id?: string | number;
    };

/** The result of one point; `status` says what became of it, and what it has no value for is null. */
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

/** The result of one hexcode: the centre of its cell in degrees, or nulls and a status that is not OK. */
export interface DecodeBatchResult {
  readonly lat: number | null;
  readonly lng: number | null;
  readonly resolution: number | null;
  readonly hexcodes: string | null;
  readonly status: string;
  readonly message?: string;
  readonly id?: string | number;
}

/** The answer to a batch: one result an item, in the order of the items. */
export interface BatchAnswer<Result> {
  readonly status: 'OK';
  readonly summary: { readonly total: number; readonly ok: number; readonly failed: number };
  readonly results: readonly Result[];
}

export interface StreamOptions<In> {
  /** Chunks that the stream writes by itself; without it, the caller writes to `writable`. */
  readonly source?: Iterable<In> | AsyncIterable<In>;
  /** Most points of one frame, 1 to 65,536; default 4,096, which costs the service least a point. */
  readonly framePoints?: number;
  /** After so many connections in a row without one answer the stream fails; default 8. */
  readonly maxAttempts?: number;
  /** Timeout of the service's next answer while frames are unanswered: then the stream reconnects. Default 60,000. */
  readonly answerTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface EncodeStreamOptions extends StreamOptions<Float64Array> {
  /** 0 to 15; default 13. */
  readonly resolution?: number;
}
