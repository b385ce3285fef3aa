// A whole plan: demand, machines, limits in their order, what-ifs, and the uncertainty of each figure.

import { wasSentOnTime } from '../measure/knee-search.js';
import type { Results } from '../measure/results.js';
import { Costs, leaveOneOut, worstOf } from './cost.js';
import {
  type Demand,
  demandOf,
  type Fleet,
  type ProxyPlan,
  proxyOf,
  type Wire,
  wireOfStreams,
} from './fleet.js';
import { type Interval, type Scaling, scalingOf, spread } from './scaling.js';
import {
  type Layout,
  LINK_SHARE,
  type MachineSize,
  maxPointsPerS,
  networkBitsPerS,
  processBytesOf,
  type Requirements,
  Sizer,
  type Sizing,
  spaceOf,
} from './sizing.js';

// The limits that a plan meets as its fleet grows, the nearest first: each with how many times this fleet it carries.
export interface Limit {
  readonly name: string;
  /** Carried, and asked for, in the unit that the name says. */
  readonly carries: number;
  readonly asks: number;
  /** carries ÷ asks. */
  readonly times: number;
  /** The setting that raises it; undefined where only machines do. */
  readonly setting?: string;
  /** A setting or a purchase that raises it. */
  readonly remedy: string;
}

export const CPU_LIMIT = 'CPU and p99, messages/s a process';
/** Defaults of the service, for each process: HEXCODES_MAX_CONNECTIONS and HEXCODES_MAX_SOCKETS_PER_KEY. */
const MAX_CONNECTIONS = 50_000;
const MAX_SOCKETS_OF_KEY = 20_000;

const limit = (name: string, carries: number, asks: number, remedy: string): Limit => ({
  name,
  carries,
  asks,
  remedy,
  times: carries / asks,
});

/** @param timesCarried of this load, by CPU and p99 */
function limitsOf(
  demand: Demand,
  sizing: Sizing,
  timesCarried: number,
  results: Results,
  size: MachineSize,
): Limit[] {
  const { machines, processesPerMachine, streams } = sizing;
  const processes = machines * processesPerMachine;
  const perS = streams.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
  const limits = [limit(CPU_LIMIT, timesCarried * perS, perS, 'one more machine')];
  // A larger fleet behind as many gateways has no more connections.
  const isGrowing = demand.mostFlushMs === 0;
  const perProcess = Math.ceil(demand.connections / processes);
  const ofSetting = (name: string, most: number, setting: string): Limit => {
    const value = Math.max(2 * most, 10_000 * Math.ceil(perProcess / 5000));
    return { ...limit(name, most * processes, demand.connections, `${setting}=${value}`), setting };
  };
  if (isGrowing) limits.push(ofSetting('connections', MAX_CONNECTIONS, 'HEXCODES_MAX_CONNECTIONS'));
  if (isGrowing && demand.peak[0]!.kind === 'stream')
    limits.push(ofSetting('WebSockets of one key', MAX_SOCKETS_OF_KEY, 'HEXCODES_MAX_SOCKETS_PER_KEY'));
  if (isGrowing && results.memory !== null) {
    const fixed = processesPerMachine * processBytesOf(results, size.cores);
    const connections = (demand.connections / machines) * results.memory.perConnectionBytes;
    const left = Math.max(0, size.memoryBytes - fixed);
    if (connections > 0)
      limits.push(limit('memory of connections, bytes a machine', left, connections, 'more memory'));
  }
  limits.push(
    limit(
      'network, bits/s a machine',
      LINK_SHARE * size.linkBitsPerS,
      networkBitsPerS(demand, results) / machines,
      'a faster link',
    ),
  );
  const kernelNs = kernelNsPerPoint(results);
  if (kernelNs !== undefined)
    limits.push(
      limit(
        'conversion in the kernel, points/s',
        (processes * 1e9) / kernelNs,
        maxPointsPerS(demand),
        'one more machine',
      ),
    );
  return limits.sort((a, b) => a.times - b.times);
}

function kernelNsPerPoint({ ladder }: Results): number | undefined {
  return ladder.find(({ name }) => name === 'encodeBatch() of 4096')?.nsPerPoint.median;
}

/** Memory of one machine at the peak. */
function memoryBytesOf(demand: Demand, layout: Layout, results: Results, cores: number): number | null {
  const { memory } = results;
  if (memory === null) return null;
  const { machines, processesPerMachine } = layout;
  return (
    processesPerMachine * processBytesOf(results, cores) +
    (demand.connections / machines) * memory.perConnectionBytes
  );
}

export interface PlanRequest extends Requirements {
  readonly fleet: Fleet;
  readonly linkBitsPerS: number;
  /** Proxies before the machines that share the connections evenly; 0: none, so that vehicles reach the machines. */
  readonly proxies: number;
}

