// The CPU time of one message: by its size, measured under backlog, and a surcharge for the wake-ups of a process that
// is not busy. Figures of an idle server alone would mislead by several times, and those of a saturated one as well.
import type { WayKind } from '../generator/job.js';
import { wasSentOnTime } from '../measure/knee-search.js';
import type { Results, WayResult } from '../measure/results.js';

/**
 * Exponent of a kind's own rate in the rate at which its surcharge is read, that of all messages having the rest: a
 * wake-up keeps the event loop and the kernel warm for all kinds, but each kind's code for itself. Both exponents were
 * measured by mixes of kinds and sizes, at 6dcc58ff.
 */
const COLD_KIND = 0.5;
/** A message with more work touches more memory that went cold: its surcharge is this power of its work. */
const COLD_SIZE = 0.15;

/** The messages of a process, which determine how often it sleeps and how much stays warm. */
interface Turns {
  /** Messages of the kind, and of all kinds, in a second of the measured core. */
  readonly kindPerS: number;
  readonly allPerS: number;
  /** Share of its core that all messages would take at their costs under backlog. */
  readonly busyAtBacklogCost: number;
}

export class Costs {
  /** @param scale costs are multiplied by it: 1, or the edges of their spread */
  constructor(
    readonly results: Results,
    private readonly scale = 1,
  ) {}

  /** The results at costs of another scale. */
  scaled(scale: number): Costs {
    return new Costs(this.results, scale);
  }

  /** Whether a plan can be made of messages of a kind. */
  has(kind: WayKind): boolean {
    return this.results.ways.some(({ name, costBacklogUs }) => name === kind && costBacklogUs !== null);
  }

  /** Share of a core that an idle process takes; 0 where it is not known. */
  get idleShare(): number {
    return this.results.idleCoreShare ?? 0;
  }

  /** The way whose figures stand for a kind. @throws Error where it was not measured, or without CPU times */
  way(kind: WayKind): WayResult & { readonly services: string } {
    const way = this.results.ways.find(({ name }) => name === kind);
    if (way === undefined) throw new Error(`the results have no figures of ${kind}`);
    if (way.costBacklogUs === null || way.services === null)
      throw new Error(
        this.results.target === null
          ? `no CPU time of ${kind} was measured: its run was disturbed. Measure again`
          : 'the results have no CPU times: they are of a server elsewhere. Plan from a bench on its machine',
      );
    return way as WayResult & { services: string };
  }

  /** Under backlog. @param points of one message */
  backlogUs(kind: WayKind, points: number): number {
    const way = this.way(kind);
    const known = this.results.sizes
      .filter((size) => size.kind === kind && size.costUs !== null)
      .map((size) => [size.points, size.costUs!] as const)
      // The profile's own figure has more samples.
      .filter(([size]) => size !== way.pointsPerUnit)
      .concat([[way.pointsPerUnit, way.costBacklogUs!.median]])
      .sort((a, b) => a[0] - b[0]);
    return this.scale * interpolate(known, points);
  }

  /** The cost of a message where all of a process are of its kind and size. @param perS rate */
  atUs(kind: WayKind, points: number, perS: number): number {
    const backlogUs = this.backlogUs(kind, points);
    const busyAtBacklogCost = (perS * backlogUs) / 1e6;
    return backlogUs + this.wakeUpUs(kind, points, { kindPerS: perS, allPerS: perS, busyAtBacklogCost });
  }

  /**
   * The surcharge of a message that comes alone: the wake-up of a process that sleeps, a turn of its event loop, and
   * code and data that went cold meanwhile.
   */
  wakeUpUs(kind: WayKind, points: number, { kindPerS, allPerS, busyAtBacklogCost }: Turns): number {
    const way = this.way(kind);
    const backlogUs = way.costBacklogUs!.median;
    // Costs that are larger by a factor are those of a slower core, at which as many messages are a higher rate. Never
    // at one at which messages of the curve would keep the process busier than it is.
    const ratePerS = Math.min(
      this.scale * kindPerS ** COLD_KIND * allPerS ** (1 - COLD_KIND),
      (1e6 * busyAtBacklogCost) / backlogUs,
    );
    const surchargeUs = Math.max(0, costAt(curveOf(way), ratePerS) - backlogUs);
    if (surchargeUs === 0 || busyAtBacklogCost >= 1) return 0;
    const asleep = Math.min(1, (1 - busyAtBacklogCost) / (1 - (ratePerS * backlogUs) / 1e6));
    return this.scale * surchargeUs * asleep * this.largerWakeUp(kind, points);
  }

  /** Factor of the surcharge of a message, against one of the measured size. */
  largerWakeUp(kind: WayKind, points: number): number {
    const measuredUs = this.scale * this.way(kind).costBacklogUs!.median;
    return (this.backlogUs(kind, points) / measuredUs) ** COLD_SIZE;
  }

