// Latencies of a plan, by simulating one of its processes: measured service times moved to the planned cost, turns of
// the event loop, Poisson arrivals, and the messages that come together.

import { Latencies } from '../generator/latencies.js';
import { exponential, uniformFrom } from '../generator/loops.js';
import type { Costs } from './cost.js';
import type { Stream } from './fleet.js';

// A discrete-event simulation of processes that each work in turns of their event loop, with connections that stay with
// one process: a turn takes a time of its own, and then answers all that has arrived by its beginning, one after the
// other. A message alone pays for its turn alone; those of a burst share one.
interface Load {
  /** Ascending. */
  readonly arrivalsUs: Float64Array;
  /** Process of each message, from 0. */
  readonly processOf: Uint16Array;
  readonly processes: number;
  /** Cost of the turn that a message begins, besides its messages. */
  turnUs(message: number): number;
  /** Called once for each message, in the order of arrival. */
  serviceUs(message: number): number;
}

export interface Simulated {
  /** From arrival to the end of the service, in the order of arrival. */
  readonly latenciesUs: Float64Array;
  /** Share of time in which the busiest process worked, until the last answer of all. */
  readonly busiestShare: number;
}

export function simulateTurns({ arrivalsUs, processOf, processes, turnUs, serviceUs }: Load): Simulated {
  const latenciesUs = new Float64Array(arrivalsUs.length);
  // State of each process: when its turn began, when the work of the turn ends, and all its work.
  const startUs = new Float64Array(processes).fill(-1);
  const doneUs = new Float64Array(processes);
  const busyUs = new Float64Array(processes);
  for (let message = 0; message < arrivalsUs.length; message++) {
    const arrivalUs = arrivalsUs[message]!;
    const process = processOf[message]!;
    let workUs = serviceUs(message);
    // A turn has the messages that arrived by its beginning; the next message begins another.
    if (arrivalUs > startUs[process]!) {
      startUs[process] = doneUs[process] = Math.max(doneUs[process]!, arrivalUs);
      workUs += turnUs(message);
    }
    doneUs[process]! += workUs;
    busyUs[process]! += workUs;
    latenciesUs[message] = doneUs[process]! - arrivalUs;
  }
  const openUs = Math.max(...doneUs) - (arrivalsUs[0] ?? 0);
  return { latenciesUs, busiestShare: openUs > 0 ? Math.max(...busyUs) / openUs : 0 };
}

/** The latencies of one process. @param turnUs of each turn, besides its messages */
export function latenciesOfOne(
  arrivalsUs: Float64Array,
  turnUs: number,
  serviceUs: (message: number) => number,
): Float64Array {
  const processOf = new Uint16Array(arrivalsUs.length);
  return simulateTurns({ arrivalsUs, processOf, processes: 1, turnUs: () => turnUs, serviceUs }).latenciesUs;
}

// Service times to draw from: those measured under backlog, scaled to the cost in a plan.

const QUANTILES = 10_000;
/** A service time above this multiple of the usual one includes a pause: the collector, the system, another process. */
const PAUSE_FROM = 3;

export class ServiceTimes {
  readonly #limitUs: number;
  readonly #usualMeanUs: number;

  private constructor(
    /** Ascending; each stands for an equal share. */
    private readonly quantilesUs: Float64Array,
    readonly usualUs: number,
  ) {
    this.#limitUs = PAUSE_FROM * usualUs;
    const usual = quantilesUs.filter((us) => us <= this.#limitUs);
    this.#usualMeanUs = usual.reduce((sum, us) => sum + us, 0) / usual.length;
  }

  static measured(services: Latencies): ServiceTimes {
    const quantiles = new Float64Array(QUANTILES);
    const at = (n: number): number => services.atUs((100 * (n + 0.5)) / QUANTILES);
    // A histogram has few different values, and finding one takes long: ranges between equal ends are filled.
    const fill = (first: number, last: number, firstUs: number, lastUs: number): void => {
      quantiles[first] = firstUs;
      quantiles[last] = lastUs;
      if (last - first < 2) return;
      if (firstUs === lastUs) {
        quantiles.fill(firstUs, first, last);
        return;
      }
      const middle = (first + last) >> 1;
      const middleUs = at(middle);
      fill(first, middle, firstUs, middleUs);
      fill(middle, last, middleUs, lastUs);
    };
    fill(0, QUANTILES - 1, at(0), at(QUANTILES - 1));
    return new ServiceTimes(quantiles, services.atUs(50));
  }

  get meanUs(): number {
    return this.quantilesUs.reduce((sum, value) => sum + value, 0) / QUANTILES;
  }

  /**
   * The service times with another mean of the usual services; pauses keep their length and frequency.
   * @param costUs of a service that meets no pause
   */
  movedTo(costUs: number): ServiceTimes {
    return new ServiceTimes(this.quantilesUs.map((us) => this.moved(us, costUs)).sort(), costUs);
  }

  /** One service time, as `movedTo(costUs)` moves it: for messages that each have a cost of their own. */
  moved(us: number, costUs: number): number {
    return us <= this.#limitUs ? (us * costUs) / this.#usualMeanUs : costUs + us - this.usualUs;
  }

  draw(uniform: () => number): number {
    return this.quantilesUs[Math.floor(uniform() * QUANTILES)]!;
  }
}

/** Percentiles (0 to 100) of the values, by the nearest rank. */
export function percentilesOf(values: Float64Array, percentiles: readonly number[]): number[] {
  const sorted = values.slice().sort();
  return percentiles.map(
    (percentile) => sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)] ?? 0,
  );
}

