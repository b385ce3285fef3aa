// Limits of keys and what they count, with clocks of the test: rates, quotas, changes of limits, days, and batches of
// counts.
import { expect, onTestFinished, test, vi } from 'vitest';
import { admitPoints, allLimitLines } from '#dist/server/ledger/limit-answers.js';
import {
  CELLS,
  cellAt,
  FAILED,
  type KeyLedger,
  type KeyLimits,
  type Ledger,
  ledgerOf,
  OK,
  REFUSED,
  UsageInMemory,
} from '../../../support/usage-model.js';

/** Operations, as the counts number them. */
const [ENCODE, BATCH] = [0, 2];
const HOUR_MS = 3_600_000;
/** The lines of the draft, without those for SDKs. */
const limitLines = (key: Parameters<typeof allLimitLines>[0]): string =>
  allLimitLines(key).split('\r\nX-RateLimit-Limit')[0]!;
const USED = { dayRequests: 0, dayPoints: 0, monthRequests: 0, monthPoints: 0, dayHeld: 0, monthHeld: 0 };

interface World {
  readonly ledger: Ledger;
  nowMs: number;
  wallMs: number;
  of(limits?: KeyLimits, id?: string): KeyLedger;
}

/** A process with a store that answers in the next microtask. */
function world(
  wall = '2026-11-22T05:00:00Z',
  defaults: KeyLimits = {},
  pointsPerSecond = 0,
  isAnswered = true,
): World {
  const clocks = { nowMs: 1000, wallMs: Date.parse(wall) };
  const store = new UsageInMemory(() => clocks.nowMs);
  let batches = 0;
  let isDue = false;
  const flush = (): void => {
    isDue = false;
    const batch = ledger.take(++batches);
    if (batch !== undefined) ledger.learn(batch, store.add('node', batch), true);
  };
  const ledger: Ledger = ledgerOf({
    defaults,
    pointsPerSecond,
    store: {
      isAway: false,
      isSlow: false,
      hurry: () => {
        if (!isDue && isAnswered) queueMicrotask(flush);
        isDue = true;
      },
    },
    nowMs: () => clocks.nowMs,
    wallMs: () => clocks.wallMs,
  });
  if (isAnswered) ledger.onCut(flush);
  return Object.assign(clocks, {
    ledger,
    of: (limits?: KeyLimits, id = 'k') => ledger.of({ id, name: id, limits: limits ?? {} } as never),
  });
}

const convert = async (key: KeyLedger, count: number, failed = 0): Promise<string> => {
  const taken = await key.whenTaken(count);
  if (typeof taken !== 'number') return `${taken.kind} ${taken.waitMs}`;
  key.done(ENCODE, count, count - failed, failed);
  return 'ok';
};
const lefts = (key: KeyLedger): number[] => key.quotas().map(({ left }) => left);

test('a key without limits is free and has no header lines', async () => {
  const meter = world().of();
  expect([meter.isFree, meter.hasLimits, limitLines(meter), await convert(meter, 1e9)]).toEqual([
    true,
    false,
    '',
    'ok',
  ]);
});

test('points of a second: headers as the draft has them, and how long to wait', async () => {
  const own = world();
  const meter = own.of({ pointsPerSecond: 100, pointsBurst: 6000 });
  expect(await convert(meter, 1200)).toBe('ok');
  expect(limitLines(meter)).toBe(
    '\r\nRateLimit-Policy: "points";q=6000;w=60\r\nRateLimit: "points";r=4800;t=12',
  );
  expect(await convert(meter, 4801)).toBe('rate 10');
  own.nowMs += 10;
  expect(await convert(meter, 4801)).toBe('ok');
});

test('all limits stand in the headers', async () => {
  const meter = world().of({
    pointsPerSecond: 5,
    requestsPerSecond: 2,
    pointsPerDay: 70,
    pointsPerMonth: 900,
  });
  meter.rates.admitRequest();
  await convert(meter, 3);
  expect(limitLines(meter)).toBe(
    '\r\nRateLimit-Policy: "points";q=5;w=1, "requests";q=2;w=1, "points-day";q=70;w=86400, "points-month";q=900;w=2592000' +
      // Twelve hours of the day are left, and eight days and twelve hours of the month.
      '\r\nRateLimit: "points";r=2;t=1, "requests";r=1;t=1, "points-day";r=67;t=43200, "points-month";r=897;t=734400',
  );
});

