// JSON calls to the service over fetch: one timeout for a call with all its retries, and every failure as one
// HexcodesClientError. Calls change nothing, so one may be repeated without asking what became of it.

import { errorOfAnswer, HexcodesClientError, unreachable } from '../errors.js';

export interface HttpSettings {
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
   * @throws HexcodesClientError for every answer but a success, and for none in time
   */
  get<Answer>(path: string, callerSignal: AbortSignal | undefined): Promise<Answer> {
    return this.#call(path, {}, callerSignal);
  }

  /** Posts a JSON body and returns the parsed body of the answer; errors as in `get`. */
  post<Answer>(path: string, body: object, callerSignal: AbortSignal | undefined): Promise<Answer> {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    return this.#call(path, init, callerSignal);
  }

  async #call<Answer>(
    path: string,
    init: { method?: string; headers?: object; body?: string },
    callerSignal: AbortSignal | undefined,
  ): Promise<Answer> {
    // Called on its own, not as a method of the settings: browsers refuse that.
    const { baseUrl, apiKey, timeoutMs, retries, fetch } = this.settings;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = callerSignal === undefined ? timeout : AbortSignal.any([timeout, callerSignal]);
    const url = new URL(path, baseUrl);
    const headers = { ...init.headers, ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }) };
    for (let attempt = 0; ; attempt++) {
      let error: HexcodesClientError;
      try {
        const answer = await fetch(url, { ...init, headers, signal });
        const text = await answer.text();
        const body = answerIn(text);
        if (body !== undefined) return body as Answer;
        if (answer.ok) throw noAnswer(url);
        const retryAfter = answer.headers.get('retry-after');
        error = errorOfAnswer({ url, httpStatus: answer.status, text, retryAfter });
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

  /** Tells an abort by the caller and the timeout of the call from a failure of the connection. */
  #throwIfEnded(cause: unknown, timeout: AbortSignal, callerSignal: AbortSignal | undefined): void {
    if (callerSignal?.aborted) throw new HexcodesClientError('ABORTED', 'the call was aborted', { cause });
    if (!timeout.aborted) return;
    throw new HexcodesClientError('TIMEOUT', `no answer within ${this.settings.timeoutMs} ms`, { cause });
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
