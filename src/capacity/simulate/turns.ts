// A discrete-event simulation of one process that works in turns of its event loop: a turn takes a time of its own, and
// then answers all that has arrived by its beginning, one after the other. A message alone pays for its turn alone;
// those of a crowd share one.

// A discrete-event simulation of several processes that each work in turns of their event loop, with
// connections that stay with one process.
interface SplitLoad {
  /** Ascending. */
  readonly arrivalsUs: Float64Array;
  /** Process of each message, from 0. */
  readonly processOf: Uint16Array;
  readonly processes: number;
  /** Cost of the turn that a message begins, beside its messages. */
  turnUs(message: number): number;
  /** Called once for each message, in the order of arrival. */
  serviceUs(message: number): number;
}

export interface SplitSimulated {
  /** From arrival to the end of the service, in the order of arrival. */
  readonly latenciesUs: Float64Array;
  /** Share of its time in which the process worked that worked most, until the last answer of all. */
  readonly busiestShare: number;
}

export function simulateSplitTurns({
  arrivalsUs,
  processOf,
  processes,
  turnUs,
  serviceUs,
}: SplitLoad): SplitSimulated {
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

/**
 * @param arrivalsUs ascending
 * @param turnUs of a turn, beside its messages
 * @param serviceUs of a message, called once for each in the order of arrival
 * @returns from arrival to the end of the service, in the order of arrival
 */
export function simulateTurns(
  arrivalsUs: Float64Array,
  turnUs: number,
  serviceUs: (message: number) => number,
): Float64Array {
  const latenciesUs = new Float64Array(arrivalsUs.length);
  let [next, nowUs] = [0, 0];
  while (next < arrivalsUs.length) {
    const startUs = Math.max(nowUs, arrivalsUs[next]!);
    nowUs = startUs + turnUs;
    for (; next < arrivalsUs.length && arrivalsUs[next]! <= startUs; next++) {
      nowUs += serviceUs(next);
      latenciesUs[next] = nowUs - arrivalsUs[next]!;
    }
  }
  return latenciesUs;
}