test('SDKs read the limit of which the least is left', async () => {
  const meter = world().of({ pointsPerSecond: 5, requestsPerSecond: 9, pointsPerDay: 70 });
  meter.rates.admitRequest();
  await convert(meter, 3);
  const lines = allLimitLines(meter).slice(limitLines(meter).length);
  expect(lines).toBe('\r\nX-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 2\r\nX-RateLimit-Reset: 1');
});

test('requests of a second', () => {
  const own = world();
  const meter = own.of({ requestsPerSecond: 0.5 });
  expect(meter.rates.admitRequest()).toBeUndefined();
  expect(meter.rates.admitRequest()).toMatchObject({ kind: 'rate', waitMs: 2000 });
  own.nowMs += 2000;
  expect(meter.rates.admitRequest()).toBeUndefined();
});

test('defaults hold for keys without a limit of that name; 0 is none', async () => {
  const own = world(undefined, { pointsPerSecond: 10, pointsPerDay: 20 });
  expect(await convert(own.of(undefined, 'a'), 30)).toMatch(/^quota/);
  expect(
    own
      .of({ pointsPerDay: 100 }, 'b')
      .quotas()
      .map(({ quota }) => quota),
  ).toEqual([100]);
  expect(
    own
      .of({ pointsPerDay: 100 }, 'b')
      .rates.states()
      .map(({ bucket }) => bucket.perSecond),
  ).toEqual([10]);
  expect(own.of({ pointsPerSecond: 0, pointsPerDay: 0 }, 'c').isFree).toBe(true);
});

test('the ceiling of the process holds for all keys together', async () => {
  const own = world(undefined, {}, 10);
  expect(await convert(own.of(undefined, 'a'), 8)).toBe('ok');
  expect(await convert(own.of(undefined, 'b'), 4)).toBe('service 200');
  expect(limitLines(own.of(undefined, 'b'))).toBe('');
  own.nowMs += 200;
  expect(await convert(own.of(undefined, 'b'), 4)).toBe('ok');
});

test('a quota counts points under way, and waiting work gets the points that are given back', async () => {
  const key = world().of({ pointsPerDay: 10 });
  expect(await key.whenTaken(6)).toBe(6);
  const second = key.whenTaken(6);
  // More than there can ever be is refused, in its turn.
  const third = key.whenTaken(11);
  const some = key.whenTaken(1, 100);
  key.done(ENCODE, 6, 1, 1);
  expect([await second, await third]).toEqual([
    6,
    {
      kind: 'quota',
      message: 'the request has 11 points, and the key has 10 a day: send it in parts',
      waitMs: 0,
      isForGood: true,
    },
  ]);
  expect(await some).toBe(1);
  key.done(ENCODE, 6, 6, 0);
  key.done(ENCODE, 1, 0, 1);
  expect(await convert(key, 1)).toBe('ok');
  expect([await convert(key, 1), lefts(key)]).toEqual([`quota ${12 * HOUR_MS}`, [0]]);
  expect(key.quotaRefusal()?.message).toBe(
    'the quota of the key is used up: of the 10 points of this day none is left',
  );
});

test('a waiting caller is admitted before one that comes later', async () => {
  const key = world().of({ pointsPerDay: 10_000 });
  expect(await key.whenTaken(1)).toBe(1);
  const first = key.whenTaken(5000);
  // There would be enough for this one.
  expect(typeof key.take(10)).toBe('symbol');
  expect(await first).toBe(5000);
  expect(key.take(10)).toBe(10);
});

test('points that are given back admit callers that wait for them, and no timer has to', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());

  const key = world().of({ pointsPerDay: 100 });
  expect(await key.whenTaken(100)).toBe(100);
  const waits = key.whenTaken(40);
  key.done(ENCODE, 100, 60, 0);
  expect(await waits).toBe(40);
});

