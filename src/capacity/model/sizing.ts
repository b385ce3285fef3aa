// From a demand to processes and machines: as few as carry the peak with headroom and hold the p99.

import type { Results } from '../measure/results.js';
import type { Costs } from './cost.js';
import { type Demand, linkBitsOf, type Stream, wireOfStreams } from './fleet.js';
import type { Interval, Scaling } from './scaling.js';
import {
  type FleetArrivals,
  holdsTail,
  MAX_BUSY,
  type ProcessStream,
  simulateTail,
  type Tail,
} from './tail.js';

// Memory and network that a demand takes, and how many processes and machines that leaves space for.
/** Share of a link that is planned with: protocols and bursts take the rest. */
export const LINK_SHARE = 0.7;

export interface MachineSize {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly linkBitsPerS: number;
}

interface Space {
  /** The number that network and memory need, apart from the CPU; 1 or more. */
  readonly minMachines: number;
  /** Whether the memory of a machine holds one process. */
  readonly holdsProcess: boolean;
  /** Machines that share the load, each besides its connections; 1 or more. */
  mostProcesses(machines: number): number;
}

export function spaceOf(
  demand: Demand,
  results: Results,
  { cores, memoryBytes, linkBitsPerS }: MachineSize,
): Space {
  // A machine without a connection has no traffic.
  const forNetwork = Math.min(
    Math.max(1, demand.connections),
    Math.ceil(networkBitsPerS(demand, results) / (LINK_SHARE * linkBitsPerS)),
  );
  const { memory } = results;
  if (memory === null)
    return {
      minMachines: Math.max(1, forNetwork),
      holdsProcess: true,
      mostProcesses: () => Number.POSITIVE_INFINITY,
    };
  const processBytes = processBytesOf(results, cores);
  const heldBytes = demand.connections * memory.perConnectionBytes;
  const holdsProcess = memoryBytes > processBytes;
  const forMemory = holdsProcess ? Math.ceil(heldBytes / (memoryBytes - processBytes)) : 1;
  return {
    minMachines: Math.max(1, forNetwork, forMemory),
    holdsProcess,
    mostProcesses: (machines) => Math.max(1, Math.floor((memoryBytes - heldBytes / machines) / processBytes)),
  };
}

/** Worker threads that a process makes at most when it needs them, one a core, and memory of one. */
const MAX_THREADS = 4;
const THREAD_BYTES = 15e6;

/** A process at its largest, with the threads that it makes on a machine. @param cores of the machine */
export function processBytesOf({ memory, machine }: Results, cores: number): number {
  const threads = Math.max(0, Math.min(MAX_THREADS, cores) - machine.cores);
  return memory === null ? 0 : Math.max(memory.idleBytes, memory.peakBytes + threads * THREAD_BYTES);
}

/** In the busier period, of the busier direction, with the heads and acknowledgements of packets. */
export function networkBitsPerS(demand: Demand, results: Results): number {
  return Math.max(
    ...periodsOf(demand).flatMap((streams) => {
      const { received, sent } = wireOfStreams(streams, results, false);
      return [linkBitsOf(received), linkBitsOf(sent)];
    }),
  );
}

/** In the busier period. */
export const maxPointsPerS = (demand: Demand): number =>
  Math.max(
    ...periodsOf(demand).map((streams) =>
      streams.reduce((sum, { messagesPerS, pointsPerMessage }) => sum + messagesPerS * pointsPerMessage, 0),
    ),
  );

const periodsOf = ({ peak, night }: Demand): (readonly Stream[])[] =>
  night === undefined ? [peak] : [peak, night];

export interface Requirements {
  readonly targetP99Us: number;
  /** Share of the capacity that the peak leaves free, 0 to below 1. */
  readonly headroom: number;
  readonly coresPerMachine: number;
  /** More processes than were measured carry in proportion: undefined, only as far as the speed-ups support. */
  readonly assumeLinear?: boolean;
  /** Machines that may fail at the peak. */
  readonly survive: number;
  readonly memoryBytesPerMachine: number;
  /** Price of one core for one hour, in any currency; undefined: unknown. */
  readonly pricePerCoreHour: number | undefined;
}

