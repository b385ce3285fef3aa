// A sink at a URL: each batch is the body of a POST, as NDJSON. Every answer but 2xx means that it has taken nothing.
import type { Sink } from './sink.js';

const ANSWER_TIMEOUT_MS = 30_000;
/** A longer answer is not read: its connection is closed. */
const MAX_ANSWER_BYTES = 65_536;

export class HttpSink implements Sink {
  readonly name: string;
  readonly #headers: Record<string, string>;

  constructor(
    private readonly url: string,
    header: readonly [name: string, value: string] | undefined,
  ) {
    // The path may be a secret, as of webhooks, and so may the query.
    this.name = new URL(url).origin;
    this.#headers = {
      'Content-Type': 'application/x-ndjson',
      ...(header === undefined ? {} : { [header[0]]: header[1] }),
    };
  }

  async deliver(lines: Buffer, signal: AbortSignal): Promise<void> {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: this.#headers,
      body: new Uint8Array(lines),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    }).catch((error: Error) => {
      throw new Error(timeout.aborted ? `no answer within ${ANSWER_TIMEOUT_MS} ms` : causeOf(error));
    });
    const sizeBytes = Number(answer.headers.get('content-length') ?? Number.NaN);
    // Read to its end, the connection can be used again.
    if (sizeBytes <= MAX_ANSWER_BYTES) await answer.arrayBuffer().catch(() => {});
    else await answer.body?.cancel().catch(() => {});
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
  }

  async close(): Promise<void> {}
}

/** fetch says «fetch failed», and its cause why. */
function causeOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
