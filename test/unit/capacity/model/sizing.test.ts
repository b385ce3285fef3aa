// How many processes carry a load: never fewer for more, by CPU time, crowds, knees, connections and speed-ups.
import { expect, test } from 'vitest';
import { samplesOf } from '#dist/capacity/measure/results.js';
import { Costs } from '#dist/capacity/model/cost.js';
import { demandOf, type Fleet } from '#dist/capacity/model/fleet.js';
import { type PlanRequest, planFor } from '#dist/capacity/model/plan.js';
import { scalingOf } from '#dist/capacity/model/scaling.js';
import { networkBitsPerS, Sizer, spaceOf } from '#dist/capacity/model/sizing.js';
import { planText } from '#dist/capacity/report/plan-text.js';
import { requestOf } from '../../../support/capacity/fleets.js';
import { madeResults } from '../../../support/capacity/made-results.js';

function sizingOf(fleet: Partial<Fleet>, rest: Partial<PlanRequest> = {}, results = madeResults()) {
  const request = requestOf(fleet, rest);
  const demand = demandOf(request.fleet);
  const machine = {
    cores: request.coresPerMachine,
    memoryBytes: request.memoryBytesPerMachine,
    linkBitsPerS: request.linkBitsPerS,
  };
  const space = spaceOf(demand, results, machine);
  return new Sizer(demand, new Costs(results), scalingOf(results.speedUps), request, space).size();
}

const processesOf = ({ machines, processesPerMachine }: ReturnType<typeof sizingOf>): number =>
  machines * processesPerMachine;
const carryingOf = (...of: Parameters<typeof sizingOf>): number => processesOf(sizingOf(...of));

test('a shorter interval, more of the fleet together, more headroom or a stricter p99 never need fewer processes', () => {
  const risingOf = (counts: number[]): void => expect(counts).toEqual([...counts].sort((a, b) => a - b));
  const together = { togetherShare: 0.2 };
  for (const fleet of [{}, together, { vehicles: 2_000_000 }]) {
    risingOf([30_000, 10_000, 5000, 2500, 1000].map((intervalMs) => carryingOf({ ...fleet, intervalMs })));
    risingOf([1, 2, 3, 10, 40].map((growth) => carryingOf({ ...fleet, growth })));
    risingOf([0, 0.2, 0.5, 0.8, 0.9].map((headroom) => carryingOf(fleet, { headroom })));
    const held = [1e6, 50_000, 10_000, 2000, 1000].map((targetP99Us) => sizingOf(fleet, { targetP99Us }));
    expect(held.map(({ holdsTarget }) => holdsTarget)).toEqual([true, true, true, true, true]);
    risingOf(held.map(processesOf));
  }
  risingOf([0, 0.05, 0.2, 0.5, 1].map((togetherShare) => carryingOf({ togetherShare })));
  // At the peak a crowd is a smaller share of all: the mean hour has to be carried as well.
  for (const fleet of [together, { togetherShare: 0.05, vehicles: 1_000_000, intervalMs: 60_000 }])
    risingOf([1, 2, 4, 8].map((peakFactor) => carryingOf({ ...fleet, peakFactor }, { targetP99Us: 20_000 })));
  risingOf(
    [0, 1, 1e9, 1e12].map((points) =>
      carryingOf({ ...together, nightly: { points: points + 1, windowMs: 3_600_000 } }),
    ),
  );
});

test('where a crowd decides, headroom is space for a larger crowd, and the nearest limit is that crowd', () => {
  const request = { togetherShare: 0.5, growth: 4 };
  const tight = planFor(requestOf(request, { headroom: 0 }), madeResults());
  const limit = tight.limits.find(({ name }) => name.startsWith('CPU and p99'))!;
  expect(limit.times).toBeGreaterThanOrEqual(1);
  expect(limit.times).toBeLessThan(1.3);
  expect(carryingOf(request, { headroom: 0.5 })).toBeGreaterThan(1.6 * carryingOf(request, { headroom: 0 }));
});

test('a strict p99 is held by a simulation of the load, not refused for the cost of a process that sleeps', () => {
  const { answer } = planFor(requestOf({ vehicles: 300_000 }, { targetP99Us: 1000 }), madeResults());
  expect(answer.holdsTarget).toBe(true);
  expect(answer.carrying * answer.processesPerMachine).toBeLessThan(6);
});

test('a knee that was measured bounds the plans of its own p99 and of stricter ones, not of looser ones', () => {
  const ways = madeResults().ways.map((way) =>
    way.name === 'stream'
      ? {
          ...way,
          knee: {
            ratePerS: 20_000,
            targetP99Us: 50_000,
            steps: [],
            isConfirmed: true,
            isGeneratorLimit: false,
          },
        }
      : way,
  );
  const results = madeResults({ ways });
  const fleet = { vehicles: 250_000 };
  const needs = (targetP99Us: number) => ({ targetP99Us, headroom: 0 });
  // 100,000 messages a second, of which a process holds 20,000.
  expect(carryingOf(fleet, needs(50_000), results)).toBeGreaterThanOrEqual(5);
  expect(carryingOf(fleet, needs(49_000), results)).toBeGreaterThanOrEqual(5);
  expect(carryingOf(fleet, needs(51_000), results)).toBeLessThan(5);
});

test('a connection keeps one process busy: more processes than connections do not help', () => {
  const plan = planFor(requestOf({ vehicles: 100e6, flush: { everyMs: 1000 }, gateways: 1 }), madeResults());
  expect(plan.sizing).toMatchObject({ used: 1 });
  expect(plan.answer.holdsTarget).toBe(false);
  expect(planText(plan, 'x')).toContain('one connection belongs to one process');
});

