// The share of one key in what all keys share, whichever keys ask in whichever order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Budget, mayTake, UNLIMITED } from '#dist/server/transport/limits.js';

const MOST = 100;
const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 40 })), {
  maxLength: 80,
});

test('all hold what there is at most, one key alone three quarters, and the last quarter is for small ones', () => {
  fc.assert(
    fc.property(steps, (asked) => {
      const held = [0, 0, 0, 0, 0, 0];
      const total = (): number => held.reduce((sum, each) => sum + each, 0);
      for (const [key, more] of asked) {
        const before = total();
        const takes = mayTake(held[key]!, before, more, MOST);
        const isSmall = held[key]! + more <= MOST / 4;
        // Anyone who stays small is refused only where nothing is left; others where the last quarter begins.
        expect(takes).toBe(before + more <= (isSmall ? MOST : 0.75 * MOST));
        if (takes) held[key]! += more;
        expect(total()).toBeLessThanOrEqual(MOST);
        expect(Math.max(...held)).toBeLessThanOrEqual(0.75 * MOST);
      }
    }),
  );
});

test('memory: two keys that take all they may leave a quarter to the others', () => {
  const budget = new Budget({ ...UNLIMITED, keyBytes: 500, processBytes: 1000 });
  const fill = (key: string): number => {
    const account = budget.open(key, 'requests');
    while (account.hold(account.heldBytes + 50) === undefined);
    return account.heldBytes;
  };
  expect([fill('a'), fill('b'), fill('c'), fill('d')]).toEqual([500, 250, 250, 0]);
});
