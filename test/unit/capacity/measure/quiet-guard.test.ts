// Measurements that the machine disturbed are repeated: cores given to others, or a slower core.
import { expect, test } from 'vitest';
import { QuietGuard } from '#dist/capacity/measure/gauge.js';

interface Machine {
  /** Time of all repeats; a measurement takes 100 ms. */
  readonly againMs: number;
  /** Share of each measurement's time that was given to others, and the time of the work behind it. */
  readonly all: readonly (readonly [stealShare: number, workUs: number])[];
  readonly runs?: number;
}

/** @returns which of the measurements counted */
async function counted({ againMs, all, runs = 1 }: Machine) {
  let at = 0;
  const core = { workUs: () => Promise.resolve(all[Math.max(0, at - 1)]![1]) };
  const guard = new QuietGuard(againMs, core, () => () => all[at - 1]![0]);
  const taken: number[] = [];
  for (let run = 0; run < runs; run++) taken.push(await guard.run(100, () => Promise.resolve(at++)));
  return { taken, worst: guard.worst, measured: at };
}

test('a quiet measurement counts at once', async () => {
  expect(await counted({ againMs: 1000, all: [[0.004, 90]] })).toEqual({
    ...{ taken: [0], measured: 1 },
    worst: { stealShare: 0.004, slowness: 1 },
  });
});

test('one whose cores were given to others is repeated until one is quiet', async () => {
  const all = [0.2, 0.1, 0.001, 0].map((share) => [share, 90] as const);
  expect(await counted({ againMs: 1000, all })).toMatchObject({
    ...{ taken: [2], measured: 3 },
    worst: { stealShare: 0.001 },
  });
});

test('one on a core that has become slower is repeated until before and behind it the core is fast again', async () => {
  const all = [90, 160, 160, 92, 91].map((workUs) => [0, workUs] as const);
  const { taken, worst, measured } = await counted({ againMs: 1000, all, runs: 2 });
  // The fourth begins on a slow core.
  expect({ taken, measured }).toEqual({ taken: [0, 4], measured: 5 });
  expect(worst.slowness).toBeCloseTo(92 / 90);
});

test('a core that was slow from the beginning is found out in the end', async () => {
  const all = [160, 90].map((workUs) => [0, workUs] as const);
  const { taken, worst } = await counted({ againMs: 0, all, runs: 2 });
  expect(taken).toEqual([0, 1]);
  expect(worst.slowness).toBeCloseTo(160 / 90);
});

test('where the time for repeats has run out, the least disturbed one counts; all measurements share that time', async () => {
  const all = [0.2, 0.05, 0.3, 0.1, 0].map((share) => [share, 90] as const);
  expect(await counted({ againMs: 250, all, runs: 2 })).toMatchObject({
    ...{ taken: [1, 3], measured: 4 },
    worst: { stealShare: 0.1 },
  });
});

test('without a core to ask, only what was given to others counts', async () => {
  const guard = new QuietGuard(0, undefined, () => () => 0);
  expect(await guard.run(100, () => Promise.resolve('x'))).toBe('x');
  expect(guard.worst).toEqual({ stealShare: 0, slowness: 1 });
});
