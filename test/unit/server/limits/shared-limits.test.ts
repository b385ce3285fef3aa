// Limits that several processes share, each with meters of its own, over a store of the test with a clock of the test: how far
// they pass a limit together, and what happens while the store is away.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyLimits } from '#dist/keys/key-limits.js';
import type { KeyMeter } from '#dist/server/limits/key-meter.js';
import { Meters } from '#dist/server/limits/meters.js';
import type { Stored, UsageBatch } from '#dist/usage/batch.js';
import { rowsOf, usedOf } from '#dist/usage/batch-rows.js';
import { OPERATIONS } from '#dist/usage/operations.js';

const BATCH = OPERATIONS.indexOf('encode_batch');
const LEASE_MS = 1000;

/** The buckets and sums of a store, as both stores keep them. */
class FakeStore {
  nowMs = 1000;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();
  readonly #sums = new Map<string, { points: number; requests: number }>();

  add(batch: UsageBatch): Stored {
    for (const { period, keyId, requests, points } of rowsOf(batch).sums) {
      const sum = this.#sums.get(`${period} ${keyId}`) ?? { points: 0, requests: 0 };
      this.#sums.set(`${period} ${keyId}`, {
        points: sum.points + points,
        requests: sum.requests + requests,
      });
    }
    const rates = batch.rates.map(({ keyId, kind, perSecond, capacity, spent }) => {
      const bucket = this.#buckets.get(kind + keyId) ?? { tokens: capacity, atMs: this.nowMs };
      const filled = bucket.tokens + ((this.nowMs - bucket.atMs) * perSecond) / 1000;
      const tokens = Math.min(capacity, filled) - spent;
      this.#buckets.set(kind + keyId, { tokens, atMs: this.nowMs });
      return { keyId, kind, tokens };
    });
    const sums = [...batch.keyIds, ...batch.watchedIds].flatMap((keyId) =>
      [batch.day, batch.month].map((period) => ({
        period,
        keyId,
        ...(this.#sums.get(`${period} ${keyId}`) ?? { points: 0, requests: 0 }),
      })),
    );
    return { used: usedOf(sums, batch.day), rates };
  }
}

/** One process. */
class Process {
  isHurried = false;
  isAway = false;
  readonly meters: Meters;
  readonly meter: KeyMeter;
  #number = 0;

  constructor(
    private readonly store: FakeStore,
    limits: KeyLimits,
    isOpen = true,
  ) {
    this.meters = new Meters({
      defaults: {},
      pointsPerSecond: 0,
      zone: 'Asia/Ho_Chi_Minh',
      sharing: {
        leaseMs: LEASE_MS,
        mustSettle: () => !isOpen || !this.isAway,
        hurry: () => {
          this.isHurried = true;
        },
      },
      nowMs: () => store.nowMs,
      wallMs: () => Date.parse('2026-11-22T05:00:00Z'),
    });
    this.meter = this.meters.of({ id: 'k', name: 'k', limits } as never);
  }

  convert(count: number): string {
    const refusal = this.meter.admitPoints(count);
    if (refusal !== undefined) return refusal.kind;
    this.meter.settle(BATCH, count, count, 0);
    return 'ok';
  }

  request(): string {
    return this.meter.admitRequest()?.kind ?? 'ok';
  }

