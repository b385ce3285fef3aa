// The simulated fleet: every frame is stored once for any plan in which workers and servers die and come back; it moves
// what a worker and a server can by arithmetic. The large twin is `npm run proof -- scale`.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventQueue } from '../../support/engine/event-queue.js';
import type { FleetPlan } from '../../support/engine/fleet-plan.js';
import { simulateFleet } from '../../support/engine/simulated-fleet.js';

const PLAN: FleetPlan = {
  ...{ streams: 1, workers: 1, pointsPerFrame: 1000, pointsPerSecond: 100_000, lengthS: 10, workerS: 0.002 },
  ...{ serverS: { take: 0.0005, handOut: 0.0005, store: 0.0005 }, networkS: 0.0002, window: 32 },
  ...{ maxAckPending: 4096, ackWaitS: 2, workerRestartS: 0.5, serverRestartS: 1, seed: 1 },
  ...{ workerLifeS: Number.POSITIVE_INFINITY, serverLifeS: Number.POSITIVE_INFINITY },
};

test('events happen in the order of their times, and of their making where these are equal', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (times) => {
      const events = new EventQueue();
      const happened: [number, number][] = [];
      for (const [i, time] of times.entries()) events.at(time, () => happened.push([time, i]));
      while (events.next());
      expect(happened).toEqual(
        times.map((time, i): [number, number] => [time, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]),
      );
    }),
  );
});

test('in peace nothing is delivered twice, and all arrives', () => {
  const result = simulateFleet(PLAN);
  expect(result).toMatchObject({ frames: 1000, lost: 0, redelivered: 0, refused: 0 });
});

test('beyond what its core can do, a worker stores what its core can do; and so does a server', () => {
  const busy = simulateFleet({ ...PLAN, isBacklog: true });
  // 1,000 points in 2 ms, the first and the last a little later.
  expect(busy.pointsPerSecond).toBeGreaterThan(490_000);
  expect(busy.pointsPerSecond).toBeLessThanOrEqual(500_000);
  const many = simulateFleet({ ...PLAN, workers: 20, isBacklog: true });
  // And 1 ms of the server for each.
  expect(many.pointsPerSecond).toBeGreaterThan(980_000);
  expect(many.pointsPerSecond).toBeLessThan(1_000_001);
});

test('every frame is stored once, whoever dies', () => {
  fc.assert(
    fc.property(
      fc.record({
        streams: fc.integer({ min: 1, max: 3 }),
        workers: fc.integer({ min: 3, max: 9 }),
        workerLifeS: fc.double({ min: 0.5, max: 20, noNaN: true }),
        serverLifeS: fc.double({ min: 2, max: 20, noNaN: true }),
        maxAckPending: fc.integer({ min: 1, max: 100 }),
        window: fc.integer({ min: 1, max: 40 }),
        seed: fc.integer({ min: 1 }),
      }),
      (some) => {
        const { frames, lost, p50S } = simulateFleet({
          ...PLAN,
          ...some,
          pointsPerSecond: 50_000,
          lengthS: 4,
        });
        expect([lost, frames]).toEqual([0, 200]);
        expect(p50S).toBeGreaterThan(0);
      },
    ),
    { numRuns: 60 },
  );
});

test('deaths are seen: messages are delivered again, and second answers refused', () => {
  const result = simulateFleet({
    ...PLAN,
    workers: 3,
    workerLifeS: 0.3,
    workerRestartS: 0.05,
    pointsPerSecond: 800_000,
  });
  expect(result.lost).toBe(0);
  expect(result.redelivered).toBeGreaterThan(10);
  expect(result.refused).toBeGreaterThan(0);
});
