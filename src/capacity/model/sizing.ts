// From a demand to processes and machines: as few as carry the peak with headroom and hold the p99.
import type { Interval } from '../compare/bootstrap.js';
import type { FleetArrivals } from '../simulate/fleet-arrivals.js';
import type { Costs } from './cost.js';
import type { Demand, Stream } from './fleet.js';
import type { Scaling } from './scaling.js';
import { busyAtTarget, type ProcessStream, serviceTimes, simulateTail, type Tail } from './tail.js';

export interface Requirements {
  readonly targetP99Us: number;
  /** Share of the capacity that the peak leaves free, 0 to below 1. */
  readonly headroom: number;
  readonly coresPerMachine: number;
}

export interface Sizing {
  /** That carry the peak. */
  readonly machines: number;
  readonly processesPerMachine: number;
  /** Of one machine, in processes that would be alone. */
  readonly speedUp: Interval;
  /** Share of its core that a process is busy at the peak. */
  readonly busyShare: number;
  /** The most that it may be busy for the p99 to hold, without headroom. */
  readonly mostBusyShare: number;
  readonly streams: readonly ProcessStream[];
  readonly tail: Tail;
  readonly holdsTarget: boolean;
}

/** More machines than this are no plan. */
const MOST_PROCESSES = 100_000;

/** @param optimism 'low': as many processes lose together as the speed-ups allow; 'high': as few */
export function sizeFor(
  demand: Demand,
  costs: Costs,
  scaling: Scaling,
  needs: Requirements,
  optimism: keyof Interval = 'low',
): Sizing {
  const [atPeak, atNight] = [demand.peak, demand.night].map(
    (streams) => streams && sizeStreams(streams, demand, costs, scaling, needs, optimism),
  );
  return atNight !== undefined && capacityOf(atNight) > capacityOf(atPeak!) ? atNight : atPeak!;
}

const capacityOf = ({ machines, processesPerMachine }: Sizing): number => machines * processesPerMachine;

function sizeStreams(
  streams: readonly Stream[],
  demand: Demand,
  costs: Costs,
  scaling: Scaling,
  needs: Requirements,
  optimism: keyof Interval,
): Sizing {
  const { targetP99Us, headroom } = needs;
  const mostBusyShare = mostBusy(streams[0]!, costs, targetP99Us);
  // Where no rate holds the target, processes are planned for the work alone, and the answer says that it is not held.
  const allowed = (mostBusyShare || 1) * (1 - headroom);
  const most = Math.min(needs.coresPerMachine, scaling.mostProcesses);
  const layoutOf = (needed: number) => {
    for (let processes = 1; processes <= most; processes++)
      if (scaling.speedUp(processes)[optimism] >= needed)
        return { machines: 1, processesPerMachine: processes };
    return { machines: Math.ceil(needed / scaling.speedUp(most)[optimism]), processesPerMachine: most };
  };
  let needed = 1;
  for (;;) {
    const layout = layoutOf(needed);
    const speedUp = scaling.speedUp(layout.processesPerMachine);
    // Processes that share a machine take longer for the same.
    const stretch = layout.processesPerMachine / speedUp[optimism];
    const processes = layout.machines * layout.processesPerMachine;
    const loaded = loadOf(streams, costs, processes, stretch);
    const busyShare = loaded.reduce(
      (sum, { messagesPerS, costUs }) => sum + (messagesPerS * costUs) / 1e6,
      0,
    );
    const sizing = { ...layout, speedUp, busyShare, mostBusyShare, streams: loaded };
    const isCarried = busyShare <= allowed;
    if (!isCarried && processes < MOST_PROCESSES) {
      needed = Math.max(
        needed + 1,
        Math.ceil(1.02 * needed),
        Math.ceil((0.9 * needed * busyShare) / allowed),
      );
      continue;
    }
    const tail = busyShare < 1 ? simulateTail(costs, loaded, arrivalsAt(loaded, demand, processes)) : NEVER;
    const holdsTarget = isCarried && mostBusyShare > 0 && tail.p99Us <= targetP99Us;
    // More processes share the messages that come together; they do not shorten a single service that is too long.
    const canHelp =
      loaded[0]!.costUs < targetP99Us && processes < MOST_PROCESSES && demand.together > processes;
    if (holdsTarget || !canHelp) return { ...sizing, tail, holdsTarget };
    // Their tail is shared in proportion, so most of the way is one step.
    needed = Math.ceil(needed * Math.min(64, Math.max(1.2, (0.9 * tail.p99Us) / targetP99Us)));
  }
}

const NEVER: Tail = { p50Us: Number.POSITIVE_INFINITY, p99Us: Number.POSITIVE_INFINITY };

/** The streams of one of so many processes, with their costs. @param stretch factor of the costs */
export function loadOf(
  streams: readonly Stream[],
  costs: Costs,
  processes: number,
  stretch: number,
): ProcessStream[] {
  const each = streams.map((stream) => ({ ...stream, messagesPerS: stream.messagesPerS / processes }));
  const busy = each.reduce(
    (sum, { kind, pointsPerMessage, messagesPerS }) =>
      sum + (messagesPerS * costs.backlogUs(kind, pointsPerMessage) * stretch) / 1e6,
    0,
  );
  return each.map((stream) => ({
    ...stream,
    costUs: stretch * costs.atUs(stream.kind, stream.pointsPerMessage, busy),
  }));
}

export function arrivalsAt(streams: readonly Stream[], demand: Demand, processes: number): FleetArrivals {
  const together = Math.ceil(demand.together / processes);
  const perS = streams.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
  const togetherPerS = (1000 * together) / demand.togetherEveryMs;
  return { singlePerS: Math.max(0, perS - togetherPerS), together, everyUs: 1000 * demand.togetherEveryMs };
}

/** By simulation, and no more than the knee that was measured for a target that is not looser. */
function mostBusy(stream: Stream, costs: Costs, targetP99Us: number): number {
  const { kind, pointsPerMessage } = stream;
  const name = `${kind} ${pointsPerMessage} ${targetP99Us}`;
  const known = costs.mostBusy.get(name) ?? findMostBusy(stream, costs, targetP99Us);
  costs.mostBusy.set(name, known);
  return known;
}

function findMostBusy({ kind, pointsPerMessage }: Stream, costs: Costs, targetP99Us: number): number {
  const services = serviceTimes(costs, kind);
  const simulated = busyAtTarget(services.movedTo(costs.backlogUs(kind, pointsPerMessage)), targetP99Us);
  const { knee, backlogPerS } = costs.way(kind);
  const isUsable =
    costs.isQuietEnough &&
    knee !== null &&
    backlogPerS !== null &&
    knee.isConfirmed &&
    !knee.isGeneratorLimit &&
    knee.targetP99Us <= targetP99Us;
  return isUsable ? Math.min(simulated, knee.ratePerS / backlogPerS.median) : simulated;
}

/** The rate that one process carries at a p99, from cost under backlog and service times alone; held against fresh knees. */
export function predictKneePerS(costs: Costs, kind: Stream['kind'], targetP99Us: number): number {
  const services = serviceTimes(costs, kind);
  return (1e6 * busyAtTarget(services, targetP99Us)) / services.meanUs;
}
