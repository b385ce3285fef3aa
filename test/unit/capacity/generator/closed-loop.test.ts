// The closed loop in simulated time: rates and service times of a server that takes a known time for each request.
import { expect, test } from 'vitest';
import { runClosedLoop } from '#dist/capacity/generator/closed-loop.js';
import { VirtualClock, VirtualPeer } from '../../../support/capacity/virtual-time.js';

const TIMES = { warmUpMs: 100, durationMs: 1000, sliceMs: 250 };

function run(answerTime: (arrivalMs: number) => number, cpuUs: () => number | null = () => null) {
  const clock = new VirtualClock();
  const peers = [1, 2, 3, 4].map(() => new VirtualPeer(clock, answerTime, 2));
  return clock.run(runClosedLoop({ peers, exchanges: 1, sampleEvery: 0 }, TIMES, clock, cpuUs));
}

/** A queue with one server. */
function queue(serviceMs: (count: number) => number): (arrivalMs: number) => number {
  let [freeMs, count] = [0, 0];
  return (arrivalMs) => {
    freeMs = Math.max(arrivalMs, freeMs) + serviceMs(count++);
    return freeMs;
  };
}

test('a server of 2 ms a request answers 500 a second, in slices', async () => {
  let cpuUs = 0;
  const { slices, services } = await run(
    queue(() => 2),
    () => (cpuUs += 7),
  );
  expect(slices).toHaveLength(4);
  for (const { ms, answered, cpuUs } of slices) {
    expect(ms).toBeCloseTo(250, 1);
    expect(Math.abs(answered - 125)).toBeLessThanOrEqual(1);
    expect(cpuUs).toBe(7);
  }
  expect(services.atUs(50)).toBeGreaterThan(1990);
  expect(services.atUs(99)).toBeLessThan(2025);
});

test('a pause is one long service, and the sum of all services is the time that passed', async () => {
  // Every hundredth request meets a pause of 50 ms. Ends of answers 1 ms apart.
  const { slices, services } = await run(queue((count) => (count % 100 === 99 ? 51 : 1)));
  const { meanUs, maxUs, p50Us, count } = services.percentiles();
  expect(maxUs).toBeGreaterThan(50_000);
  expect(p50Us).toBeLessThan(1100);
  const totalMs = slices.reduce((sum, { ms }) => sum + ms, 0);
  expect(Math.abs((meanUs * count) / 1000 - totalMs)).toBeLessThan(60);
});

test('answers that come together share their time', async () => {
  // Answers leave every 4 ms, all that have come meanwhile.
  const { services } = await run((arrivalMs) => 4 * (Math.floor(arrivalMs / 4) + 1));
  expect(services.atUs(50)).toBeGreaterThan(400);
  expect(services.atUs(50)).toBeLessThan(600);
});
