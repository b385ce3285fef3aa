// How many processes and machines a trace of arrivals needs: simulated with the measured service times, each message at
// the cost of its own number of points, and all messages of a vehicle at one process.

import type { WayKind } from '../generator/job.js';
import { uniformFrom } from '../generator/loops.js';
import type { Results } from '../measure/results.js';
import { Costs } from './cost.js';
import { type FleetProfile, kindOf } from './fleet.js';
import { type Interval, type Scaling, scalingOf, spread } from './scaling.js';
import { processBytesOf, type Requirements } from './sizing.js';
import {
  percentilesOf,
  type ServiceTimes,
  type Simulated,
  serviceTimes,
  shareAtMost,
  simulateTurns,
} from './tail.js';
import { peakPerS, type Trace } from './trace.js';

// A trace served by a number of processes: routes, the cost of each message, and the simulation.
/** Costs at the lower quartile with the better end of the speed-ups, at the median, at the upper quartile. */
type Edge = 'low' | 'median' | 'high';

const SERVICE_SEED = 1;
/**
 * Seeds of the routes: with few vehicles it matters which processes the kernel gives them to. One seed suffices where
 * each message may go to any process.
 */
const ROUTE_SEEDS = [2, 3, 4];

interface TraceSimulated extends Simulated {
  readonly holdsTarget: boolean;
}

interface Priced {
  readonly costs: readonly Costs[];
  /** Service time of each message under backlog. */
  readonly backlogUs: Float64Array;
  /** Factor by which the turn of each message is longer. */
  readonly larger: Float64Array;
}

class TraceRun {
  readonly #kinds: readonly WayKind[];
  /** Index in #kinds of each message. */
  readonly #kindAt: Uint8Array;
  readonly #scaling: Scaling;
  /** Most processes of one machine: one for each core, and no more than were measured or a law supports. */
  readonly maxOfMachine: number;
  readonly #priced = new Map<Edge, Priced>();
  readonly #services: readonly ServiceTimes[];
  /**
   * Service time of each message, as measured: the same draw for every number of processes, so that nothing else
   * differs between them.
   */
  readonly #serviceUs: Float64Array;
  /** Time of an exchange beyond its CPU time, by kind. */
  readonly #beyondCpuUs: readonly number[];

  /** @throws Error where the results have no figures of a kind of message */
  constructor(
    private readonly trace: Trace,
    private readonly needs: TraceRequest,
    private readonly results: Results,
  ) {
    const kinds = new Set<WayKind>();
    for (const points of new Set(trace.points)) kinds.add(kindOf(needs.profile, points));
    this.#kinds = [...kinds];
    this.#kindAt = Uint8Array.from(trace.points, (points) =>
      this.#kinds.indexOf(kindOf(needs.profile, points)),
    );
    this.#scaling = scalingOf(results.speedUps, needs.assumeLinear);
    this.maxOfMachine = Math.min(needs.coresPerMachine, this.#scaling.mostProcesses);
    const measured = new Costs(results);
    this.#services = this.#kinds.map((kind) => serviceTimes(measured, kind));
    this.#beyondCpuUs = this.#kinds.map((kind) => measured.beyondCpuUs(kind));
    const uniform = uniformFrom(SERVICE_SEED);
    this.#serviceUs = new Float64Array(trace.points.length);
    for (let message = 0; message < trace.points.length; message++)
      this.#serviceUs[message] = this.#services[this.#kindAt[message]!]!.draw(uniform);
  }

