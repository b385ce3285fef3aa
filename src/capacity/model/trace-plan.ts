// How many processes and machines a trace of arrivals needs: simulated with the measured service times, each message at
// the cost of its own number of points, and all messages of a vehicle at one process.
import type { Interval } from '../compare/bootstrap.js';
import type { Results } from '../measure/results.js';
import { percentilesOf } from '../simulate/queue.js';
import { peakPerS, type Trace } from '../simulate/trace.js';
import type { FleetProfile } from './fleet.js';
import type { Requirements } from './sizing.js';
import { type Edge, TraceRun } from './trace-run.js';

export const MOST_PROCESSES = 1024;
/** Largest number of processes that holds for which all smaller numbers are tried, too. */
const MOST_ONE_BY_ONE = 16;
/** More machines than this are no plan. */
const MOST_MACHINES = 100_000;

export interface TraceRequest extends Requirements {
  readonly profile: FleetProfile;
  /** Machines that may fail. */
  readonly survive: number;
  readonly memoryBytesPerMachine: number;
  /** Price of one core for one hour, in any currency; undefined: unknown. */
  readonly pricePerCoreHour: number | undefined;
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
  /** The fewest that hold the target with the headroom: one fewer does not. */
  readonly processes: number;
  /**
   * The same with costs and speed-ups at their better and at their worse quartile; null where no number tried holds it.
   */
  readonly processesRange: { readonly low: number; readonly high: number | null };
  /** With this number of processes, between costs at their lower and at their upper quartile. */
  readonly p50Us: Interval;
  readonly p99Us: Interval;
  readonly busyShare: Interval;
  /** That carry the trace. */
  readonly carrying: number;
  readonly processesPerMachine: number;
  /** With those that may fail. */
  readonly machines: number;
  /**
   * Memory of one machine, connections included where the trace has vehicles; null where memory was not measured. More
   * than a machine has where no number of machines has enough for a process.
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
    ...{ request, messages: trace.arrivalsUs.length, points, seconds },
    ...{ peakPerS: peakPerS(trace), vehicles: trace.vehicles },
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
              run.mostOfMachine,
              { points, seconds, vehicles: trace.vehicles },
              request,
              results,
            ),
          },
  };
}

const atLeast = (least: number, value: number | null): number | null =>
  value === null ? null : Math.max(least, value);

/** The same, asked once for each number. */
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
    if (holding === MOST_PROCESSES) return null;
    [failing, holding] = [holding, Math.min(MOST_PROCESSES, 2 * holding)];
  }
  if (holding <= MOST_ONE_BY_ONE) {
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
  const around = (at: 0 | 1 | 2): Interval => {
    const values = all.map((each) => each[at]);
    return { low: Math.min(...values), high: Math.max(...values) };
  };
  return { p50Us: around(0), p99Us: around(1), busyShare: around(2) };
}

/** As few as have cores for the processes, and memory where any number has. */
function machinesFor(
  processes: number,
  mostOfMachine: number,
  { points, seconds, vehicles }: Pick<TracePlan, 'points' | 'seconds' | 'vehicles'>,
  request: TraceRequest,
  { memory }: Results,
) {
  const { survive, coresPerMachine, memoryBytesPerMachine: mostBytes, pricePerCoreHour } = request;
  const perProcess = memory === null ? 0 : Math.max(memory.idleBytes, memory.peakBytes);
  const ofConnections = Math.max(0, memory?.perConnectionBytes ?? 0) * (vehicles ?? 0);
  const processesOn = (machines: number): number => Math.ceil(processes / machines);
  const bytesOn = (machines: number): number => processesOn(machines) * perProcess + ofConnections / machines;
  const byCores = Math.ceil(processes / mostOfMachine);
  let carrying = byCores;
  while (bytesOn(carrying) > mostBytes && carrying < MOST_MACHINES) carrying++;
  if (bytesOn(carrying) > mostBytes) carrying = byCores;
  const machines = carrying + survive;
  return {
    ...{ carrying, processesPerMachine: processesOn(carrying), machines },
    memoryBytesPerMachine: memory === null ? null : bytesOn(carrying),
    pricePerBillionPoints:
      pricePerCoreHour === undefined
        ? null
        : (pricePerCoreHour * machines * coresPerMachine * 1e9 * seconds) / (3600 * points),
  };
}
