// From a demand to processes and machines: as few as carry the peak with headroom and hold the p99.
import type { Interval } from '../compare/bootstrap.js';
import type { FleetArrivals } from '../simulate/fleet-arrivals.js';
import type { Costs } from './cost.js';
import type { Demand, Stream } from './fleet.js';
import type { Room } from './room.js';
import type { Scaling } from './scaling.js';
import {
  busyAtTarget,
  holdsTail,
  MOST_BUSY,
  type ProcessStream,
  serviceTimes,
  simulateTail,
  type Tail,
} from './tail.js';

export interface Requirements {
  readonly targetP99Us: number;
  /** Share of the capacity that the peak leaves free, 0 to below 1. */
  readonly headroom: number;
  readonly coresPerMachine: number;
}

export interface Layout {
  readonly machines: number;
  readonly processesPerMachine: number;
}

export interface Sizing extends Layout {
  /** Which of the two asks for more. */
  readonly period: 'peak' | 'night';
  /** Processes that have a connection. */
  readonly used: number;
  /** Of one machine, in processes that would be alone. */
  readonly speedUp: Interval;
  /** Share of its core that a process is busy. */
  readonly busyShare: number;
  readonly streams: readonly ProcessStream[];
  readonly tail: Tail;
  readonly holdsTarget: boolean;
}

/** More processes than this are no plan. */
const MOST_PROCESSES = 100_000;
/** Layouts so many times as large as the work asks for are tried before the p99 is given up. */
const MOST_IN_VAIN = 8;
const LARGER_BY = 1.25;
const BISECTIONS = 6;

/** One demand, on one kind of machine, at one set of costs. */
export class Sizer {
  constructor(
    private readonly demand: Demand,
    private readonly costs: Costs,
    private readonly scaling: Scaling,
    private readonly needs: Requirements,
    private readonly room: Room,
    /** 'low': as many processes lose together as the speed-ups allow; 'high': as few. */
    private readonly optimism: keyof Interval = 'low',
  ) {}

  size(): Sizing {
    const peak = this.#size('peak');
    if (this.demand.night === undefined) return peak;
    const night = this.#size('night');
    const more = processesOf(night) - processesOf(peak);
    return more > 0 || (more === 0 && night.busyShare > peak.busyShare) ? night : peak;
  }

