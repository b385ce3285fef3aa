// The orders of the generator's process, and its report. Everything is plain data, as it goes through the process's
// channel.

import type { Slice } from './closed-loop.js';
import type { OpenFigures } from './open-loop.js';

// The clock of the loops, and when requests should start: at a fixed rate, evenly or as a Poisson process, one by one
// or several at once.

// Seeded random numbers, so that a run can be repeated with the same arrivals.

/** Uniform numbers of 32 bits from 0 (included) to 1 (excluded), by Mulberry32 of Tommy Ettinger (public domain). */
export function uniformFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One draw of the exponential distribution with this mean. */
export function exponential(uniform: () => number, mean: number): number {
  return -Math.log(1 - uniform()) * mean;
}

/** Time as the loops of the generator see it. Tests put a simulated clock in its place. */
export interface Clock {
  /** Milliseconds since any moment, with fractions. */
  nowMs(): number;
  /** Calls back once the sockets have been looked at. */
  nextTurn(callback: () => void): void;
}

/** The clock of this process. Its turns never sleep: a timer of Node would be up to a millisecond late. */
export const SPINNING_CLOCK: Clock = {
  nowMs: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
};

export type Arrivals = 'constant' | 'poisson';

/** Intended starts in milliseconds from the beginning of a run, ascending. */
export class Schedule {
  readonly #gapMs: number;
  #nextMs: number;
  #leftOfBatch: number;

  /**
   * @param ratePerS requests a second, above 0
   * @param batch requests that start at the same moment
   */
  constructor(
    readonly arrivals: Arrivals,
    ratePerS: number,
    private readonly uniform: () => number,
    private readonly batch = 1,
  ) {
    if (!(ratePerS > 0)) throw new RangeError(`a rate of ${ratePerS} requests a second`);
    this.#gapMs = (1000 * batch) / ratePerS;
    this.#nextMs = this.#gap();
    this.#leftOfBatch = batch;
  }

  /** When the next request should start; `take` goes on to the one after it. */
  get nextMs(): number {
    return this.#nextMs;
  }

  take(): void {
    if (--this.#leftOfBatch > 0) return;
    this.#leftOfBatch = this.batch;
    this.#nextMs += this.#gap();
  }

  #gap(): number {
    return this.arrivals === 'constant' ? this.#gapMs : exponential(this.uniform, this.#gapMs);
  }
}

/** How points reach the service. */
export type WayKind = 'single' | 'batch' | 'csv' | 'stream';

/** One kind of traffic of a job. */
export interface Load {
  readonly kind: WayKind;
  /** Points of one request or frame; 1 for `single`. */
  readonly points: number;
  readonly connections: number;
  /** Requests of one connection that may be unanswered. */
  readonly depth: number;
  /** Requests or frames a second; of an open job. */
  readonly ratePerS: number;
  readonly arrivals: Arrivals;
  /** Requests that start at the same moment. */
  readonly startTogether: number;
}

export interface Job {
  /**
   * `open`: at the rates of the loads; `closed`: the first load, as fast as it is answered; `hold`: connections that
   * send nothing.
   */
  readonly mode: 'open' | 'closed' | 'hold';
  /** Address of the server, without a path. */
  readonly base: string;
  readonly key: string;
  readonly seed: number;
  readonly loads: readonly Load[];
  readonly warmUpMs: number;
  readonly durationMs: number;
  /** Processes whose CPU time is the server's; empty where it runs elsewhere. */
  readonly serverPids: readonly number[];
  /** Answers per one that is compared with the library; 0: none, for servers that are not a service. */
  readonly sampleEvery: number;
}

/** The figures of one load; of a closed job only those that it has. */
export interface LoadReport extends Readonly<Omit<OpenFigures, 'intended' | 'naive'>> {
  /** Answers within the measured time, whenever their requests were due: the CPU time of that time is theirs. */
  readonly answeredMeanwhile: number;
  /** Histograms, as Latencies.encode writes them. */
  readonly intended: string;
  readonly naive: string;
  /** Bytes of a request and its answer on the wire, without those of TCP. */
  readonly sentBytesPerUnit: number;
  readonly receivedBytesPerUnit: number;
}

export interface JobReport {
  readonly loads: readonly LoadReport[];
  readonly durationMs: number;
  /** CPU time of the server within the measured time; null where it runs elsewhere. */
  readonly serverCpuUs: number | null;
  /** Time slices of a closed job. */
  readonly slices: readonly Slice[];
  /** Histogram of the service times of a closed job. */
  readonly services: string | null;
}

/** The program's answers: `open` when all connections are open, then the report or the reason of a failure. */
export type GeneratorMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'done'; readonly report: JobReport }
  | { readonly kind: 'failed'; readonly reason: string };
