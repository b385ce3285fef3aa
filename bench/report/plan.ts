// The plan at the top of the report: the fleet of the example in docs/capacity.md.
import type { Results } from '#dist/capacity/measure/results.js';
import { type Plan, planFor } from '#dist/capacity/model/plan.js';
import { planText } from '#dist/capacity/report/plan-text.js';

export function planOf(results: Results): { plan: Plan; text: string } {
  const plan = planFor(
    {
      fleet: {
        ...{
          vehicles: 50_000,
          intervalMs: 5000,
          pointsPerReport: 1,
          togetherShare: 0,
          profile: 'stream',
          flush: undefined,
        },
        ...{ gateways: 4, peakFactor: 2, growth: 1, nightly: undefined },
      },
      ...{ targetP99Us: 50_000, headroom: 0.3, survive: 1, coresPerMachine: results.machine.cores },
      ...{
        memoryBytesPerMachine: results.machine.memoryBytes,
        linkBitsPerS: 1e9,
        proxies: 1,
        pricePerCoreHour: undefined,
      },
    },
    results,
  );
  return { plan, text: planText(plan, 'the results of this report') };
}
