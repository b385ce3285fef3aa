// The results of a bench in the terminal: the machine, cost and capacity of each way, and which figures are unreliable.

import { holdsTarget, wasSentOnTime } from '../measure/knee-search.js';
import {
  type Knee,
  type RatePoint,
  type Results,
  type Samples,
  samplesOf,
  type WayResult,
} from '../measure/results.js';
import { leaveOneOut, worstOf } from '../model/cost.js';
import { type Disturbance, workSpread } from '../processes/machine.js';
import { bytes, columns, percent, plain, time } from './figures.js';

/** A speed-up beyond this multiple of the number of processes is an error: n carry at most n times as much. */
const MAX_SPEED_UP = 1.1;

export function benchText(results: Results): string {
  const { machine, noise, control, ladder, ways, sizes, speedUps, memory } = results;
  const worst = Math.max(...noise.map(({ p99Us }) => p99Us));
  const lines = [
    `${machine.cores} × ${machine.model}, ${bytes(machine.memoryBytes)}, Node ${results.node}, hexcodes ${results.version}${results.commit === null ? '' : ` (${results.commit})`}, ${results.date}, ${results.tookS} s`,
    `noise: a thread that sleeps 1 ms took up to ${time(worst)} at the 99th percentile; the same work took up to ${plain(workSpread(noise))} times as long${results.isQuietEnough ? '' : ': too noisy for figures of tails'}; stolen by the hypervisor ${percent(machine.stealShare)}${countedText(machine.counted)}; load before ${machine.load}`,
    '',
    ...(ways.length === 0 ? [] : [waysTable(ways), '']),
    ...ways.flatMap(remarksOn),
    ...predictionText(ways),
    ...(sizes.length === 0 ? [] : [sizesTable(results), '']),
    columns(
      [
        ['in process', 'ns a point'],
        ...ladder.map(({ name, nsPerPoint }) => [name, plain(nsPerPoint.median)]),
      ],
      [1],
    ),
    '',
  ];
  if (speedUps.length > 0) {
    const shown = speedUps.map(({ processes, speedUp: { median, low, high } }) =>
      median > MAX_SPEED_UP * processes
        ? `${processes}: – (${plain(median)} is more than there are: the machine was disturbed)`
        : `${processes}: ${plain(median)} (${plain(low)}-${plain(high)})`,
    );
    lines.push(`speed-up of processes, from CPU time: ${shown.join(', ')}`);
    if (machine.cores <= 2) lines.push('with two cores or fewer no law of scaling can be fitted');
  }
  if (memory !== null)
    lines.push(
      `memory: ${bytes(memory.idleBytes)} without load, ${bytes(memory.perConnectionBytes)} a connection, ${bytes(memory.peakBytes)} at most`,
    );
  if (control !== null)
    lines.push(
      `the generator itself: ${plain(control.backlogPerS)} requests/s under backlog, ${plain(control.openPerS)}/s at a rate of its own`,
    );
  return `${lines.join('\n')}\n`;
}

/** How far each measured cost is from the one that a plan would compute from the others. */
function predictionText(ways: readonly WayResult[]): string[] {
  const predictions = leaveOneOut(ways);
  const worst = worstOf(predictions);
  if (worst === undefined) return [];
  const { way, ratePerS, measuredUs, predictedUs } = worst;
  const error = percent(Math.abs(predictedUs / measuredUs - 1));
  return [
    `CPU between rates: predicts its own ${predictions.length} points within ${error}, each from the others of its way (worst: ${way} at ${plain(ratePerS)}/s, ${time(measuredUs)} measured, ${time(predictedUs)} predicted)`,
    '',
  ];
}

function countedText(counted: Disturbance | undefined): string {
  if (counted === undefined) return '';
  return ` (of nine tenths of the measurements ${percent(counted.stealShare)} at most, on a core within a factor of ${plain(counted.slowness)} of its usual speed)`;
}

