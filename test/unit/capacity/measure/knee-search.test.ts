// The search for the highest rate that holds a latency target, against servers of which it is known.
import { expect, test } from 'vitest';
import { searchKnee } from '#dist/capacity/measure/knee-search.js';
import type { RatePoint } from '#dist/capacity/measure/results.js';

const GOOD: RatePoint = {
  ...{ ratePerS: 0, answeredPerS: 1, costUs: null, p50Us: 1, p90Us: 1, p99Us: 1, p999Us: 1, naiveP99Us: 1 },
  ...{ skippedShare: 0, refusedShare: 0, lateShare: 0 },
};
const SEARCH = { targetP99Us: 50_000, bisections: 12, repeats: 3 };

/** Holds up to a rate; beyond it fails as `bad` says. */
function server(knee: number, bad: Partial<RatePoint> = { p99Us: 60_000 }) {
  const rates: number[] = [];
  return {
    rates,
    measure: async (ratePerS: number): Promise<RatePoint> => {
      rates.push(ratePerS);
      return { ...GOOD, ratePerS, answeredPerS: ratePerS, ...(ratePerS > knee ? bad : {}) };
    },
  };
}

test.each([100, 777, 5000, 123_456])('a knee of %d is found from below', async (knee) => {
  const { measure } = server(knee);
  const found = await searchKnee({ ...SEARCH, startPerS: 100, measure });
  expect(found.ratePerS).toBeLessThanOrEqual(knee);
  // The last doubling lies between knee and twice the knee; twelve halvings of it are left.
  expect(knee - found.ratePerS).toBeLessThanOrEqual(knee / 2 ** 12);
  expect(found).toMatchObject({ isConfirmed: true, isGeneratorLimit: false });
});

test('a start beyond the knee is lowered', async () => {
  const { measure, rates } = server(300);
  const found = await searchKnee({ ...SEARCH, startPerS: 10_000, measure });
  expect(rates.slice(0, 4)).toEqual([10_000, 10_000, 2500, 2500]);
  expect(found.ratePerS).toBeGreaterThan(299);
  expect(found.ratePerS).toBeLessThanOrEqual(300);
});

test.each([{ skippedShare: 0.01 }, { refusedShare: 0.01 }])('lost requests fail a rate: %j', async (bad) => {
  const { measure } = server(1000, bad);
  const found = await searchKnee({ ...SEARCH, startPerS: 300, measure });
  expect(found.ratePerS).toBeLessThanOrEqual(1000);
  expect(found.isGeneratorLimit).toBe(false);
});

test('a late generator is told from a slow server', async () => {
  const { measure } = server(1000, { lateShare: 0.02, p99Us: 60_000 });
  const found = await searchKnee({ ...SEARCH, startPerS: 300, measure });
  expect(found.ratePerS).toBeLessThanOrEqual(1000);
  expect(found.isGeneratorLimit).toBe(true);
});

test('a rate that holds with late starts holds', async () => {
  const late = async (ratePerS: number): Promise<RatePoint> => ({
    ...{ ...GOOD, ratePerS, answeredPerS: ratePerS, lateShare: 0.05 },
    p99Us: ratePerS > 1000 ? 60_000 : 1,
  });
  const found = await searchKnee({ ...SEARCH, startPerS: 300, measure: late });
  expect(found.ratePerS).toBeGreaterThan(999);
  expect(found).toMatchObject({ isConfirmed: true, isGeneratorLimit: true });
});

test('a rate that fails once is measured again', async () => {
  const seen = new Set<number>();
  const pausing = async (ratePerS: number): Promise<RatePoint> => {
    const isFirst = !seen.has(ratePerS);
    seen.add(ratePerS);
    const isOver = ratePerS > 1000;
    return { ...GOOD, ratePerS, answeredPerS: ratePerS, p99Us: isOver || isFirst ? 60_000 : 1 };
  };
  const found = await searchKnee({ ...SEARCH, startPerS: 300, measure: pausing });
  expect(found.ratePerS).toBeGreaterThan(999);
  expect(found.isConfirmed).toBe(true);
});

test('a server that never holds has no knee', async () => {
  const { measure } = server(0);
  expect(await searchKnee({ ...SEARCH, startPerS: 300, measure })).toMatchObject({
    ratePerS: 0,
    isConfirmed: false,
  });
});

test('a rate that repeats do not hold is lowered until they do', async () => {
  let calls = 0;
  // Held once in the search, by luck, and never again.
  const measure = async (ratePerS: number): Promise<RatePoint> => {
    calls++;
    const holds = ratePerS <= 850 || (ratePerS <= 1000 && calls < 3);
    return { ...GOOD, ratePerS, answeredPerS: ratePerS, p99Us: holds ? 1 : 60_000 };
  };
  const found = await searchKnee({ ...SEARCH, bisections: 0, startPerS: 1000, measure });
  expect(found.ratePerS).toBeCloseTo(810, 6);
  expect(found.isConfirmed).toBe(true);
});
