// The highest rate at which a server holds a latency target: doubled until it fails, then halved in between, then
// confirmed. A generator that starts requests late only moves answers away from their intended starts, so a rate that
// holds the target with late starts holds it without them; where a rate fails and starts were late, the server may
// carry more.
import type { RatePoint } from './results.js';

/** A rate that fails with more late starts than this says nothing about the server. */
const MAX_LATE_SHARE = 0.01;
/** More late starts than this come so close together that the CPU time of a request is that of another rate. */
const MAX_BUNCHED_SHARE = 0.1;
/** A rate has failed when it failed as often as this: one pause of the machine is not a limit of the server. */
const TRIES = 2;
/**
 * More requests than this skipped, refused or unanswered, and the rate is not held whatever the latency of the others.
 */
const MAX_LOST_SHARE = 0.001;
/** No lower rates than this part of the first are tried. */
const MIN_PART = 256;
/** Most times that a rate is lowered after its repeats did not hold. */
const LOWERED_BY = 0.1;
const MAX_LOWERINGS = 6;

export interface KneeSearch {
  readonly targetP99Us: number;
  readonly startPerS: number;
  /** Rates in between that are tried once an upper bound is known. */
  readonly bisections: number;
  /** Repeats of the rate that was found; more than half of them have to hold. */
  readonly repeats: number;
  measure(ratePerS: number): Promise<RatePoint>;
}

export interface FoundKnee {
  readonly ratePerS: number;
  readonly steps: readonly (RatePoint & { readonly holds: boolean })[];
  readonly isConfirmed: boolean;
  readonly isGeneratorLimit: boolean;
}

export const holdsTarget = (point: RatePoint, targetP99Us: number): boolean =>
  point.answeredPerS > 0 &&
  point.p99Us <= targetP99Us &&
  point.skippedShare + point.refusedShare <= MAX_LOST_SHARE;

/** Whether the CPU time of a request at this rate is of use. */
export const wasSentOnTime = ({ lateShare }: RatePoint): boolean => lateShare <= MAX_BUNCHED_SHARE;

export async function searchKnee(search: KneeSearch): Promise<FoundKnee> {
  const steps: (RatePoint & { holds: boolean })[] = [];
  let failed: RatePoint | undefined;
  const measure = async (ratePerS: number): Promise<(typeof steps)[number]> => {
    const point = await search.measure(ratePerS);
    const step = { ...point, holds: holdsTarget(point, search.targetP99Us) };
    steps.push(step);
    return step;
  };
  const holds = async (ratePerS: number): Promise<boolean> => {
    let step = await measure(ratePerS);
    for (let tries = 1; tries < TRIES && !step.holds; tries++) step = await measure(ratePerS);
    if (!step.holds && (failed === undefined || ratePerS <= failed.ratePerS)) failed = step;
    return step.holds;
  };

  let low = 0;
  let high = search.startPerS;
  while (await holds(high)) {
    low = high;
    high *= 2;
  }
  // The first rate may be too high already.
  while (low === 0 && high > search.startPerS / MIN_PART) {
    const lower = high / 4;
    if (await holds(lower)) low = lower;
    else high = lower;
  }
  for (let left = search.bisections; left > 0 && low > 0; left--) {
    const middle = (low + high) / 2;
    if (await holds(middle)) low = middle;
    else high = middle;
  }
  const isGeneratorLimit = failed !== undefined && failed.lateShare > MAX_LATE_SHARE;
  let isConfirmed = low > 0 && search.repeats === 0;
  for (let lowered = 0; lowered <= MAX_LOWERINGS && low > 0 && !isConfirmed; lowered++) {
    let held = 0;
    for (let repeat = 0; repeat < search.repeats; repeat++) if ((await measure(low)).holds) held++;
    isConfirmed = held * 2 > search.repeats;
    if (!isConfirmed && lowered < MAX_LOWERINGS) low *= 1 - LOWERED_BY;
  }
  return { ratePerS: low, steps, isConfirmed, isGeneratorLimit };
}
