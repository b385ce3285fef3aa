// Whether balancers should send requests here, and what a person should see to: what /readyz of the admin port says.
import type { Logger } from './log.js';

const LOOK_MS = 1000;
/** Time servers correct by less. */
const MIN_MS = 5000;
/** Time for which /readyz has the warning. */
const WARN_MS = 600_000;

/**
 * Notices that the clock of the machine was moved: log and /readyz say so. Rates do not use that clock, and a day of
 * quotas that has begun goes on (usage/calendar.ts); ends of keys and times of log lines follow the clock.
 */
export class ClockWatch {
  #aheadMs = Date.now() - performance.now();
  #warning: string | undefined;
  #warnedMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly logger: Logger) {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** A sentence for people, for a while after the clock was moved. */
  get warning(): string | undefined {
    return performance.now() - this.#warnedMs < WARN_MS ? this.#warning : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const aheadMs = Date.now() - performance.now();
    const movedSeconds = Math.round((aheadMs - this.#aheadMs) / 1000);
    if (Math.abs(aheadMs - this.#aheadMs) < MIN_MS) return;
    this.#aheadMs = aheadMs;
    this.#warnedMs = performance.now();
    this.#warning = `the clock of the machine was moved by ${movedSeconds} s, or the machine slept`;
    this.logger.warn(
      { moved_seconds: movedSeconds },
      'the clock of the machine was moved, or the machine slept',
    );
  }
}

/** The answer of /readyz. */
interface ReadinessPage {
  readonly status: 200 | 503;
  /** Lines for people; the first is `ready` or `not ready`. */
  readonly text: string;
}

export class Readiness {
  #reason: string | undefined = 'the service is starting';
  /** Called when the reason has changed. */
  onChange: (() => void) | undefined;
  readonly #warnings: (() => string | undefined)[] = [];
  readonly #faults: (() => string | undefined)[] = [];

  /** Requests are accepted. */
  accept(): void {
    this.#reason = undefined;
    this.onChange?.();
  }

  /** Balancers should send no more requests, for a reason that follows `reason: `. */
  refuse(reason: string): void {
    this.#reason = reason;
    this.onChange?.();
  }

  /**
   * Adds a source of warnings, each a sentence; it is asked whenever the page is, and says undefined while all is well.
   */
  addWarning(source: () => string | undefined): void {
    this.#warnings.push(source);
  }

  /** Adds a source of reasons against requests, asked in the same way. */
  addFault(source: () => string | undefined): void {
    this.#faults.push(source);
  }

  get page(): ReadinessPage {
    const warnings = this.#warnings.flatMap((source) => {
      const sentence = source();
      return sentence === undefined ? [] : [`warning: ${sentence}`];
    });
    const reasons = [() => this.#reason, ...this.#faults].flatMap((source) => source() ?? []);
    const head =
      reasons.length === 0 ? ['ready'] : ['not ready', ...reasons.map((text) => `reason: ${text}`)];
    return { status: reasons.length === 0 ? 200 : 503, text: `${[...head, ...warnings].join('\n')}\n` };
  }
}

// The state of the service's event loop in shared memory: when it last ran, and the page of /readyz. Another thread
// reads it without asking the loop, so probes are answered at once however busy the loop is.

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

/** Publishes the page of a Readiness: twenty times a second, when it changes its mind, and when the loop answers it. */
export class Pulse {
  readonly shared = new SharedArrayBuffer(TEXT_AT + MAX_TEXT_BYTES);
  readonly #beats = new BigInt64Array(this.shared, BEAT_AT, 1);
  readonly #numbers = new Int32Array(this.shared, 0, TEXT_AT / 4);
  readonly #text = new Uint8Array(this.shared, TEXT_AT);
  readonly #timer: NodeJS.Timeout;
  #published: ReadinessPage | undefined;

  constructor(private readonly readiness: Readiness) {
    readiness.onChange = () => this.publish();
    this.publish();
    this.#timer = setInterval(() => this.publish(), BEAT_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.readiness.onChange = undefined;
  }

  /** Returns the page, which other threads see from now on: an answer of theirs is never older than one of the loop. */
  publish(): ReadinessPage {
    Atomics.store(this.#beats, 0, process.hrtime.bigint());
    const page = this.readiness.page;
    if (page.status === this.#published?.status && page.text === this.#published.text) return page;
    this.#published = page;
    const bytes = Buffer.from(page.text).subarray(0, MAX_TEXT_BYTES);
    // Odd while it is written, so that no reader takes a half of it.
    Atomics.add(this.#numbers, VERSION_AT, 1);
    Atomics.store(this.#numbers, STATUS_AT, page.status);
    Atomics.store(this.#numbers, LENGTH_AT, bytes.length);
    this.#text.set(bytes);
    Atomics.add(this.#numbers, VERSION_AT, 1);
    return page;
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