/** An answer with its uncertainty: between a plan with every figure at its better quartile and one at its worse. */
export interface Answer {
  /** Machines, including spares for those that may fail. */
  readonly machines: Interval;
  readonly cores: Interval;
  readonly carrying: number;
  readonly processesPerMachine: number;
  readonly p50Us: Interval;
  readonly p99Us: Interval;
  readonly busyShare: Interval;
  /** Judged by the upper end of the p99. */
  readonly holdsTarget: boolean;
}

export interface WhatIf {
  readonly name: string;
  readonly answer: Answer;
  readonly firstLimit: Limit;
}

/** The busier period with one machine fewer, before another replaces it. */
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
   * Shares of a core in the busier period, of all machines together: for messages of any size, and for their points.
   */
  readonly coresOfMessages: number;
  readonly coresOfPoints: number;
  readonly limits: readonly Limit[];
  readonly whatIfs: readonly WhatIf[];
  /** Undefined: there is one machine only. */
  readonly oneLess: OneLess | undefined;
  readonly memoryBytesPerMachine: Interval | null;
  readonly holdsProcess: boolean;
  /** Memory or network, and not the CPU, determine the number of machines. */
  readonly isSizedBySpace: boolean;
  readonly networkBitsPerS: number;
  /** Traffic of the machines together at the peak, without the other side of the proxy. */
  readonly wire: Wire;
  readonly proxy: ProxyPlan | null;
  readonly pricePerBillionPoints: Interval | null;
  readonly scaling: Pick<Scaling, 'measured' | 'beyond' | 'mostProcesses' | 'remark'>;
  /**
   * Largest error of a CPU time that is predicted from the others of its way, as a share of the one measured; null
   * where none can be.
   */
  readonly predictsWithin: number | null;
  readonly results: Pick<
    Results,
    'date' | 'machine' | 'version' | 'commit' | 'isQuick' | 'isQuietEnough' | 'node' | 'idleCoreShare'
  >;
}

export function planFor(request: PlanRequest, results: Results): Plan {
  const { date, machine, version, commit, isQuick, isQuietEnough, node, idleCoreShare } = results;
  const { fleet, pricePerCoreHour, survive } = request;
  const planned = new Planner(fleet, request, results);
  const { demand, sizing } = planned;
  const answer = planned.answer();
  const { measured, beyond, mostProcesses, remark } = scalingOf(results.speedUps, request.assumeLinear);
  const worst = worstOf(leaveOneOut(results.ways));
  const perPoint = (price: number, cores: number): number => (24 * price * cores * 1e9) / demand.pointsPerDay;
  return {
    request,
    demand,
    answer,
    sizing,
    ...coresOf(sizing, new Costs(results), results),
    limits: planned.limits(),
    whatIfs: whatIfs(request, results),
    oneLess: sizing.machines + survive < 2 ? undefined : planned.oneLess(),
    memoryBytesPerMachine:
      results.memory === null
        ? null
        : planned.around((each) => memoryBytesOf(demand, each, results, request.coresPerMachine)!),
    holdsProcess: planned.space.holdsProcess,
    isSizedBySpace: sizing.machines > 1 && sizing.machines === planned.space.minMachines,
    networkBitsPerS: networkBitsPerS(demand, results),
    wire: wireOfStreams(demand.peak, results, request.proxies === 0),
    proxy: planned.proxy(),
    pricePerBillionPoints:
      pricePerCoreHour === undefined
        ? null
        : {
            low: perPoint(pricePerCoreHour, answer.cores.low),
            high: perPoint(pricePerCoreHour, answer.cores.high),
          },
    scaling: { measured, beyond, mostProcesses, remark },
    predictsWithin: worst === undefined ? null : Math.abs(worst.predictedUs / worst.measuredUs - 1),
    results: { date, machine, version, commit, isQuick, isQuietEnough, node, idleCoreShare },
  };
}

/** Processes and latencies at one rate. */
export interface Step {
  readonly demand: Demand;
  /** Processes with work, of all machines; those that may fail are not among them. */
  readonly processes: number;
  readonly answer: Answer;
}

