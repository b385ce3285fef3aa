// JSON calls to the service over fetch: one timeout for a call with all its retries, and every failure as one
// HexcodesClientError. Conversions are pure, so a call may be repeated without asking what became of it.
import { errorOfAnswer, HexcodesClientError } from './errors.js';

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
  readonly #settings: HttpSettings;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  /**
   * Posts a JSON body and returns the parsed body of the answer.
   * @throws HexcodesClientError for every answer but a success, and for none in time
   */
  async post<Answer>(path: string, body: object, callerSignal: AbortSignal | undefined): Promise<Answer> {
    // Called on its own, not as a method of the settings: browsers refuse that.
    const { baseUrl, apiKey, timeoutMs, retries, fetch } = this.#settings;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = callerSignal === undefined ? timeout : AbortSignal.any([timeout, callerSignal]);
    for (let attempt = 0; ; attempt++) {
      let error: HexcodesClientError;
      try {
        const answer = await fetch(new URL(path, baseUrl), {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }),
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
        this.#throwIfEnded(cause, timeout, callerSignal);
        error = new HexcodesClientError('NETWORK', 'the service cannot be reached', { cause });
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
    throw new HexcodesClientError('TIMEOUT', `no answer within ${this.#settings.timeoutMs} ms`, { cause });
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
