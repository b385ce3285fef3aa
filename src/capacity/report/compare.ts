// Two results of `hexcodes bench`, before and after a change, as one table. A figure is better or worse where the
// middle halves of its samples do not overlap and the medians are apart by at least MIN_CHANGE.
import { type Results, type Samples, samplesOf, type WayResult } from '../measure/results.js';
import { doubtsAboutKnee, isLimitedByLoad } from './bench-text.js';
import { bytes, columns, plain } from './figures.js';

/** Medians of two runs of the same code have been this far apart on an otherwise idle machine. */
export const MIN_CHANGE = 0.03;
/** Fewer samples have no middle half worth comparing. */
export const MIN_SAMPLES = 8;

export type Verdict = 'better' | 'worse' | 'no difference seen' | 'too few measurements' | 'one value each';

export interface ComparedFigure {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  readonly verdict: Verdict | `not compared: ${string}`;
}

export interface Comparison {
  /** Figures that both runs have. */
  readonly figures: readonly ComparedFigure[];
  /** Differences between the two runs that may explain a difference between figures. */
  readonly cautions: readonly string[];
}

export function compareResults(before: Results, after: Results): Comparison {
  const otherRun = unlikeRuns(before, after);
  const isNoisy = !before.isQuietEnough || !after.isQuietEnough;
  const figures: ComparedFigure[] = [];
  const add = (figure: ComparedFigure, reason: string | undefined): void => {
    figures.push(reason === undefined ? figure : { ...figure, verdict: `not compared: ${reason}` });
  };
  for (const way of before.ways) {
    const other = after.ways.find(({ name }) => name === way.name);
    if (other === undefined) continue;
    const { name, costBacklogUs, backlogPerS, knee } = way;
    if (costBacklogUs !== null && other.costBacklogUs !== null)
      add(judge(`${name}: CPU under backlog`, 'µs', costBacklogUs, other.costBacklogUs, true), otherRun);
    if (backlogPerS !== null && other.backlogPerS !== null)
      add(
        judge(`${name}: rate under backlog`, '/s', backlogPerS, other.backlogPerS, false),
        otherRun ?? ([way, other].some(isLimitedByLoad) ? 'the generator was the limit' : undefined),
      );
    if (knee !== null && other.knee !== null)
      add(
        { ...values(`${name}: knee`, '/s', knee.ratePerS, other.knee.ratePerS), verdict: 'one value each' },
        otherRun ?? (isNoisy ? 'the machine was too noisy' : kneeDoubt(way, other)),
      );
  }
  for (const step of before.ladder) {
    const other = after.ladder.find(({ name }) => name === step.name);
    if (other !== undefined)
      add(judge(step.name, 'ns a point', step.nsPerPoint, other.nsPerPoint, true), undefined);
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
  const figure = values(name, unit, before.median, after.median);
  if (Math.min(before.samples.length, after.samples.length) < MIN_SAMPLES)
    return { ...figure, verdict: 'too few measurements' };
  const [a, b] = [samplesOf(before.samples), samplesOf(after.samples)];
  const isApart = a.high < b.low || b.high < a.low;
  const change = after.median / before.median - 1;
  if (!isApart || !(Math.abs(change) >= MIN_CHANGE)) return { ...figure, verdict: 'no difference seen' };
  return { ...figure, verdict: change > 0 === isCost ? 'worse' : 'better' };
}

const values = (name: string, unit: string, before: number, after: number) => ({ name, unit, before, after });

/** Why costs and rates of the service do not have the same meaning in both runs. */
function unlikeRuns(before: Results, after: Results): string | undefined {
  if (before.isQuick !== after.isQuick) return 'one run was quick';
  if ((before.target === null) !== (after.target === null)) return 'one server was elsewhere';
  return undefined;
}

function kneeDoubt(way: WayResult, other: WayResult): string | undefined {
  if (way.knee!.targetP99Us !== other.knee!.targetP99Us) return 'the targets differ';
  const doubts = [way, other].flatMap(doubtsAboutKnee);
  return (
    doubts[0] ??
    ([way, other].some(({ knee }) => knee!.isGeneratorLimit) ? 'the generator was the limit' : undefined)
  );
}

function cautionsOf(before: Results, after: Results): string[] {
  const facts: readonly (readonly [string, (results: Results) => string])[] = [
    ['length of the run', ({ isQuick }) => (isQuick ? 'quick' : 'full')],
    ['server', ({ target }) => target ?? 'one of its own'],
    ['machine', ({ machine: { cores, model, memoryBytes } }) => `${cores} × ${model}, ${bytes(memoryBytes)}`],
    ['system', ({ machine: { platform, kernel } }) => `${platform}, ${kernel}`],
    ['governor of the CPU', ({ machine }) => machine.governor ?? 'none'],
    ['Node', ({ node }) => node],
    ['noise', ({ isQuietEnough }) => (isQuietEnough ? 'quiet' : 'too noisy')],
    ['measured', ({ ways, ladder }) => [...ways, ...ladder].map(({ name }) => name).join(', ')],
  ];
  return facts
    .map(([name, of]) => [name, of(before), of(after)] as const)
    .filter(([, a, b]) => a !== b)
    .map(([name, a, b]) => `${name}: ${a} before, ${b} after`);
}

/** @param before @param after names of the two runs, at the head of their columns */
export function comparisonText({ figures, cautions }: Comparison, before: string, after: string): string {
  const measured = (value: number, unit: string): string =>
    Number.isFinite(value) ? `${plain(value)} ${unit}` : '–';
  const rows = figures.map((figure) => {
    const ratio = figure.after / figure.before;
    const isKnown = !figure.verdict.startsWith('not compared') && Number.isFinite(ratio);
    const { name, unit, verdict } = figure;
    return [
      name,
      measured(figure.before, unit),
      measured(figure.after, unit),
      isKnown ? ratio.toFixed(3) : '',
      verdict,
    ];
  });
  return [
    ...cautions.map((caution) => `caution: ${caution}`),
    ...(cautions.length === 0 ? [] : ['']),
    columns([['', before, after, 'ratio', ''], ...rows], [1, 2, 3]),
    '',
  ].join('\n');
}
