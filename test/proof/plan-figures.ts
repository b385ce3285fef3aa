// Predictions of the model at a rate, for the proof of a plan.
import { exponential, uniformFrom } from '#dist/capacity/generator/random.js';
import type { RatePoint, Results } from '#dist/capacity/measure/results.js';
import type { Costs } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import { serviceTimes } from '#dist/capacity/model/tail.js';
import { percentilesOf, simulateShared } from '#dist/capacity/simulate/queue.js';

/** Share of its core that a server was busy. */
export const busyOf = ({ answeredPerS, costUs }: RatePoint): number => (answeredPerS * costUs!) / 1e6;

/** The same as the model predicts it. */
export function busyAt(costs: Costs, kind: 'batch', ratePerS: number): number {
  const [loaded] = streamsAt(costs, kind, ratePerS);
  return (ratePerS * loaded!.costUs) / 1e6;
}

function streamsAt(costs: Costs, kind: 'batch', messagesPerS: number) {
  return loadOf([{ kind, pointsPerMessage: costs.way(kind).pointsPerUnit, messagesPerS }], costs, 1, 1);
}

/** By simulation, and what a request takes beside its service where nothing waits. */
export function p90Of(results: Results, costs: Costs, kind: 'batch', ratePerS: number): number {
  const [loaded] = streamsAt(costs, kind, ratePerS);
  const services = serviceTimes(costs, kind).movedTo(loaded!.costUs);
  const uniform = uniformFrom(1);
  const arrivals = new Float64Array(40_000);
  for (let at = 1; at < arrivals.length; at++)
    arrivals[at] = arrivals[at - 1]! + exponential(uniform, 1e6 / ratePerS);
  const { latenciesUs } = simulateShared(arrivals, 1, () => services.draw(uniform));
  const idle = results.ways.find(({ name }) => name === kind)!.curve[0]!;
  return percentilesOf(latenciesUs, [90])[0]! + Math.max(0, idle.p50Us - (idle.costUs ?? 0));
}
