// A fleet of 50,000 vehicles and a request to plan it, as tests change them.
import type { PlanRequest } from '#dist/capacity/model/plan.js';

export type Fleet = PlanRequest['fleet'];
export type { PlanRequest };

export const FLEET: Fleet = {
  ...{
    vehicles: 50_000,
    intervalMs: 5000,
    pointsPerReport: 1,
    togetherShare: 0,
    profile: 'stream',
    flush: undefined,
  },
  ...{ gateways: 4, peakFactor: 2, growth: 1, nightly: undefined },
};
export const requestOf = (fleet: Partial<Fleet> = {}, rest: Partial<PlanRequest> = {}): PlanRequest => ({
  fleet: { ...FLEET, ...fleet },
  ...{ targetP99Us: 50_000, headroom: 0.3, survive: 1, coresPerMachine: 4, memoryBytesPerMachine: 16e9 },
  ...{ linkBitsPerS: 1e9, pricePerCoreHour: 0.04, proxies: 1 },
  ...rest,
});