/** The share of all values that are not above a limit, 0 to 1. */
export function shareAtMost(values: Float64Array, limit: number): number {
  let count = 0;
  for (const value of values) if (value <= limit) count++;
  return values.length === 0 ? 0 : count / values.length;
}

// Arrivals of a fleet at one process: some vehicles report at the same moment of every interval, the others at any
// time.
export interface FleetArrivals {
  /** Messages a second that come one by one, as a Poisson process. */
  readonly singlePerS: number;
  /** Messages of one burst, every `everyUs`. */
  readonly together: number;
  readonly everyUs: number;
}

/** @returns microseconds, ascending. @param count least number of instants, where there are any */
function arrivalsOf(fleet: FleetArrivals, count: number, uniform: () => number): Float64Array {
  const { singlePerS, together, everyUs } = fleet;
  const perUs = singlePerS / 1e6 + together / everyUs;
  if (perUs === 0) return new Float64Array(0);
  // Whole intervals, so that bursts have their share.
  const untilUs = together > 0 ? everyUs * Math.ceil(count / perUs / everyUs) : count / perUs;
  const bursts = together > 0 ? Math.round(untilUs / everyUs) : 0;
  const all: number[] = [];
  const meanUs = 1e6 / singlePerS;
  let singleUs = singlePerS > 0 ? exponential(uniform, meanUs) : Number.POSITIVE_INFINITY;
  const addSinglesUntil = (endUs: number): void => {
    for (; singleUs < endUs; singleUs += exponential(uniform, meanUs)) all.push(singleUs);
  };
  for (let burst = 0; burst < bursts; burst++) {
    addSinglesUntil(burst * everyUs);
    for (let one = 0; one < together; one++) all.push(burst * everyUs);
  }
  addSinglesUntil(untilUs);
  return Float64Array.from(all);
}

const SEED = 1;
/** Enough for a 99th percentile that the seed moves by a few per cent. */
const MESSAGES = 20_000;
/** Number of simulated bursts, by their size: the tail must not depend on the pauses of one burst. */
const BURST_MESSAGES = 20_000;
const MIN_BURSTS = 2;
const MAX_BURSTS = 64;
const MAX_BURST_MESSAGES = 10_000;
/** A burst counts as answered after this multiple of its work. */
const DRAINED = 2;
const MIN_FREE = 0.02;
/** Safety factor: the simulation is skipped only if the mean work exceeds the deadline by 20 %. */
const SURELY = 1.2;
/** Load above which a queue never settles within a simulation. */
export const MAX_BUSY = 0.995;

export interface Tail {
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
}

/** A stream at one process. */
export interface ProcessStream extends Stream {
  /** CPU time of a message on average. */
  readonly costUs: number;
  /** Service time of a message that shares its turn of the event loop with many. */
  readonly backlogUs: number;
  /** Cost of a turn, besides its messages. */
  readonly wakeUpUs: number;
}

/** @param fleet arrivals at this process; its rates are those of the streams together */
export function simulateTail(costs: Costs, streams: readonly ProcessStream[], fleet: FleetArrivals): Tail {
  const parts = latenciesOf(costs, streams, fleet);
  const beyondUs = mean(streams, ({ kind }) => costs.beyondCpuUs(kind));
  const [p50Us, p90Us, p99Us] = weightedPercentiles(parts, [50, 90, 99]).map((us) => us + beyondUs);
  return { p50Us: p50Us!, p90Us: p90Us!, p99Us: p99Us! };
}

/** Whether 99 of 100 messages are answered in time. */
export function holdsTail(
  costs: Costs,
  streams: readonly ProcessStream[],
  fleet: FleetArrivals,
  targetP99Us: number,
): boolean {
  const beyondUs = mean(streams, ({ kind }) => costs.beyondCpuUs(kind));
  const limitUs = targetP99Us - beyondUs;
  const { together, singlePerS, everyUs } = fleet;
  // A burst whose work alone takes longer needs no simulation.
  const inTime = (SURELY * limitUs) / mean(streams, ({ backlogUs }) => backlogUs);
  if (together - inTime > 0.01 * (together + (singlePerS * everyUs) / 1e6)) return false;
  const parts = latenciesOf(costs, streams, fleet);
  return parts.reduce((sum, { us, share }) => sum + share * shareAtMost(us, limitUs), 0) >= 0.99;
}

/** Over the messages of all streams. */
function mean(streams: readonly ProcessStream[], of: (stream: ProcessStream) => number): number {
  const perS = streams.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
  return streams.reduce((sum, stream) => sum + (stream.messagesPerS / perS) * of(stream), 0);
}

