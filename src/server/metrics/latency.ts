// How long things took, counted in fixed buckets.

/** Upper bounds, in seconds. */
export const LATENCY_BOUNDS_SECONDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const BOUNDS_MS = Float64Array.from(LATENCY_BOUNDS_SECONDS, (seconds) => seconds * 1000);

export class Latency {
  /** Counts of each bucket by itself; the last one is of latencies beyond all bounds. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1);
  sumMs = 0;

  add(ms: number): void {
    let bucket = 0;
    // Nearly all requests end at the first bounds.
    while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sumMs += ms;
  }
}
