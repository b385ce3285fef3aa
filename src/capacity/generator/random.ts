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
