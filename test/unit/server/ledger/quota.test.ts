// One quota of one process, by answers of a store that the test makes: what it takes, waits for, asks for and gives
// back.
import { expect, test } from 'vitest';
import { Quota } from '#dist/server/ledger/quota.js';

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
