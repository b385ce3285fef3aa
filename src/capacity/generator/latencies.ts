// Durations in an HdrHistogram of three digits: recorded in ticks of 100 ns, stored as compressed base64, read in
// microseconds.
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';

const TICKS_PER_MS = 10_000;
const TICKS_PER_US = 10;
/** Longest latency of the histogram, some 214 s; longer ones are recorded as this. */
const MAX_TICKS = 2 ** 31 - 1;

export interface Percentiles {
  readonly count: number;
  readonly meanUs: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
}

export class Latencies {
  readonly #histogram: Histogram;

  constructor(histogram?: Histogram) {
    this.#histogram =
      histogram ??
      build({ bitBucketSize: 32, numberOfSignificantValueDigits: 3, highestTrackableValue: MAX_TICKS });
  }

  /** @throws Error where the text is not a histogram */
  static decode(text: string): Latencies {
    return new Latencies(decodeFromCompressedBase64(text, 32, false));
  }

  recordMs(ms: number, count = 1): void {
    const ticks = Math.min(MAX_TICKS, Math.max(1, Math.round(ms * TICKS_PER_MS)));
    this.#histogram.recordValueWithCount(ticks, count);
  }

  add(other: Latencies): void {
    this.#histogram.add(other.#histogram);
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  /** @param percentile 0 to 100 */
  atUs(percentile: number): number {
    return this.#histogram.getValueAtPercentile(percentile) / TICKS_PER_US;
  }

  percentiles(): Percentiles {
    return {
      count: this.count,
      meanUs: this.count === 0 ? 0 : this.#histogram.mean / TICKS_PER_US,
      p50Us: this.atUs(50),
      p90Us: this.atUs(90),
      p99Us: this.atUs(99),
      p999Us: this.atUs(99.9),
      maxUs: this.count === 0 ? 0 : this.#histogram.maxValue / TICKS_PER_US,
    };
  }

  encode(): string {
    return encodeIntoCompressedBase64(this.#histogram);
  }
}