  /** The first draw of routes that does not hold; where all hold, the worst. */
  at(processes: number, edge: Edge): TraceSimulated {
    const { targetP99Us, headroom } = this.needs;
    const isDrawn = this.trace.vehicleOf !== null && processes > 1;
    let worst: TraceSimulated | undefined;
    let least = 1;
    for (const seed of isDrawn ? ROUTE_SEEDS : ROUTE_SEEDS.slice(0, 1)) {
      const simulated = this.#simulate(processes, edge, seed);
      const held = shareAtMost(simulated.latenciesUs, targetP99Us);
      if (held < 0.99 || simulated.busiestShare > 1 - headroom) return { ...simulated, holdsTarget: false };
      const isWorse = held < least || (held === least && simulated.busiestShare > (worst?.busiestShare ?? 0));
      if (worst === undefined || isWorse) [worst, least] = [{ ...simulated, holdsTarget: true }, held];
    }
    return worst!;
  }

  #simulate(processes: number, edge: Edge, seed: number): Simulated {
    const { arrivalsUs } = this.trace;
    const { backlogUs, larger } = this.#pricedAt(edge);
    const stretch = this.#stretch(processes, edge);
    const processOf = this.#routes(processes, seed);
    const [services, serviceUs, kindAt] = [this.#services, this.#serviceUs, this.#kindAt];
    const workUs = new Float64Array(processes);
    const counts = this.#kinds.map(() => new Float64Array(processes));
    for (let message = 0; message < processOf.length; message++) {
      const process = processOf[message]!;
      workUs[process]! += stretch * backlogUs[message]!;
      counts[kindAt[message]!]![process]!++;
    }
    const turnsUs = this.#turnsUs(edge, workUs, counts, stretch);
    const simulated = simulateTurns({
      arrivalsUs,
      processOf,
      processes,
      turnUs: (message) => larger[message]! * turnsUs[kindAt[message]!]![processOf[message]!]!,
      serviceUs: (message) =>
        services[kindAt[message]!]!.moved(serviceUs[message]!, stretch * backlogUs[message]!),
    });
    const { latenciesUs } = simulated;
    for (let message = 0; message < latenciesUs.length; message++)
      latenciesUs[message]! += this.#beyondCpuUs[kindAt[message]!]!;
    return { latenciesUs, busiestShare: simulated.busiestShare + (this.results.idleCoreShare ?? 0) };
  }

  /** Connections stay with the process that the kernel draws for them; without vehicles each message is drawn. */
  #routes(processes: number, seed: number): Uint16Array {
    const { vehicleOf, vehicles, arrivalsUs } = this.trace;
    const uniform = uniformFrom(seed);
    const drawn = new Uint16Array(vehicles ?? arrivalsUs.length);
    for (let at = 0; at < drawn.length; at++) drawn[at] = Math.floor(uniform() * processes);
    if (vehicleOf === null) return drawn;
    const routes = new Uint16Array(vehicleOf.length);
    for (let message = 0; message < routes.length; message++) routes[message] = drawn[vehicleOf[message]!]!;
    return routes;
  }

  /** Overhead of a turn beyond a message of the measured size, by kind and process. @param counts of messages */
  #turnsUs(
    edge: Edge,
    workUs: Float64Array,
    counts: readonly Float64Array[],
    stretch: number,
  ): Float64Array[] {
    const durationUs = this.trace.arrivalsUs.at(-1)!;
    const { costs } = this.#pricedAt(edge);
    const perS = (count: number): number => (stretch * 1e6 * count) / durationUs;
    return this.#kinds.map((kind, at) =>
      workUs.map(
        (us, process) =>
          stretch *
          costs[at]!.wakeUpUs(kind, costs[at]!.way(kind).pointsPerUnit, {
            kindPerS: perS(counts[at]![process]!),
            allPerS: perS(counts.reduce((sum, each) => sum + each[process]!, 0)),
            busyAtBacklogCost: us / durationUs,
          }),
      ),
    );
  }

  /** Processes that share a machine take longer for the same work. */
  #stretch(processes: number, edge: Edge): number {
    const machines = Math.ceil(processes / this.maxOfMachine);
    const together = Math.ceil(processes / machines);
    return together / this.#scaling.speedUp(together)[edge === 'low' ? 'high' : 'low'];
  }

  #pricedAt(edge: Edge): Priced {
    const known = this.#priced.get(edge);
    if (known !== undefined) return known;
    const measured = new Costs(this.results);
    const costs = this.#kinds.map((kind) => {
      const cost = measured.way(kind).costBacklogUs!;
      return measured.scaled(cost[edge] / cost.median);
    });
    const sizes = new Map<number, readonly [backlogUs: number, larger: number]>();
    const [backlogUs, larger] = [0, 1].map(() => new Float64Array(this.trace.points.length)) as [
      Float64Array,
      Float64Array,
    ];
    // A size has one kind only.
    for (const [message, points] of this.trace.points.entries()) {
      const at = this.#kindAt[message]!;
      const kind = this.#kinds[at]!;
      const size = sizes.get(points) ?? [
        costs[at]!.backlogUs(kind, points),
        costs[at]!.largerWakeUp(kind, points),
      ];
      sizes.set(points, size);
      [backlogUs[message], larger[message]] = size;
    }
    const made = { costs, backlogUs, larger };
    this.#priced.set(edge, made);
    return made;
  }
}