function waysTable(ways: readonly WayResult[]): string {
  const head = [
    'way',
    'points',
    'CPU under backlog',
    'rate',
    'CPU at 100/s',
    'knee',
    'points/s',
    'p50 there',
    'p99',
    'at a constant rate',
  ];
  const rows = ways.map((way) => {
    const { costBacklogUs, backlogPerS, curve, constant } = way;
    const knee = heldKnee(way);
    const at = knee?.steps.filter(({ holds, ratePerS }) => holds && ratePerS === knee.ratePerS).at(-1);
    const idle = curve[0]?.costUs ?? null;
    return [
      way.name,
      String(way.pointsPerUnit),
      costBacklogUs === null ? '' : time(costBacklogUs.median),
      backlogPerS === null ? '' : `${plain(backlogPerS.median)}/s`,
      idle === null ? '' : time(idle),
      knee === null ? '–' : `${plain(knee.ratePerS)}/s`,
      knee === null ? '' : plain(knee.ratePerS * way.pointsPerUnit),
      at === undefined ? '' : time(at.p50Us),
      at === undefined ? '' : time(at.p99Us),
      knee === null || constant === null ? '' : time(constant.p99Us),
    ];
  });
  return columns([head, ...rows], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

function remarksOn(way: WayResult): string[] {
  const { name, knee, backlogBusyShare, curve } = way;
  const remarks: string[] = [];
  if (isLimitedByLoad(way))
    remarks.push(
      `${name}: under backlog the service used ${percent(backlogBusyShare!)} of its core: the generator or another process was the limit`,
    );
  const doubts = doubtsAboutKnee(way);
  if (knee === null) remarks.push(`${name}: no rate held the target`);
  else if (doubts.length > 0)
    remarks.push(`${name}: ${plain(knee.ratePerS)}/s was found and is not confirmed: ${doubts.join(', ')}`);
  if (knee?.isGeneratorLimit === true)
    remarks.push(
      `${name}: beyond the rate that was found the generator was late: the service may carry more`,
    );
  const late = curve.filter((point) => !wasSentOnTime(point));
  if (late.length > 0)
    remarks.push(
      `${name}: at ${late.map(({ ratePerS }) => `${plain(ratePerS)}/s`).join(', ')} the generator was late: their CPU times are not used`,
    );
  return remarks;
}

function sizesTable({ sizes }: Results): string {
  return columns(
    [
      ['way', 'points', 'CPU', 'ns a point', 'points/s'],
      ...sizes.map(({ kind, points, costUs, pointsPerS }) => [
        kind,
        String(points),
        costUs === null ? '' : time(costUs),
        costUs === null ? '' : plain((1000 * costUs) / points),
        plain(pointsPerS),
      ]),
    ],
    [1, 2, 3, 4],
  );
}

// Figures that their own run contradicts: knees that its other measurements refute, and backlog where the generator
// was the limit.

/** Busy share below which the load, not the service, was the limit under backlog. */
const BUSY_SHARE = 0.9;

/** False also where the server runs elsewhere: its CPU time is not known. */
const isLimitedByLoad = ({ backlogBusyShare }: WayResult): boolean =>
  backlogBusyShare !== null && backlogBusyShare < BUSY_SHARE;

/** A knee that repeats held and that nothing else of its run refutes; else null. */
const heldKnee = (way: WayResult): Knee | null => (doubtsAboutKnee(way).length === 0 ? way.knee : null);

/** A rate that held its target in a run, as did all lower ones. */
interface HeldRate {
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
 * the generator are not an excuse: they may be why a rate missed the target, but then the run does not show that the
 * service held it.
 */
function doubtsAboutKnee({ knee, curve, constant, intendedUs }: WayResult): string[] {
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

// Two results of `hexcodes bench`, before and after a change, as one table. A figure is better or worse where the
// middle halves of its samples do not overlap and the medians are apart by at least MIN_CHANGE.

/** Medians of two runs of the same code have been this far apart on an otherwise idle machine. */
const MIN_CHANGE = 0.03;
/** Fewer samples have no middle half worth comparing. */
const MIN_SAMPLES = 8;

export type Verdict = 'better' | 'worse' | 'no difference seen' | 'too few measurements' | 'one value each';

interface ComparedFigure {
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
