// Whether balancers should send requests here, and what a person should see to: what /readyz of the admin port says.

import type { Logger } from '../log.js';

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
export interface ReadinessPage {
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
