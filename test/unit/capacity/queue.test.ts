// The simulated queue: against theory, and in turns of an event loop.
import { describe, expect, test } from 'vitest';
import { latenciesOfOne, percentilesOf, shareAtMost, simulateTurns } from '#dist/capacity/model/tail.js';
import { randomFrom } from '../../support/open-world.js';

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

  test('percentiles are those of the sorted values, whatever their order', () => {
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
