// The load generator in simulated time: when requests should start, and what the open and the closed loop measure of
// servers that are known.
import { describe, expect, test } from 'vitest';
import { type OpenFigures, runClosedLoop, runOpenLoop, Schedule } from '#dist/capacity/generator/loops.js';
import { randomFrom } from '../../support/open-world.js';

type Peer = Parameters<typeof runOpenLoop>[0][number]['peers'][number];
type Answered = Parameters<Peer['onAnswer']>;
type Latencies = OpenFigures['intended'];

// Simulated time for the loops of the generator: a clock whose turns take ten microseconds, and peers whose answers are
// due at times that a function gives. The figures of a loop can then be held against the exact truth.
const TURN_MS = 0.01;

class VirtualClock {
  #nowMs = 0;
  #turns: (() => void)[] = [];
  #events: { atMs: number; run: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  nextTurn(callback: () => void): void {
    this.#turns.push(callback);
  }

  at(atMs: number, run: () => void): void {
    let index = this.#events.length;
    while (index > 0 && this.#events[index - 1]!.atMs > atMs) index--;
    this.#events.splice(index, 0, { atMs, run });
  }

  /** As a process that is kept from running. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }

  /** Goes on until the promise is settled. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    work.then(settle, settle);
    for (let turns = 0; !isSettled; turns++) {
      this.#nowMs += TURN_MS;
      while ((this.#events[0]?.atMs ?? Number.POSITIVE_INFINITY) <= this.#nowMs) this.#events.shift()!.run();
      for (const turn of this.#turns.splice(0)) turn();
      if (turns % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return work;
  }
}

class VirtualPeer implements Peer {
  unanswered = 0;
  answers = 0;
  readonly sentBytes = 0;
  readonly receivedBytes = 0;
  onAnswer: (...answered: Answered) => void = () => {};
  onFault: (reason: string) => void = () => {};

  /** @param answerTime when a request that arrives at a time is answered; undefined: never */
  constructor(
    private readonly clock: VirtualClock,
    private readonly answerTime: (arrivalMs: number) => number | undefined,
    readonly maxUnanswered = Number.POSITIVE_INFINITY,
    private readonly outcome: Answered[1] = 'ok',
  ) {}

  send(sent: Answered[0]): void {
    this.unanswered++;
    const dueMs = this.answerTime(this.clock.nowMs());
    if (dueMs === undefined) return;
    this.clock.at(dueMs, () => {
      this.unanswered--;
      this.answers++;
      this.onAnswer(sent, this.outcome);
    });
  }

  close(): void {}
}

// When requests should start.
describe('arrivals', () => {
  function times(schedule: Schedule, count: number): number[] {
    return Array.from({ length: count }, () => {
      const { nextMs } = schedule;
      schedule.take();
      return nextMs;
    });
  }

  test('a constant rate has even gaps', () => {
    expect(times(new Schedule('constant', 250, randomFrom(1)), 4)).toEqual([4, 8, 12, 16]);
  });

  test('a Poisson process is the same for the same seed, and another for another', () => {
    const of = (seed: number) => times(new Schedule('poisson', 1000, randomFrom(seed)), 50);
    expect(of(7)).toEqual(of(7));
    expect(of(7)).not.toEqual(of(8));
  });

  test('gaps of a Poisson process have the distribution of its rate', () => {
    const at = times(new Schedule('poisson', 1000, randomFrom(5)), 100_000);
    const gaps = at.map((ms, i) => ms - (at[i - 1] ?? 0));
    const share = (limitMs: number) => gaps.filter((ms) => ms > limitMs).length / gaps.length;
    // Four standard deviations of a share of 100,000 draws are at most 0.0064.
    for (const limitMs of [0.1, 0.7, 1, 2])
      expect(Math.abs(share(limitMs) - Math.exp(-limitMs))).toBeLessThan(0.0064);
  });

  test('a rate has to be above 0', () => {
    expect(() => new Schedule('constant', 0, randomFrom(1))).toThrow(RangeError);
  });
});

// The closed loop in simulated time: rates and service times of a server that takes a known time for each request.
describe('the closed loop', () => {
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
});

