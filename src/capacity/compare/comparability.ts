// Which figures of two runs may be held against each other, and in sentences why the others may not.
import type { Results, WayResult } from '../measure/results.js';
import { doubtsAboutKnee, isLimitedByLoad } from '../report/doubts.js';
import { bytes, percent, time } from '../report/figures.js';

/** One way in both runs. */
export type WayPair = readonly [before: WayResult, after: WayResult];

export interface Comparability {
  /** Differences of the runs and doubts about their figures; each a sentence without its full stop. */
  readonly cautions: readonly string[];
  /** Whether costs and rates of the service are of the same kind in both. */
  readonly isServiceAlike: boolean;
  isRateAlike(pair: WayPair): boolean;
  isKneeAlike(pair: WayPair): boolean;
}

export function waysInBoth(before: Results, after: Results): WayPair[] {
  return before.ways.flatMap((way) => {
    const other = after.ways.find(({ name }) => name === way.name);
    return other === undefined ? [] : [[way, other] as const];
  });
}

export function comparabilityOf(before: Results, after: Results): Comparability {
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
