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
