// The parts before and beside the service: packets, a proxy, the bus, and a history that is converted once.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { busBytesPerSecond, SPARE } from '#dist/bus/sizing.js';
import { parseResults } from '#dist/capacity/measure/results.js';
import { busOf } from '#dist/capacity/model/bus.js';
import { demandOf } from '#dist/capacity/model/fleet.js';
import { planOnce } from '#dist/capacity/model/once.js';
import { planFor } from '#dist/capacity/model/plan.js';
import { proxyOf } from '#dist/capacity/model/proxy.js';
import { wireOfStreams } from '#dist/capacity/model/wire.js';
import { headlineOf } from '#dist/capacity/report/headline.js';
import { FLEET, requestOf } from '../../../support/capacity/fleets.js';
import { madeResults } from '../../../support/capacity/made-results.js';

test('packets: heads, acknowledgements, records of TLS', () => {
  const frame = { kind: 'stream' as const, pointsPerMessage: 1, messagesPerS: 1 };
  // 100 bytes and the acknowledgement of the answer; the answer acknowledges the frame.
  expect(wireOfStreams([frame], madeResults(), false)).toEqual({
    received: { packetsPerS: 2, bytesPerS: 100 + 2 * 66 },
    sent: { packetsPerS: 1, bytesPerS: 300 + 66 },
  });
  const { received, sent } = wireOfStreams([{ ...frame, pointsPerMessage: 4096 }], madeResults(), true);
  // 65,620 bytes are five records of 22 bytes more, in 46 packets; 82,200 are six, in 57, every second acknowledged.
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
    planFor(requestOf({}, { proxies }), madeResults()).limits.find(({ name }) => name.startsWith('ports of'));
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

test('the bus: the fleets of `npm run proof -- scale`, and how long streams last', () => {
  const at = (pointsPerS: number, replicas = 1) =>
    busOf(
      {
        ...{ pointsPerS, meanPointsPerS: pointsPerS, pointsPerMessage: 16_384, replicas, maxAgeS: 86_400 },
        ...{ coresPerMachine: 8, linkBitsPerS: 10e9 },
      },
      { bytesPerSecond: busBytesPerSecond, spare: SPARE },
    );
  const billion = at(1e9);
  // The simulation has 84 machines of three workers and two streams each.
  expect(billion).toMatchObject({ machines: 84, workers: 250, streams: 167 });
  expect(at(1e9, 3).machines).toBe(91);
  expect(at(12e6)).toMatchObject({ workers: 3, streams: 2, machines: 1 });
  expect(billion.boundBy).toBe('CPU');
  expect(at(1e9, 3).boundBy).toBe('network');
  // 10,000 points/s in answers of 20 bytes and the heads of their messages: 1 GiB for 1.5 hours, and a day by the same
  // arithmetic as that of `hexcodes worker setup`.
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
    ...{ rows: 2e9, format: 'parquet' as const, withinMs: 8 * 3_600_000, coresPerMachine: 2, headroom: 0.3 },
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
  for (const vehicles of [1, 50_000, 30_000_000])
    for (const coresPerMachine of [1, 64])
      for (const pricePerCoreHour of [undefined, 123.456])
        for (const assumeLinear of [false, true]) {
          const request = requestOf(
            { vehicles },
            { coresPerMachine, pricePerCoreHour, assumeLinear, targetP99Us: 200 },
          );
          const lines = headlineOf(planFor(request, madeResults({ isQuietEnough: false })));
          expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
          expect(lines.length).toBeGreaterThanOrEqual(6);
          expect(lines.join('\n')).not.toMatch(/NaN|undefined|null/);
        }
});
