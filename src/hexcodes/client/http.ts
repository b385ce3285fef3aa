// Bodies of any length through /bulk: a file or a stream goes in, the answer comes out while the rest is still being
// sent. The rows are the service's own (docs/http.md, Bulk), in the words of HTTP.

import { type ExtrasAsked, onlyExtras } from '../extras.js';
import { isTransferred, shown } from '../wire/params/names.js';
import { errorOfFetch, HexcodesClientError, isRedirect, unreachable } from './errors.js';
import type { CallOptions } from './options.js';
import { loopOver, requireOperation, textIn } from './stream/frames.js';

// JSON calls to the service over fetch: one timeout for a call with its retries, and every failure as a
// HexcodesClientError. Calls have no side effects, so a call may be repeated whatever became of it.

interface HttpSettings {
  /** Ends with a slash; paths of calls are resolved against it. */
  readonly baseUrl: URL;
  readonly apiKey: string | undefined;
  /** Limit of one call, its retries included. */
  readonly timeoutMs: number;
  /** How often a call is repeated after 502, 503, 504 or a lost connection. */
  readonly retries: number;
  readonly fetch: typeof globalThis.fetch;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_RETRY_AFTER_SEC = 10;

export class HttpCalls {
  readonly settings: HttpSettings;

  constructor(settings: HttpSettings) {
    this.settings = settings;
  }

  /**
   * Gets a JSON body.
   * @throws HexcodesClientError for every unsuccessful answer, and if none comes in time
   */
  get<Answer>(path: string, callerSignal: AbortSignal | undefined): Promise<Answer> {
    return this.#call(path, {}, callerSignal);
  }

  /** Posts a JSON body and returns the parsed body of the answer; errors as in `get`. */
  post<Answer>(path: string, body: object, callerSignal: AbortSignal | undefined): Promise<Answer> {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: textOf(body),
    };
    return this.#call(path, init, callerSignal);
  }

  async #call<Answer>(
    path: string,
    init: { method?: string; headers?: object; body?: string },
    callerSignal: AbortSignal | undefined,
  ): Promise<Answer> {
    // Called as a function, not as a method of the settings: browsers refuse that.
    const { baseUrl, apiKey, timeoutMs, retries, fetch } = this.settings;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = callerSignal === undefined ? timeout : AbortSignal.any([timeout, callerSignal]);
    const url = new URL(path, baseUrl);
    const headers = { ...init.headers, ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }) };
    for (let attempt = 0; ; attempt++) {
      let error: HexcodesClientError;
      try {
        // A redirect would send the key and the positions to an address that the caller has not named.
        const answer = await fetch(url, { ...init, headers, signal, redirect: 'manual' });
        const text = await textIn(answer);
        const body = isRedirect(answer.status) ? undefined : answerIn(text);
        if (body !== undefined) return body as Answer;
        if (answer.ok) throw noAnswer(url);
        error = errorOfFetch(url, answer, text);
        if (error.code !== 'UNAVAILABLE') throw error;
      } catch (cause) {
        if (cause instanceof HexcodesClientError) throw cause;
        this.#throwIfEnded(cause, timeout, callerSignal);
        error = unreachable(url, cause);
      }
      if (attempt >= retries) throw error;
      const retryAfterMs = 1000 * Math.min(error.retryAfterSec ?? 0, LONGEST_RETRY_AFTER_SEC);
      const backoffMs = FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2);
      await pause(Math.max(retryAfterMs, backoffMs), signal).catch((reason) =>
        this.#throwIfEnded(reason, timeout, callerSignal),
      );
    }
  }

  /** Distinguishes an abort by the caller, the timeout of the call and a connection failure. */
  #throwIfEnded(cause: unknown, timeout: AbortSignal, callerSignal: AbortSignal | undefined): void {
    if (callerSignal?.aborted) throw new HexcodesClientError('ABORTED', 'the call was aborted', { cause });
    if (!timeout.aborted) return;
    throw new HexcodesClientError('TIMEOUT', `no answer within ${this.settings.timeoutMs} ms`, { cause });
  }
}

