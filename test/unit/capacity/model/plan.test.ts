// Plans from results of round numbers, held against a reckoning by hand.
import { expect, test } from 'vitest';
import { Costs } from '#dist/capacity/model/cost.js';
import { demandOf } from '#dist/capacity/model/fleet.js';
import { planFor } from '#dist/capacity/model/plan.js';
import { predictKneePerS } from '#dist/capacity/model/sizing.js';
import { planText } from '#dist/capacity/report/plan-text.js';
import { FLEET, requestOf } from '../../../support/capacity/fleets.js';
import { madeResults } from '../../../support/capacity/made-results.js';

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
  expect(costs.atUs('stream', 1, 2)).toBeCloseTo(55);
  expect(costs.atUs('stream', 1, 100_000)).toBeCloseTo(15);
  expect(costs.atUs('stream', 1, 200_000)).toBe(5);
  expect(costs.atUs('stream', 1, 4000)).toBeGreaterThan(15);
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
  expect(plan.answer.cores).toEqual({ low: 8, high: 8 });
  expect(plan.pricePerBillionPoints!.low).toBeCloseTo((0.04 * 8 * 1e9) / 36e6);
  expect(plan.oneLess).toMatchObject({ holdsTarget: true });
  expect(plan.oneLess!.busyShare.low).toBeLessThanOrEqual(plan.sizing.busyShare);
  expect(plan.oneLess!.busyShare.high).toBeGreaterThanOrEqual(plan.sizing.busyShare);
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
  // 10,000 messages at the same moment are 50 ms of one process at the 5 µs that each takes in a crowd. The crowd is a
  // tenth of all messages, so nine tenths of it have to be answered in 10 ms, and with headroom in 7: by more than 6
  // processes.
  expect(processes(together)).toBeGreaterThanOrEqual(6);
  expect(processes(together)).toBeLessThanOrEqual(10);
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
  const byMemory = planFor(requestOf({}, { memoryBytesPerMachine: 600e6 }), madeResults());
  // 800 MB of connections, and 200 MB for the one process of a machine: 400 MB of each are left for them.
  expect(byMemory.answer.processesPerMachine).toBe(1);
  expect(byMemory.answer.carrying).toBe(2);
  const byNetwork = planFor(requestOf({}, { linkBitsPerS: 10e6 }), madeResults());
  // 20,000 answers of 300 bytes in packets that take 90 more are 62.4 Mbit/s, and 7 of 10 are used.
  expect(byNetwork.answer.carrying).toBe(9);
  expect(byNetwork.answer.machines).toEqual({ low: 10, high: 10 });
  // They share the work of one.
  expect(byNetwork.coresOfMessages).toBeLessThan(1.2);
  expect(byNetwork.answer.busyShare.high).toBeLessThan(0.2);
  const none = planFor(requestOf({}, { memoryBytesPerMachine: 150e6 }), madeResults());
  expect(none.holdsProcess).toBe(false);
  expect(none.limits[0]).toMatchObject({ name: 'memory of connections, bytes a machine', times: 0 });
});

test('the points of the night are in network, kernel, price and first line', () => {
  const nightly = { points: 1e13, windowMs: 6 * 3_600_000 };
  const [by, without] = [planFor(requestOf({ nightly }), madeResults()), planFor(requestOf(), madeResults())];
  // 463 million points a second in bodies of 10,000, each answered with 1,650 bytes in two packets of 90 more; and half
  // the fleet's peak.
  expect(by.networkBitsPerS).toBeCloseTo(8 * ((1e13 / 21_600 / 10_000) * 1830 + 10_000 * 390), -3);
  expect(without.networkBitsPerS).toBeCloseTo(8 * 20_000 * 390, -3);
  const kernel = by.limits.find(({ name }) => name.startsWith('conversion'))!;
  expect(kernel.asks).toBeCloseTo(1e13 / 21_600 + 10_000, -3);
  expect(by.demand.pointsPerDay).toBe(1e13 + 86_400 * 10_000);
  expect(by.sizing.period).toBe('night');
  expect(planText(by, 'x', true)).toMatch(/^Points size this fleet/m);
  const twice = by.whatIfs.find(({ name }) => name === 'twice the fleet')!.answer;
  expect(twice.carrying * twice.processesPerMachine).toBeGreaterThan(
    1.7 * by.answer.carrying * by.answer.processesPerMachine,
  );
});

test('a message is no larger than the service takes, and the wait at a gateway is said', () => {
  const batches = planFor(requestOf({ profile: 'batch', flush: { everyMs: 15_000 } }), madeResults());
  expect(batches.demand.peak[0]).toMatchObject({ kind: 'batch', pointsPerMessage: 10_000 });
  const text = planText(batches, 'x');
  expect(text).toContain('comes in several, of 10,000 points at most');
  expect(text).toContain('a point waits up to 15 s at its gateway');
  expect(demandOf({ ...FLEET, flush: { points: 0.5 } }).peak[0]!.pointsPerMessage).toBe(1);
});

test('results of one profile are enough for a plan of that profile', () => {
  const ways = madeResults().ways.filter(({ name }) => name === 'stream');
  const { whatIfs } = planFor(requestOf(), madeResults({ ways }));
  expect(whatIfs.map(({ name }) => name)).not.toContain('every report as an HTTP request instead');
  expect(whatIfs.map(({ name }) => name)).toContain('twice the fleet');
});

test('expected latencies contain what an exchange takes beside the CPU time of its message', () => {
  const { answer } = planFor(requestOf({ vehicles: 20_000 }), madeResults());
  // The bench has seen medians of 100 µs at every rate, 95 µs of which were no CPU time of a frame under load, and 45
  // of one alone.
  expect(answer.p50Us.low).toBeGreaterThan(80);
  expect(answer.p50Us.high).toBeLessThan(150);
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
  expect(plan.scaling.remark).toContain('too few for a law');
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
  const elsewhere = madeResults({ ways, target: 'http://10.0.0.7:8080' });
  expect(() => planFor(requestOf(), elsewhere)).toThrow('server elsewhere');
  expect(() => planFor(requestOf(), madeResults({ ways: [] }))).toThrow('no figures of stream');
});
