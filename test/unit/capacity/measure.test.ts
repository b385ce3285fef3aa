// Measurements on a machine that is not quiet: noise, repeats, and the search for a knee.
import { describe, expect, test } from 'vitest';
import { QuietGuard } from '#dist/capacity/measure/gauge.js';
import { searchKnee } from '#dist/capacity/measure/knee-search.js';
import { areQuiet } from '#dist/capacity/processes/machine.js';

type RatePoint = Awaited<ReturnType<Parameters<typeof searchKnee>[0]['measure']>>;

// The search for the highest rate that holds a latency target, against servers of which it is known.
describe('the search for a knee', () => {
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

  test.each([{ skippedShare: 0.01 }, { refusedShare: 0.01 }])(
    'lost requests fail a rate: %j',
    async (bad) => {
      const { measure } = server(1000, bad);
      const found = await searchKnee({ ...SEARCH, startPerS: 300, measure });
      expect(found.ratePerS).toBeLessThanOrEqual(1000);
      expect(found.isGeneratorLimit).toBe(false);
    },
  );

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
});

// Measurements that the machine disturbed are repeated: cores given to others, or a slower core.
describe('repeats', () => {
  interface Machine {
    /** Time of all repeats; a measurement takes 100 ms. */
    readonly againMs: number;
    /** Share of each measurement's time that was given to others, and the time of the work after it. */
    readonly all: readonly (readonly [stealShare: number, workUs: number])[];
    readonly runs?: number;
  }

  /** @returns which of the measurements counted */
  async function counted({ againMs, all, runs = 1 }: Machine) {
    let at = 0;
    const core = { workUs: () => Promise.resolve(all[Math.max(0, at - 1)]![1]) };
    const guard = new QuietGuard(
      againMs,
      core,
      () => () => all[at - 1]![0],
      () => Promise.resolve(),
    );
    const taken: number[] = [];
    for (let run = 0; run < runs; run++) taken.push(await guard.run(100, () => Promise.resolve(at++)));
    return { taken, worst: guard.worst, measured: at };
  }

  test('a quiet measurement counts at once', async () => {
    expect(await counted({ againMs: 1000, all: [[0.004, 90]] })).toEqual({
      ...{ taken: [0], measured: 1 },
      worst: { stealShare: 0.004, slowness: 1 },
    });
  });

  test('one whose cores were given to others is repeated until one is quiet', async () => {
    const all = [0.2, 0.1, 0.001, 0].map((share) => [share, 90] as const);
    expect(await counted({ againMs: 1000, all })).toMatchObject({
      ...{ taken: [2], measured: 3 },
      worst: { stealShare: 0.001 },
    });
  });

  // The core's usual speed is the median of 21 looks; then its speed at each look, before and after each measurement.
  test.each([
    [
      'is repeated until before and behind it the core is as usual',
      1000,
      [160, 40, 92, 160, 92, 91],
      2,
      2,
      92 / 90,
    ],
    ['is put off for as long as there is time, then begins', 550, [160, 160, 160, 160], 1, 2, 160 / 90],
    ['begins at once where there is no time', 0, [160, 160], 1, 0, 160 / 90],
    ['on a faster core begins at once where there is no time', 0, [45, 45], 1, 0, 90 / 45],
  ])('one on a core of another speed %s', async (_, againMs, behind, measured, pauses, slowness) => {
    const looks = [...Array.from({ length: 21 }, (_, n) => 50 + 4 * n), 90, 90, ...behind];
    const asked = { measured: 0, pauses: 0 };
    const core = { workUs: () => Promise.resolve(looks.shift()!) };
    const pause = () => Promise.resolve(asked.pauses++);
    const guard = new QuietGuard(againMs, core, () => () => 0, pause);
    await guard.run(100, () => Promise.resolve());
    asked.pauses = 0;
    await guard.run(100, () => Promise.resolve(asked.measured++));
    expect({ ...asked, looks }).toEqual({ measured, pauses, looks: [] });
    expect(guard.worst.slowness).toBeCloseTo(slowness);
  });

  test('where the time for repeats has run out, the least disturbed one counts; all measurements share that time', async () => {
    const all = [0.2, 0.05, 0.3, 0.1, 0].map((share) => [share, 90] as const);
    expect(await counted({ againMs: 250, all, runs: 2 })).toMatchObject({
      ...{ taken: [1, 3], measured: 4 },
      worst: { stealShare: 0.1 },
    });
  });

  test.each([
    [9, 0.2],
    [10, 0.001],
    [19, 0.2],
    [20, 0.001],
  ])('at most a tenth of %i measurements may be disturbed: %d', async (runs, stealShare) => {
    const all = Array.from({ length: runs }, (_, n) => [n < Math.ceil(runs / 10) ? 0.2 : 0.001, 90] as const);
    expect(await counted({ againMs: 0, all, runs })).toMatchObject({ measured: runs, worst: { stealShare } });
  });

  test('without a core to ask, only what was given to others counts', async () => {
    const guard = new QuietGuard(0, undefined, () => () => 0);
    expect(await guard.run(100, () => Promise.resolve('x'))).toBe('x');
    expect(guard.worst).toEqual({ stealShare: 0, slowness: 1 });
  });
});

test('a run is noisy where a thread woke late, or what counts was measured on a slow core or on one that others had', () => {
  const QUIET = { p50Us: 1060, p99Us: 1100, maxUs: 1500, stealShare: 0, workUs: 100 };
  expect(areQuiet([QUIET, { ...QUIET, workUs: 120 }], { stealShare: 0.004, slowness: 1.2 })).toBe(true);
  expect(areQuiet([QUIET, { ...QUIET, p99Us: 2500 }], { stealShare: 0, slowness: 1 })).toBe(false);
  expect(areQuiet([QUIET, QUIET], { stealShare: 0.006, slowness: 1 })).toBe(false);
  expect(areQuiet([QUIET, QUIET], { stealShare: 0, slowness: 1.3 })).toBe(false);
});