function textOf(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new HexcodesClientError('BAD_ARGUMENT', `an argument has no form in JSON: ${String(cause)}`, {
      cause,
    });
  }
}

/** The body of an answer that is not an error. An invalid text is an answer, with 404 where it is in the path. */
function answerIn(text: string): object | undefined {
  try {
    const parsed = JSON.parse(text) as { readonly status?: unknown } | null;
    return parsed?.status === 'OK' || parsed?.status === 'INVALID_HEXCODES' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function noAnswer(url: URL): HexcodesClientError {
  const address = `${url.origin}${url.pathname}`;
  return new HexcodesClientError('PROTOCOL', `${address} answered 200, but as no hexcodes service does`);
}

/** Rejects with the signal's reason when it aborts first. */
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

export type BulkFormat = 'csv' | 'ndjson' | 'frames';

/**
 * A file (a Blob or File; in Node `await fs.openAsBlob(path)`), bytes, or a stream: anything that iterates over bytes
 * or texts, as `fs.createReadStream(path)` does, and a ReadableStream.
 */
export type BulkSource =
  | Blob
  | Uint8Array
  | ReadableStream<Uint8Array>
  | Iterable<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>;

export interface BulkOptions extends CallOptions, ExtrasAsked {
  readonly operation: 'encode' | 'decode';
  readonly source: BulkSource;
  /** Format of the source. */
  readonly format: BulkFormat;
  /** Format of the answer; default that of the source. */
  readonly answerFormat?: BulkFormat | undefined;
  /** H3 resolution of rows that have none, integer 0 to 15; default 13. */
  readonly resolution?: number | undefined;
  /** Prefix of the columns that a CSV answer adds. */
  readonly prefix?: string | undefined;
  /** The source is gzipped. */
  readonly isGzipped?: boolean | undefined;
}

/** The answer to a bulk body, to be read once: by a loop over it, or as `readable`. */
export class BulkAnswer implements AsyncIterable<Uint8Array> {
  /** The bytes of the answer. It errors with a HexcodesClientError where the answer is cut off. */
  readonly readable: ReadableStream<Uint8Array>;
  readonly format: BulkFormat;

  constructor(readable: ReadableStream<Uint8Array>, format: BulkFormat) {
    this.readable = readable;
    this.format = format;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return loopOver(this.readable);
  }
}

const MEDIA_TYPES: Record<BulkFormat, string> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  frames: 'application/vnd.hexcodes.frames',
};

/** @param streamsBodies whether `fetch` sends a body while it is produced; otherwise it is collected in a Blob */
export async function bulk(
  http: HttpSettings,
  options: BulkOptions,
  streamsBodies: boolean,
): Promise<BulkAnswer> {
  const { operation, source, format, answerFormat = format, resolution, prefix, isGzipped, signal } = options;
  requireOperation(operation);
  for (const given of [format, answerFormat])
    if (!Object.hasOwn(MEDIA_TYPES, given))
      throw refused(`a format is 'csv', 'ndjson' or 'frames', not ${shown(given)}`);
  if (prefix !== undefined && typeof prefix !== 'string') throw refused('prefix is a text');
  const { baseUrl, apiKey, timeoutMs, fetch } = http;
  const url = new URL(`hexcodes/${operation}/bulk`, baseUrl);
  if (resolution !== undefined) url.searchParams.set('resolution', String(resolution));
  for (const [name, asked] of Object.entries(onlyExtras(options))) url.searchParams.set(name, String(asked));
  if (prefix !== undefined) url.searchParams.set('prefix', prefix);

  let sourceFailure: { readonly cause: unknown } | undefined;
  const ours = (cause: unknown): HexcodesClientError => {
    if (cause instanceof HexcodesClientError) return cause;
    if (sourceFailure?.cause instanceof HexcodesClientError) return sourceFailure.cause;
    if (sourceFailure !== undefined)
      return new HexcodesClientError('ABORTED', 'the source failed', sourceFailure);
    if (signal?.aborted) return new HexcodesClientError('ABORTED', 'the call was aborted', { cause });
    return unreachable(url, cause);
  };
  const left = new AbortController();
  const ended = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const body = bodyOf(source, ended, (cause) => {
    sourceFailure ??= { cause };
  });
  try {
    const isStream = body instanceof ReadableStream;
    const init: RequestInit & { duplex?: 'half' } = {
      method: 'POST',
      headers: {
        'Content-Type': MEDIA_TYPES[format],
        Accept: MEDIA_TYPES[answerFormat],
        ...(isGzipped ? { 'Content-Encoding': 'gzip' } : {}),
        ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }),
      },
      body: isStream && !streamsBodies ? await new Response(body).blob() : body,
      ...(isStream && streamsBodies ? { duplex: 'half' } : {}),
      signal: ended,
      redirect: 'manual',
    };
    const answer = await fetch(url, init);
    // A part (206) of an answer would pass for the whole.
    if (answer.status !== 200) {
      const timer = setTimeout(() => left.abort(), timeoutMs);
      const text = await textIn(answer).catch(() => '');
      clearTimeout(timer);
      signal?.throwIfAborted();
      throw errorOfFetch(url, answer, text);
    }
    const type = answer.headers.get('content-type')?.split(';')[0];
    if (type !== MEDIA_TYPES[answerFormat] || answer.body === null)
      throw new HexcodesClientError(
        'PROTOCOL',
        `${url.origin}${url.pathname} answered ${String(type)}, as no hexcodes service does`,
      );
    return new BulkAnswer(
      guarded(answer.body, ours, () => left.abort()),
      answerFormat,
    );
  } catch (cause) {
    left.abort();
    throw ours(cause);
  }
}

