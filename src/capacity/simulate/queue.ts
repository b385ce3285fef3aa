// A discrete-event simulation of requests before servers that answer one at a time, in the order of arrival.

export interface Simulated {
  /** From arrival to the end of the service, in the order of arrival. */
  readonly latenciesUs: Float64Array;
  /** Share of the servers' time in which they worked, until the last answer. */
  readonly busyShare: number;
}

/**
 * One queue for all servers: whichever is free first takes the next request.
 * @param arrivalsUs ascending
 * @param serviceUs called once a request, in the order of arrival
 */
export function simulateShared(
  arrivalsUs: Float64Array,
  servers: number,
  serviceUs: (request: number) => number,
): Simulated {
  const freeUs = new Float64Array(servers);
  return simulate(arrivalsUs, freeUs, serviceUs, () => {
    let earliest = 0;
    for (let server = 1; server < servers; server++)
      if (freeUs[server]! < freeUs[earliest]!) earliest = server;
    return earliest;
  });
}

function simulate(
  arrivalsUs: Float64Array,
  freeUs: Float64Array,
  serviceUs: (request: number) => number,
  choose: () => number,
): Simulated {
  const latenciesUs = new Float64Array(arrivalsUs.length);
  let [busyUs, endUs] = [0, 0];
  for (let request = 0; request < arrivalsUs.length; request++) {
    const arrivalUs = arrivalsUs[request]!;
    const server = choose();
    const service = serviceUs(request);
    const doneUs = Math.max(arrivalUs, freeUs[server]!) + service;
    freeUs[server] = doneUs;
    latenciesUs[request] = doneUs - arrivalUs;
    busyUs += service;
    if (doneUs > endUs) endUs = doneUs;
  }
  const openUs = endUs - (arrivalsUs[0] ?? 0);
  return { latenciesUs, busyShare: openUs === 0 ? 0 : busyUs / openUs / freeUs.length };
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
