// Two measurements of the same machine, before and after a change: which figures differ by more than the noise of
// either.
import type { Results, Samples } from '../measure/results.js';
import { type Interval, ratioInterval } from './bootstrap.js';
import { comparabilityOf, waysInBoth } from './comparability.js';

/**
 * Medians of two runs of the same code have lain so far apart on a machine that did nothing else; a smaller change is
 * not told apart.
 */
export const LEAST_CHANGE = 0.03;
/** Least number of samples: fewer give less than three blocks, and up to 8 % of equal pairs are called different. */
export const LEAST_SAMPLES = 8;

export type Verdict =
  | 'better'
  | 'worse'
  | 'no difference seen'
  | 'too few measurements'
  | 'one value each'
  | 'not comparable';

export interface ComparedFigure {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** Interval of `after` ÷ `before`; null where nothing is said about their difference. */
  readonly interval: Interval | null;
  readonly verdict: Verdict;
}

export interface Comparison {
  /** Those that both runs have. */
  readonly figures: readonly ComparedFigure[];
  /** To be read before the figures: differences of the runs, and doubts about figures. */
  readonly cautions: readonly string[];
}

export function compareResults(before: Results, after: Results): Comparison {
  const { cautions, isServiceAlike, isRateAlike, isKneeAlike } = comparabilityOf(before, after);
  const figures: ComparedFigure[] = [];
  const add = (isAlike: boolean, figure: ComparedFigure): void => {
    figures.push(isAlike ? figure : { ...figure, interval: null, verdict: 'not comparable' });
  };
  for (const pair of waysInBoth(before, after)) {
    const [way, other] = pair;
    if (way.costBacklogUs !== null && other.costBacklogUs !== null)
      add(
        isServiceAlike,
        judge(`${way.name}: CPU under backlog`, 'µs', way.costBacklogUs, other.costBacklogUs, true),
      );
    if (way.backlogPerS !== null && other.backlogPerS !== null)
      add(
        isRateAlike(pair),
        judge(`${way.name}: rate under backlog`, '/s', way.backlogPerS, other.backlogPerS, false),
      );
    if (way.knee !== null && other.knee !== null)
      add(isKneeAlike(pair), {
        ...{ name: `${way.name}: knee`, unit: '/s', before: way.knee.ratePerS, after: other.knee.ratePerS },
        ...{ interval: null, verdict: 'one value each' },
      });
  }
  for (const step of before.ladder) {
    const other = after.ladder.find(({ name }) => name === step.name);
    if (other !== undefined)
      add(true, judge(step.name, 'ns a point', step.nsPerPoint, other.nsPerPoint, true));
  }
  return { figures, cautions };
}

/** @param isCost whether less is better */
export function judge(
  name: string,
  unit: string,
  before: Samples,
  after: Samples,
  isCost: boolean,
): ComparedFigure {
  const figure = { name, unit, before: before.median, after: after.median };
  if (Math.min(before.samples.length, after.samples.length) < LEAST_SAMPLES)
    return { ...figure, interval: null, verdict: 'too few measurements' };
  const interval = ratioInterval(before.samples, after.samples);
  // A median of 0 has no ratio.
  if (!(interval.low > 0 && Number.isFinite(interval.high)))
    return { ...figure, interval: null, verdict: 'not comparable' };
  const change = after.median / before.median - 1;
  const isSeen = (interval.low > 1 || interval.high < 1) && Math.abs(change) >= LEAST_CHANGE;
  const verdict = !isSeen ? 'no difference seen' : change > 0 === isCost ? 'worse' : 'better';
  return { ...figure, interval, verdict };
}
