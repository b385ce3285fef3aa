// How many processes a trace of arrivals needs: simulated with the measured service times, each message at the process of its connection.
import { uniformFrom } from '../generator/random.js';
import { percentilesOf, simulateSplit } from '../simulate/queue.js';
import { peakPerS, type Trace } from '../simulate/trace.js';
import type { Costs } from './cost.js';
import { type FleetProfile, kindOf, type Stream } from './fleet.js';
import { loadOf } from './sizing.js';
import { serviceTimes } from './tail.js';

const SEED = 1;
const MOST_PROCESSES = 1024;

export interface TraceTry {
  readonly processes: number;
  readonly busyShare: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

export interface TracePlan {
  readonly messages: number;
  readonly seconds: number;
  readonly peakPerS: number;
  readonly vehicles: number | null;
  readonly tries: readonly TraceTry[];
  /** The fewest that hold the target with the headroom; null where none of those tried does. */
  readonly processes: number | null;
}

export function planTrace(
  trace: Trace,
  profile: FleetProfile,
  costs: Costs,
  { targetP99Us, headroom }: { readonly targetP99Us: number; readonly headroom: number },
): TracePlan {
  const { arrivalsUs, vehicles, points } = trace;
  const messages = arrivalsUs.length;
  const seconds = arrivalsUs.at(-1)! / 1e6;
  const pointsPerMessage = points / messages;
  const kind = kindOf(profile, pointsPerMessage);
  const stream: Stream = { kind, pointsPerMessage, messagesPerS: messages / seconds };
  const tries: TraceTry[] = [];
  let found: number | null = null;
  for (
    let processes = 1;
    processes <= MOST_PROCESSES && found === null;
    processes = Math.ceil(1.25 * processes + 0.25)
  ) {
    const [loaded] = loadOf([stream], costs, processes, 1);
    const services = serviceTimes(costs, kind).movedTo(loaded!.costUs);
    const uniform = uniformFrom(SEED);
    const { latenciesUs, busyShare } = simulateSplit(
      arrivalsUs,
      processes,
      () => services.draw(uniform),
      uniform,
    );
    const [p50Us, p99Us, maxUs] = percentilesOf(latenciesUs, [50, 99, 100]) as [number, number, number];
    tries.push({ processes, busyShare, p50Us, p99Us, maxUs });
    if (p99Us <= targetP99Us && busyShare <= 1 - headroom) found = processes;
  }
  return { messages, seconds, peakPerS: peakPerS(trace), vehicles, tries, processes: found };
}
