// Two measurements of the same machine, before and after a change: which figures differ by more than the noise of either.
import type { Results, Samples } from '../measure/results.js';
import { type Interval, ratioInterval } from './bootstrap.js';

/** Some twenty figures are judged at once; with 95 % one of them would differ by chance in most comparisons. */
const CONFIDENCE = 0.99;
/** Medians of two runs of the same code have lain so far apart on a machine that did nothing else; a smaller change is not told apart. */
export const LEAST_CHANGE = 0.03;

export type Verdict = 'better' | 'worse' | 'no difference seen';

export interface ComparedFigure {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** Of `after` ÷ `before`; null where a figure is one value and has no spread. */
  readonly interval: Interval | null;
  readonly verdict: Verdict | 'one value each';
}

export interface Comparison {
  readonly figures: readonly ComparedFigure[];
  /** Reasons why the two may not be comparable. */
  readonly cautions: readonly string[];
}

export function compareResults(before: Results, after: Results): Comparison {
  const figures: ComparedFigure[] = [];
  for (const way of before.ways) {
    const other = after.ways.find(({ name }) => name === way.name);
    if (other === undefined) continue;
    if (way.costBacklogUs !== null && other.costBacklogUs !== null)
      figures.push(
        judge(`${way.name}: CPU under backlog`, 'µs', way.costBacklogUs, other.costBacklogUs, true),
      );
    if (way.backlogPerS !== null && other.backlogPerS !== null)
      figures.push(judge(`${way.name}: rate under backlog`, '/s', way.backlogPerS, other.backlogPerS, false));
    if (way.knee !== null && other.knee !== null)
      figures.push({
        ...{ name: `${way.name}: knee`, unit: '/s', before: way.knee.ratePerS, after: other.knee.ratePerS },
        ...{ interval: null, verdict: 'one value each' },
      });
  }
  for (const step of before.ladder) {
    const other = after.ladder.find(({ name }) => name === step.name);
    if (other !== undefined)
      figures.push(judge(step.name, 'ns a point', step.nsPerPoint, other.nsPerPoint, true));
  }
  return { figures, cautions: cautionsOf(before, after) };
}

/** @param isCost whether less is better */
export function judge(
  name: string,
  unit: string,
  before: Samples,
  after: Samples,
  isCost: boolean,
): ComparedFigure {
  const interval = ratioInterval(before.samples, after.samples, CONFIDENCE);
  const change = after.median / before.median - 1;
  const isSeen = (interval.low > 1 || interval.high < 1) && Math.abs(change) >= LEAST_CHANGE;
  const verdict = !isSeen ? 'no difference seen' : change > 0 === isCost ? 'worse' : 'better';
  return { name, unit, before: before.median, after: after.median, interval, verdict };
}

function cautionsOf(before: Results, after: Results): string[] {
  const cautions: string[] = [];
  const differ = (what: string, a: string | number, b: string | number): void => {
    if (a !== b) cautions.push(`${what}: ${a} before, ${b} after`);
  };
  differ('machine', before.machine.model, after.machine.model);
  differ('cores', before.machine.cores, after.machine.cores);
  differ('Node', before.node, after.node);
  for (const [name, { isQuietEnough }] of [
    ['before', before],
    ['after', after],
  ] as const)
    if (!isQuietEnough) cautions.push(`the machine was noisy ${name}: knees and tails say little`);
  return cautions;
}