export interface Layout {
  readonly machines: number;
  readonly processesPerMachine: number;
}

/** The busiest hour; the mean one, in which bursts are a larger share of all; the night with its bulk. */
export type Period = 'peak' | 'mean' | 'night';

export interface Sizing extends Layout {
  /** Which of them keeps the processes busiest. */
  readonly period: Period;
  /** Processes that have a connection. */
  readonly used: number;
  /** Speed-up of one machine, in processes that run alone. */
  readonly speedUp: Interval;
  /** Share of time in which a process keeps its core busy, its idle work included. */
  readonly busyShare: number;
  readonly streams: readonly ProcessStream[];
  readonly tail: Tail;
  readonly holdsTarget: boolean;
}

/** Loads that a layout has to carry, as multiples of that of a period. */
interface Asked {
  /** The load under which the p99 has to hold and the queue must not grow. */
  readonly times: number;
  /** The load at which the busy share counts, and its bound. */
  readonly busyTimes: number;
  readonly maxBusy: number;
}

/** Plans of more processes are not searched. */
const MAX_PROCESSES = 100_000;
/** Largest multiple of the layout that the work needs; beyond it the p99 is given up. */
const MAX_IN_VAIN = 8;
const LARGER_BY = 1.25;
const BISECTIONS = 6;

/** One demand, on one kind of machine, at one set of costs. */
export class Sizer {
  /** Layouts are requested again and again, and each answer is a simulation. */
  readonly #known = new Map<string, boolean>();

  constructor(
    private readonly demand: Demand,
    private readonly costs: Costs,
    private readonly scaling: Scaling,
    private readonly needs: Requirements,
    private readonly space: Space,
    /** 'low': as many processes lose together as the speed-ups allow; 'high': as few. */
    private readonly optimism: keyof Interval = 'low',
  ) {}

  size(): Sizing {
    const first = this.#periods.map((period) => this.#size(period, this.space.minMachines));
    const machines = Math.max(...first.map((sizing) => sizing.machines));
    const all = first.length === 1 ? first : this.#periods.map((period) => this.#size(period, machines));
    const processesPerMachine = Math.max(...all.map((sizing) => sizing.processesPerMachine));
    const holdsTarget = all.every((sizing) => sizing.holdsTarget);
    return { ...this.at({ machines, processesPerMachine }), holdsTarget };
  }

  /** A layout in its busiest period, whether it carries that or not, and with the longest tail of all periods. */
  at(layout: Layout): Sizing {
    const all = this.#periods.map((period) => this.#in(period, layout));
    const [busiest] = all.toSorted((a, b) => b.busyShare - a.busyShare);
    const [slowest] = all.toSorted((a, b) => b.tail.p99Us - a.tail.p99Us);
    return { ...busiest!, tail: slowest!.tail, holdsTarget: all.every(({ holdsTarget }) => holdsTarget) };
  }

