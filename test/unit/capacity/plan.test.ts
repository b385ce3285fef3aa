// Plans of fleets from results of round numbers, against reckonings by hand and by another program.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { busBytesPerSecond, SPARE } from '#dist/bus/sizing.js';
import { parseResults, samplesOf } from '#dist/capacity/measure/results.js';
import { busOf } from '#dist/capacity/model/bus.js';
import { Costs } from '#dist/capacity/model/cost.js';
import { demandOf } from '#dist/capacity/model/fleet.js';
import { planOnce } from '#dist/capacity/model/once.js';
import { planFor } from '#dist/capacity/model/plan.js';
import { proxyOf } from '#dist/capacity/model/proxy.js';
import { scalingOf } from '#dist/capacity/model/scaling.js';
import { networkBitsPerS, Sizer, spaceOf } from '#dist/capacity/model/sizing.js';
import { wireOfStreams } from '#dist/capacity/model/wire.js';
import { headlineOf } from '#dist/capacity/report/headline.js';
import { planText } from '#dist/capacity/report/plan-text.js';
import {
  FLEET,
  type Fleet,
  madeResults,
  type PlanRequest,
  requestOf,
} from '../../support/capacity/made-results.js';

// Plans from results of round numbers, held against a reckoning by hand.
describe('plans', () => {
  test('demand: points, messages and connections', () => {
    expect(demandOf(FLEET)).toMatchObject({
      ...{
        connections: 50_000,
        meanPointsPerS: 10_000,
        peakPointsPerS: 20_000,
        together: 0,
        night: undefined,
      },
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

  test('vehicles that report together make the tail, and need more processes to hold it', () => {
    const alone = planFor(requestOf({}, { targetP99Us: 10_000 }), madeResults());
    const together = planFor(requestOf({ togetherShare: 0.2 }, { targetP99Us: 10_000 }), madeResults());
    const processes = ({ answer }: typeof alone) => answer.carrying * answer.processesPerMachine;
    // 10,000 messages at the same moment are 50 ms of one process at the 5 µs that each takes in a crowd. The crowd
    // is a tenth of all messages, so nine tenths of it have to be answered in 10 ms, and with headroom in 7: by more
    // than 6 processes.
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
    // All ten share the work of one.
    expect(byNetwork.coresOfMessages).toBeLessThan(1.2);
    expect(byNetwork.answer.busyShare.high).toBeLessThan(0.2);
    const none = planFor(requestOf({}, { memoryBytesPerMachine: 150e6 }), madeResults());
    expect(none.holdsProcess).toBe(false);
    expect(none.limits[0]).toMatchObject({ name: 'memory of connections, bytes a machine', times: 0 });
  });

  test('the points of the night are in network, kernel, price and first line', () => {
    const nightly = { points: 1e13, windowMs: 6 * 3_600_000 };
    const [by, without] = [
      planFor(requestOf({ nightly }), madeResults()),
      planFor(requestOf(), madeResults()),
    ];
    // 463 million points a second in bodies of 10,000, each answered with 1,650 bytes in two packets of 90 more; and
    // half the fleet's peak.
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
    // The bench has seen medians of 100 µs at every rate, 95 µs of which were no CPU time of a frame under load, and
    // 45 of one alone.
    expect(answer.p50Us.low).toBeGreaterThan(80);
    expect(answer.p50Us.high).toBeLessThan(150);
  });

  test('a nightly load that asks for more than the peak decides', () => {
    const nightly = { points: 1e12, windowMs: 6 * 3_600_000 };
    const withNight = planFor(requestOf({ nightly }), madeResults());
    expect(withNight.answer.carrying).toBeGreaterThan(planFor(requestOf(), madeResults()).answer.carrying);
    expect(withNight.sizing.streams.map(({ kind }) => kind)).toEqual(['stream', 'csv']);
  });

  test('results without CPU times make no plan', () => {
    const [first] = madeResults().ways;
    const ways = [{ ...first!, name: 'stream' as const, costBacklogUs: null, services: null }];
    const elsewhere = madeResults({ ways, target: 'http://10.0.0.7:8080' });
    expect(() => planFor(requestOf(), elsewhere)).toThrow('server elsewhere');
    expect(() => planFor(requestOf(), madeResults({ ways: [] }))).toThrow('no figures of stream');
  });
});

// How many processes carry a load: never fewer for more, by CPU time, crowds, knees, connections and speed-ups.
describe('sizing', () => {
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
      risingOf(
        [1, 2, 4, 8].map((peakFactor) => carryingOf({ ...fleet, peakFactor }, { targetP99Us: 20_000 })),
      );
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
    expect(carryingOf(request, { headroom: 0.5 })).toBeGreaterThan(
      1.6 * carryingOf(request, { headroom: 0 }),
    );
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
    const plan = planFor(
      requestOf({ vehicles: 100e6, flush: { everyMs: 1000 }, gateways: 1 }),
      madeResults(),
    );
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
    const [two, one] = [2, 1].map((coresPerMachine) =>
      sizingOf(fleet, { ...needs, coresPerMachine }, results),
    );
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
      networkBitsPerS(
        demandOf(requestOf({ profile: 'batch', pointsPerReport: points }).fleet),
        madeResults(),
      );
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

  test('where gateways collect, connections are not a limit that grows with the fleet', () => {
    const names = planFor(requestOf({ flush: { everyMs: 1000 } }), madeResults()).limits.map(
      ({ name }) => name,
    );
    expect(names).not.toContain('connections');
    expect(names).not.toContain('WebSockets of one key');
  });
});

// Ten fleets against a sheet that another program has reckoned (test/fixtures/capacity/fleet-sheet.py), one process
// each.
describe('the sheet of fleets', () => {
  const [head, ...rows] = readFileSync('test/fixtures/capacity/fleet-sheet.csv', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const fleets = rows.map((row) => Object.fromEntries(row.map((cell, at) => [head![at]!, cell])));

  test('the sheet has ten fleets', () => {
    expect(fleets).toHaveLength(10);
  });

  test.each(fleets)('$vehicles vehicles every $intervalS s, $kind, $collected collected', (row) => {
    const of = (name: string): number => Number(row[name]);
    const plan = planFor(
      requestOf({
        ...{ vehicles: of('vehicles'), intervalMs: 1000 * of('intervalS'), pointsPerReport: of('points') },
        ...{ profile: row.kind as 'stream' | 'single', peakFactor: of('peak'), growth: of('growth') },
        flush: of('collected') === 0 ? undefined : { points: of('collected') },
      }),
      madeResults(),
    );
    const { demand, sizing, answer, wire, networkBitsPerS, proxy } = plan;
    expect([answer.carrying, answer.processesPerMachine, answer.machines]).toEqual([
      1,
      1,
      { low: 2, high: 2 },
    ]);
    expect(demand.meanPointsPerS).toBeCloseTo(of('meanPointsPerS'));
    expect(demand.peak[0]!.messagesPerS).toBeCloseTo(of('messagesPerS'));
    expect(demand.connections).toBe(of('connections'));
    expect(sizing.streams[0]!.costUs).toBeCloseTo(of('costUs'), 4);
    expect(sizing.busyShare).toBeCloseTo(of('busyShare'), 4);
    // Behind a proxy that ends TLS.
    expect(wire.received.packetsPerS).toBeCloseTo(of('packetsIn'), 3);
    expect(wire.sent.packetsPerS).toBeCloseTo(of('packetsOut'), 3);
    expect(networkBitsPerS / 1e6).toBeCloseTo(of('linkMbits'), 4);
    expect(proxy!.connectionsPerPort).toBe(of('connectionsPerPort'));
    expect(headlineOf(plan).join('\n')).toContain(`Cost: ${Math.round(of('monthOf8Cores'))} a month`);
  });
});

// The parts before and beside the service: packets, a proxy, the bus, and a history that is converted once.
describe('the parts beside the service', () => {
  test('packets: heads, acknowledgements, records of TLS', () => {
    const frame = { kind: 'stream' as const, pointsPerMessage: 1, messagesPerS: 1 };
    // 100 bytes and the acknowledgement of the answer; the answer acknowledges the frame.
    expect(wireOfStreams([frame], madeResults(), false)).toEqual({
      received: { packetsPerS: 2, bytesPerS: 100 + 2 * 66 },
      sent: { packetsPerS: 1, bytesPerS: 300 + 66 },
    });
    const { received, sent } = wireOfStreams([{ ...frame, pointsPerMessage: 4096 }], madeResults(), true);
    // 65,620 bytes are five records of 22 bytes more, in 46 packets; 82,200 are six, in 57, every second
    // acknowledged.
    expect(received.packetsPerS).toBe(46 + 29);
    expect(sent.packetsPerS).toBe(57 + 22);
    expect(received.bytesPerS).toBe(65_620 + 5 * 22 + 75 * 66);
  });

  test('one proxy address has 28,232 ports to each port of a node: 50,000 vehicles on two nodes, one down', () => {
    const of = (proxies: number, ports: number) =>
      proxyOf(demandOf(FLEET), madeResults(), { proxies, machines: 2, ports, cores: 4 });
    expect(of(1, 1)).toMatchObject({ connections: 100_000, connectionsPerPort: 50_000, addresses: 2 });
    expect(of(1, 2)).toMatchObject({ connectionsPerPort: 25_000, addresses: 1 });
    expect(of(2, 1)).toMatchObject({ connections: 50_000, connectionsPerPort: 25_000, addresses: 1 });
    const limitIn = (proxies: number) =>
      planFor(requestOf({}, { proxies }), madeResults()).limits.find(({ name }) =>
        name.startsWith('ports of'),
      );
    expect(limitIn(1)!.times).toBeCloseTo(28_232 / 50_000);
    expect(limitIn(0)).toBeUndefined();
  });

  test('a frame costs the proxy more where it wakes it: the CPU times measured at four rates, within 15 %', () => {
    // Frames a second, and µs of HAProxy's CPU for each, by `npm run proof -- fleet`.
    for (const [rate, measuredUs] of [
      [200, 123.3],
      [1000, 72.3],
      [4000, 37.3],
      [6667, 32.6],
    ] as const) {
      const demand = demandOf({ ...FLEET, vehicles: rate, intervalMs: 1000, peakFactor: 1 });
      const { cores } = proxyOf(demand, madeResults(), { proxies: 1, machines: 2, ports: 2, cores: 2 });
      expect(Math.abs((1e6 * cores) / rate / measuredUs - 1)).toBeLessThan(0.15);
    }
  });

  test('a machine with more cores than the measured one has more threads in its process, up to four', () => {
    const machine = { ...madeResults().machine, cores: 1 };
    const memoryOf = (coresPerMachine: number) =>
      planFor(requestOf({}, { coresPerMachine }), madeResults({ machine })).memoryBytesPerMachine!.low;
    expect(memoryOf(2) - memoryOf(1)).toBe(15e6);
    expect(memoryOf(64) - memoryOf(4)).toBe(0);
  });

  test('the bus: workers, streams and machines of fleets, and how long streams last', () => {
    const at = (pointsPerS: number, replicas = 1) =>
      busOf(
        {
          ...{ pointsPerS, meanPointsPerS: pointsPerS, pointsPerMessage: 16_384, replicas, maxAgeS: 86_400 },
          ...{ coresPerMachine: 8, linkBitsPerS: 10e9 },
        },
        { bytesPerSecond: busBytesPerSecond, spare: SPARE },
      );
    const billion = at(1e9);
    // Three workers and two streams a machine.
    expect(billion).toMatchObject({ machines: 84, workers: 250, streams: 167 });
    expect(at(1e9, 3).machines).toBe(91);
    expect(at(12e6)).toMatchObject({ workers: 3, streams: 2, machines: 1 });
    expect(billion.boundBy).toBe('CPU');
    expect(at(1e9, 3).boundBy).toBe('network');
    // 10,000 points/s in answers of 20 bytes and the heads of their messages: 1 GiB for 1.5 hours, and a day by the
    // same arithmetic as that of `hexcodes worker setup`.
    const fleet = at(10_000);
    expect(fleet.defaultLastsS / 3600).toBeCloseTo(1.49, 1);
    const { output } = busBytesPerSecond({ pointsPerSecond: 10_000, pointsPerMessage: 16_384 });
    expect(fleet.streamBytes).toBeCloseTo(1.25 * output * 86_400, -3);
  });

  test('the bus: single positions cost as measured, and less when a collector makes frames of them', () => {
    const at = (pointsPerMessage: number, isCollected: boolean) =>
      busOf(
        {
          ...{ pointsPerS: 10_000, meanPointsPerS: 10_000, pointsPerMessage, isCollected, replicas: 1 },
          ...{ maxAgeS: 3600, coresPerMachine: 2, linkBitsPerS: 1e9 },
        },
        { bytesPerSecond: busBytesPerSecond, spare: SPARE },
      );
    const single = at(1, false);
    expect(single.workerCores).toBeCloseTo(10_000 * 91e-6, 1);
    expect(single.collectorCores).toBe(0);
    const collected = at(2000, true);
    expect(collected.collectorCores).toBeCloseTo(0.28, 3);
    expect(collected.serverCores).toBeCloseTo(0.25, 2);
    expect(collected.workerCores).toBeLessThan(0.02);
    expect(collected.machines).toBeLessThan(single.machines);
  });

  test('a history: rows by their measured cost, with headroom, in whole machines', () => {
    const results = parseResults(readFileSync('data/capacity.json', 'utf8'));
    const request = {
      ...{
        rows: 2e9,
        format: 'parquet' as const,
        withinMs: 8 * 3_600_000,
        coresPerMachine: 2,
        headroom: 0.3,
      },
      pricePerCoreHour: 0.04,
    };
    const plan = planOnce(request, results);
    const nsPerRow = results.conversions!.find(({ format }) => format === 'parquet')!.nsPerRow;
    expect(plan.coreSeconds).toBeCloseTo(2 * nsPerRow);
    expect(plan.machines).toBe(Math.ceil(Math.ceil(plan.coreSeconds / (8 * 3600) / 0.7) / 2));
    expect(plan.price).toBeCloseTo(0.04 * plan.machines * 2 * 8);
    expect(planOnce({ ...request, withinMs: 10_000 }, results).machines).toBeGreaterThan(10);
    expect(() => planOnce(request, madeResults())).toThrow('no conversion of parquet was measured');
  });

  test('lines of the answer have 80 columns at most, whatever the fleet', () => {
    // The price has a line of its own.
    for (const vehicles of [1, 50_000, 30_000_000])
      for (const coresPerMachine of [1, 64])
        for (const more of [
          { pricePerCoreHour: undefined, assumeLinear: true },
          { pricePerCoreHour: 123.456, assumeLinear: false },
        ]) {
          const request = requestOf({ vehicles }, { coresPerMachine, ...more, targetP99Us: 200 });
          const lines = headlineOf(planFor(request, madeResults({ isQuietEnough: false })));
          expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
          expect(lines.length).toBeGreaterThanOrEqual(6);
          expect(lines.join('\n')).not.toMatch(/NaN|undefined|null/);
        }
  });
});