/** The step of a request whose fleet is changed. */
export function stepOf(change: Partial<Fleet>, request: PlanRequest, results: Results): Step {
  const planned = new Planner({ ...request.fleet, ...change }, request, results);
  return { demand: planned.demand, processes: planned.sizing.used, answer: planned.answer() };
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
    this.#machine = {
      cores: request.coresPerMachine,
      memoryBytes: request.memoryBytesPerMachine,
      linkBitsPerS: request.linkBitsPerS,
    };
    this.space = spaceOf(this.demand, results, this.#machine);
    const costs = new Costs(results);
    const scaling = scalingOf(results.speedUps, request.assumeLinear);
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
    const p99Us = this.#p99Us(this.#sizings);
    return {
      machines,
      cores: { low: coresPerMachine * machines.low, high: coresPerMachine * machines.high },
      carrying: this.sizing.machines,
      processesPerMachine: this.sizing.processesPerMachine,
      p50Us: this.around(({ tail }) => tail.p50Us),
      p99Us,
      busyShare: this.around(({ busyShare }) => busyShare),
      holdsTarget: this.sizing.holdsTarget && p99Us.high <= this.request.targetP99Us,
    };
  }

  limits(): Limit[] {
    const times = this.#sizers[1].timesCarried(this.sizing);
    const limits = limitsOf(this.demand, this.sizing, times, this.results, this.#machine);
    return [...limits, ...this.#proxyLimits()].sort((a, b) => a.times - b.times);
  }

  /** Limits of one proxy while one machine is down: its vehicles are on the others. */
  #proxyLimits(): Limit[] {
    const proxy = this.proxy();
    // A larger fleet behind as many gateways has no more connections.
    if (proxy === null || this.demand.mostFlushMs > 0) return [];
    const { mostPerPort, connectionsPerPort, cores, linkBitsPerS } = proxy;
    return [
      limit("ports of a proxy's address", mostPerPort, connectionsPerPort, '--own-ports, source addresses'),
      limit('CPU of a proxy, cores', this.request.coresPerMachine, cores, 'one more proxy'),
      limit(
        'network of a proxy, bits/s',
        LINK_SHARE * this.request.linkBitsPerS,
        linkBitsPerS,
        'one more proxy',
      ),
    ];
  }

  /** Null without one. The service alone has one port, processes with --own-ports one each. */
  proxy(): ProxyPlan | null {
    const { survive, proxies, coresPerMachine } = this.request;
    const { machines, processesPerMachine } = this.sizing;
    return proxies === 0
      ? null
      : proxyOf(this.demand, this.results, {
          proxies,
          machines: machines + survive,
          ports: processesPerMachine,
          cores: coresPerMachine,
        });
  }

  /** Where there is more than one machine. */
  oneLess(): OneLess {
    const all = this.#sizings.map(({ machines, processesPerMachine }, at) => {
      const left = Math.max(1, machines + this.request.survive - 1);
      return this.#sizers[at]!.at({ machines: left, processesPerMachine });
    });
    const p99Us = this.#p99Us(all);
    const [, middle] = all;
    const hasSpace =
      middle!.machines >= this.space.minMachines &&
      middle!.processesPerMachine <= this.space.mostProcesses(middle!.machines);
    return {
      busyShare: spread(all.map(({ busyShare }) => busyShare)),
      p99Us,
      hasSpace,
      holdsTarget: hasSpace && middle!.holdsTarget && p99Us.high <= this.request.targetP99Us,
    };
  }

  /** @param sizings at the better quartile, in the middle, at the worse */
  #p99Us(sizings: readonly Sizing[]): Interval {
    const { low, high } = spread(sizings.map(({ tail }) => tail.p99Us));
    return { low, high: Math.max(high, this.#measuredP99Us(sizings[1]!.busyShare)) };
  }

  /**
   * The lowest p99 that the bench saw of a process at least as busy: with the noise of that machine, and never lower
   * for a busier process. Where one that was busier answered sooner, a pause of the machine is not a latency of this
   * load.
   */
  #measuredP99Us(busyShare: number): number {
    const busier = new Costs(this.results)
      .way(this.demand.peak[0]!.kind)
      .curve.filter((point) => point.costUs !== null && wasSentOnTime(point))
      .filter(({ ratePerS, costUs }) => (ratePerS * costUs!) / 1e6 >= busyShare);
    return busier.length === 0 ? 0 : Math.min(...busier.map(({ p99Us }) => p99Us));
  }
}

/** The cost of a message of one point counts as that of a message; the rest of a larger one's is that of its points. */
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
  const { profile, flush, gateways, growth, intervalMs, togetherShare } = fleet;
  const costs = new Costs(results);
  const isAlone = flush === undefined;
  const everySecond = { profile: 'stream', flush: { everyMs: 1000 } } as const;
  const changes: readonly (readonly [name: string, change: Partial<Fleet>, isOther: boolean])[] = [
    ['twice the fleet', { growth: 2 * growth }, true],
    ['half the interval', { intervalMs: intervalMs / 2 }, true],
    ['binary frames on the stream instead', { profile: 'stream' }, profile !== 'stream'],
    [
      'every report as an HTTP request instead',
      { profile: 'single', flush: undefined },
      profile !== 'single',
    ],
    [`collected for 1 s by ${gateways} gateways`, everySecond, isAlone],
    [
      'a fifth of the vehicles report in the same moment',
      { togetherShare: 0.2 },
      isAlone && togetherShare === 0,
    ],
  ];
  return changes.flatMap(([name, change, isOther]) => {
    const other = { ...fleet, ...change };
    if (!isOther || !demandOf(other).peak.every(({ kind }) => costs.has(kind))) return [];
    const planned = new Planner(other, request, results);
    return [{ name, answer: planned.answer(), firstLimit: planned.limits()[0]! }];
  });
}
