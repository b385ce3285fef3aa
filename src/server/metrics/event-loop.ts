// How late the event loop is: libuv's own timer, measured by Node, without the time between two of its beats. The worst
// second of the last few is shown, so that whoever asks less often than every second does not miss it, and several may
// ask.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const BEAT_MS = 10;
const SECOND_MS = 1000;
const SECONDS_KEPT = 15;

export interface EventLoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NO_DELAY: EventLoopDelay = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

export class EventLoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: BEAT_MS });
  readonly #timer: NodeJS.Timeout;
  #seconds: EventLoopDelay[] = [];

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#keepSecond(), SECOND_MS);
    this.#timer.unref();
  }

  /** Delays of the worst second of the last fifteen, each of the three by itself. */
  get worst(): EventLoopDelay {
    return [...this.#seconds, this.#now()].reduce(
      (worst, second) => ({
        p50Ms: Math.max(worst.p50Ms, second.p50Ms),
        p99Ms: Math.max(worst.p99Ms, second.p99Ms),
        maxMs: Math.max(worst.maxMs, second.maxMs),
      }),
      NO_DELAY,
    );
  }

  close(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #keepSecond(): void {
    this.#seconds = [...this.#seconds, this.#now()].slice(-SECONDS_KEPT);
    this.#histogram.reset();
  }

  #now(): EventLoopDelay {
    const h = this.#histogram;
    if (h.count === 0) return NO_DELAY;
    return { p50Ms: lateMs(h.percentile(50)), p99Ms: lateMs(h.percentile(99)), maxMs: lateMs(h.max) };
  }
}

function lateMs(betweenBeatsNs: number): number {
  return Math.max(0, betweenBeatsNs / 1e6 - BEAT_MS);
}