test('bounds that are done are waited for no longer', async () => {
  const own = world();
  const key = own.of({ pointsPerSecond: 100 });
  const entry = own.ledger.open(key.key, BATCH);
  expect([entry.admitUpTo(40), entry.admitUpTo(40)]).toEqual([40, 40]);
  entry.doneWithin(40, 40, 0);
  entry.doneWithin(40, 40, 0);
  expect(key.take(30)).toMatchObject({ kind: 'rate' });
});

test('a request that is gone when its points come gives them back', async () => {
  const own = world();
  const key = own.of({ pointsPerDay: 100 });
  const exchange = (state: 'open' | 'over') => {
    const entry = own.ledger.open(key.key, ENCODE);
    return {
      notes: { entry },
      state,
      lateHeaderLines: '',
      hold: () => {},
      deadline: () => {},
      guard: (work: () => void) => work(),
    };
  };
  const done: string[] = [];
  for (const state of ['over', 'open'] as const) {
    const x = exchange(state);
    const later = (): void => {
      done.push(state);
      x.notes.entry.done(0, 0, 100);
    };
    if (admitPoints(x as never, 100, later)) later();
    await new Promise((soon) => setTimeout(soon, 10));
  }
  expect([done, await key.whenTaken(100)]).toEqual([['open'], 100]);
});

test('limits that come while a bound is reserved take nothing of others back', async () => {
  const own = world();
  const free = own.ledger.open(own.of({}).key, BATCH);
  expect(free.admitUpTo(10_000)).toBe(10_000);
  const key = own.of({ pointsPerDay: 100, pointsPerSecond: 1000 });
  expect(await key.whenTaken(60)).toBe(60);
  free.doneWithin(10_000, 0, 0);
  expect(await Promise.race([key.whenTaken(41), new Promise((done) => setTimeout(done, 100, 'waits'))])).toBe(
    'waits',
  );
});

test('points that are reserved and not needed go back before others are refused over a rate', async () => {
  const own = world();
  const key = own.of({ pointsPerSecond: 100 });
  const entry = own.ledger.open(key.key, BATCH);
  expect(entry.admitUpTo(10_000)).toBe(10_000);
  const waits = key.whenTaken(10);
  entry.doneWithin(10_000, 60, 0);
  expect(await waits).toBe(10);
  expect(await key.whenTaken(31)).toMatchObject({ kind: 'rate' });
});

test('work of an unknown size reserves what a bucket still holds, and more than that where it is full', async () => {
  const own = world();
  const key = own.of({ pointsPerSecond: 100 });
  expect(await key.whenTaken(60)).toBe(60);
  const entry = own.ledger.open(key.key, BATCH);
  expect(entry.admitUpTo(10_000)).toBe(40);
});

test('midnight brings a new day, not a new month, and the first brings both', async () => {
  const own = world('2026-11-29T16:59:59Z');
  const meter = own.of({ pointsPerDay: 10, pointsPerMonth: 25 });
  expect([await convert(meter, 10), await convert(meter, 1)]).toEqual(['ok', 'quota 1000']);
  own.wallMs += 1000;
  expect([await convert(meter, 10), await convert(meter, 1)]).toEqual(['ok', `quota ${24 * HOUR_MS}`]);
  own.wallMs += 24 * HOUR_MS;
  expect(own.ledger.calendar.follow(own.wallMs).month.name).toBe('2026-12');
  expect([await convert(meter, 10), meter.used()]).toEqual([
    'ok',
    expect.objectContaining({ dayPoints: 10, monthPoints: 10 }),
  ]);
});

test('a used-up month waits for the next month, even if the day has points left', async () => {
  const own = world('2026-11-22T05:00:00Z');
  const meter = own.of({ pointsPerDay: 10, pointsPerMonth: 5 });
  expect(await convert(meter, 5)).toBe('ok');
  expect(await convert(meter, 1)).toBe(`quota ${(8 * 24 + 12) * HOUR_MS}`);
});