  /** How many times its load a layout carries: until its processes are busy all the time, or the p99 is missed. */
  timesCarried(layout: Layout): number {
    const carries = (times: number): boolean =>
      this.#periods.every((period) => this.#carries(layout, period, { times, busyTimes: times, maxBusy: 1 }));
    let [low, high] = [0, 1];
    while (high < MAX_PROCESSES && carries(high)) [low, high] = [high, 2 * high];
    for (let step = 0; step < BISECTIONS; step++) {
      const middle = (low + high) / 2;
      if (carries(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  get #periods(): Period[] {
    return (['peak', 'mean', 'night'] as const).filter((each) => this.demand[each] !== undefined);
  }

  #in(period: Period, layout: Layout): Sizing {
    const streams = this.#streams(layout, period, 1);
    const busyShare = this.costs.idleShare + busyOf(streams);
    const isCarried = backlogOf(streams) < MAX_BUSY;
    const tail = isCarried ? simulateTail(this.costs, streams, this.#arrivals(layout, streams, 1)) : NEVER;
    return {
      ...layout,
      period,
      used: this.#used(layout),
      busyShare,
      streams,
      tail,
      speedUp: this.scaling.speedUp(layout.processesPerMachine),
      holdsTarget: busyShare <= 1 && tail.p99Us <= this.needs.targetP99Us,
    };
  }

  #size(period: Period, minMachines: number): Layout & Pick<Sizing, 'holdsTarget'> {
    const { headroom } = this.needs;
    // Headroom: the load that the layout must carry is larger by this factor.
    const asked = { times: 1 / (1 - headroom), busyTimes: 1, maxBusy: 1 - headroom };
    const most = (machines: number): Layout => ({
      machines,
      processesPerMachine: this.#best(
        Math.min(this.needs.coresPerMachine, this.scaling.mostProcesses, this.space.mostProcesses(machines)),
      ),
    });
    const isBusyEnough = (layout: Layout): boolean => this.#isBusyAtMost(layout, period, asked);
    const carries = (layout: Layout): boolean => this.#carries(layout, period, asked);
    const each = most(minMachines).processesPerMachine;
    // A machine without a connection has no work.
    const limit = Math.max(minMachines, Math.min(Math.ceil(MAX_PROCESSES / each), this.demand.connections));
    const forWork = fewest(minMachines, limit, (machines) => isBusyEnough(most(machines)));
    // More processes hardly shorten the tail when no two messages of a burst meet in a process.
    const forBurst = Math.ceil(this.demand.together / each);
    const held =
      forWork &&
      fewest(forWork, Math.min(limit, MAX_IN_VAIN * Math.max(forWork, forBurst)), (machines) =>
        carries(most(machines)),
      );
    const machines = held ?? forWork ?? limit;
    const isEnough = held === undefined ? isBusyEnough : carries;
    const all = most(machines).processesPerMachine;
    const processes = fewest(1, all, (count) => isEnough({ machines, processesPerMachine: count })) ?? all;
    return { machines, processesPerMachine: processes, holdsTarget: held !== undefined };
  }

  /** More processes than that carry less together. */
  #best(most: number): number {
    let best = 1;
    const speedUp = (processes: number): number => this.scaling.speedUp(processes)[this.optimism];
    for (let processes = 2; processes <= most; processes++)
      if (speedUp(processes) > speedUp(best)) best = processes;
    return best;
  }

