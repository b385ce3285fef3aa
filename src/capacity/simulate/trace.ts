// A trace of arrivals, in the order of time: when each message came, of how many points, and whose it was where the
// trace says so.

export interface Trace {
  /** Microseconds from the first arrival, ascending. */
  readonly arrivalsUs: Float64Array;
  /** Points of each message. */
  readonly points: Int32Array;
  /** Vehicle of each message, from 0; null where the trace has no vehicles. */
  readonly vehicleOf: Int32Array | null;
  /** Different vehicles; null where the trace has none. */
  readonly vehicles: number | null;
}

/** The most arrivals in one second of the trace that begins at a whole second of it. */
export function peakPerS({ arrivalsUs }: Trace): number {
  let [most, count, second] = [0, 0, 0];
  for (const us of arrivalsUs) {
    const at = Math.floor(us / 1e6);
    if (at !== second) [second, count] = [at, 0];
    if (++count > most) most = count;
  }
  return most;
}