test('the clock an hour forward and back again gives no quota twice and owes nothing', async () => {
  const own = world('2026-11-22T16:30:00Z');
  const meter = own.of({ pointsPerDay: 10, pointsPerSecond: 100 });
  expect(await convert(meter, 10)).toBe('ok');
  own.wallMs += HOUR_MS;
  own.nowMs += HOUR_MS;
  expect([await convert(meter, 10), await convert(meter, 1)]).toEqual([
    'ok',
    expect.stringMatching(/^quota/),
  ]);
  own.wallMs -= HOUR_MS;
  own.nowMs -= HOUR_MS;
  expect(await convert(meter, 1)).toMatch(/^quota/);
  expect(meter.rates.states()[0]!.left).toBeGreaterThanOrEqual(0);
  own.nowMs += 1000;
  expect(meter.rates.states()[0]!.left).toBe(100);
  // The midnight that the clock has passed before.
  own.wallMs += HOUR_MS / 2;
  expect(await convert(meter, 1)).toMatch(/^quota/);
  own.wallMs += 24 * HOUR_MS;
  expect(await convert(meter, 10)).toBe('ok');
});

test('limits that change hold at once, and bring no new tokens', async () => {
  const own = world();
  expect(await convert(own.of({ pointsPerSecond: 10 }), 10)).toBe('ok');
  expect(await convert(own.of({ pointsPerSecond: 100 }), 1)).toBe('rate 10');
  expect(await convert(own.of({}), 1000)).toBe('ok');
  expect(own.of({}).isFree).toBe(true);
});

test('changed limits hold for work under way', async () => {
  const own = world();
  const stream = own.of({});
  own.ledger.refresh(['k'], ({ id }) => ({ id, name: id, limits: { pointsPerDay: 5 } }) as never);
  expect(await convert(stream, 6)).toMatch(/^quota/);
  own.ledger.refresh(['k'], () => undefined);
  expect(await convert(stream, 6)).toMatch(/^quota/);
});

test('limits that come and go while points are under way leave none reserved', async () => {
  const own = world();
  const free = own.ledger.open(own.of({}).key, ENCODE);
  expect(free.admit(7)).toBeUndefined();
  own.of({ pointsPerDay: 10 });
  free.done(7, 0);
  expect(await convert(own.of({ pointsPerDay: 10 }), 4)).toMatch(/^quota/);
  expect(await own.of({ pointsPerDay: 10 }).whenTaken(3)).toBe(3);
  own.of({}).done(ENCODE, 3, 0, 0);
  expect(await own.of({ pointsPerDay: 10 }).whenTaken(3)).toBe(3);
});

test('counts are taken once, by operation and outcome', () => {
  const own = world(undefined, {}, 0, false);
  expect(own.ledger.take(1)).toBeUndefined();
  const key = own.of();
  key.done(ENCODE, 1, 1, 0);
  key.use.answered(ENCODE, 200);
  key.use.answered(ENCODE, 404);
  key.use.answered(BATCH, 413, true);
  key.done(BATCH, 0, 5, 2);
  key.use.refuse(BATCH, 9);
  own.of(undefined, 'other').use.answered(ENCODE, 200);
  const batch = own.ledger.take(1)!;
  expect(batch).toMatchObject({ number: 1, day: '2026-11-22', month: '2026-11', keyIds: ['k', 'other'] });
  expect(new Date(batch.hourMs).toISOString()).toBe('2026-11-22T05:00:00.000Z');
  const pair = (key: number, operation: number, outcome: number): number[] => {
    const at = 2 * CELLS * key + cellAt(operation, outcome);
    return [...batch.cells.subarray(at, at + 2)];
  };
  expect(pair(0, ENCODE, OK)).toEqual([1, 1]);
  expect(pair(0, ENCODE, FAILED)).toEqual([1, 0]);
  expect(pair(0, BATCH, OK)).toEqual([0, 5]);
  expect(pair(0, BATCH, FAILED)).toEqual([0, 2]);
  expect(pair(0, BATCH, REFUSED)).toEqual([1, 9]);
  expect(pair(1, ENCODE, OK)).toEqual([1, 0]);
  expect(batch.cells.reduce((sum, count) => sum + count, 0)).toBe(1 + 1 + 1 + 7 + 1 + 9 + 1);
  expect(own.ledger.take(2)).toBeUndefined();
  expect(key.used()).toEqual({ ...USED, dayRequests: 2, dayPoints: 8, monthRequests: 2, monthPoints: 8 });
});

