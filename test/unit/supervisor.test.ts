// When a process of the supervisor that died is started again.
import { expect, test } from 'vitest';
import { RestartDelay } from '#dist/server/lifecycle/supervisor/supervisor.js';

test('at once the first time, then later each time, and at once again after a minute of life', () => {
  const delay = new RestartDelay();
  expect([1, 2, 3, 4, 5, 6, 7, 8].map(() => delay.nextMs(100))).toEqual([
    0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  expect(delay.nextMs(60_000)).toBe(0);
  expect(delay.nextMs(59_999)).toBe(1000);
});
