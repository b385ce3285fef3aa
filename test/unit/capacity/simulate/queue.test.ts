// The simulation against theory. Both sides have a mean: that of the simulation, over seeds, must lie within four
// standard errors of the true one, and its standard error must be small enough for that to say something.
import { expect, test } from 'vitest';
import { exponential, uniformFrom } from '#dist/capacity/generator/random.js';
import { percentilesOf, shareAtMost, simulateShared } from '#dist/capacity/simulate/queue.js';
import { waitBatchesMD1, waitMDc, waitMMc } from '../../../support/capacity/queue-theory.js';

const SEEDS = 24;
const REQUESTS = 100_000;

/** Mean waiting times, in units of the service time, one for each seed. */
function simulatedWaits(servers: number, busy: number, isExponential: boolean, batch = 1): number[] {
  return Array.from({ length: SEEDS }, (_, seed) => {
    const uniform = uniformFrom(100 + seed);
    const arrivals = new Float64Array(REQUESTS);
    let atUs = 0;
    for (let request = 0; request < REQUESTS; request++) {
      if (request % batch === 0) atUs += exponential(uniform, batch / (busy * servers));
      arrivals[request] = atUs;
    }
    let served = 0;
    const { latenciesUs } = simulateShared(arrivals, servers, () => {
      const service = isExponential ? exponential(uniform, 1) : 1;
      served += service;
      return service;
    });
    return (latenciesUs.reduce((sum, value) => sum + value, 0) - served) / REQUESTS;
  });
}

function expectMean(values: readonly number[], truth: number): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1),
  );
  const error = deviation / Math.sqrt(values.length);
  expect(Math.abs(mean - truth), `${mean} ± ${error}, true ${truth}`).toBeLessThan(4 * error + 1e-9);
  expect(error / truth).toBeLessThan(0.025);
}

test('the theory agrees with itself where two formulas hold', () => {
  // M/M/1 waits ρ ÷ (1 - ρ), M/D/1 half of that.
  expect(waitMMc(1, 0.8)).toBeCloseTo(4, 9);
  expect(waitMDc(1, 0.8)).toBeCloseTo(2, 6);
  expect(waitBatchesMD1(1, 0.8)).toBeCloseTo(2, 9);
  // Erlang C of two servers with a load of 1: a third.
  expect(waitMMc(2, 0.5)).toBeCloseTo(1 / 3, 9);
});

test.each([
  [1, 0.5],
  [1, 0.8],
  [2, 0.8],
  [4, 0.7],
  [8, 0.9],
])('M/M/%d, %d busy', (servers, busy) => {
  expectMean(simulatedWaits(servers, busy, true), waitMMc(servers, busy));
});

test.each([
  [1, 0.5],
  [1, 0.9],
  [2, 0.8],
  [4, 0.9],
])('M/D/%d, %d busy', (servers, busy) => {
  expectMean(simulatedWaits(servers, busy, false), waitMDc(servers, busy));
});

test.each([
  [10, 0.5],
  [10, 0.8],
  [100, 0.6],
])('M[%d]/D/1, %d busy', (batch, busy) => {
  expectMean(simulatedWaits(1, busy, false, batch), waitBatchesMD1(batch, busy));
});

test('busy time and percentiles', () => {
  const { latenciesUs, busyShare } = simulateShared(Float64Array.of(0, 0, 10, 20), 1, () => 5);
  expect([...latenciesUs]).toEqual([5, 10, 5, 5]);
  expect(busyShare).toBe(20 / 25);
  expect(percentilesOf(Float64Array.of(3, 1, 2), [50, 100])).toEqual([2, 3]);
  expect(percentilesOf(new Float64Array(0), [99])).toEqual([0]);
  expect(shareAtMost(Float64Array.of(3, 1, 2, 4), 3)).toBe(0.75);
  expect(shareAtMost(new Float64Array(0), 1)).toBe(0);
});

test('percentiles are those of the sorted values, whatever their order', () => {
  const uniform = uniformFrom(3);
  const orders: ((at: number) => number)[] = [
    (at) => at,
    (at) => -at,
    (at) => at % 7,
    () => 4,
    (at) => (at < 500 ? at : 1000 - at),
    () => uniform(),
  ];
  for (const order of orders) {
    const values = Float64Array.from({ length: 1001 }, (_, at) => order(at));
    const sorted = values.slice().sort();
    const percentiles = [100, 0, 50, 99, 1, 99.95];
    expect(percentilesOf(values, percentiles)).toEqual(
      percentiles.map((each) => sorted[Math.max(0, Math.ceil((each / 100) * 1001) - 1)]),
    );
  }
});