  flush(): void {
    this.isHurried = false;
    const batch = this.meters.take(++this.#number);
    if (batch !== undefined && !this.isAway) this.meters.learn(batch, this.store.add(batch), true);
  }
}

const processes = (count: number, limits: KeyLimits, isOpen = true) => {
  const store = new FakeStore();
  return { store, all: Array.from({ length: count }, () => new Process(store, limits, isOpen)) };
};

test('two processes have one bucket: what one takes the other lacks, once both have told the store', () => {
  const { store, all } = processes(2, { pointsPerSecond: 100 });
  const [one, two] = all as [Process, Process];
  expect([one.convert(60), one.isHurried]).toEqual(['ok', true]);
  one.flush();
  expect(two.convert(10)).toBe('ok');
  two.flush();
  expect(two.meter.rates()[0]!.left).toBe(30);
  expect(two.convert(31)).toBe('rate');
  store.nowMs += 10;
  expect(two.convert(31)).toBe('ok');
});

test('beyond a lease a process waits for the store, and asks for it', () => {
  const { store, all } = processes(1, { pointsPerSecond: 100, pointsBurst: 1000 });
  const [one] = all as [Process];
  expect([one.convert(70), one.convert(30), one.convert(1)]).toEqual(['ok', 'ok', 'service']);
  expect(one.meter.pointsNow()).toBe(0);
  one.flush();
  expect(one.convert(100)).toBe('ok');
  one.flush();
  // Work of more than a lease is let in where the store knows of all before it.
  expect([one.convert(300), one.convert(1)]).toEqual(['ok', 'service']);
  one.flush();
  expect(one.meter.rates()[0]!.left).toBe(500);
  store.nowMs += 10_000;
  one.flush();
  expect(one.meter.rates()[0]!.left).toBe(1000);
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
  expect(one.meter.admitPoints(80)).toBeUndefined();
  one.flush();
  one.meter.settle(BATCH, 80, 20, 0);
  one.flush();
  expect(two.convert(10)).toBe('ok');
  two.flush();
  expect(two.meter.rates()[0]!.left).toBe(70);
});

test('limits that change keep what the store does not know yet', () => {
  const { all } = processes(2, { pointsPerSecond: 100 });
  const [one, two] = all as [Process, Process];
  one.convert(50);
  one.meters.of({ id: 'k', name: 'k', limits: { pointsPerSecond: 200 } } as never);
  one.flush();
  two.meters.of({ id: 'k', name: 'k', limits: { pointsPerSecond: 200 } } as never);
  expect(two.convert(1)).toBe('ok');
  two.flush();
  expect(two.meter.rates()[0]!.left).toBe(149);
});

test('a quota is used up by leases of an eighth of what is left, to its last point', () => {
  const { all } = processes(8, { pointsPerDay: 1000 });
  let points = 0;
  for (let round = 0; round < 100; round++) {
    for (const one of all) while (one.convert(1) === 'ok') points++;
    for (const one of all) one.flush();
    // Of what the others have flushed later they know at the next flush.
    for (const one of all) one.flush();
  }
  expect(points).toBe(1000);
  expect(all.map((one) => one.convert(1))).toEqual(Array.from({ length: 8 }, () => 'quota'));
});

test('while the store is away: open limits hold for each process, closed ones let a lease in', () => {
  for (const isOpen of [true, false]) {
    const { store, all } = processes(1, { pointsPerSecond: 100, pointsPerDay: 1000 }, isOpen);
    const [one] = all as [Process];
    one.isAway = true;
    let points = 0;
    for (let second = 0; second < 5; second++) {
      while (one.convert(5) === 'ok') points += 5;
      one.flush();
      store.nowMs += 1000;
    }
    expect([isOpen, points]).toEqual([isOpen, isOpen ? 500 : 100]);
  }
});

test('nothing that was taken while the store was away is owed afterwards, whenever the last batch was cut', () => {
  for (const isCutBefore of [true, false]) {
    const { store, all } = processes(1, { pointsPerSecond: 100 });
    const [one] = all as [Process];
    one.convert(10);
    store.nowMs += 1000;
    const early = isCutBefore ? one.meters.take(1) : undefined;
    one.isAway = true;
    for (let second = 0; second < 60; second++) {
      expect(one.convert(100)).toBe('ok');
      store.nowMs += 1000;
    }
    one.isAway = false;
    for (const batch of [early, early === undefined ? one.meters.take(2) : undefined])
      if (batch !== undefined) one.meters.learn(batch, store.add(batch), true);
    // The 10 from before.
    expect([isCutBefore, one.meter.rates()[0]!.left]).toEqual([isCutBefore, 90]);
  }
});

test('property: together processes pass a rate by a lease each at most, and a quota by an eighth', () => {
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
        expect(taken).toBeLessThanOrEqual(2000 + (count * 2000) / 8);
      }
    }),
  );
});
