// The simulated queue: against theory, and in turns of an event loop.
import { describe, expect, test } from 'vitest';
import {
  percentilesOf,
  shareAtMost,
  simulateShared,
  simulateSplitTurns,
  simulateTurns,
} from '#dist/capacity/simulate/queue.js';
import { randomFrom } from '../../support/open-world.js';

// Queues of which the mean waiting time is known, to hold the simulation against.
/** Erlang's C: the probability of waiting in M/M/c. @param load λ ÷ μ */
function erlangC(servers: number, load: number): number {
  let blocked = 1;
  for (let n = 1; n <= servers; n++) blocked = (load * blocked) / (n + load * blocked);
  const busy = load / servers;
  return blocked / (1 - busy + busy * blocked);
}

/** Mean waiting time in M/M/c, in units of the mean service time. @param busy λ ÷ cμ */
function waitMMc(servers: number, busy: number): number {
  return erlangC(servers, servers * busy) / (servers * (1 - busy));
}

/**
 * Mean waiting time in M/D/c, in units of the service time: the number of requests in the system, looked at every
 * service time, is a Markov chain (Crommelin 1932), iterated here until it does not change.
 */
function waitMDc(servers: number, busy: number): number {
  const load = servers * busy;
  const states = 60 * servers + Math.ceil(40 / (1 - busy));
  const arrivals = new Float64Array(states);
  arrivals[0] = Math.exp(-load);
  for (let n = 1; n < states; n++) arrivals[n] = (arrivals[n - 1]! * load) / n;
  let chances = new Float64Array(states);
  chances[0] = 1;
  for (let change = 1; change > 1e-11; ) {
    const next = new Float64Array(states);
    for (let from = 0; from < states; from++) {
      const left = Math.max(0, from - servers);
      if (chances[from]! < 1e-16) continue;
      for (let came = 0; left + came < states && arrivals[came]! > 1e-18; came++)
        next[left + came]! += chances[from]! * arrivals[came]!;
    }
    change = next.reduce((most, value, at) => Math.max(most, Math.abs(value - chances[at]!)), 0);
    chances = next;
  }
  let waiting = 0;
  for (let n = servers + 1; n < states; n++) waiting += (n - servers) * chances[n]!;
  return waiting / load;
}

/** Mean waiting time in M[x]/D/1, batches of a fixed size, in units of the service time. */
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
  function simulatedWaits(servers: number, busy: number, isExponential: boolean, batch = 1): number[] {
    return Array.from({ length: SEEDS }, (_, seed) => {
      const uniform = randomFrom(100 + seed);
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
    [1, 0.8],
    [4, 0.7],
    [8, 0.9],
  ])('M/M/%d, %d busy', (servers, busy) => {
    expectMean(simulatedWaits(servers, busy, true), waitMMc(servers, busy));
  });

  test.each([
    [1, 0.9],
    [4, 0.9],
  ])('M/D/%d, %d busy', (servers, busy) => {
    expectMean(simulatedWaits(servers, busy, false), waitMDc(servers, busy));
  });

  test.each([
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
    expect([...simulateTurns(at(0, 100, 200), 10, () => 5)]).toEqual([15, 15, 15]);
    expect([...simulateTurns(at(0, 0, 0), 10, () => 5)]).toEqual([15, 20, 25]);
  });

  test('what arrives during a turn waits for its end, and pays for the next one', () => {
    // From 0 to 15, then a turn for the two, from 15.
    expect([...simulateTurns(at(0, 1, 14), 10, () => 5)]).toEqual([15, 29, 21]);
  });

  test('where turns cost nothing it is a queue in the order of arrival', () => {
    const uniform = randomFrom(3);
    const arrivals = new Float64Array(5000);
    for (let n = 1; n < arrivals.length; n++) arrivals[n] = arrivals[n - 1]! + exponential(uniform, 10);
    const services = Array.from(arrivals, () => exponential(uniform, 8));
    const queue = simulateShared(arrivals, 1, (request) => services[request]!).latenciesUs;
    const turns = simulateTurns(arrivals, 0, (message) => services[message]!);
    for (const [n, us] of turns.entries()) expect(us).toBeCloseTo(queue[n]!, 6);
  });

  test('with turns a server carries more the more waits: at a load above its capacity alone the queue does not grow', () => {
    const uniform = randomFrom(4);
    const arrivals = new Float64Array(50_000);
    for (let n = 1; n < arrivals.length; n++) arrivals[n] = arrivals[n - 1]! + exponential(uniform, 12);
    // 10 of a turn and 5 of a message are 15 alone, every 12.
    const latencies = simulateTurns(arrivals, 10, () => 5);
    expect(Math.max(...latencies.slice(-1000))).toBeLessThan(500);
  });
});

// Several processes in turns: each as one process alone, and a queue where a turn takes nothing.
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
    const { latenciesUs } = simulateSplitTurns({
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
      const alone = simulateTurns(
        Float64Array.from(mine, (message) => arrivalsUs[message]!),
        turnUs,
        (at) => services[mine[at]!]!,
      );
      for (const [at, message] of mine.entries()) expect(latenciesUs[message]).toBeCloseTo(alone[at]!, 6);
    }
  });

  test('turns that take nothing are a queue in the order of arrival', () => {
    const { arrivalsUs, services, processOf } = load(2000, 1);
    const serviceUs = (message: number): number => services[message]!;
    const { latenciesUs, busiestShare } = simulateSplitTurns({
      ...{ arrivalsUs, processOf, processes: 1, turnUs: () => 0, serviceUs },
    });
    const queue = simulateShared(arrivalsUs, 1, serviceUs);
    for (const [at, us] of queue.latenciesUs.entries()) expect(latenciesUs[at]).toBeCloseTo(us, 6);
    expect(busiestShare).toBeCloseTo(queue.busyShare, 9);
  });

  test('a crowd shares one turn, and the busiest process is counted with its turns', () => {
    const { latenciesUs, busiestShare } = simulateSplitTurns({
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
    expect(simulateSplitTurns({ ...none, turnUs: () => 1, serviceUs: () => 1 }).busiestShare).toBe(0);
  });
});