/**
 * Latencies without the time that an exchange takes besides its CPU time. A burst includes the messages that arrive
 * while it is answered; the time between bursts is simulated once, however long it is.
 */
function latenciesOf(costs: Costs, streams: readonly ProcessStream[], fleet: FleetArrivals): Weighted[] {
  const uniform = uniformFrom(SEED);
  const turnUs = mean(streams, ({ wakeUpUs }) => wakeUpUs);
  const alone = (): Float64Array =>
    latenciesOfOne(poissonArrivals(fleet.singlePerS), turnUs, servicesOf(costs, streams, uniform));
  const { together, singlePerS, everyUs } = fleet;
  if (together === 0) return [{ us: alone(), share: 1 }];
  const backlogUs = mean(streams, (stream) => stream.backlogUs);
  const free = Math.max(MIN_FREE, 1 - (singlePerS * backlogUs) / 1e6);
  const windowUs = Math.min(everyUs, (DRAINED * (together * backlogUs + turnUs)) / free + 10 * turnUs);
  // Neighbours in the largest bursts count as one message, which takes as long as they do on average.
  const group = Math.ceil(together / MAX_BURST_MESSAGES);
  const crowds = { singlePerS: singlePerS / group, together: Math.ceil(together / group), everyUs: windowUs };
  const perBurst = crowds.together + (crowds.singlePerS * windowUs) / 1e6;
  const count = Math.min(MAX_BURSTS, Math.max(MIN_BURSTS, Math.round(BURST_MESSAGES / perBurst)));
  const groupUs = group * mean(streams, ({ kind, backlogUs: us }) => servicesAt(costs, kind, us).meanUs);
  const draw = group === 1 ? servicesOf(costs, streams, uniform) : () => groupUs;
  const inBursts = latenciesOfOne(arrivalsOf(crowds, count * perBurst - 1, uniform), turnUs, draw);
  const [crowded, between] = [
    together + (singlePerS * windowUs) / 1e6,
    (singlePerS * (everyUs - windowUs)) / 1e6,
  ];
  const share = crowded / (crowded + between);
  if (between < 1) return [{ us: inBursts, share: 1 }];
  return [
    { us: inBursts, share },
    { us: alone(), share: 1 - share },
  ];
}

/** Latencies that stand for a share of all messages. */
interface Weighted {
  readonly us: Float64Array;
  readonly share: number;
}

/** @param percentiles ascending */
function weightedPercentiles(parts: readonly Weighted[], percentiles: readonly number[]): number[] {
  if (parts.length === 1) return percentilesOf(parts[0]!.us, percentiles);
  const sorted = parts.map(({ us, share }) => ({ us: us.slice().sort(), each: share / us.length, at: 0 }));
  const nextOf = ({ us, at }: (typeof sorted)[number]): number => us[at] ?? Number.POSITIVE_INFINITY;
  let [share, reachedUs] = [0, 0];
  return percentiles.map((percentile) => {
    while (share < percentile / 100) {
      const next = sorted.reduce((a, b) => (nextOf(b) < nextOf(a) ? b : a));
      reachedUs = nextOf(next);
      share += next.each;
      next.at++;
    }
    return reachedUs;
  });
}

/**
 * Arrivals at one per microsecond, scaled to each rate: a plan simulates hundreds of rates, and drawing the arrivals is
 * the largest part of the work.
 */
let unitArrivals: Float64Array | undefined;

function poissonArrivals(perS: number): Float64Array {
  unitArrivals ??= arrivalsOf({ singlePerS: 1e6, together: 0, everyUs: 1 }, MESSAGES, uniformFrom(SEED + 1));
  const meanUs = 1e6 / perS;
  const arrivals = new Float64Array(unitArrivals.length);
  for (let at = 0; at < arrivals.length; at++) arrivals[at] = meanUs * unitArrivals[at]!;
  return arrivals;
}

/** A service time for each message, whose stream is drawn in proportion. */
function servicesOf(costs: Costs, streams: readonly ProcessStream[], uniform: () => number): () => number {
  const all = streams.map(({ kind, backlogUs }) => servicesAt(costs, kind, backlogUs));
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

/** Service times moved to a cost: a plan asks for few costs, many times. */
const moved = new WeakMap<ServiceTimes, Map<number, ServiceTimes>>();

function servicesAt(costs: Costs, kind: Stream['kind'], costUs: number): ServiceTimes {
  const services = serviceTimes(costs, kind);
  const byCost = moved.get(services) ?? new Map<number, ServiceTimes>();
  moved.set(services, byCost);
  const found = byCost.get(costUs) ?? services.movedTo(costUs);
  byCost.set(costUs, found);
  return found;
}

/** Service-time samplers by kind of request; building one costs more than a simulation. */
const read = new WeakMap<object, ServiceTimes>();

export function serviceTimes(costs: Costs, kind: Stream['kind']): ServiceTimes {
  const way = costs.way(kind);
  const times = read.get(way) ?? ServiceTimes.measured(Latencies.decode(way.services));
  read.set(way, times);
  return times;
}
