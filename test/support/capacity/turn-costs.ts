// The cost of a message from the turns of the event loop that it takes. The curve of a bench is of messages that arrive
// one by one, each whole; where they come in bunches fewer turns are woken for, and where a body comes in pieces more.
// A wake-up costs less the more of them there are, whoever causes them.

/** A point of the curve, with the turns that were counted there. */
export interface CountedPoint {
  readonly ratePerS: number;
  readonly costUs: number;
  /** Turns of the event loop a second that the process slept before. */
  readonly turnsPerS: number;
}

/** Times that the main thread of a process has slept so far: each turn of its event loop that was waited for. */
export function sleepsIn(status: string): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN);
}

/**
 * @param curve ascending by rate
 * @param backlogUs cost without any wake-up
 * @returns CPU time of one of the messages, in microseconds
 */
export function costOfTurns(
  curve: readonly CountedPoint[],
  backlogUs: number,
  ratePerS: number,
  turnsPerS: number,
): number {
  // Beyond its most wake-ups a process is busy when messages come: fewer turns do not say how many those were.
  const most = Math.max(...curve.map((point) => point.turnsPerS));
  const rising = curve.slice(0, curve.findIndex((point) => point.turnsPerS === most) + 1);
  const known = rising.map(
    (point) =>
      [
        point.turnsPerS,
        Math.max(0.1, ((point.costUs - backlogUs) * point.ratePerS) / point.turnsPerS),
      ] as const,
  );
  return backlogUs + (turnsPerS / ratePerS) * powerBetween(known, turnsPerS);
}

/** A power of x between known points, and what it is at the nearest outside of them. */
function powerBetween(known: readonly (readonly [x: number, y: number])[], x: number): number {
  const right = known.findIndex(([knownX]) => knownX >= x);
  if (right === -1) return known.at(-1)![1];
  if (right === 0) return known[0]![1];
  const [[x0, y0], [x1, y1]] = [known[right - 1]!, known[right]!];
  return y0 * (y1 / y0) ** (Math.log(x / x0) / Math.log(x1 / x0));
}
