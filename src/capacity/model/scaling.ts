// How much several processes on one machine carry against one: as measured, and beyond that the Universal Scalability
// Law (Gunther 1993, X(n) = λn ÷ (1 + σ(n - 1) + κn(n - 1))) as an interval by bootstrap, no further than twice the
// largest number measured.

import { uniformFrom } from '../generator/loops.js';
import type { SpeedUp } from '../measure/results.js';

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
function resample(samples: readonly number[], uniform: () => number): number[] {
  const block = blockLengthOf(samples.length);
  const drawn: number[] = [];
  while (drawn.length < samples.length) {
    const first = Math.floor(uniform() * (samples.length - block + 1));
    drawn.push(...samples.slice(first, first + block));
  }
  return drawn.slice(0, samples.length);
}

function medianOf(values: readonly number[]): number {
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

const FITS = 400;
const CONFIDENCE = 0.9;
/** Three parameters need more than three loads. */
const MIN_COUNTS = 4;
const ITERATIONS = 60;

interface UslFit {
  /** Speed-up of one process: near 1. */
  readonly lambda: number;
  /** Share of the work that is done one after the other. */
  readonly sigma: number;
  /** Cost of coordination, for each pair. */
  readonly kappa: number;
}

export const uslAt = ({ lambda, sigma, kappa }: UslFit, n: number): number =>
  (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1));

/**
 * Least squares by Gauss and Newton with Levenberg's damping; σ and κ stay at 0 or above.
 * @param points number of processes and speed-up
 */
export function fitUsl(points: readonly (readonly [n: number, speedUp: number])[]): UslFit {
  let at = [1, 0.01, 0.0001];
  let damping = 1e-3;
  const fitOf = ([lambda, sigma, kappa]: number[]): UslFit => ({
    lambda: lambda!,
    sigma: sigma!,
    kappa: kappa!,
  });
  const errorOf = (parameters: number[]): number =>
    points.reduce((sum, [n, y]) => sum + (y - uslAt(fitOf(parameters), n)) ** 2, 0);
  let error = errorOf(at);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const matrix = [0, 1, 2].map(() => [0, 0, 0, 0]);
    for (const [n, y] of points) {
      const [lambda, sigma, kappa] = at as [number, number, number];
      const below = 1 + sigma * (n - 1) + kappa * n * (n - 1);
      const slope = (-lambda * n) / below ** 2;
      const gradient = [n / below, slope * (n - 1), slope * n * (n - 1)];
      for (let row = 0; row < 3; row++) {
        for (let column = 0; column < 3; column++)
          matrix[row]![column]! += gradient[row]! * gradient[column]!;
        matrix[row]![3]! += gradient[row]! * (y - (lambda * n) / below);
      }
    }
    for (let row = 0; row < 3; row++) matrix[row]![row]! *= 1 + damping;
    const step = solve(matrix);
    if (step === undefined) break;
    const next = at.map((value, index) =>
      index === 0 ? value + step[index]! : Math.max(0, value + step[index]!),
    );
    const nextError = errorOf(next);
    if (nextError <= error) {
      const gained = error - nextError;
      [at, error, damping] = [next, nextError, damping / 4];
      if (gained < 1e-14) break;
    } else damping *= 8;
  }
  return fitOf(at);
}

/** Three equations by elimination with pivots; undefined where they depend on one another. */
function solve(matrix: number[][]): number[] | undefined {
  for (let column = 0; column < 3; column++) {
    let pivot = column;
    for (let row = column + 1; row < 3; row++)
      if (Math.abs(matrix[row]![column]!) > Math.abs(matrix[pivot]![column]!)) pivot = row;
    [matrix[column], matrix[pivot]] = [matrix[pivot]!, matrix[column]!];
    const lead = matrix[column]![column]!;
    if (Math.abs(lead) < 1e-14) return undefined;
    for (let row = 0; row < 3; row++) {
      if (row === column) continue;
      const factor = matrix[row]![column]! / lead;
      for (let k = column; k < 4; k++) matrix[row]![k]! -= factor * matrix[column]![k]!;
    }
  }
  return matrix.map((row, index) => row[3]! / row[index]!);
}

export interface Scaling {
  /** The most processes on one machine of which anything is known. */
  readonly mostProcesses: number;
  /** The most processes that were measured. */
  readonly measured: number;
  /** The basis of numbers beyond the measured ones. */
  readonly beyond: 'nothing' | 'law' | 'linear';
  /** Why no more processes are planned, or what the fit cannot tell; for people. */
  readonly remark: string;
  /** @param processes 1 to mostProcesses */
  speedUp(processes: number): Interval;
  /** Every fit of the bootstrap; empty where none is possible. */
  readonly fits: readonly UslFit[];
}

/** @param isLinear whether more processes than were measured carry in proportion, by the choice of who plans */
export function scalingOf(speedUps: readonly SpeedUp[], isLinear = false): Scaling {
  const largest = Math.max(1, ...speedUps.map(({ processes }) => processes));
  const measured = (processes: number): Interval | undefined => {
    const found = speedUps.find((each) => each.processes === processes);
    // One process is the unit, and n carry no more than n times as much: figures beyond that are noise.
    const bounded = (value: number): number => Math.min(processes, Math.max(1, value));
    return found && { low: bounded(found.speedUp.low), high: bounded(found.speedUp.high) };
  };
  /** The largest measured number that is no larger, and its speed-up. */
  const below = (processes: number): { readonly from: number } & Interval => {
    const from = Math.max(1, ...speedUps.map((each) => each.processes).filter((each) => each <= processes));
    return { from, ...(measured(from) ?? { low: 1, high: 1 }) };
  };
  if (isLinear) {
    return {
      mostProcesses: Number.POSITIVE_INFINITY,
      measured: largest,
      beyond: 'linear',
      remark: `beyond ${largest} ${largest === 1 ? 'process' : 'processes'} in proportion, as --assume-linear says: nothing measured supports it`,
      speedUp: (processes) => {
        const { from, low, high } = below(processes);
        return { low: (low * processes) / from, high: (high * processes) / from };
      },
      fits: [],
    };
  }
  if (speedUps.length < MIN_COUNTS) {
    return {
      mostProcesses: largest,
      measured: largest,
      beyond: 'nothing',
      remark: `speed-up was measured for ${speedUps.map(({ processes }) => processes).join(', ') || 'no number of'} processes: too few for a law, so no machine is given more than ${largest}`,
      speedUp: (processes) => {
        const { from, low, high } = below(processes);
        // One more process adds something between nothing and itself.
        return { low, high: high + processes - from };
      },
      fits: [],
    };
  }
  const uniform = uniformFrom(1);
  const fits = Array.from({ length: FITS }, () =>
    fitUsl(
      speedUps.map(({ processes, speedUp }) => [processes, medianOf(resample(speedUp.samples, uniform))]),
    ),
  );
  const kappa = intervalOf(
    fits.map((fit) => fit.kappa),
    CONFIDENCE,
  );
  const mostProcesses = 2 * largest;
  const known = new Map<number, Interval>();
  return {
    mostProcesses,
    measured: largest,
    beyond: 'law',
    remark:
      kappa.low === 0
        ? `beyond ${largest} processes by a law whose second parameter cannot be told from 0; no further than ${mostProcesses}`
        : `beyond ${largest} processes by a fitted law; no further than ${mostProcesses}`,
    speedUp: (processes) => {
      const found =
        measured(processes) ??
        known.get(processes) ??
        intervalOf(
          fits.map((fit) => uslAt(fit, processes)),
          CONFIDENCE,
        );
      known.set(processes, found);
      return found;
    },
    fits,
  };
}
