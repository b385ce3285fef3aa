// Two measurements of the same machine, before and after a change: which figures differ by more than the noise of
// either.
import type { Results, Samples, WayResult } from '../measure/results.js';
import { doubtsAboutKnee, isLimitedByLoad } from '../report/doubts.js';
import { bytes, columns, percent, plain, time } from '../report/figures.js';
import { type Interval, ratioInterval } from './bootstrap.js';

/** @param before @param after names of the two runs, at the head of their columns */
export function comparisonText({ figures, cautions }: Comparison, before: string, after: string): string {
  const head = ['', before, after, 'ratio', '99 % interval', ''];
  return [
    ...cautions.map((caution) => `caution: ${caution}`),
    ...(cautions.length === 0 ? [] : ['']),
    columns([head, ...figures.map(rowOf)], [1, 2, 3, 4]),
    '',
  ].join('\n');
}

function rowOf({ name, unit, before, after, interval, verdict }: ComparedFigure): string[] {
  const isKnown = verdict !== 'not comparable' && Number.isFinite(after / before);
  return [
    name,
    measured(before, unit),
    measured(after, unit),
    isKnown ? (after / before).toFixed(3) : '',
    interval === null ? '' : `${interval.low.toFixed(3)}-${interval.high.toFixed(3)}`,
    verdict,
  ];
}

/** A median of no samples is no number. */
const measured = (value: number, unit: string): string =>
  Number.isFinite(value) ? `${plain(value)} ${unit}` : '–';

/** One way in both runs. */
type WayPair = readonly [before: WayResult, after: WayResult];

interface Comparability {
  /** Differences of the runs and doubts about their figures; each a sentence without its full stop. */
  readonly cautions: readonly string[];
  /** Whether costs and rates of the service are of the same kind in both. */
  readonly isServiceAlike: boolean;
  isRateAlike(pair: WayPair): boolean;
  isKneeAlike(pair: WayPair): boolean;
}

function waysInBoth(before: Results, after: Results): WayPair[] {
  return before.ways.flatMap((way) => {
    const other = after.ways.find(({ name }) => name === way.name);
    return other === undefined ? [] : [[way, other] as const];
  });
}

function comparabilityOf(before: Results, after: Results): Comparability {
  const pairs = waysInBoth(before, after);
  const isServiceAlike = before.isQuick === after.isQuick && isElsewhere(before) === isElsewhere(after);
  const areQuiet = before.isQuietEnough && after.isQuietEnough;
  return {
    cautions: [
      ...differencesOf(before, after),
      ...noiseOf(before, after),
      ...(isServiceAlike ? [...rateDoubts(pairs), ...kneeDoubts(pairs)] : []),
      ...missingOf(before, after),
    ],
    isServiceAlike,
    isRateAlike: (pair) => isServiceAlike && !pair.some(isLimitedByLoad),
    isKneeAlike: (pair) => isServiceAlike && areQuiet && hasOneTarget(pair) && !pair.some(isKneeDoubtful),
  };
}

const isElsewhere = ({ target }: Results): boolean => target !== null;

function differencesOf(before: Results, after: Results): string[] {
  const sentences: string[] = [];
  const differ = (name: string, of: (results: Results) => string, so = 'a difference may come from it') => {
    const [a, b] = [of(before), of(after)];
    if (a !== b) sentences.push(`${name}: ${a} before, ${b} after; ${so}`);
  };
  differ(
    'length of the run',
    ({ isQuick }) => (isQuick ? 'quick' : 'full'),
    'the service was not warmed up alike, and its figures are not compared',
  );
  const server = ({ target }: Results): string => target ?? 'one of its own';
  if (isElsewhere(before) === isElsewhere(after)) differ('server', server);
  else differ('server', server, 'the network is in the figures of one, and they are not compared');
  differ(
    'machine',
    ({ machine: { cores, model, memoryBytes } }) => `${cores} × ${model}, ${bytes(memoryBytes)}`,
  );
  differ('system', ({ machine: { platform, kernel } }) => `${platform}, ${kernel}`);
  differ('governor of the CPU', ({ machine }) => machine.governor ?? 'none');
  differ('Node', ({ node }) => node);
  return sentences;
}