  /** A layout under the load of a period, whether it carries it or not. */
  at(layout: Layout, period: Sizing['period']): Sizing {
    const streams = this.#streams(layout, period, 1);
    const busyShare = busyOf(streams);
    const isCarried = backlogOf(streams) < MOST_BUSY;
    const tail = isCarried ? simulateTail(this.costs, streams, this.#arrivals(layout, streams, 1)) : NEVER;
    return {
      ...layout,
      ...{ period, used: this.#used(layout), busyShare, streams, tail },
      speedUp: this.scaling.speedUp(layout.processesPerMachine),
      holdsTarget: busyShare <= 1 && tail.p99Us <= this.needs.targetP99Us,
    };
  }

  /** How many times its load a layout carries: until its processes are busy all the time, or the p99 is missed. */
  timesCarried(layout: Layout, period: Sizing['period']): number {
    const carries = (times: number): boolean => this.#carries(layout, period, times, 1);
    let [low, high] = [0, 1];
    while (high < MOST_PROCESSES && carries(high)) [low, high] = [high, 2 * high];
    for (let step = 0; step < BISECTIONS; step++) {
      const middle = (low + high) / 2;
      if (carries(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  #size(period: Sizing['period']): Sizing {
    const { headroom } = this.needs;
    // Headroom is room for a load so much larger.
    const times = 1 / (1 - headroom);
    const most = (machines: number): Layout => ({
      machines,
      processesPerMachine: Math.min(
        this.needs.coresPerMachine,
        this.scaling.mostProcesses,
        this.room.mostProcesses(machines),
      ),
    });
    const isBusyEnough = (layout: Layout): boolean => this.#isBusyAtMost(layout, period, 1 - headroom, times);
    const carries = (layout: Layout): boolean => this.#carries(layout, period, times, 1 - headroom);
    const { leastMachines } = this.room;
    const each = most(leastMachines).processesPerMachine;
    // A process without a connection has no work.
    const limit = Math.max(
      leastMachines,
      Math.ceil(Math.min(MOST_PROCESSES, this.demand.connections) / each),
    );
    const forWork = fewest(leastMachines, limit, (machines) => isBusyEnough(most(machines)));
    // Once no two messages of a crowd meet in a process, more processes hardly shorten the tail.
    const forCrowd = Math.ceil(this.demand.together / each);
    const held =
      forWork &&
      fewest(forWork, Math.min(limit, MOST_IN_VAIN * Math.max(forWork, forCrowd)), (machines) =>
        carries(most(machines)),
      );
    const machines = held ?? forWork ?? limit;
    const isEnough = held === undefined ? isBusyEnough : carries;
    const all = most(machines).processesPerMachine;
    const processes = fewest(1, all, (count) => isEnough({ machines, processesPerMachine: count })) ?? all;
    const sizing = this.at({ machines, processesPerMachine: processes }, period);
    return { ...sizing, holdsTarget: sizing.holdsTarget && held !== undefined };
  }

  #carries(layout: Layout, period: Sizing['period'], times: number, mostBusy: number): boolean {
    if (!this.#isBusyAtMost(layout, period, mostBusy, times)) return false;
    const streams = this.#streams(layout, period, times);
    return holdsTail(this.costs, streams, this.#arrivals(layout, streams, times), this.needs.targetP99Us);
  }

  /**
   * The CPU time alone, and the knee that was measured.
   * @param times load for which the queue must not grow; where the whole of a core may be used, its share is that of this load
   */
  #isBusyAtMost(layout: Layout, period: Sizing['period'], mostBusy: number, times: number): boolean {
    const [now, then] = [1, times].map((each) => this.#streams(layout, period, each));
    const busyShare = busyOf(mostBusy === 1 ? then! : now!);
    const [first] = then!;
    return (
      busyShare <= mostBusy && backlogOf(then!) <= MOST_BUSY && first!.messagesPerS <= this.#kneePerS(first!)
    );
  }

  /** Of the load of so many times this one. */
  #streams(layout: Layout, period: Sizing['period'], times: number): ProcessStream[] {
    const { processesPerMachine } = layout;
    // Processes that share a machine take longer for the same.
    const stretch = processesPerMachine / this.scaling.speedUp(processesPerMachine)[this.optimism];
    const streams = this.demand[period]!.map((stream) => ({
      ...stream,
      messagesPerS: times * stream.messagesPerS,
    }));
    return loadOf(streams, this.costs, this.#used(layout), stretch, this.#aloneShare(period));
  }

  /** A connection belongs to one process. */
  #used({ machines, processesPerMachine }: Layout): number {
    return Math.max(1, Math.min(machines * processesPerMachine, this.demand.connections));
  }

  /** Of all messages, those that do not come together with others. */
  #aloneShare(period: Sizing['period']): number {
    const { together, togetherEveryMs } = this.demand;
    const perS = this.demand[period]!.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
    return Math.max(0, 1 - (1000 * together) / togetherEveryMs / perS);
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
      this.costs.isQuietEnough &&
      knee !== null &&
      backlogPerS !== null &&
      knee.isConfirmed &&
      !knee.isGeneratorLimit &&
      knee.targetP99Us >= this.needs.targetP99Us;
    return isUsable ? ((knee.ratePerS / backlogPerS.median) * 1e6) / backlogUs : Number.POSITIVE_INFINITY;
  }
}

const NEVER: Tail = {
  p50Us: Number.POSITIVE_INFINITY,
  p90Us: Number.POSITIVE_INFINITY,
  p99Us: Number.POSITIVE_INFINITY,
};

const processesOf = ({ machines, processesPerMachine }: Layout): number => machines * processesPerMachine;

const busyOf = (streams: readonly ProcessStream[]): number =>
  streams.reduce((sum, { messagesPerS, costUs }) => sum + (messagesPerS * costUs) / 1e6, 0);

const backlogOf = (streams: readonly ProcessStream[]): number =>
  streams.reduce((sum, { messagesPerS, backlogUs }) => sum + (messagesPerS * backlogUs) / 1e6, 0);

/** The smallest count from `least` to `most` that is enough, where larger ones are enough as well; undefined where none is. */
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
 * The streams of one of so many processes, with their costs.
 * @param stretch factor of the costs
 * @param aloneShare of the messages, 0 to 1: the others come in crowds, and a crowd wakes a process once
 */
export function loadOf(
  streams: readonly Stream[],
  costs: Costs,
  processes: number,
  stretch: number,
  aloneShare = 1,
): ProcessStream[] {
  const each = streams.map((stream) => ({
    ...stream,
    messagesPerS: stream.messagesPerS / processes,
    backlogUs: stretch * costs.backlogUs(stream.kind, stream.pointsPerMessage),
  }));
  const busyAlone =
    aloneShare * each.reduce((sum, { messagesPerS, backlogUs }) => sum + (messagesPerS * backlogUs) / 1e6, 0);
  return each.map((stream) => {
    const wakeUpUs = stretch * costs.wakeUpUs(stream.kind, busyAlone);
    return { ...stream, wakeUpUs, costUs: stream.backlogUs + aloneShare * wakeUpUs };
  });
}

/** The rate that one process carries at a p99, from cost under backlog and service times alone; held against fresh knees. */
export function predictKneePerS(costs: Costs, kind: Stream['kind'], targetP99Us: number): number {
  const services = serviceTimes(costs, kind);
  return (1e6 * busyAtTarget(services, targetP99Us)) / services.meanUs;
}
