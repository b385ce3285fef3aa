// Limits of keys and what they count, with clocks of the test: rates, quotas, changes of limits, days, and batches of counts.
import { expect, test } from 'vitest';
import type { KeyLimits } from '#dist/keys/key-limits.js';
import type { KeyMeter } from '#dist/server/limits/key-meter.js';
import { limitLines } from '#dist/server/limits/limit-answers.js';
import { Meters } from '#dist/server/limits/meters.js';
import { CELLS, cellAt, FAILED, OK, OPERATIONS, REFUSED } from '#dist/usage/operations.js';

const ENCODE = OPERATIONS.indexOf('encode');
const BATCH = OPERATIONS.indexOf('encode_batch');
const HOUR_MS = 3_600_000;

interface World {
  readonly meters: Meters;
  nowMs: number;
  wallMs: number;
  of(limits?: KeyLimits, id?: string): KeyMeter;
}

function world(wall = '2026-11-22T05:00:00Z', defaults: KeyLimits = {}, pointsPerSecond = 0): World {
  const clocks = { nowMs: 1000, wallMs: Date.parse(wall) };
  const meters = new Meters({
    defaults,
    pointsPerSecond,
    zone: 'Asia/Ho_Chi_Minh',
    nowMs: () => clocks.nowMs,
    wallMs: () => clocks.wallMs,
  });
  meters.onCut(() => meters.take(0));
  return Object.assign(clocks, {
    meters,
    of: (limits?: KeyLimits, id = 'k') => meters.of({ id, name: id, limits: limits ?? {} } as never),
  });
}

const convert = (meter: KeyMeter, count: number, failed = 0): string => {
  const refusal = meter.admitPoints(count);
  if (refusal !== undefined) return `${refusal.kind} ${refusal.waitMs}`;
  meter.settle(ENCODE, count, count - failed, failed);
  return 'ok';
};

test('a key without limits is free and has no header lines', () => {
  const meter = world().of();
  expect([meter.isFree, meter.hasLimits, limitLines(meter), convert(meter, 1e9)]).toEqual([
    true,
    false,
    '',
    'ok',
  ]);
});

test('points of a second: headers as the draft has them, and how long to wait', () => {
  const own = world();
  const meter = own.of({ pointsPerSecond: 100, pointsBurst: 6000 });
  expect(convert(meter, 1200)).toBe('ok');
  expect(limitLines(meter)).toBe(
    '\r\nRateLimit-Policy: "points";q=6000;w=60\r\nRateLimit: "points";r=4800;t=12',
  );
  expect(convert(meter, 4801)).toBe('rate 10');
  own.nowMs += 10;
  expect(convert(meter, 4801)).toBe('ok');
});

test('all limits stand in the headers', () => {
  const meter = world().of({
    pointsPerSecond: 5,
    requestsPerSecond: 2,
    pointsPerDay: 70,
    pointsPerMonth: 900,
  });
  meter.admitRequest();
  convert(meter, 3);
  expect(limitLines(meter)).toBe(
    '\r\nRateLimit-Policy: "points";q=5;w=1, "requests";q=2;w=1, "points-day";q=70;w=86400, "points-month";q=900;w=2592000' +
      // Twelve hours of the day are left, and eight days and twelve hours of the month.
      '\r\nRateLimit: "points";r=2;t=1, "requests";r=1;t=1, "points-day";r=67;t=43200, "points-month";r=897;t=734400',
  );
});

test('requests of a second', () => {
  const own = world();
  const meter = own.of({ requestsPerSecond: 0.5 });
  expect(meter.admitRequest()).toBeUndefined();
  expect(meter.admitRequest()).toMatchObject({ kind: 'rate', waitMs: 2000 });
  own.nowMs += 2000;
  expect(meter.admitRequest()).toBeUndefined();
});

