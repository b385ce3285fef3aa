// Measurements on a machine that is not quiet (noise, repeats, the search for a knee), the simulated queue, and the
// law of scaling.

import { describe, expect, test } from 'vitest';
import { fitUsl, scalingOf, uslAt } from '#dist/capacity/model/scaling.js';
import { latenciesOfOne, percentilesOf, shareAtMost, simulateTurns } from '#dist/capacity/model/tail.js';
import { samplesOf } from '../../support/capacity/made-results.js';
import { areQuiet, QuietGuard, searchKnee } from '../../support/capacity/parts.js';
import { randomFrom } from '../../support/open-world.js';

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

  test('a late generator is distinguished from a slow server', async () => {
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

// The simulated queue: against theory, and in turns of an event loop.

// Queues of which the mean waiting time is known, to hold the simulation against.
/** Mean waiting time in M/M/1, in units of the mean service time. */
const waitMM1 = (busy: number): number => busy / (1 - busy);

/** Mean waiting time in M[x]/D/1, batches of a fixed size, in units of the service time; of 1: M/D/1. */
function waitBatchesMD1(batch: number, busy: number): number {
  return (busy * batch) / (2 * (1 - busy)) + (batch - 1) / 2;
}

/** A number of the exponential distribution. */
const exponential = (random: () => number, mean: number): number => -mean * Math.log(1 - random());

// The simulation against theory. Both sides have a mean: that of the simulation, over seeds, must lie within four
// standard errors of the true one, and its standard error must be small enough for that to say something.
describe('theory', () => {
  const SEEDS = 24;
  const REQUESTS = 100_000;

  /** Mean waiting times, in units of the service time, one for each seed. */
  function simulatedWaits(busy: number, isExponential: boolean, batch = 1): number[] {
    return Array.from({ length: SEEDS }, (_, seed) => {
      const uniform = randomFrom(100 + seed);
      const arrivals = new Float64Array(REQUESTS);
      let atUs = 0;
      for (let request = 0; request < REQUESTS; request++) {
        if (request % batch === 0) atUs += exponential(uniform, batch / busy);
        arrivals[request] = atUs;
      }
      let served = 0;
      const latenciesUs = latenciesOfOne(arrivals, 0, () => {
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

  test.each([0.5, 0.8])('M/M/1, %d busy', (busy) => {
    expectMean(simulatedWaits(busy, true), waitMM1(busy));
  });

  test.each([
    [1, 0.9],
    [10, 0.8],
    [100, 0.6],
  ])('M[%d]/D/1, %d busy', (batch, busy) => {
    expectMean(simulatedWaits(busy, false, batch), waitBatchesMD1(batch, busy));
  });

  test('percentiles and shares', () => {
    expect(percentilesOf(Float64Array.of(3, 1, 2), [50, 100])).toEqual([2, 3]);
    expect(percentilesOf(new Float64Array(0), [99])).toEqual([0]);
    expect(shareAtMost(Float64Array.of(3, 1, 2, 4), 3)).toBe(0.75);
    expect(shareAtMost(new Float64Array(0), 1)).toBe(0);
  });

  test('percentiles equal those of the sorted values, whatever the order', () => {
    const uniform = randomFrom(3);
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
});

// Turns of an event loop: what arrives during one is answered in the next, which is paid for once.
describe('turns', () => {
  const at = (...us: number[]) => Float64Array.from(us);

  test('a message alone pays for its turn; a crowd shares one', () => {
    expect([...latenciesOfOne(at(0, 100, 200), 10, () => 5)]).toEqual([15, 15, 15]);
    expect([...latenciesOfOne(at(0, 0, 0), 10, () => 5)]).toEqual([15, 20, 25]);
  });

  test('what arrives during a turn waits for its end, and pays for the next one', () => {
    // From 0 to 15, then a turn for the two, from 15.
    expect([...latenciesOfOne(at(0, 1, 14), 10, () => 5)]).toEqual([15, 29, 21]);
  });

  test('with turns a server carries more the more waits: at a load above its capacity alone the queue does not grow', () => {
    const uniform = randomFrom(4);
    const arrivals = new Float64Array(50_000);
    for (let n = 1; n < arrivals.length; n++) arrivals[n] = arrivals[n - 1]! + exponential(uniform, 12);
    // 10 of a turn and 5 of a message are 15 alone, every 12.
    const latencies = latenciesOfOne(arrivals, 10, () => 5);
    expect(Math.max(...latencies.slice(-1000))).toBeLessThan(500);
  });
});

// Several processes in turns: each as one process alone.
describe('several processes', () => {
  /** Messages with services and processes by chance, some of them at the same moment. */
  function load(count: number, processes: number) {
    const uniform = randomFrom(5);
    let atUs = 0;
    const arrivalsUs = Float64Array.from({ length: count }, () => {
      if (uniform() < 0.7) atUs += exponential(uniform, 10);
      return atUs;
    });
    const services = Float64Array.from({ length: count }, () => exponential(uniform, 5));
    const processOf = Uint16Array.from({ length: count }, () => Math.floor(processes * uniform()));
    return { arrivalsUs, services, processOf, processes };
  }

  test.each([0, 3, 40])('with turns of %d µs each process works as if it were alone', (turnUs) => {
    const { arrivalsUs, services, processOf, processes } = load(2000, 3);
    const { latenciesUs } = simulateTurns({
      ...{
        arrivalsUs,
        processOf,
        processes,
        turnUs: () => turnUs,
        serviceUs: (message) => services[message]!,
      },
    });
    for (let process = 0; process < processes; process++) {
      const mine = [...processOf.keys()].filter((message) => processOf[message] === process);
      const alone = latenciesOfOne(
        Float64Array.from(mine, (message) => arrivalsUs[message]!),
        turnUs,
        (at) => services[mine[at]!]!,
      );
      for (const [at, message] of mine.entries()) expect(latenciesUs[message]).toBeCloseTo(alone[at]!, 6);
    }
  });

  test('a crowd shares one turn, and the busiest process is counted with its turns', () => {
    const { latenciesUs, busiestShare } = simulateTurns({
      arrivalsUs: Float64Array.of(0, 0, 0, 10, 40),
      processOf: Uint16Array.of(0, 0, 1, 0, 1),
      processes: 2,
      turnUs: () => 20,
      serviceUs: () => 5,
    });
    // Process 0: a turn of two until 30, and then one for the message that came meanwhile, until 55.
    expect([...latenciesUs]).toEqual([25, 30, 25, 45, 25]);
    // Both end at 65 at the latest: 55 of process 0, 50 of process 1.
    expect(busiestShare).toBe(55 / 65);
  });

  test('nothing to simulate', () => {
    const none = { arrivalsUs: new Float64Array(0), processOf: new Uint16Array(0), processes: 1 };
    expect(simulateTurns({ ...none, turnUs: () => 1, serviceUs: () => 1 }).busiestShare).toBe(0);
  });
});

// The law of scaling: its parameters come back from points that were made with them, and nothing is said that the
// data cannot support.

const LAW = { lambda: 1, sigma: 0.04, kappa: 0.0008 };

function measured(counts: number[], noise: number, law = LAW) {
  const uniform = randomFrom(3);
  return counts.map((processes) => ({
    processes,
    speedUp: samplesOf(
      Array.from({ length: 20 }, () => uslAt(law, processes) * (1 + noise * (uniform() + uniform() - 1))),
    ),
  }));
}

test.each([LAW, { lambda: 1.1, sigma: 0.2, kappa: 0 }, { lambda: 0.9, sigma: 0, kappa: 0.01 }])(
  'the law %j comes back from its own points',
  (law) => {
    const points = [1, 2, 3, 4, 6, 8, 12, 16].map((n) => [n, uslAt(law, n)] as const);
    const fit = fitUsl(points);
    expect(fit.lambda).toBeCloseTo(law.lambda, 4);
    expect(fit.sigma).toBeCloseTo(law.sigma, 4);
    expect(fit.kappa).toBeCloseTo(law.kappa, 5);
  },
);

test('measured numbers are taken as measured, others from the interval of the fits, and the true value lies in it', () => {
  const scaling = scalingOf(measured([1, 2, 4, 6, 8], 0.02));
  expect(scaling.mostProcesses).toBe(16);
  expect(scaling.fits).toHaveLength(400);
  for (const n of [3, 12, 16]) {
    const { low, high } = scaling.speedUp(n);
    expect(low).toBeLessThan(uslAt(LAW, n));
    expect(high).toBeGreaterThan(uslAt(LAW, n));
  }
});

test('two numbers of processes support no law', () => {
  const scaling = scalingOf(measured([1, 2], 0.02));
  expect(scaling.fits).toEqual([]);
  expect(scaling.mostProcesses).toBe(2);
  expect(scaling.remark).toContain('too few for a law');
});

test('without any measurement a machine has one process', () => {
  const { mostProcesses, speedUp } = scalingOf([]);
  expect([mostProcesses, speedUp(1)]).toEqual([1, { low: 1, high: 1 }]);
});

test('a number between measured ones adds between nothing and itself, where no law is known', () => {
  const speedUps = [1, 4].map((processes) => ({ processes, speedUp: samplesOf([processes]) }));
  expect(scalingOf(speedUps).speedUp(3)).toEqual({ low: 1, high: 3 });
});
