import type { Latencies } from '../generator/latencies.js';

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
  /** Share of its time in which the process worked that worked most, until the last answer of all. */
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

// Service times to draw from: those measured under backlog, moved to the cost that a plan reckons with.

const QUANTILES = 10_000;
/** Multiple of the usual service time beyond which it has met a pause: the collector, the system, another process. */
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
  const scratch = values.slice();
  return percentiles.map(
    (percentile) => nthOf(scratch, Math.max(0, Math.ceil((percentile / 100) * scratch.length) - 1)) ?? 0,
  );
}

/** More rounds than chance asks for: the order of the values defeats the pivots. */
const MAX_ROUNDS = 64;

/**
 * The n-th smallest from 0, by Hoare's selection, which moves values: of a million it takes a quarter of the time of a
 * sort.
 */
function nthOf(values: Float64Array, n: number): number | undefined {
  let [low, high] = [0, values.length - 1];
  for (let round = 0; low < high; round++) {
    if (round === MAX_ROUNDS) {
      values.subarray(low, high + 1).sort();
      break;
    }
    const [a, b, c] = [values[low]!, values[(low + high) >> 1]!, values[high]!];
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    let [left, right] = [low, high];
    while (left <= right) {
      while (values[left]! < pivot) left++;
      while (values[right]! > pivot) right--;
      if (left > right) break;
      const held = values[left]!;
      values[left++] = values[right]!;
      values[right--] = held;
    }
    if (n <= right) high = right;
    else if (n >= left) low = left;
    else break;
  }
  return values[n];
}

/** The share of all values that are not above a limit, 0 to 1. */
export function shareAtMost(values: Float64Array, limit: number): number {
  let count = 0;
  for (const value of values) if (value <= limit) count++;
  return values.length === 0 ? 0 : count / values.length;
}