  /**
   * How much longer than the CPU time of its message an exchange takes: both ends of the connection, on the measured
   * machine.
   */
  beyondCpuUs(kind: WayKind): number {
    const beyond = this.way(kind)
      .curve.filter((point) => point.costUs !== null && wasSentOnTime(point))
      .map(({ p50Us, costUs }) => Math.max(0, p50Us - costUs!))
      .sort((a, b) => a - b);
    // A queue lengthens the upper percentiles.
    return beyond[Math.floor((beyond.length - 1) / 2)] ?? 0;
  }
}

/** Rate and CPU time of one unit, ascending by rate; the last is under backlog, where nothing wakes anything. */
type CostCurve = readonly (readonly [ratePerS: number, costUs: number])[];

/** The points of a way whose costs are usable: those that were sent on time. */
const pointsOf = ({ curve }: WayResult): [ratePerS: number, costUs: number][] =>
  curve
    .filter((point) => point.costUs !== null && point.costUs > 0 && wasSentOnTime(point))
    .map(({ ratePerS, costUs }) => [ratePerS, costUs!] as [number, number])
    .sort((a, b) => a[0] - b[0]);

/** The cost at rising rates, which never rises: where a point says so its neighbours share the difference. */
function curveOf(way: WayResult, points = pointsOf(way)): CostCurve {
  const backlogUs = way.costBacklogUs?.median;
  if (backlogUs === undefined) return falling(points);
  const fullPerS = 1e6 / backlogUs;
  const known = points.filter(([ratePerS]) => ratePerS < fullPerS);
  return [
    ...falling(known).map(([ratePerS, costUs]) => [ratePerS, Math.max(costUs, backlogUs)] as const),
    [fullPerS, backlogUs],
  ];
}

/** The nearest curve that nowhere rises, in logarithms (pool adjacent violators; Ayer and others 1955). */
function falling(points: CostCurve): CostCurve {
  const pools: { rates: number[]; log: number }[] = [];
  for (const [ratePerS, costUs] of points) {
    pools.push({ rates: [ratePerS], log: Math.log(costUs) });
    for (let last = pools.length - 1; last > 0 && pools[last - 1]!.log < pools[last]!.log; last--) {
      const [a, b] = pools.splice(last - 1, 2) as [(typeof pools)[number], (typeof pools)[number]];
      const rates = [...a.rates, ...b.rates];
      pools.push({ rates, log: (a.rates.length * a.log + b.rates.length * b.log) / rates.length });
    }
  }
  return pools.flatMap(({ rates, log }) => rates.map((ratePerS) => [ratePerS, Math.exp(log)] as const));
}

/**
 * Between measured rates the cost is a power of the rate: between 100/s and the rate under backlog a straight line over
 * the logarithm of the rate is up to 2.9 times too high. Before the first and after the last it stays what it is.
 */
function costAt(curve: CostCurve, ratePerS: number): number {
  const right = curve.findIndex(([known]) => known >= ratePerS);
  if (right === -1) return curve.at(-1)![1];
  if (right === 0) return curve[0]![1];
  const [[rate0, cost0], [rate1, cost1]] = [curve[right - 1]!, curve[right]!];
  const share = Math.log(ratePerS / rate0) / Math.log(rate1 / rate0);
  return cost0 * (cost1 / cost0) ** share;
}

/** A measured cost, and the one that the other points of its way predict. */
export interface LeftOut {
  readonly way: WayResult['name'];
  readonly ratePerS: number;
  readonly measuredUs: number;
  readonly predictedUs: number;
}

/**
 * Leaves out each measured rate in turn and predicts its cost from the others. The lowest rate of a way is never left
 * out, nor is the highest where no backlog lies beyond: nothing is predicted outside of what was measured.
 */
export function leaveOneOut(ways: readonly WayResult[]): LeftOut[] {
  return ways.flatMap((way) => {
    const points = pointsOf(way);
    return points.slice(1).flatMap(([ratePerS, measuredUs]) => {
      const curve = curveOf(
        way,
        points.filter(([other]) => other !== ratePerS),
      );
      if (curve.at(-1)![0] < ratePerS) return [];
      return [{ way: way.name, ratePerS, measuredUs, predictedUs: costAt(curve, ratePerS) }];
    });
  });
}

/** The largest error of predictions, as a share of what was measured, 0 or more; undefined without any. */
export function worstOf(predictions: readonly LeftOut[]): LeftOut | undefined {
  const errorOf = ({ measuredUs, predictedUs }: LeftOut): number => Math.abs(predictedUs / measuredUs - 1);
  return predictions.toSorted((a, b) => errorOf(b) - errorOf(a))[0];
}

/** Linear between known pairs; before the first and after the last as the nearest two go on, never below 0. */
function interpolate(known: readonly (readonly [x: number, y: number])[], x: number): number {
  if (known.length === 1) return known[0]![1];
  let right = known.findIndex(([knownX]) => knownX >= x);
  if (right === -1) right = known.length - 1;
  const [[x0, y0], [x1, y1]] = [known[Math.max(0, right - 1)]!, known[Math.max(1, right)]!];
  return Math.max(0, y0 + ((y1 - y0) * (x - x0)) / (x1 - x0));
}
