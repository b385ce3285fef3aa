// Intervals by the bootstrap: what a figure could have been if the same measurement had come out of other moments of
// the same run. Neighbouring slices of a run are alike, so whole blocks of them are drawn (moving block bootstrap,
// Künsch 1989).
import { uniformFrom } from '../generator/random.js';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1000;
/** Quantile 0.995 of the normal distribution: 99 % intervals of ratios. */
const NORMAL_995 = 2.5758;

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

/**
 * The 99 % interval of the median of `after` divided by that of `before`. Its width is the standard error of the
 * bootstrap times Student's t of as many values as there are blocks: plain quantiles of the bootstrap of a dozen
 * slices, of which neighbours are alike, leave out 1 in up to 22 % of pairs of the same code, and this interval in up
 * to 5 % (false-alarms.test.ts).
 * @param before @param after more than two blocks each, in the order in which they were measured
 */
export function ratioInterval(before: readonly number[], after: readonly number[], seed = 1): Interval {
  const uniform = uniformFrom(seed);
  const logs = Array.from({ length: RESAMPLES }, () =>
    Math.log(medianOf(resample(after, uniform)) / medianOf(resample(before, uniform))),
  );
  const mean = logs.reduce((sum, log) => sum + log) / RESAMPLES;
  const errorOfBlocks = Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (RESAMPLES - 1));
  const blocks = [before, after].map(({ length }) => length / blockLengthOf(length));
  const fewest = Math.min(...blocks);
  // The spread of few blocks is that of a sample around its own mean: too small by this.
  const error = errorOfBlocks * Math.sqrt(fewest / (fewest - 1));
  const ratio = medianOf(after) / medianOf(before);
  const factor = Math.exp(studentQuantile(blocks[0]! + blocks[1]! - 2) * error);
  return { low: ratio / factor, high: ratio * factor };
}

/** At 0.995 (Abramowitz and Stegun, 26.7.5); for three degrees of freedom 3 % too small, for more closer. */
function studentQuantile(degrees: number): number {
  const z = NORMAL_995;
  return (
    z +
    (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3)
  );
}