test('counts of a day that is over are cut off under its name', () => {
  const own = world('2026-11-22T16:59:59Z', {}, 0, false);
  const days: (string | undefined)[] = [];
  own.ledger.onCut(() => days.push(own.ledger.take(days.length + 1)?.day));
  own.of().done(ENCODE, 0, 5, 0);
  own.wallMs += 1000;
  own.ledger.tick();
  expect(days[0]).toBe('2026-11-22');
  own.of().done(ENCODE, 0, 1, 0);
  expect(own.ledger.take(9)?.day).toBe('2026-11-23');
  expect(own.of().used()).toMatchObject({ dayPoints: 1, monthPoints: 6 });
});

test('the use of other processes is learned, but not of another day', () => {
  const own = world('2026-11-22T16:59:59Z', {}, 0, false);
  const key = own.of({ pointsPerDay: 100 });
  key.done(ENCODE, 0, 10, 0);
  const batch = own.ledger.take(1)!;
  key.done(ENCODE, 0, 1, 0);
  const used = { ...USED, dayRequests: 5, dayPoints: 60, monthRequests: 5, monthPoints: 70 };
  const stored = { used: new Map([['k', used]]), rates: [], grants: [] };
  own.ledger.learn(batch, stored, true);
  expect([lefts(key), key.used().monthPoints]).toEqual([[39], 71]);
  own.wallMs += 1000;
  own.ledger.tick();
  // The point of the day before is not told yet.
  expect(lefts(key)).toEqual([99]);
  own.ledger.learn(batch, stored, true);
  expect(lefts(key)).toEqual([99]);
});

test('a start continues from stored usage, even of a day that began by a clock set back', () => {
  const used = new Map([
    ['k', { ...USED, dayRequests: 1, dayPoints: 60, monthRequests: 1, monthPoints: 70, dayHeld: 5 }],
  ]);
  const own = world('2026-11-22T16:30:00Z', {}, 0, false);
  expect(own.ledger.followStore({ latestDay: '2026-11-22', used })).toBe(false);
  expect(own.ledger.followStore({ latestDay: '2099-01-01', used })).toBe(false);
  expect(own.ledger.followStore({ latestDay: '2026-11-23', used })).toBe(true);
  own.ledger.resume(used);
  const key = own.of({ pointsPerDay: 100 });
  expect([lefts(key), own.ledger.calendar.periods.day.name]).toEqual([[35], '2026-11-23']);
  own.wallMs += HOUR_MS;
  expect(lefts(key)).toEqual([35]);
});

test('a fractional rate admits the next whole number at once', () => {
  const meter = world().of({ requestsPerSecond: 1.5, pointsPerSecond: 0.2 });
  expect(
    meter.rates
      .states()
      .map(({ bucket }) => bucket.capacity)
      .sort(),
  ).toEqual([1, 2]);
});

test('what was held on the day before is not held on the next', () => {
  const own = world('2026-11-22T16:30:00Z');
  const meter = own.of({ pointsPerDay: 100 });
  meter.learn({ ...USED, dayPoints: 5, dayHeld: 20, monthPoints: 5, monthHeld: 20 });
  expect(meter.used()).toMatchObject({ dayPoints: 5, dayHeld: 20 });
  own.wallMs += HOUR_MS;
  meter.quotas();
  expect(meter.used()).toMatchObject({ dayPoints: 0, dayHeld: 0, monthPoints: 5, monthHeld: 20 });
});

test("work across midnight takes each day's points from that day", () => {
  const own = world('2026-11-22T16:30:00Z');
  const key = own.of({ pointsPerDay: 100 }).key;
  const entry = own.ledger.open({ ...key, limits: { pointsPerDay: 100 } } as never, BATCH);
  return (async () => {
    expect(await entry.whenAdmitted(10)).toBeUndefined();
    entry.done(10, 0);
    own.wallMs += HOUR_MS;
    expect(await entry.whenAdmitted(30)).toBeUndefined();
    // Five of them were not needed, and belong to the day that has begun.
    entry.done(25, 0, 30);
    expect(lefts(entry.key)).toEqual([75]);
  })();
});
