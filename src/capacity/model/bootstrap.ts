// Intervals by the bootstrap: what a figure could have been if the same measurement had come out of other moments of
// the same run. Neighbouring slices of a run are alike, so whole blocks of them are drawn (moving block bootstrap,
// Künsch 1989).

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** From the lowest to the highest of values. */
export const spread = (values: readonly number[]): Interval => ({
  low: Math.min(...values),
  high: Math.max(...values),
});

const blockLengthOf = (count: number): number => Math.max(1, Math.round(Math.sqrt(count)));

/** @param samples in the order in which they were measured; at least one */
export function resample(samples: readonly number[], uniform: () => number): number[] {
  const block = blockLengthOf(samples.length);
  const drawn: number[] = [];
  while (drawn.length < samples.length) {
    const first = Math.floor(uniform() * (samples.length - block + 1));
    drawn.push(...samples.slice(first, first + block));
  }
  return drawn.slice(0, samples.length);
}

export function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The middle part of values. @param confidence 0 to 1 */
export function intervalOf(values: readonly number[], confidence: number): Interval {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return { low: at((1 - confidence) / 2), high: at((1 + confidence) / 2) };
}
