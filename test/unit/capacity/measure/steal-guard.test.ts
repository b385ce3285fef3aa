// Measurements during which the hypervisor gave the cores to others are repeated.
import { expect, test } from 'vitest';
import { StealGuard } from '#dist/capacity/measure/steal-guard.js';

/** Runs measurements of 100 ms, of which these shares are given to others. @returns which of them counted */
async function counted(guardMs: number, shares: readonly number[], runs = 1) {
  let at = 0;
  const guard = new StealGuard(guardMs, () => () => shares[at - 1]!);
  const taken: number[] = [];
  for (let run = 0; run < runs; run++) taken.push(await guard.run(100, () => Promise.resolve(at++)));
  return { taken, worstShare: guard.worstShare, measured: at };
}

test('a quiet measurement counts at once', async () => {
  expect(await counted(1000, [0.004])).toEqual({ taken: [0], worstShare: 0.004, measured: 1 });
});

test('a disturbed one is repeated until one is quiet', async () => {
  expect(await counted(1000, [0.2, 0.1, 0.001, 0])).toEqual({ taken: [2], worstShare: 0.001, measured: 3 });
});

test('where the time for that has run out, the least disturbed one counts', async () => {
  expect(await counted(250, [0.2, 0.05, 0.3, 0])).toEqual({ taken: [1], worstShare: 0.05, measured: 3 });
});

test('all measurements share that time', async () => {
  expect(await counted(100, [0.2, 0, 0.3], 2)).toEqual({ taken: [1, 2], worstShare: 0.3, measured: 3 });
});