export const MAX_PROCESSES = 1024;
/** Up to this number of processes, all smaller numbers are tried, too. */
const MAX_ONE_BY_ONE = 16;
/** Plans of more machines are not searched. */
const MAX_MACHINES = 100_000;

export interface TraceRequest extends Requirements {
  readonly profile: FleetProfile;
}

/** A number of processes, with the costs in the middle of what was measured. */
export interface TraceTry {
  readonly processes: number;
  /** Busy share of the busiest process, over the whole trace. */
  readonly busyShare: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

export interface TraceAnswer {
  /** The smallest number that holds the target with the headroom: one fewer does not. */
  readonly processes: number;
  /**
   * Processes with costs and speed-ups at their better and worse quartile; null where no number tried suffices.
   */
  readonly processesRange: { readonly low: number; readonly high: number | null };
  /** With this number of processes, between costs at their lower and at their upper quartile. */
  readonly p50Us: Interval;
  readonly p99Us: Interval;
  readonly busyShare: Interval;
  /** Machines that carry the trace. */
  readonly carrying: number;
  readonly processesPerMachine: number;
  /** Machines, including spares for those that may fail. */
  readonly machines: number;
  /**
   * Memory of one machine, connections included where the trace has vehicles; null where memory was not measured. If no
   * number of machines has enough for a process, it exceeds the memory of a machine.
   */
  readonly memoryBytesPerMachine: number | null;
  readonly pricePerBillionPoints: number | null;
}

export interface TracePlan {
  readonly request: TraceRequest;
  readonly messages: number;
  readonly points: number;
  readonly seconds: number;
  readonly peakPerS: number;
  readonly vehicles: number | null;
  /** Results by number of processes. */
  readonly tries: readonly TraceTry[];
  /** Null where no number up to 1,024 holds the target. */
  readonly answer: TraceAnswer | null;
}

/** @throws Error where the results lack what the trace needs */
export function planTrace(trace: Trace, request: TraceRequest, results: Results): TracePlan {
  const run = new TraceRun(trace, request, results);
  const tries: TraceTry[] = [];
  const holdsAt = (edge: Edge) => (processes: number) => {
    const simulated = run.at(processes, edge);
    if (edge === 'median') {
      const [p50Us, p99Us, maxUs] = percentilesOf(simulated.latenciesUs, [50, 99, 100]) as [
        number,
        number,
        number,
      ];
      tries.push({ processes, busyShare: simulated.busiestShare, p50Us, p99Us, maxUs });
    }
    return simulated.holdsTarget;
  };
  const holds = (edge: Edge) => onceEach(holdsAt(edge));
  const processes = fewest(1, holds('median'));
  const points = trace.points.reduce((sum, count) => sum + count, 0);
  const seconds = trace.arrivalsUs.at(-1)! / 1e6;
  return {
    request,
    messages: trace.arrivalsUs.length,
    points,
    seconds,
    peakPerS: peakPerS(trace),
    vehicles: trace.vehicles,
    tries: tries.sort((a, b) => a.processes - b.processes),
    answer:
      processes === null
        ? null
        : {
            processes,
            processesRange: {
              low: Math.min(processes, fewest(processes, holds('low')) ?? processes),
              high: atLeast(processes, fewest(processes, holds('high'))),
            },
            ...rangesAt(run, processes),
            ...machinesFor(
              processes,
              run.maxOfMachine,
              { points, seconds, vehicles: trace.vehicles },
              request,
              results,
            ),
          },
  };
}

const atLeast = (least: number, value: number | null): number | null =>
  value === null ? null : Math.max(least, value);

/** Caches the answers of `holds`, which is called once for each number. */
function onceEach(holds: (processes: number) => boolean): (processes: number) => boolean {
  const known = new Map<number, boolean>();
  return (processes) => {
    const answer = known.get(processes) ?? holds(processes);
    known.set(processes, answer);
    return answer;
  };
}

/**
 * The fewest that hold; beyond 16 searched by doubling and halving, as more processes nearly always hold where fewer do
 * (routes are drawn at random).
 * @param from where the search begins
 * @returns a number of which one fewer does not hold; null where none does
 */
function fewest(from: number, holds: (processes: number) => boolean): number | null {
  let [failing, holding] = [0, from];
  while (!holds(holding)) {
    if (holding === MAX_PROCESSES) return null;
    [failing, holding] = [holding, Math.min(MAX_PROCESSES, 2 * holding)];
  }
  if (holding <= MAX_ONE_BY_ONE) {
    let processes = 1;
    while (processes < holding && !holds(processes)) processes++;
    return processes;
  }
  while (holding - failing > 1) {
    const middle = (failing + holding) >> 1;
    if (holds(middle)) holding = middle;
    else failing = middle;
  }
  return holding;
}

function rangesAt(run: TraceRun, processes: number): Pick<TraceAnswer, 'p50Us' | 'p99Us' | 'busyShare'> {
  const all = (['low', 'median', 'high'] as const).map((edge) => {
    const { latenciesUs, busiestShare } = run.at(processes, edge);
    return [...percentilesOf(latenciesUs, [50, 99]), busiestShare] as [number, number, number];
  });
  const around = (at: 0 | 1 | 2): Interval => spread(all.map((each) => each[at]));
  return { p50Us: around(0), p99Us: around(1), busyShare: around(2) };
}

/** The fewest machines that have cores for the processes and, if any number has, the memory. */
function machinesFor(
  processes: number,
  maxOfMachine: number,
  { points, seconds, vehicles }: Pick<TracePlan, 'points' | 'seconds' | 'vehicles'>,
  request: TraceRequest,
  results: Results,
) {
  const { memory } = results;
  const { survive, coresPerMachine, memoryBytesPerMachine: maxBytes, pricePerCoreHour } = request;
  const perProcess = processBytesOf(results, coresPerMachine);
  const ofConnections = Math.max(0, memory?.perConnectionBytes ?? 0) * (vehicles ?? 0);
  const processesOn = (machines: number): number => Math.ceil(processes / machines);
  const bytesOn = (machines: number): number => processesOn(machines) * perProcess + ofConnections / machines;
  const byCores = Math.ceil(processes / maxOfMachine);
  let carrying = byCores;
  while (bytesOn(carrying) > maxBytes && carrying < MAX_MACHINES) carrying++;
  if (bytesOn(carrying) > maxBytes) carrying = byCores;
  const machines = carrying + survive;
  return {
    carrying,
    processesPerMachine: processesOn(carrying),
    machines,
    memoryBytesPerMachine: memory === null ? null : bytesOn(carrying),
    pricePerBillionPoints:
      pricePerCoreHour === undefined
        ? null
        : (pricePerCoreHour * machines * coresPerMachine * 1e9 * seconds) / (3600 * points),
  };
}