test('defaults hold for keys without a limit of that name; 0 is none', () => {
  const own = world(undefined, { pointsPerSecond: 10, pointsPerDay: 20 });
  expect(convert(own.of(undefined, 'a'), 30)).toMatch(/^quota/);
  expect(
    own
      .of({ pointsPerDay: 100 }, 'b')
      .quotas()
      .map(({ quota }) => quota),
  ).toEqual([100]);
  expect(
    own
      .of({ pointsPerDay: 100 }, 'b')
      .rates()
      .map(({ bucket }) => bucket.perSecond),
  ).toEqual([10]);
  expect(own.of({ pointsPerSecond: 0, pointsPerDay: 0 }, 'c').isFree).toBe(true);
});

test('the ceiling of the process holds for all keys together', () => {
  const own = world(undefined, {}, 10);
  expect(convert(own.of(undefined, 'a'), 8)).toBe('ok');
  expect(convert(own.of(undefined, 'b'), 4)).toBe('service 200');
  expect(limitLines(own.of(undefined, 'b'))).toBe('');
  own.nowMs += 200;
  expect(convert(own.of(undefined, 'b'), 4)).toBe('ok');
});

test('a quota counts points under way, and gives back those that were not needed', () => {
  const meter = world().of({ pointsPerDay: 10 });
  expect(meter.admitPoints(6)).toBeUndefined();
  expect(meter.admitPoints(6)?.kind).toBe('quota');
  expect(meter.quotaLeft()).toBe(4);
  meter.settle(ENCODE, 6, 1, 1);
  expect(meter.quotaLeft()).toBe(8);
  expect(convert(meter, 8, 8)).toBe('ok');
  expect(meter.quotaRefusal()?.message).toMatch(
    /^the quota of the key is used up: 0 points are left of this day/,
  );
});

test('midnight brings a new day, not a new month, and the first brings both', () => {
  const own = world('2026-11-29T16:59:59Z');
  const meter = own.of({ pointsPerDay: 10, pointsPerMonth: 25 });
  expect([convert(meter, 10), convert(meter, 1)]).toEqual(['ok', 'quota 1000']);
  own.wallMs += 1000;
  expect([convert(meter, 10), convert(meter, 1)]).toEqual(['ok', `quota ${24 * HOUR_MS}`]);
  own.wallMs += 24 * HOUR_MS;
  expect(own.meters.calendar.follow(own.wallMs).month.name).toBe('2026-12');
  expect([convert(meter, 10), meter.used()]).toEqual([
    'ok',
    { dayRequests: 0, dayPoints: 10, monthRequests: 0, monthPoints: 10 },
  ]);
});

test('a month that is used up waits for the month, whatever is left of the day', () => {
  const own = world('2026-11-22T05:00:00Z');
  const meter = own.of({ pointsPerDay: 10, pointsPerMonth: 5 });
  expect(convert(meter, 6)).toBe(`quota ${(8 * 24 + 12) * HOUR_MS}`);
});

test('the clock an hour forward and back again gives no quota twice and owes nothing', () => {
  const own = world('2026-11-22T16:30:00Z');
  const meter = own.of({ pointsPerDay: 10, pointsPerSecond: 100 });
  expect(convert(meter, 10)).toBe('ok');
  own.wallMs += HOUR_MS;
  own.nowMs += HOUR_MS;
  expect([convert(meter, 10), convert(meter, 1)]).toEqual(['ok', expect.stringMatching(/^quota/)]);
  own.wallMs -= HOUR_MS;
  own.nowMs -= HOUR_MS;
  expect(convert(meter, 1)).toMatch(/^quota/);
  expect(meter.rates()[0]!.left).toBeGreaterThanOrEqual(0);
  own.nowMs += 1000;
  expect(meter.rates()[0]!.left).toBe(100);
  // The midnight that the clock has passed before.
  own.wallMs += HOUR_MS / 2;
  expect(convert(meter, 1)).toMatch(/^quota/);
  own.wallMs += 24 * HOUR_MS;
  expect(convert(meter, 10)).toBe('ok');
});

test('limits that change hold at once, and bring no new tokens', () => {
  const own = world();
  expect(convert(own.of({ pointsPerSecond: 10 }), 10)).toBe('ok');
  expect(convert(own.of({ pointsPerSecond: 100 }), 1)).toBe('rate 10');
  expect(convert(own.of({}), 1000)).toBe('ok');
  expect(own.of({}).isFree).toBe(true);
});

