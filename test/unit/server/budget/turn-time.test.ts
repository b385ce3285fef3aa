// A turn of the event loop takes up work for a bounded time, and the next one again.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TurnTime } from '#dist/server/routes/batch.js';

test('a turn is up after its time, and another begins with the event loop', async () => {
  let nowMs = 5000;
  const turn = new TurnTime(100, () => nowMs);
  expect(turn.isUp).toBe(false);
  nowMs += 99;
  expect(turn.isUp).toBe(false);
  nowMs += 1;
  expect(turn.isUp).toBe(true);
  await setImmediate();
  expect(turn.isUp).toBe(false);
  expect(turn.isUp).toBe(false);
});
