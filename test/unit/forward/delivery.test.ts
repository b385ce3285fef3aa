// How often a sink is tried that takes nothing: ever more rarely, up to every 30 s, and at once again when it is back.
import { afterEach, expect, test, vi } from 'vitest';
import { Delivery } from '#dist/server/forward/delivery.js';

afterEach(() => {
  vi.useRealTimers();
});

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A delivery of one batch to a sink that fails `failures` times; the pauses between its tries in ms. */
async function pausesOf(failures: number): Promise<number[]> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const tries: number[] = [];
  let waiting = 1;
  const backlog = {
    next: async () => ({ lines: Buffer.from('{}\n'), rows: 1, isFound: false }),
    accept: async () => {
      waiting = 0;
    },
  };
  const delivery = new Delivery({
    sink: {
      name: 'x',
      deliver: async () => {
        tries.push(performance.now());
        if (tries.length <= failures) throw new Error('no');
      },
      close: async () => undefined,
    },
    batchMs: 1,
    source: async () => (waiting > 0 ? (backlog as never) : undefined),
    waitingRows: () => waiting,
    log,
  });
  for (let i = 0; i < 2 * failures + 4 && tries.length <= failures; i++)
    await vi.advanceTimersByTimeAsync(30_000);
  const over = delivery.end(10);
  await vi.advanceTimersByTimeAsync(1000);
  await over;
  return tries.slice(1).map((time, i) => Math.round(time - tries[i]!));
}

test('the pauses double from 250 ms to 30 s', async () => {
  expect(await pausesOf(10)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('a sink that takes the batch is not tried again', async () => {
  expect(await pausesOf(0)).toEqual([]);
});