test('limits that change hold for what is under way', () => {
  const own = world();
  const stream = own.of({});
  own.meters.refresh(({ id }) => ({ id, name: id, limits: { pointsPerDay: 5 } }) as never);
  expect(convert(stream, 6)).toMatch(/^quota/);
  own.meters.refresh(() => undefined);
  expect(convert(stream, 6)).toMatch(/^quota/);
});

test('limits that come and go while points are under way leave none reserved', () => {
  const own = world();
  const free = own.of({});
  expect(free.admitPoints(7)).toBeUndefined();
  const limited = own.of({ pointsPerDay: 10 });
  limited.settle(ENCODE, 7, 7, 0);
  expect(limited.quotaLeft()).toBe(3);
  expect(limited.admitPoints(3)).toBeUndefined();
  own.of({}).settle(ENCODE, 3, 0, 0);
  expect(own.of({ pointsPerDay: 10 }).quotaLeft()).toBe(3);
});

test('counts are taken once, by operation and outcome', () => {
  const own = world();
  expect(own.meters.take(1)).toBeUndefined();
  const meter = own.of();
  meter.settle(ENCODE, 1, 1, 0);
  meter.answered(ENCODE, 200);
  meter.answered(ENCODE, 404);
  meter.answered(BATCH, 429);
  meter.settle(BATCH, 0, 5, 2);
  meter.refuse(BATCH, 9);
  own.of(undefined, 'other').answered(ENCODE, 200);
  const batch = own.meters.take(1)!;
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
  expect(own.meters.take(2)).toBeUndefined();
  expect(meter.used()).toEqual({ dayRequests: 2, dayPoints: 8, monthRequests: 2, monthPoints: 8 });
});

test('counts of a day that is over are cut off under its name', () => {
  const own = world('2026-11-22T16:59:59Z');
  const days: (string | undefined)[] = [];
  own.meters.onCut(() => days.push(own.meters.take(days.length + 1)?.day));
  own.of().settle(ENCODE, 0, 5, 0);
  own.wallMs += 1000;
  own.meters.tick();
  expect(days[0]).toBe('2026-11-22');
  own.of().settle(ENCODE, 0, 1, 0);
  expect(own.meters.take(9)?.day).toBe('2026-11-23');
  expect(own.of().used()).toMatchObject({ dayPoints: 1, monthPoints: 6 });
});

test('what other processes have used is learned, but not of another day', () => {
  const own = world('2026-11-22T16:59:59Z');
  const meter = own.of({ pointsPerDay: 100 });
  convert(meter, 10);
  const batch = own.meters.take(1)!;
  convert(meter, 1);
  own.meters.learn(
    batch,
    {
      used: new Map([['k', { dayRequests: 5, dayPoints: 60, monthRequests: 5, monthPoints: 70 }]]),
      rates: [],
    },
    true,
  );
  expect([meter.quotaLeft(), meter.used().monthPoints]).toEqual([39, 71]);
  own.wallMs += 1000;
  expect(meter.quotaLeft()).toBe(100);
  own.meters.learn(
    batch,
    {
      used: new Map([['k', { dayRequests: 5, dayPoints: 60, monthRequests: 5, monthPoints: 70 }]]),
      rates: [],
    },
    true,
  );
  expect(meter.quotaLeft()).toBe(100);
});

test('a start goes on with what is stored, also of a day that a clock set back has begun', () => {
  const used = new Map([['k', { dayRequests: 1, dayPoints: 60, monthRequests: 1, monthPoints: 70 }]]);
  const own = world('2026-11-22T16:30:00Z');
  expect(own.meters.followStore({ latestDay: '2026-11-22', used })).toBe(false);
  expect(own.meters.followStore({ latestDay: '2099-01-01', used })).toBe(false);
  expect(own.meters.followStore({ latestDay: '2026-11-23', used })).toBe(true);
  own.meters.resume(used);
  const meter = own.of({ pointsPerDay: 100 });
  expect([meter.quotaLeft(), own.meters.calendar.periods.day.name]).toEqual([40, '2026-11-23']);
  own.wallMs += HOUR_MS;
  expect(meter.quotaLeft()).toBe(40);
});
