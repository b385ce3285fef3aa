// How long something took, counted in buckets as Prometheus has them.

/** Upper bounds in seconds. */
export const DURATION_BOUNDS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

export class Durations {
  /** Counts of durations up to each bound and above the one before; the last count has no bound. */
  readonly counts: number[] = new Array(DURATION_BOUNDS_S.length + 1).fill(0) as number[];
  sumS = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    this.sumS += seconds;
    let at = 0;
    while (at < DURATION_BOUNDS_S.length && seconds > DURATION_BOUNDS_S[at]!) at++;
    this.counts[at]!++;
  }
}
