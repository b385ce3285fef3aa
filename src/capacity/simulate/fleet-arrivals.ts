// Arrivals of a fleet at one process: some vehicles report at the same moment of every interval, the others whenever
// they do.
import { exponential } from '../generator/random.js';

export interface FleetArrivals {
  /** Messages a second that come one by one, as a Poisson process. */
  readonly singlePerS: number;
  /** Messages that come together, every `everyUs`. */
  readonly together: number;
  readonly everyUs: number;
}

/** @returns microseconds, ascending. @param count least number of instants, where there are any */
export function arrivalsOf(fleet: FleetArrivals, count: number, uniform: () => number): Float64Array {
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