function refused(message: string): HexcodesClientError {
  return new HexcodesClientError('BAD_ARGUMENT', message);
}

/** @throws HexcodesClientError BAD_ARGUMENT for a source of another kind, such as a path */
function bodyOf(
  source: unknown,
  ended: AbortSignal,
  failed: (cause: unknown) => void,
): Blob | ReadableStream<Uint8Array> {
  if (source instanceof Blob) return source;
  if (source instanceof Uint8Array && !isTransferred(source))
    return new Blob([source as Uint8Array<ArrayBuffer>]);
  if (typeof source === 'object' && source !== null) {
    if (source instanceof ReadableStream) return streamOf(chunksOf(source), ended, failed);
    if (Symbol.asyncIterator in source)
      return streamOf((source as AsyncIterable<unknown>)[Symbol.asyncIterator](), ended, failed);
    if (Symbol.iterator in source && !ArrayBuffer.isView(source))
      return streamOf((source as Iterable<unknown>)[Symbol.iterator](), ended, failed);
  }
  throw refused(
    'source is a Blob, bytes, or an iterable of bytes or texts; for a path use fs.createReadStream',
  );
}

/** Browsers cannot iterate over a ReadableStream yet. */
async function* chunksOf(stream: ReadableStream<unknown>): AsyncGenerator<unknown> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function streamOf(
  chunks: Iterator<unknown> | AsyncIterator<unknown>,
  ended: AbortSignal,
  failed: (cause: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  /** The high surrogate at the end of a text; the next text begins with the low one. */
  let half = '';
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          // undici reads the body of an aborted request to its end, which a source may not have.
          const { done, value } = ended.aborted
            ? { done: true, value: await chunks.return?.() }
            : await chunks.next();
          const text = typeof value === 'string' ? half + value : half;
          const isCut = typeof value === 'string' && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
          half = isCut ? text.slice(-1) : '';
          if (text !== '' || value === '')
            controller.enqueue(encoder.encode(isCut ? text.slice(0, -1) : text));
          if (done) controller.close();
          // Copied, because a source may refill its array while the chunk is being sent.
          else if (value instanceof Uint8Array) controller.enqueue(value.slice());
          else if (typeof value !== 'string')
            throw refused('the source gave a chunk that is neither bytes nor text');
        } catch (cause) {
          failed(cause);
          controller.error(cause);
        }
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The bytes of `body`; an early end becomes a HexcodesClientError. */
function guarded(
  body: ReadableStream<Uint8Array>,
  ours: (cause: unknown) => HexcodesClientError,
  left: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (cause) {
          controller.error(ours(cause));
        }
      },
      async cancel() {
        left();
        await reader.cancel().catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