function noiseOf(before: Results, after: Results): string[] {
  const runs = [...(before.isQuietEnough ? [] : ['before']), ...(after.isQuietEnough ? [] : ['after'])];
  if (runs.length === 0) return [];
  return [
    `the machine was too noisy ${runs.join(' and ')}: knees are not compared, and other figures may differ by the noise alone`,
  ];
}

function rateDoubts(pairs: readonly WayPair[]): string[] {
  const limited = listed(pairs, (way) =>
    isLimitedByLoad(way) ? [`service busy ${percent(way.backlogBusyShare!)}`] : null,
  );
  const sentences = limited.map(
    (names) =>
      `the generator or another process was the limit under backlog of ${names}: rates are not compared`,
  );
  if (
    pairs
      .flat()
      .some(({ backlogBusyShare, backlogPerS }) => backlogPerS !== null && backlogBusyShare === null)
  )
    sentences.push(
      'rates under backlog may be those of the generator: how busy a server elsewhere was is not known',
    );
  return sentences;
}

const hasOneTarget = ([before, after]: WayPair): boolean =>
  before.knee?.targetP99Us === after.knee?.targetP99Us;

const isKneeDoubtful = (way: WayResult): boolean =>
  way.knee?.isGeneratorLimit === true || doubtsAboutKnee(way).length > 0;

function kneeDoubts(pairs: readonly WayPair[]): string[] {
  const both = pairs.filter((pair) => pair.every(({ knee }) => knee !== null));
  const [other] = both.filter((pair) => !hasOneTarget(pair));
  const targets = other?.map(({ knee }) => time(knee!.targetP99Us));
  const unconfirmed = listed(both, (way) => (doubtsAboutKnee(way).length > 0 ? doubtsAboutKnee(way) : null));
  const limited = listed(both, ({ knee }) => (knee!.isGeneratorLimit ? [] : null));
  return [
    ...(targets === undefined
      ? []
      : [`target of the knees: ${targets[0]} before, ${targets[1]} after; they are not compared`]),
    ...unconfirmed.map((names) => `knees that are not confirmed are not compared: ${names}`),
    ...limited.map(
      (names) => `the generator was the limit beyond the knees of ${names}: they are not compared`,
    ),
  ];
}

/**
 * `single before, stream before (why) and after (why)`; one text, or none where no way has a reason.
 * @param reasonsOf null where a way is not to be listed
 */
function listed(
  pairs: readonly WayPair[],
  reasonsOf: (way: WayResult) => readonly string[] | null,
): string[] {
  const found = pairs.flatMap((pair) => {
    const runs = pair.flatMap((way, at) => {
      const reasons = reasonsOf(way);
      if (reasons === null) return [];
      const run = at === 0 ? 'before' : 'after';
      return [reasons.length === 0 ? run : `${run} (${reasons.join(', ')})`];
    });
    return runs.length === 0 ? [] : [`${pair[0].name} ${runs.join(' and ')}`];
  });
  return found.length === 0 ? [] : [found.join('; ')];
}

function missingOf(before: Results, after: Results): string[] {
  const namesOf = ({ ways, ladder }: Results): string[] => [...ways, ...ladder].map(({ name }) => name);
  const only = (some: readonly string[], others: readonly string[], run: string): string[] => {
    const names = some.filter((name) => !others.includes(name));
    return names.length === 0 ? [] : [`measured ${run} only: ${names.join(', ')}`];
  };
  const [a, b] = [namesOf(before), namesOf(after)];
  return [...only(a, b, 'before'), ...only(b, a, 'after')];
}

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
