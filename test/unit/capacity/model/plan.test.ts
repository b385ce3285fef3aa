// Plans from results of round numbers, held against a reckoning by hand.
import { expect, test } from 'vitest';
import { Costs } from '#dist/capacity/model/cost.js';
import { demandOf, type Fleet } from '#dist/capacity/model/fleet.js';
import { busyWithOneLess, type PlanRequest, planFor } from '#dist/capacity/model/plan.js';
import { predictKneePerS } from '#dist/capacity/model/sizing.js';
import { planTrace } from '#dist/capacity/model/trace-plan.js';
import { parseTrace } from '#dist/capacity/simulate/trace.js';
import { madeResults } from '../../../support/capacity/made-results.js';

const FLEET: Fleet = {
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
const requestOf = (fleet: Partial<Fleet> = {}, rest: Partial<PlanRequest> = {}): PlanRequest => ({
  fleet: { ...FLEET, ...fleet },
  ...{ targetP99Us: 50_000, headroom: 0.3, survive: 1, coresPerMachine: 4, memoryBytesPerMachine: 16e9 },
  ...{ linkBitsPerS: 1e9, pricePerCoreHour: 0.04 },
  ...rest,
});

test('demand: points, messages and connections', () => {
  expect(demandOf(FLEET)).toMatchObject({
    ...{ connections: 50_000, meanPointsPerS: 10_000, peakPointsPerS: 20_000, together: 0, night: undefined },
    peak: [{ kind: 'stream', pointsPerMessage: 1, messagesPerS: 20_000 }],
  });
  expect(demandOf({ ...FLEET, flush: { everyMs: 1000 } })).toMatchObject({
    connections: 4,
    peak: [{ kind: 'stream', pointsPerMessage: 5000, messagesPerS: 4 }],
  });
  expect(demandOf({ ...FLEET, flush: { points: 4096 }, growth: 2 }).peak[0]!.messagesPerS).toBeCloseTo(
    40_000 / 4096,
  );
  expect(demandOf({ ...FLEET, profile: 'single', pointsPerReport: 5 }).peak[0]!.kind).toBe('batch');
  expect(demandOf({ ...FLEET, togetherShare: 0.2 }).together).toBe(10_000);
  expect(demandOf({ ...FLEET, nightly: { points: 3.6e9, windowMs: 3_600_000 } }).night).toEqual([
    { kind: 'stream', pointsPerMessage: 1, messagesPerS: 10_000 },
    { kind: 'csv', pointsPerMessage: 10_000, messagesPerS: 100 },
  ]);
});

test('costs by size lie between those measured, and go on behind the last', () => {
  const costs = new Costs(madeResults());
  expect(costs.backlogUs('stream', 1)).toBe(5);
  expect(costs.backlogUs('stream', 2560)).toBeCloseTo(55);
  expect(costs.backlogUs('stream', 8192)).toBeCloseTo(165);
  expect(new Costs(madeResults(), 2).backlogUs('single', 1)).toBe(40);
});

test('a sleeping process costs a wake-up more, a saturated one nothing', () => {
  const costs = new Costs(madeResults());
  expect(costs.atUs('stream', 1, 0.00001)).toBe(55);
  expect(costs.atUs('stream', 1, 0.5)).toBeCloseTo(15);
  expect(costs.atUs('stream', 1, 1)).toBe(5);
  expect(costs.atUs('stream', 1, 0.02)).toBeGreaterThan(15);
});

test('50,000 vehicles on the stream: messages and connections size them, not points', () => {
  const results = madeResults();
  const plan = planFor(requestOf(), results);
  // 20,000 messages a second at a cost between 15 and 55 µs are 0.3 to 1.1 cores, of which 70 % may be used.
  expect(plan.coresOfPoints).toBeCloseTo(20_000 * 20e-9);
  expect(plan.coresOfMessages).toBeGreaterThan(0.3);
  expect(plan.coresOfMessages).toBeLessThan(1.1);
  expect(plan.answer).toMatchObject({ carrying: 1, holdsTarget: true });
  expect(plan.answer.machines).toEqual({ low: 2, high: 2 });
  expect(plan.answer.busyShare.high).toBeLessThanOrEqual(0.7);
  expect(plan.limits.map(({ times }) => times)).toEqual(
    plan.limits.map(({ times }) => times).sort((a, b) => a - b),
  );
  // 2 machines of 4 cores at 0.04 for 36 million points an hour.
  expect(plan.pricePerBillionPoints).toBeCloseTo((0.04 * 8 * 1e9) / 36e6);
  expect(busyWithOneLess(plan, results)).toBeCloseTo(plan.sizing.busyShare);
});

test('a larger fleet needs machines in proportion', () => {
  const { answer } = planFor(requestOf({ vehicles: 5_000_000 }), madeResults());
  const one = planFor(requestOf({ vehicles: 2_500_000 }), madeResults());
  expect(answer.carrying).toBeGreaterThan(1.7 * one.answer.carrying);
  expect(answer.carrying).toBeLessThan(2.1 * one.answer.carrying);
});

test('vehicles that report together make the tail, and need more processes to hold it', () => {
  const alone = planFor(requestOf({}, { targetP99Us: 10_000 }), madeResults());
  const together = planFor(requestOf({ togetherShare: 0.2 }, { targetP99Us: 10_000 }), madeResults());
  const processes = ({ answer }: typeof alone) => answer.carrying * answer.processesPerMachine;
  // 10,000 messages of some 20 µs at the same moment are 200 ms of one process.
  expect(processes(together)).toBeGreaterThan(10);
  expect(processes(alone)).toBeLessThan(3);
  expect(together.answer.p99Us.low).toBeGreaterThan(alone.answer.p99Us.low);
  expect(together.answer.holdsTarget).toBe(true);
});

test('connections beyond the default of a setting name the setting, and take no machines', () => {
  const { limits, answer } = planFor(requestOf(), madeResults());
  const [first] = limits;
  // 50,000 WebSockets on one or two processes, of 20,000 each.
  expect(first).toMatchObject({ name: 'WebSockets of one key', setting: 'HEXCODES_MAX_SOCKETS_PER_KEY' });
  expect(first!.times).toBeLessThan(1);
  expect(answer.carrying).toBe(1);
});

test('memory and network may ask for more machines than CPU does', () => {
  const byMemory = planFor(requestOf({}, { memoryBytesPerMachine: 500e6 }), madeResults());
  // 800 MB of connections, and 100 MB for the one process of a machine: 400 MB of each are left for them.
  expect(byMemory.answer.processesPerMachine).toBe(1);
  expect(byMemory.answer.carrying).toBe(2);
  const byNetwork = planFor(requestOf({}, { linkBitsPerS: 10e6 }), madeResults());
  // 20,000 answers of 300 bytes are 48 Mbit/s, and 7 of 10 are used.
  expect(byNetwork.answer.carrying).toBe(7);
});

test('a target below one service time cannot be held, and that is said', () => {
  const { answer } = planFor(
    requestOf({ profile: 'batch', pointsPerReport: 100 }, { targetP99Us: 100 }),
    madeResults(),
  );
  expect(answer.holdsTarget).toBe(false);
});

test('a nightly load that asks for more than the peak decides', () => {
  const nightly = { points: 1e12, windowMs: 6 * 3_600_000 };
  const withNight = planFor(requestOf({ nightly }), madeResults());
  expect(withNight.answer.carrying).toBeGreaterThan(planFor(requestOf(), madeResults()).answer.carrying);
  expect(withNight.sizing.streams.map(({ kind }) => kind)).toEqual(['stream', 'csv']);
});

test('no more processes on a machine than the speed-ups support', () => {
  const speedUps = madeResults().speedUps.slice(0, 2);
  const request = requestOf({ vehicles: 2_000_000 }, { coresPerMachine: 64 });
  const plan = planFor(request, madeResults({ speedUps }));
  expect(plan.answer.processesPerMachine).toBe(2);
  expect(plan.scalingRemark).toContain('too few for a law');
});

test('the knee of deterministic services is that of M/D/1', () => {
  // Services of 20 µs: the p99 of 50 ms is met up to the highest share of the time that is tried.
  const costs = new Costs(madeResults());
  expect(predictKneePerS(costs, 'single', 50_000)).toBeCloseTo(0.995 * 50_000, -2);
  // With a p99 of 100 µs, five services, the queue has to be short.
  const busy = predictKneePerS(costs, 'single', 100) / 50_000;
  // P(W > 4 services) is C·exp(-4η) with ρ(exp(η) - 1) = η and C = (1 - ρ) ÷ (ρ·exp(η) - 1): a hundredth at ρ = 0.56.
  expect(busy).toBeGreaterThan(0.54);
  expect(busy).toBeLessThan(0.58);
});

test('results without CPU times make no plan', () => {
  const [first] = madeResults().ways;
  const ways = [{ ...first!, name: 'stream' as const, costBacklogUs: null, services: null }];
  expect(() => planFor(requestOf(), madeResults({ ways }))).toThrow('server elsewhere');
  expect(() => planFor(requestOf(), madeResults({ ways: [] }))).toThrow('no figures of stream');
});

test('a trace is simulated until a number of processes holds it', () => {
  // 2,000 messages at the same moment every second: 2,000 × 15 µs and more are 30 ms of one process.
  const rows = Array.from({ length: 10 }, (_, second) =>
    Array.from({ length: 2000 }, (_, v) => `${second},v${v}`).join('\n'),
  );
  const trace = parseTrace(`time,vehicle\n${rows.join('\n')}\n`);
  expect(trace.vehicles).toBe(2000);
  const plan = planTrace(trace, 'stream', new Costs(madeResults()), { targetP99Us: 10_000, headroom: 0.3 });
  expect(plan).toMatchObject({ messages: 20_000, seconds: 9, peakPerS: 2000 });
  expect(plan.processes).toBeGreaterThan(3);
  expect(plan.tries[0]!.p99Us).toBeGreaterThan(30_000);
  expect(plan.tries.at(-1)!.p99Us).toBeLessThanOrEqual(10_000);
});

test.each([
  ['x\n1\n2', 'no column "time"'],
  ['time\n1', 'fewer than two rows'],
  ['time\n1\nsoon', 'row 2: "soon" is no time'],
  ['time,points\n1,1\n2,0', 'row 2: "0" is no number of points'],
  ['time\n5\n5', 'the same time'],
])('a trace that cannot be read is refused: %j', (text, message) => {
  expect(() => parseTrace(text)).toThrow(message);
});

test('times of a trace may be dates, in any order', () => {
  const { arrivalsUs } = parseTrace('vehicle,time\na,2026-01-01T00:00:02Z\nb,2026-01-01T00:00:00Z\n');
  expect([...arrivalsUs]).toEqual([0, 2e6]);
});
