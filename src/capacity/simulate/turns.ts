// A discrete-event simulation of one process that works in turns of its event loop: a turn takes a time of its own, and
// then answers all that has arrived by its beginning, one after the other. A message alone pays for its turn alone;
// those of a crowd share one.

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
