// Figures against which their own run speaks: knees that its other measurements refute, and backlog of which the
// generator was the limit.
import { holdsTarget } from '../measure/knee-search.js';
import type { Knee, RatePoint, WayResult } from '../measure/results.js';
import { plain, time } from './figures.js';

/** Busy share below which the load, not the service, was the limit under backlog. */
const BUSY_SHARE = 0.9;

/** False also where the server runs elsewhere: its CPU time is not known. */
export const isLimitedByLoad = ({ backlogBusyShare }: WayResult): boolean =>
  backlogBusyShare !== null && backlogBusyShare < BUSY_SHARE;

/** A knee that repeats held and that nothing else of its run refutes; else null. */
export const heldKnee = (way: WayResult): Knee | null =>
  doubtsAboutKnee(way).length === 0 ? way.knee : null;

/** A rate that held its target in a run, as did all lower ones. */
export interface HeldRate {
  readonly ratePerS: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** More may be held: beyond it the generator was the limit, or the run confirms nothing. */
  readonly isLeast: boolean;
}

/**
 * The knee; where its run does not confirm it, the highest rate of the curve up to which every rate held; else null.
 */
export function heldRate(way: WayResult, targetP99Us: number): HeldRate | null {
  const knee = heldKnee(way);
  const step = knee?.steps.findLast(({ ratePerS, holds }) => ratePerS === knee.ratePerS && holds);
  if (knee !== null && step !== undefined)
    return { ratePerS: knee.ratePerS, p50Us: step.p50Us, p99Us: step.p99Us, isLeast: knee.isGeneratorLimit };
  const rising = way.curve.toSorted((a, b) => a.ratePerS - b.ratePerS);
  const firstMissed = rising.findIndex((point) => !holdsTarget(point, targetP99Us));
  const held = rising.slice(0, firstMissed === -1 ? rising.length : firstMissed).at(-1);
  return held === undefined
    ? null
    : { ratePerS: held.ratePerS, p50Us: held.p50Us, p99Us: held.p99Us, isLeast: true };
}

/**
 * Why a knee is not shown as one, each reason as a clause; empty where it is, or where there is none. Late starts of
 * the generator are no excuse: they may be why a rate missed the target, but then the run does not show that the
 * service held it.
 */
export function doubtsAboutKnee({ knee, curve, constant, intendedUs }: WayResult): string[] {
  if (knee === null) return [];
  const { ratePerS, targetP99Us, isConfirmed } = knee;
  const missed = (point: RatePoint): boolean =>
    point.ratePerS <= ratePerS && !holdsTarget(point, targetP99Us);
  const doubts = isConfirmed ? [] : ['repeats did not hold it'];
  for (const point of curve.filter(missed))
    doubts.push(`${missOf(point, targetP99Us)} at ${plain(point.ratePerS)}/s`);
  if (constant !== null && missed(constant))
    doubts.push(`${missOf(constant, targetP99Us)} with constant arrivals`);
  const recordedUs = intendedUs.find(([percentile]) => percentile === 99)?.[1];
  if (recordedUs !== undefined && recordedUs > targetP99Us)
    doubts.push(`the p99 was ${time(recordedUs)} at 80 % of it`);
  return doubts;
}

function missOf({ p99Us }: RatePoint, targetP99Us: number): string {
  return p99Us > targetP99Us ? `the p99 was ${time(p99Us)}` : 'requests were lost';
}