test('one machine down is simulated: the busier processes and their tail', () => {
  const plan = planFor(
    requestOf({ togetherShare: 0.5, growth: 8 }, { survive: 0, headroom: 0 }),
    madeResults(),
  );
  expect(plan.answer.carrying).toBeGreaterThan(1);
  expect(plan.oneLess!.holdsTarget).toBe(false);
  expect(plan.oneLess!.p99Us.high).toBeGreaterThan(50_000);
});

test('one process is the unit of the speed-ups, and n carry n times as much at most', () => {
  const speedUps = [
    { processes: 1, speedUp: samplesOf([0.95, 0.97, 1.1]) },
    { processes: 2, speedUp: samplesOf([1.8, 2.1, 2.3]) },
  ];
  const scaling = scalingOf(speedUps);
  expect(scaling.speedUp(1)).toEqual({ low: 1, high: 1 });
  expect(scaling.speedUp(2).high).toBe(2);
  const tiny = planFor(
    requestOf({ vehicles: 1 }, { coresPerMachine: 1, survive: 0 }),
    madeResults({ speedUps }),
  );
  expect(tiny.answer.machines).toEqual({ low: 1, high: 1 });
});

test('a crowd is simulated while it is answered, however long the interval is', () => {
  const fleet = { vehicles: 10_000, togetherShare: 0.05, peakFactor: 1 };
  const shares = [60_000, 600_000, 6_000_000].map((intervalMs) => sizingOf({ ...fleet, intervalMs }));
  for (const { tail, holdsTarget } of shares) {
    expect(holdsTarget).toBe(true);
    // 500 messages of 5 µs; 5 of 100 messages are in the crowd, so the p99 is that of its 400th.
    expect(tail.p99Us).toBeGreaterThan(2000);
    expect(tail.p99Us).toBeLessThan(2300);
  }
});

test('the night takes no machine from a peak that needs it', () => {
  const speedUps = [1, 1.2].map((speedUp, at) => ({ processes: at + 1, speedUp: samplesOf([speedUp]) }));
  const results = madeResults({ speedUps });
  const needs = { coresPerMachine: 2, targetP99Us: 1e6, linkBitsPerS: 1e11 };
  for (const vehicles of [250_000, 400_000, 700_000]) {
    const by = sizingOf({ vehicles }, needs, results).machines;
    const nightly = { points: 1.2e11, windowMs: 6 * 3_600_000 };
    expect(sizingOf({ vehicles, nightly }, needs, results).machines).toBeGreaterThanOrEqual(by);
  }
});

test('a process without a connection slows no other', () => {
  const speedUps = [1, 1.2].map((speedUp, at) => ({ processes: at + 1, speedUp: samplesOf([speedUp]) }));
  const results = madeResults({ speedUps });
  const fleet = { vehicles: 100e6, flush: { everyMs: 1000 } };
  const needs = { targetP99Us: 1e6, linkBitsPerS: 1e11 };
  const [two, one] = [2, 1].map((coresPerMachine) => sizingOf(fleet, { ...needs, coresPerMachine }, results));
  expect(one!.holdsTarget).toBe(true);
  expect(two!.holdsTarget).toBe(true);
  expect(two!.machines).toBeLessThanOrEqual(one!.machines);
});

test('no more processes on a machine than carry more together', () => {
  const speedUps = [1, 1.8, 2.6, 2].map((speedUp, at) => ({
    processes: at + 1,
    speedUp: samplesOf([speedUp]),
  }));
  const { processesPerMachine } = sizingOf({ vehicles: 3_000_000 }, {}, madeResults({ speedUps }));
  expect(processesPerMachine).toBe(3);
});

test('messages that are cut are all in the crowd', () => {
  const flags = { togetherShare: 1, profile: 'batch', vehicles: 100 } as const;
  const cut = demandOf({ ...requestOf(flags).fleet, pointsPerReport: 20_000 });
  expect(cut.together).toBe(200);
});

test('one machine down needs space for its connections and bytes as well', () => {
  const { oneLess } = planFor(requestOf({}, { linkBitsPerS: 10e6, survive: 0 }), madeResults());
  expect(oneLess).toMatchObject({ hasSpace: false, holdsTarget: false });
});

test('bytes of a message grow with its points, and not its head', () => {
  const bits = (points: number) =>
    networkBitsPerS(demandOf(requestOf({ profile: 'batch', pointsPerReport: points }).fleet), madeResults());
  // Half of 300 bytes for 100 points are head, and a packet takes 90 more: 20,000 messages a second.
  expect(bits(2)).toBeCloseTo(8 * 20_000 * (300 - 98 * 1.5 + 90));
  expect(bits(200)).toBeCloseTo(8 * 20_000 * (300 + 100 * 1.5 + 90));
  const frames = demandOf(requestOf({ flush: { points: 4096 } }).fleet);
  // Packets of 1,448 bytes.
  const bytes = 300 + 4095 * 20;
  expect(networkBitsPerS(frames, madeResults())).toBeCloseTo(
    (8 *
      20_000 *
      (bytes +
        90 * Math.ceil(bytes / 1448) +
        90 * Math.floor((Math.ceil((100 + 4095 * 16) / 1448) - 1) / 2))) /
      4096,
  );
});

test('where gateways collect, connections are no limit that grows with the fleet', () => {
  const names = planFor(requestOf({ flush: { everyMs: 1000 } }), madeResults()).limits.map(
    ({ name }) => name,
  );
  expect(names).not.toContain('connections');
  expect(names).not.toContain('WebSockets of one key');
});
