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

/** For each percentile, 0 to 100, the nearest value that so many of all are not above. */
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
