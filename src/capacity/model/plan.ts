// A whole plan: demand, machines, limits in their order, what-ifs, and how far each figure may be off.
import type { Interval } from '../compare/bootstrap.js';
import { wasSentOnTime } from '../measure/knee-search.js';
import type { Results } from '../measure/results.js';
import { Costs } from './cost.js';
import { type Demand, demandOf, type Fleet } from './fleet.js';
import { kernelNsPerPoint, type Limit, limitsOf, memoryBytesOf } from './limits.js';
import { scalingOf } from './scaling.js';
import { type Requirements, Sizer, type Sizing } from './sizing.js';
import { type MachineSize, networkBitsPerS, spaceOf } from './space.js';

export interface PlanRequest extends Requirements {
  readonly fleet: Fleet;
  /** Machines that may fail at the peak. */
  readonly survive: number;
  readonly memoryBytesPerMachine: number;
  readonly linkBitsPerS: number;
  /** Price of one core for one hour, in any currency; undefined: unknown. */
  readonly pricePerCoreHour: number | undefined;
}

/** An answer with its uncertainty: between a plan with every figure at its better quartile and one at its worse. */
export interface Answer {
  /** With those that may fail. */
  readonly machines: Interval;
  readonly cores: Interval;
  readonly carrying: number;
  readonly processesPerMachine: number;
  readonly p50Us: Interval;
  readonly p99Us: Interval;
  readonly busyShare: Interval;
  readonly holdsTarget: boolean;
}

export interface WhatIf {
  readonly name: string;
  readonly answer: Answer;
  readonly firstLimit: Limit;
}

/** The busier period with one machine fewer, and none in its place. */
export interface OneLess {
  readonly busyShare: Interval;
  readonly p99Us: Interval;
  /** In memory and network. */
  readonly hasSpace: boolean;
  readonly holdsTarget: boolean;
}

export interface Plan {
  readonly request: PlanRequest;
  readonly demand: Demand;
  readonly answer: Answer;
  readonly sizing: Sizing;
  /**
   * Shares of a core in the busier period, of all machines together: for messages however small, and for their points.
   */
  readonly coresOfMessages: number;
  readonly coresOfPoints: number;
  readonly limits: readonly Limit[];
  readonly whatIfs: readonly WhatIf[];
  /** Undefined: there is one machine only. */
  readonly oneLess: OneLess | undefined;
  readonly memoryBytesPerMachine: Interval | null;
  readonly holdsProcess: boolean;
  /** Memory or network, and not the CPU, ask for the machines. */
  readonly isSizedBySpace: boolean;
  readonly networkBitsPerS: number;
  readonly pricePerBillionPoints: Interval | null;
  readonly scalingRemark: string;
  readonly results: Pick<
    Results,
    'date' | 'machine' | 'version' | 'commit' | 'isQuick' | 'isQuietEnough' | 'node'
  >;
}

export function planFor(request: PlanRequest, results: Results): Plan {
  const { date, machine, version, commit, isQuick, isQuietEnough, node } = results;
  const { fleet, pricePerCoreHour, survive } = request;
  const planned = new Planner(fleet, request, results);
  const { demand, sizing } = planned;
  const answer = planned.answer();
  const perPoint = (price: number, cores: number): number => (24 * price * cores * 1e9) / demand.pointsPerDay;
  return {
    ...{ request, demand, answer, sizing },
    ...coresOf(sizing, new Costs(results), results),
    limits: planned.limits(),
    whatIfs: whatIfs(request, results),
    oneLess: sizing.machines + survive < 2 ? undefined : planned.oneLess(),
    memoryBytesPerMachine:
      results.memory === null ? null : planned.around((each) => memoryBytesOf(demand, each, results)!),
    holdsProcess: planned.space.holdsProcess,
    isSizedBySpace: sizing.machines > 1 && sizing.machines === planned.space.leastMachines,
    networkBitsPerS: networkBitsPerS(demand, results),
    pricePerBillionPoints:
      pricePerCoreHour === undefined
        ? null
        : {
            low: perPoint(pricePerCoreHour, answer.cores.low),
            high: perPoint(pricePerCoreHour, answer.cores.high),
          },
    scalingRemark: scalingOf(results.speedUps).remark,
    results: { date, machine, version, commit, isQuick, isQuietEnough, node },
  };
}

/** The plan of one fleet: with costs in the middle, and at the quartiles of what was measured. */
class Planner {
  readonly demand: Demand;
  readonly space: ReturnType<typeof spaceOf>;
  readonly sizing: Sizing;
  readonly #machine: MachineSize;
  /** At the better quartile, in the middle, at the worse. */
  readonly #sizers: readonly [Sizer, Sizer, Sizer];
  readonly #sizings: readonly Sizing[];