  #carries(layout: Layout, period: Period, asked: Asked): boolean {
    const name = `${layout.machines} ${layout.processesPerMachine} ${period} ${asked.times} ${asked.busyTimes}`;
    const known = this.#known.get(name) ?? this.#simulate(layout, period, asked);
    this.#known.set(name, known);
    return known;
  }

  #simulate(layout: Layout, period: Period, asked: Asked): boolean {
    if (!this.#isBusyAtMost(layout, period, asked)) return false;
    const streams = this.#streams(layout, period, asked.times);
    const arrivals = this.#arrivals(layout, streams, asked.times);
    return holdsTail(this.costs, streams, arrivals, this.needs.targetP99Us);
  }

  /** The CPU time alone, and the knee that was measured. */
  #isBusyAtMost(layout: Layout, period: Period, { times, busyTimes, maxBusy }: Asked): boolean {
    const streams = this.#streams(layout, period, times);
    const [first] = streams;
    return (
      this.costs.idleShare + busyOf(this.#streams(layout, period, busyTimes)) <= maxBusy &&
      backlogOf(streams) <= MAX_BUSY &&
      first!.messagesPerS <= this.#kneePerS(first!)
    );
  }

  /** Streams of the load, multiplied by `times`. */
  #streams(layout: Layout, period: Period, times: number): ProcessStream[] {
    const used = this.#used(layout);
    // Processes that share a machine take longer for the same, where they have work.
    const sharing = Math.min(layout.processesPerMachine, Math.ceil(used / layout.machines));
    const stretch = sharing / this.scaling.speedUp(sharing)[this.optimism];
    const streams = this.demand[period]!.map((stream) => ({
      ...stream,
      messagesPerS: times * stream.messagesPerS,
    }));
    return loadOf(streams, this.costs, used, stretch);
  }

  /** A connection belongs to one process. */
  #used({ machines, processesPerMachine }: Layout): number {
    return Math.max(1, Math.min(machines * processesPerMachine, this.demand.connections));
  }

  #arrivals(layout: Layout, streams: readonly ProcessStream[], times: number): FleetArrivals {
    const { togetherEveryMs } = this.demand;
    const together = Math.ceil((times * this.demand.together) / this.#used(layout));
    const perS = streams.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
    const togetherPerS = (1000 * together) / togetherEveryMs;
    return { singlePerS: Math.max(0, perS - togetherPerS), together, everyUs: 1000 * togetherEveryMs };
  }

  /** The rate at which the p99 was still held, where that was measured for a target that is not stricter. */
  #kneePerS({ kind, backlogUs }: ProcessStream): number {
    const { knee, backlogPerS } = this.costs.way(kind);
    const isUsable =
      this.costs.results.isQuietEnough &&
      knee !== null &&
      backlogPerS !== null &&
      knee.isConfirmed &&
      !knee.isGeneratorLimit &&
      knee.targetP99Us >= this.needs.targetP99Us;
    return isUsable ? ((knee.ratePerS / backlogPerS.median) * 1e6) / backlogUs : Number.POSITIVE_INFINITY;
  }
}

const INFINITE = Number.POSITIVE_INFINITY;
const NEVER: Tail = { p50Us: INFINITE, p90Us: INFINITE, p99Us: INFINITE };

const busyOf = (streams: readonly ProcessStream[]): number =>
  streams.reduce((sum, { messagesPerS, costUs }) => sum + (messagesPerS * costUs) / 1e6, 0);

const backlogOf = (streams: readonly Omit<ProcessStream, 'costUs' | 'wakeUpUs'>[]): number =>
  streams.reduce((sum, { messagesPerS, backlogUs }) => sum + (messagesPerS * backlogUs) / 1e6, 0);

/**
 * The smallest count from `least` to `most` that is enough, where larger ones are enough as well; undefined where none
 * is.
 */
function fewest(least: number, most: number, isEnough: (count: number) => boolean): number | undefined {
  let [low, high] = [least - 1, least];
  while (!isEnough(high)) {
    if (high >= most) return undefined;
    low = high;
    high = Math.min(most, Math.ceil(LARGER_BY * high));
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The streams of one of several processes, with their costs: as if no messages came together, as nobody may rely on it.
 * @param stretch factor of the costs
 */
export function loadOf(
  streams: readonly Stream[],
  costs: Costs,
  processes: number,
  stretch: number,
): ProcessStream[] {
  const each = streams.map((stream) => ({
    ...stream,
    messagesPerS: stream.messagesPerS / processes,
    backlogUs: stretch * costs.backlogUs(stream.kind, stream.pointsPerMessage),
  }));
  const busyAtBacklogCost = backlogOf(each);
  const perSOf = (all: readonly Stream[]): number =>
    stretch * all.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
  const allPerS = perSOf(each);
  return each.map((stream) => {
    const { kind, pointsPerMessage } = stream;
    const kindPerS = perSOf(each.filter((other) => other.kind === kind));
    const wakeUpUs =
      stretch * costs.wakeUpUs(kind, pointsPerMessage, { kindPerS, allPerS, busyAtBacklogCost });
    return { ...stream, wakeUpUs, costUs: stream.backlogUs + wakeUpUs };
  });
}
