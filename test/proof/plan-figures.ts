// Predictions of the model at a rate, for the proof of a plan.
import type { RatePoint } from '#dist/capacity/measure/results.js';
import type { Costs } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import { simulateTail } from '#dist/capacity/model/tail.js';

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

/** p90 of the costs, by simulation. */
export function p90Of(costs: Costs, kind: 'batch', ratePerS: number): number {
  const fleet = { singlePerS: ratePerS, together: 0, everyUs: 1e6 };
  return simulateTail(costs, streamsAt(costs, kind, ratePerS), fleet).p90Us;
}