// The open loop in simulated time, against servers whose latencies are known: the percentiles are the true ones,
// where a closed loop against the same server is wrong. On real sockets: test/e2e/capacity/bench.
describe('the open loop', () => {
  const TIMES = { warmUpMs: 0, durationMs: 10_000, drainMs: 1000 };

  async function load(
    answerTime: (arrivalMs: number) => number,
    { times = TIMES, ratePerS = 500, maxUnanswered = 10_000 } = {},
  ): Promise<OpenFigures> {
    const clock = new VirtualClock();
    const peer = new VirtualPeer(clock, answerTime, maxUnanswered);
    const schedule = new Schedule('constant', ratePerS, randomFrom(1));
    const running = runOpenLoop([{ peers: [peer], schedule, exchanges: 1, sampleEvery: 0 }], times, clock);
    const [figures] = await clock.run(running);
    return figures!;
  }

  const delayed = (delayMs: number) => (arrivalMs: number) => arrivalMs + delayMs;
  /** Answers at once, but for the first 200 ms of every 2 s. */
  const stall = (arrivalMs: number): number => arrivalMs + Math.max(0, 200 - (arrivalMs % 2000));

  /** The histogram keeps three digits, and a turn of the clock takes 10 µs. */
  function expectAt(latencies: Latencies, percentile: number, trueMs: number): void {
    const reportedMs = latencies.atUs(percentile) / 1000;
    expect(reportedMs).toBeGreaterThanOrEqual(trueMs);
    expect(reportedMs - trueMs).toBeLessThan(trueMs / 1000 + 0.021);
  }

  test('a fixed delay is reported at every percentile', async () => {
    const { due, answered, late, skipped, intended } = await load(delayed(50));
    expect({ due, answered, late, skipped }).toEqual({ due: 5000, answered: 5000, late: 0, skipped: 0 });
    for (const percentile of [50, 99, 99.9]) expectAt(intended, percentile, 50);
  });

  test('a stall of 200 ms every 2 s has its true p99, 180 ms', async () => {
    const { intended } = await load(stall);
    // One request in ten meets the stall, at any moment of it: the slowest hundredth waits 180 to 200 ms. Arrivals
    // are 2 ms apart.
    expect(intended.atUs(99) / 1000).toBeGreaterThan(178);
    expect(intended.atUs(99) / 1000).toBeLessThan(182);
  });

  test('the naive latency of a late start leaves the delay out, the intended one has it', async () => {
    const clock = new VirtualClock();
    const peer = new VirtualPeer(clock, (arrivalMs) => arrivalMs + 1);
    const schedule = new Schedule('constant', 100, randomFrom(1));
    const running = runOpenLoop(
      [{ peers: [peer], schedule, exchanges: 1, sampleEvery: 0 }],
      { ...TIMES, durationMs: 1000 },
      clock,
    );
    clock.at(500, () => clock.jump(100));
    const [{ late, intended, naive }] = (await clock.run(running)) as [OpenFigures];
    expect(late).toBe(10);
    expect(intended.percentiles().maxUs).toBeGreaterThan(90_000);
    expect(naive.percentiles().maxUs).toBeLessThan(1100);
  });

  test('requests beyond what may be under way wait, and the wait is in their latency', async () => {
    const { due, answered, skipped, late, intended, naive } = await load(stall, { maxUnanswered: 10 });
    // No start is late by the fault of the generator: in a stall ten are under way and the others wait for an answer.
    expect({ answered, skipped, late }).toEqual({ answered: due, skipped: 0, late: 0 });
    expect(intended.atUs(99) / 1000).toBeGreaterThan(178);
    expect(intended.atUs(99) / 1000).toBeLessThan(182);
    expect(naive.atUs(98)).toBeLessThan(1000);
  });

  test('requests that waited for a second are skipped and counted', async () => {
    const { due, answered, unanswered, skipped } = await load(delayed(100), { maxUnanswered: 10 });
    // Ten at a time of 100 ms each are 100 a second, of 500 that are due.
    expect(due).toBe(5000);
    expect(answered + unanswered + skipped).toBe(5000);
    expect(answered).toBeLessThanOrEqual(1120);
    expect(answered).toBeGreaterThan(1000);
  });

  test('requests that still wait when the run ends are skipped', async () => {
    const { due, answered, unanswered, skipped } = await load(delayed(400), {
      maxUnanswered: 10,
      times: { warmUpMs: 0, durationMs: 1000, drainMs: 100 },
    });
    expect(due).toBe(500);
    expect(answered + unanswered + skipped).toBe(500);
    expect(skipped).toBeGreaterThan(450);
  });

  test('requests of the warm-up are in no figure', async () => {
    const { due, intended } = await load(delayed(5), {
      times: { warmUpMs: 2000, durationMs: 1000, drainMs: 100 },
    });
    expect(due).toBe(501);
    expect(intended.count).toBe(501);
  });

  test('requests without an answer are counted, with the latency that they have reached', async () => {
    const clock = new VirtualClock();
    const peer = new VirtualPeer(clock, () => undefined);
    const schedule = new Schedule('constant', 100, randomFrom(1));
    const running = runOpenLoop(
      [{ peers: [peer], schedule, exchanges: 1, sampleEvery: 0 }],
      { warmUpMs: 0, durationMs: 100, drainMs: 400 },
      clock,
    );
    const [{ unanswered, intended }] = (await clock.run(running)) as [OpenFigures];
    expect(unanswered).toBe(10);
    expect(intended.atUs(0)).toBeGreaterThan(390_000);
  });

  test('refusals are not answers, and keep their latency', async () => {
    const clock = new VirtualClock();
    const peer = new VirtualPeer(clock, (arrivalMs) => arrivalMs + 3, 100, 'refused');
    const schedule = new Schedule('poisson', 100, randomFrom(3));
    const running = runOpenLoop([{ peers: [peer], schedule, exchanges: 1, sampleEvery: 0 }], TIMES, clock);
    const [{ due, answered, refused, intended }] = (await clock.run(running)) as [OpenFigures];
    expect({ answered, refused }).toEqual({ answered: 0, refused: due });
    expectAt(intended, 50, 3);
  });

  test('a fault of a peer ends the run', async () => {
    const clock = new VirtualClock();
    const peer = new VirtualPeer(clock, (arrivalMs) => arrivalMs);
    const schedule = new Schedule('constant', 100, randomFrom(1));
    const running = runOpenLoop([{ peers: [peer], schedule, exchanges: 1, sampleEvery: 0 }], TIMES, clock);
    clock.at(50, () => peer.onFault('a wrong answer'));
    await expect(clock.run(running)).rejects.toThrow('a wrong answer');
  });
});
