// Rates and quotas by themselves: the token bucket, one quota of one process, and limits that processes share.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type KeyLedger,
  type KeyLimits,
  type Ledger,
  ledgerOf,
  Quota,
  TokenBucket,
  UsageInMemory,
} from '../../../support/usage-model.js';

// The token bucket: its rate, its capacity, work larger than it, and clocks that move.
describe('the token bucket', () => {
  test('a full bucket gives its capacity at once, and then its rate', () => {
    const bucket = new TokenBucket(10, 20, 0);
    expect(bucket.waitMs(20, 0)).toBe(0);
    bucket.take(20);
    expect(bucket.waitMs(1, 0)).toBe(100);
    expect(bucket.waitMs(1, 99)).toBeGreaterThan(0);
    expect(bucket.waitMs(1, 100)).toBe(0);
    expect(bucket.left(100_000)).toBe(20);
  });

  test('work larger than the bucket is admitted when it is full, and is owed', () => {
    const bucket = new TokenBucket(10, 20, 0);
    expect(bucket.waitMs(100, 0)).toBe(0);
    bucket.take(100);
    expect(bucket.left(0)).toBe(-80);
    expect(bucket.waitMs(1, 0)).toBe(8100);
    expect(bucket.waitMs(100, 0)).toBe(10_000);
  });

  test('tokens that are given back do not pass the capacity', () => {
    const bucket = new TokenBucket(10, 20, 0);
    bucket.take(5);
    bucket.take(-50);
    expect(bucket.left(0)).toBe(20);
  });

  test('a clock set back neither adds nor removes tokens, and the rate continues', () => {
    const bucket = new TokenBucket(10, 20, 1e9);
    bucket.take(20);
    expect(bucket.left(1e9 - 3_600_000)).toBe(0);
    expect(bucket.left(1e9 - 3_600_000 + 1000)).toBe(10);
  });

  test('in any order of arrivals, no more is admitted than capacity and rate allow, and one piece of work', () => {
    const calls = fc.array(fc.record({ afterMs: fc.nat(5000), count: fc.integer({ min: 1, max: 50 }) }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(calls, (all) => {
        const bucket = new TokenBucket(7, 20, 0);
        let nowMs = 0;
        let taken = 0;
        for (const { afterMs, count } of all) {
          nowMs += afterMs;
          if (bucket.waitMs(count, nowMs) > 0) continue;
          bucket.take(count);
          taken += count;
        }
        expect(taken).toBeLessThanOrEqual(20 + (7 * nowMs) / 1000 + 30 + 0.001);
      }),
    );
  });
});

// One quota of one process, by answers of a store that the test makes: what it takes, waits for, asks for and gives
// back.
describe('one quota of one process', () => {
  const PERIOD = { day: '2026-11-22', month: '2026-11' };

  function quotaOf(perDay: number) {
    const clock = { nowMs: 1000 };
    const asked: boolean[] = [];
    const store = {
      isAway: false,
      isOpen: true,
      isShared: true,
      ask: (_: Quota, isUrgent: boolean) => void asked.push(isUrgent),
    };
    const quota = new Quota('k', store, PERIOD, () => clock.nowMs);
    quota.setLimits(perDay, undefined);
    /** Answers the order that is due. */
    const answer = (granted: number, taken: number, others = 0, isWanted = false): void => {
      quota.takeReturns();
      quota.order();
      quota.learnTaken(taken, taken);
      quota.learnGrant({ keyId: 'k', granted, others, isWanted }, PERIOD);
    };
    return { quota, clock, asked, answer };
  }

  test('where the quota is not scarce a piece waits for all that it may need', () => {
    const { quota, answer } = quotaOf(100_000);
    expect(quota.take(1, 1)).toBe('wait');
    answer(64, 64);
    expect(quota.take(1, 1)).toBe(1);
    expect(quota.take(1, 1000)).toBe('wait');
    expect(quota.order()).toMatchObject({ held: 64, need: 0, want: 937 });
    quota.learnTaken(1001, 1001);
    quota.learnGrant({ keyId: 'k', granted: 937, others: 0, isWanted: false }, PERIOD);
    expect(quota.take(1, 1000)).toBe(1000);
  });

  test('where it is scarce a piece takes what there is', () => {
    const { quota, answer } = quotaOf(80);
    expect(quota.take(1, 50)).toBe('wait');
    answer(10, 10);
    expect(quota.take(1, 50)).toBe(10);
  });

  test('what others need is given back, however busy the process is', () => {
    for (const isWanted of [false, true]) {
      const { quota, answer } = quotaOf(1000);
      quota.take(1, 1);
      answer(100, 100, 0, isWanted);
      expect(quota.take(1, 1)).toBe(1);
      quota.tick();
      expect(quota.takeReturns().map(({ points }) => points)).toEqual(isWanted ? [99] : []);
    }
  });

  test('an idle process gives all back', () => {
    const { quota, answer } = quotaOf(1000);
    quota.take(1, 1);
    answer(100, 100);
    quota.tick();
    expect(quota.takeReturns()).toEqual([{ keyId: 'k', ...PERIOD, points: 100 }]);
  });

  test('a lower quota holds at once: what the higher one has granted goes back', () => {
    const { quota, answer } = quotaOf(1000);
    quota.take(1, 1);
    answer(100, 100);
    expect(quota.take(40, 40)).toBe(40);
    quota.setLimits(30, undefined);
    expect([quota.take(1, 1), quota.take(0, 0)]).toEqual(['wait', 0]);
    answer(0, 40);
    expect(quota.take(1, 1)).toBe('wait');
    quota.settle(40, 40);
    expect(quota.takeCovered()).toBe(40);
    answer(0, 40);
    expect(quota.take(1, 1)).toBe('over');
  });

  test('nothing is refused by what others held before they gave it back', () => {
    const { quota } = quotaOf(100);
    expect(quota.take(50, 50)).toBe('wait');
    quota.order();
    quota.learnTaken(100, 100);
    quota.learnGrant({ keyId: 'k', granted: 0, others: 60, isWanted: false }, PERIOD);
    expect(quota.take(50, 50)).toBe('wait');
    expect(quota.take(61, 61)).toBe('over');
    // The answer to an older batch: the others hold nothing any more, and how much is left is not known.
    quota.order();
    quota.learnGrant({ keyId: 'k', granted: 0, others: 0, isWanted: false }, PERIOD, false);
    expect(quota.take(50, 50)).toBe('wait');
  });

  test('a piece that needs points at once asks urgently, a lease that runs low does not', () => {
    const { quota, asked, answer } = quotaOf(100_000);
    quota.take(5, 5);
    expect(asked.splice(0)).toEqual([true]);
    answer(64, 64);
    quota.take(40, 40);
    expect(asked.splice(0)).toEqual([false]);
  });

  test('an answer of a day that is over goes back to that day', () => {
    const { quota } = quotaOf(100);
    quota.take(5, 5);
    quota.order();
    const next = { day: '2026-11-23', month: '2026-11' };
    quota.startPeriod(next, true, false);
    quota.learnGrant({ keyId: 'k', granted: 5, others: 0, isWanted: false }, PERIOD);
    expect(quota.takeReturns()).toEqual([{ keyId: 'k', ...PERIOD, points: 5 }]);
    expect(quota.take(5, 5)).toBe('wait');
  });

  test('points that others held when the process started may come back: the quota is not over', () => {
    const { quota } = quotaOf(10);
    quota.start({
      ...{ dayRequests: 1, dayPoints: 4, dayHeld: 6 },
      ...{ monthRequests: 1, monthPoints: 4, monthHeld: 6 },
    });
    expect([quota.isOver, quota.bound]).toEqual([false, 6]);
    quota.start({
      ...{ dayRequests: 1, dayPoints: 10, dayHeld: 0 },
      ...{ monthRequests: 1, monthPoints: 10, monthHeld: 0 },
    });
    expect(quota.isOver).toBe(true);
  });
});

// Limits that several processes share, each with meters of its own, over a store of the test with a clock of the
// test: how far they pass a limit together, and what happens while the store is away.
describe('limits that processes share', () => {
  /** JSON batches, as the counts number operations. */
  const BATCH = 2;
  const LEASE_MS = 1000;

  /** A store with a clock of the test. */
  class Store {
    nowMs = 1000;
    readonly usage = new UsageInMemory(() => this.nowMs);
  }

  /** One process. */
  class Process {
    isHurried = false;
    isAway = false;
    readonly ledger: Ledger;
    readonly key: KeyLedger;
    readonly #node = `node ${Math.random()}`;
    #number = 0;

    constructor(
      private readonly store: Store,
      limits: KeyLimits,
      isOpen = true,
    ) {
      const isAway = (): boolean => this.isAway;
      this.ledger = ledgerOf({
        store: {
          get isAway() {
            return isAway();
          },
          get isSlow() {
            return isAway();
          },
          hurry: () => {
            this.isHurried = true;
          },
        },
        isOpen,
        leaseMs: LEASE_MS,
        nowMs: () => store.nowMs,
        wallMs: () => Date.parse('2026-11-22T05:00:00Z'),
      });
      this.key = this.ledger.of({ id: 'k', name: 'k', limits } as never);
    }

    convert(count: number): string {
      const taken = this.key.take(count);
      if (typeof taken === 'symbol') return 'wait';
      if (typeof taken === 'object') return taken.kind;
      this.key.done(BATCH, count, count, 0);
      return 'ok';
    }

    request(): string {
      return this.key.rates.admitRequest()?.kind ?? 'ok';
    }

    flush(): void {
      this.isHurried = false;
      const batch = this.ledger.take(++this.#number);
      if (batch !== undefined && !this.isAway)
        this.ledger.learn(batch, this.store.usage.add(this.#node, batch), true);
    }
  }

  const processes = (count: number, limits: KeyLimits, isOpen = true) => {
    const store = new Store();
    return { store, all: Array.from({ length: count }, () => new Process(store, limits, isOpen)) };
  };

  test('two processes have one bucket: what one takes the other lacks, once both have told the store', () => {
    const { store, all } = processes(2, { pointsPerSecond: 100 });
    const [one, two] = all as [Process, Process];
    expect([one.convert(60), one.isHurried]).toEqual(['ok', true]);
    one.flush();
    expect(two.convert(10)).toBe('ok');
    two.flush();
    expect(two.key.rates.states()[0]!.left).toBe(30);
    expect(two.convert(31)).toBe('rate');
    store.nowMs += 10;
    expect(two.convert(31)).toBe('ok');
  });

  test('tokens that are taken while the store is being told are not given back by its answer', () => {
    const { store, all } = processes(1, { pointsPerSecond: 100, pointsBurst: 1000 });
    const [one] = all as [Process];
    expect(one.convert(30)).toBe('ok');
    const batch = one.ledger.take(1)!;
    expect(one.convert(20)).toBe('ok');
    one.ledger.learn(batch, store.usage.add('node', batch), true);
    expect(one.key.rates.states()[0]!.left).toBe(950);
  });

  test('beyond a lease a process waits for the store, and asks for it', () => {
    const { store, all } = processes(1, { pointsPerSecond: 100, pointsBurst: 1000 });
    const [one] = all as [Process];
    expect([one.convert(70), one.convert(30), one.convert(1)]).toEqual(['ok', 'ok', 'wait']);
    expect(one.key.rates.now()).toBe(0);
    one.flush();
    expect(one.convert(100)).toBe('ok');
    one.flush();
    // Work of more than a lease is admitted where the store knows of all before it.
    expect([one.convert(300), one.convert(1)]).toEqual(['ok', 'wait']);
    one.flush();
    expect(one.key.rates.states()[0]!.left).toBe(500);
    store.nowMs += 10_000;
    one.flush();
    expect(one.key.rates.states()[0]!.left).toBe(1000);
  });

  test('requests of a second are shared as points are', () => {
    const { all } = processes(2, { requestsPerSecond: 10 });
    const [one, two] = all as [Process, Process];
    for (let i = 0; i < 10; i++) expect(one.request()).toBe('ok');
    one.flush();
    expect(two.request()).toBe('ok');
    two.flush();
    expect(two.request()).toBe('rate');
  });

  test('points that were reserved and not needed are given back to all', () => {
    const { all } = processes(2, { pointsPerSecond: 100 });
    const [one, two] = all as [Process, Process];
    expect(one.key.take(80)).toBe(80);
    one.flush();
    one.key.done(BATCH, 80, 20, 0);
    one.flush();
    expect(two.convert(10)).toBe('ok');
    two.flush();
    expect(two.key.rates.states()[0]!.left).toBe(70);
  });

  test('limits that change keep what the store does not know yet', () => {
    const { all } = processes(2, { pointsPerSecond: 100 });
    const [one, two] = all as [Process, Process];
    one.convert(50);
    one.ledger.of({ id: 'k', name: 'k', limits: { pointsPerSecond: 200 } } as never);
    one.flush();
    two.ledger.of({ id: 'k', name: 'k', limits: { pointsPerSecond: 200 } } as never);
    expect(two.convert(1)).toBe('ok');
    two.flush();
    expect(two.key.rates.states()[0]!.left).toBe(149);
  });

  test('a quota is used up by several processes, to its last point', () => {
    const { store, all } = processes(8, { pointsPerDay: 1000 });
    let points = 0;
    for (let round = 0; round < 400; round++) {
      for (const one of all) while (one.convert(1) === 'ok') points++;
      for (const one of all) one.flush();
      store.nowMs += 50;
      if (round % 10 === 0) for (const one of all) one.ledger.giveBackIdle();
    }
    expect(points).toBe(1000);
    expect(all.map((one) => one.convert(1))).toEqual(Array.from({ length: 8 }, () => 'quota'));
  });

  test('what an idle process holds is given back to one that needs it', () => {
    const { store, all } = processes(2, { pointsPerDay: 100 });
    const [one, two] = all as [Process, Process];
    expect(one.convert(1)).toBe('wait');
    one.flush();
    expect(one.convert(1)).toBe('ok');
    one.flush();
    expect(two.convert(95)).toBe('wait');
    two.flush();
    expect(two.convert(95)).toBe('wait');
    for (const each of [one, one]) {
      each.ledger.giveBackIdle();
      each.flush();
    }
    store.nowMs += 50;
    expect(two.convert(95)).toBe('wait');
    two.flush();
    expect([two.convert(95), two.convert(5)]).toEqual(['ok', 'quota']);
  });

  test('while the store is away: open limits hold for each process, closed ones admit what it holds', () => {
    for (const isOpen of [true, false]) {
      const { store, all } = processes(1, { pointsPerSecond: 100, pointsPerDay: 1000 }, isOpen);
      const [one] = all as [Process];
      expect(one.convert(5)).toBe('wait');
      one.flush();
      one.isAway = true;
      let points = 0;
      for (let second = 0; second < 5; second++) {
        while (one.convert(5) === 'ok') points += 5;
        one.flush();
        store.nowMs += 1000;
      }
      expect([isOpen, points]).toEqual([isOpen, isOpen ? 500 : 60]);
    }
  });

  test('nothing that was taken while the store was away is owed afterwards, whenever the last batch was cut', () => {
    for (const isCutBefore of [true, false]) {
      const { store, all } = processes(1, { pointsPerSecond: 100 });
      const [one] = all as [Process];
      one.convert(10);
      store.nowMs += 1000;
      const early = isCutBefore ? one.ledger.take(1) : undefined;
      one.isAway = true;
      for (let second = 0; second < 60; second++) {
        expect(one.convert(100)).toBe('ok');
        store.nowMs += 1000;
      }
      one.isAway = false;
      for (const batch of [early, early === undefined ? one.ledger.take(2) : undefined])
        if (batch !== undefined) one.ledger.learn(batch, store.usage.add('node', batch), true);
      // The 10 from before.
      expect([isCutBefore, one.key.rates.states()[0]!.left]).toEqual([isCutBefore, 90]);
    }
  });

  test('property: together processes pass a rate by a lease each at most, and a quota never', () => {
    const step = fc.record({
      at: fc.nat(3),
      points: fc.integer({ min: 1, max: 40 }),
      flushes: fc.boolean(),
      laterMs: fc.nat(300),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.integer({ min: 1, max: 4 }), (steps, count) => {
        const limits = { pointsPerSecond: 50, pointsBurst: 120, pointsPerDay: 2000 };
        const { store, all } = processes(count, limits);
        const startMs = store.nowMs;
        let taken = 0;
        for (const { at, points, flushes, laterMs } of steps) {
          const one = all[at % count]!;
          if (one.convert(points) === 'ok') taken += points;
          if (flushes || one.isHurried) one.flush();
          store.nowMs += laterMs;
          const due = 120 + ((store.nowMs - startMs) * 50) / 1000;
          expect(taken).toBeLessThanOrEqual(due + count * 50 + 1e-6);
          expect(taken).toBeLessThanOrEqual(2000);
        }
      }),
    );
  });

  test('requests beyond the lease of a process wait for the store, as points do', () => {
    const store = new Store();
    const limits = { requestsPerSecond: 10, requestsBurst: 1000 };
    const process = new Process(store, limits, false);
    let admitted = 0;
    let refusal = process.key.rates.admitRequest();
    for (; refusal === undefined && admitted < 1000; refusal = process.key.rates.admitRequest()) admitted++;
    expect(admitted).toBeLessThan(1000);
    expect([refusal?.kind, process.isHurried]).toEqual(['service', true]);
  });
});