  constructor(
    fleet: Fleet,
    private readonly request: PlanRequest,
    private readonly results: Results,
  ) {
    this.demand = demandOf(fleet);
    this.#machine = { memoryBytes: request.memoryBytesPerMachine, linkBitsPerS: request.linkBitsPerS };
    this.space = spaceOf(this.demand, results, this.#machine);
    const costs = new Costs(results);
    const scaling = scalingOf(results.speedUps);
    const { median, low, high } = costs.way(this.demand.peak[0]!.kind).costBacklogUs!;
    const sizer = (scale: number, optimism: keyof Interval): Sizer =>
      new Sizer(this.demand, costs.scaled(scale), scaling, request, this.space, optimism);
    this.#sizers = [sizer(low / median, 'high'), sizer(1, 'low'), sizer(high / median, 'low')];
    this.#sizings = this.#sizers.map((each) => each.size());
    this.sizing = this.#sizings[1]!;
  }

  around(of: (sizing: Sizing) => number): Interval {
    return spread(this.#sizings.map(of));
  }

  answer(): Answer {
    const { survive, coresPerMachine } = this.request;
    const machines = this.around((sizing) => sizing.machines + survive);
    const p99Us = this.around(({ tail }) => tail.p99Us);
    return {
      machines,
      cores: { low: coresPerMachine * machines.low, high: coresPerMachine * machines.high },
      carrying: this.sizing.machines,
      processesPerMachine: this.sizing.processesPerMachine,
      p50Us: this.around(({ tail }) => tail.p50Us),
      p99Us: { low: p99Us.low, high: Math.max(p99Us.high, this.#measuredP99Us(this.sizing.busyShare)) },
      busyShare: this.around(({ busyShare }) => busyShare),
      holdsTarget: this.sizing.holdsTarget,
    };
  }

  limits(): Limit[] {
    const times = this.#sizers[1].timesCarried(this.sizing);
    return limitsOf(this.demand, this.sizing, times, this.results, this.#machine);
  }

  /** Where there is more than one machine. */
  oneLess(): OneLess {
    const all = this.#sizings.map(({ machines, processesPerMachine }, at) => {
      const left = Math.max(1, machines + this.request.survive - 1);
      return this.#sizers[at]!.at({ machines: left, processesPerMachine });
    });
    const p99Us = spread(all.map(({ tail }) => tail.p99Us));
    const [, middle] = all;
    const hasSpace =
      middle!.machines >= this.space.leastMachines &&
      middle!.processesPerMachine <= this.space.mostProcesses(middle!.machines);
    return {
      busyShare: spread(all.map(({ busyShare }) => busyShare)),
      p99Us: { low: p99Us.low, high: Math.max(p99Us.high, this.#measuredP99Us(middle!.busyShare)) },
      hasSpace,
      holdsTarget: hasSpace && middle!.holdsTarget,
    };
  }

  /**
   * The p99 that the bench saw at the lowest rate at which a process is at least as busy: with the noise of that
   * machine.
   */
  #measuredP99Us(busyShare: number): number {
    const way = new Costs(this.results).way(this.demand.peak[0]!.kind);
    const busier = way.curve.filter(
      (point) =>
        point.costUs !== null && wasSentOnTime(point) && (point.ratePerS * point.costUs) / 1e6 >= busyShare,
    );
    return busier.length === 0 ? 0 : busier.reduce((a, b) => (a.ratePerS <= b.ratePerS ? a : b)).p99Us;
  }
}

const spread = (values: readonly number[]): Interval => ({
  low: Math.min(...values),
  high: Math.max(...values),
});

/** A message of one point is all message; what a larger one takes beyond that is its points. */
function coresOf(
  { streams, used }: Sizing,
  costs: Costs,
  results: Results,
): Pick<Plan, 'coresOfMessages' | 'coresOfPoints'> {
  const kernelNs = kernelNsPerPoint(results) ?? 0;
  let [coresOfMessages, coresOfPoints] = [0, 0];
  for (const { kind, pointsPerMessage, messagesPerS, costUs, backlogUs } of streams) {
    const ofOneUs = Math.min(
      backlogUs,
      (backlogUs * costs.backlogUs(kind, 1)) / costs.backlogUs(kind, pointsPerMessage),
    );
    const pointsUs = Math.min(costUs, Math.max((kernelNs * pointsPerMessage) / 1000, backlogUs - ofOneUs));
    coresOfPoints += (used * messagesPerS * pointsUs) / 1e6;
    coresOfMessages += (used * messagesPerS * (costUs - pointsUs)) / 1e6;
  }
  return { coresOfMessages, coresOfPoints };
}

function whatIfs(request: PlanRequest, results: Results): WhatIf[] {
  const { fleet } = request;
  const costs = new Costs(results);
  const changed = (name: string, change: Partial<Fleet>): WhatIf[] => {
    const other = { ...fleet, ...change };
    if (!demandOf(other).peak.every(({ kind }) => costs.has(kind))) return [];
    const planned = new Planner(other, request, results);
    return [{ name, answer: planned.answer(), firstLimit: planned.limits()[0]! }];
  };
  const all = [
    ...changed('twice the fleet', { growth: 2 * fleet.growth }),
    ...changed('half the interval', { intervalMs: fleet.intervalMs / 2 }),
  ];
  if (fleet.profile !== 'stream')
    all.push(...changed('binary frames on the stream instead', { profile: 'stream' }));
  if (fleet.profile !== 'single')
    all.push(...changed('every report as an HTTP request instead', { profile: 'single', flush: undefined }));
  if (fleet.flush === undefined)
    all.push(
      ...changed(`collected for 1 s by ${fleet.gateways} gateways`, {
        profile: 'stream',
        flush: { everyMs: 1000 },
      }),
    );
  if (fleet.togetherShare === 0 && fleet.flush === undefined)
    all.push(...changed('a fifth of the vehicles report in the same moment', { togetherShare: 0.2 }));
  return all;
}
