// The state of the service's event loop in shared memory: when it last ran, and the page of /readyz. Another thread
// reads it without asking the loop, so probes are answered at once however busy the loop is.
import type { Readiness, ReadinessPage } from './readiness.js';

const BEAT_MS = 50;
/** Time without a turn after which a loop counts as hung. */
const STILL_MS = 5000;

/**
 * Offsets in the shared memory, in bytes: time of the last beat in nanoseconds, then numbers of four bytes, then the
 * text.
 */
const BEAT_AT = 0;
const VERSION_AT = 2;
const STATUS_AT = 3;
const LENGTH_AT = 4;
const TEXT_AT = 24;
const MAX_TEXT_BYTES = 16 * 1024;

/** Publishes the page of a Readiness: twenty times a second, and at once when it changes its mind. */
export class Pulse {
  readonly shared = new SharedArrayBuffer(TEXT_AT + MAX_TEXT_BYTES);
  readonly #beats = new BigInt64Array(this.shared, BEAT_AT, 1);
  readonly #numbers = new Int32Array(this.shared, 0, TEXT_AT / 4);
  readonly #text = new Uint8Array(this.shared, TEXT_AT);
  readonly #timer: NodeJS.Timeout;
  #published: ReadinessPage | undefined;

  constructor(private readonly readiness: Readiness) {
    readiness.onChange = () => this.#beat();
    this.#beat();
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.readiness.onChange = undefined;
  }

  #beat(): void {
    Atomics.store(this.#beats, 0, process.hrtime.bigint());
    const page = this.readiness.page;
    if (page.status === this.#published?.status && page.text === this.#published.text) return;
    this.#published = page;
    const bytes = Buffer.from(page.text).subarray(0, MAX_TEXT_BYTES);
    // Odd while it is written, so that no reader takes a half of it.
    Atomics.add(this.#numbers, VERSION_AT, 1);
    Atomics.store(this.#numbers, STATUS_AT, page.status);
    Atomics.store(this.#numbers, LENGTH_AT, bytes.length);
    this.#text.set(bytes);
    Atomics.add(this.#numbers, VERSION_AT, 1);
  }
}

/** Reads in another thread what a Pulse publishes. */
export class PulseReader {
  readonly #beats: BigInt64Array;
  readonly #numbers: Int32Array;
  readonly #text: Uint8Array;

  constructor(shared: SharedArrayBuffer) {
    this.#beats = new BigInt64Array(shared, BEAT_AT, 1);
    this.#numbers = new Int32Array(shared, 0, TEXT_AT / 4);
    this.#text = new Uint8Array(shared, TEXT_AT);
  }

  /** The page of /livez: 503 while the loop hangs. */
  get alive(): ReadinessPage {
    const reason = this.#stillness;
    return reason === undefined
      ? { status: 200, text: 'alive\n' }
      : { status: 503, text: `not alive\nreason: ${reason}\n` };
  }

  /** The page of /readyz: 503 while the loop hangs, else the page published last. */
  get ready(): ReadinessPage {
    const reason = this.#stillness;
    if (reason !== undefined) return { status: 503, text: `not ready\nreason: ${reason}\n` };
    for (;;) {
      const version = Atomics.load(this.#numbers, VERSION_AT);
      const status = Atomics.load(this.#numbers, STATUS_AT) === 200 ? 200 : 503;
      const text = Buffer.from(this.#text.slice(0, Atomics.load(this.#numbers, LENGTH_AT))).toString();
      if (version % 2 === 0 && version === Atomics.load(this.#numbers, VERSION_AT)) return { status, text };
    }
  }

  get #stillness(): string | undefined {
    const stillMs = Number((process.hrtime.bigint() - Atomics.load(this.#beats, 0)) / 1_000_000n);
    return stillMs < STILL_MS ? undefined : `the event loop has not run for ${Math.floor(stillMs / 1000)} s`;
  }
}
