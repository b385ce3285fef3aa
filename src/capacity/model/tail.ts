// Latencies of a plan, by simulating one of its processes: measured service times moved to the planned cost, Poisson arrivals, and the
// messages that come together.
import { Latencies } from '../generator/latencies.js';
import { uniformFrom } from '../generator/random.js';
import { arrivalsOf, type FleetArrivals } from '../simulate/fleet-arrivals.js';
import { percentilesOf, shareAtMost, simulateShared } from '../simulate/queue.js';
import { ServiceTimes } from '../simulate/service-times.js';
import type { Costs } from './cost.js';
import type { Stream } from './fleet.js';

const SEED = 1;
/** Enough for a 99th percentile that the seed moves by a few per cent. */
const MESSAGES = 20_000;
const BISECTIONS = 8;
/** Above it a queue never settles within a simulation. */
const MOST_BUSY = 0.995;

export interface Tail {
  readonly p50Us: number;
  readonly p99Us: number;
}

/** A stream at one process. */
export interface ProcessStream extends Stream {
  readonly costUs: number;
}

/** @param fleet arrivals at this process; its rates are those of the streams together */
export function simulateTail(costs: Costs, streams: readonly ProcessStream[], fleet: FleetArrivals): Tail {
  const uniform = uniformFrom(SEED);
  const arrivals = arrivalsOf(fleet, MESSAGES, uniform);
  const draw = servicesOf(costs, streams, uniform);
  const { latenciesUs } = simulateShared(arrivals, 1, draw);
  const [p50Us, p99Us] = percentilesOf(latenciesUs, [50, 99]) as [number, number];
  return { p50Us, p99Us };
}

/** A service time for each message, whose stream is drawn in proportion. */
function servicesOf(costs: Costs, streams: readonly ProcessStream[], uniform: () => number): () => number {
  const all = streams.map(({ kind, costUs }) => serviceTimes(costs, kind).movedTo(costUs));
  const total = streams.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
  if (all.length === 1) return () => all[0]!.draw(uniform);
  return () => {
    let at = uniform() * total;
    for (const [index, { messagesPerS }] of streams.entries()) {
      at -= messagesPerS;
      if (at < 0) return all[index]!.draw(uniform);
    }
    return all[0]!.draw(uniform);
  };
}

/** Of each way, as reading a histogram takes longer than a simulation. */
const read = new WeakMap<object, ServiceTimes>();

export function serviceTimes(costs: Costs, kind: Stream['kind']): ServiceTimes {
  const way = costs.way(kind);
  const times = read.get(way) ?? ServiceTimes.measured(Latencies.decode(way.services));
  read.set(way, times);
  return times;
}

/**
 * The highest share of its time that one process may be busy with messages of one kind for its p99 to hold, by simulation.
 * @returns 0 where no rate holds it
 */
export function busyAtTarget(services: ServiceTimes, targetP99Us: number): number {
  const meanUs = services.meanUs;
  const holds = (busy: number): boolean => {
    const uniform = uniformFrom(SEED);
    const fleet = { singlePerS: (1e6 * busy) / meanUs, together: 0, everyUs: 1e6 };
    const { latenciesUs } = simulateShared(arrivalsOf(fleet, MESSAGES, uniform), 1, () =>
      services.draw(uniform),
    );
    return shareAtMost(latenciesUs, targetP99Us) >= 0.99;
  };
  let [low, high] = [0, MOST_BUSY];
  if (holds(high)) return high;
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
