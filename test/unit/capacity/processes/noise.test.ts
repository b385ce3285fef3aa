// The verdict of the noise control over a whole run.
import { expect, test } from 'vitest';
import { areQuiet, measureNoise, type Noise, workSpread } from '#dist/capacity/processes/noise.js';

const QUIET: Noise = { p50Us: 1060, p99Us: 1100, maxUs: 1500, stealShare: 0, workUs: 100 };

test('a run is noisy where a thread woke late, or what counts was measured on a slow core or on one that others had', () => {
  expect(areQuiet([QUIET, { ...QUIET, workUs: 120 }], { stealShare: 0.004, slowness: 1.2 })).toBe(true);
  expect(areQuiet([QUIET, { ...QUIET, p99Us: 2500 }], { stealShare: 0, slowness: 1 })).toBe(false);
  expect(areQuiet([QUIET, QUIET], { stealShare: 0.006, slowness: 1 })).toBe(false);
  expect(areQuiet([QUIET, QUIET], { stealShare: 0, slowness: 1.3 })).toBe(false);
});

test('controls of before, without work, have no spread', () => {
  const { workUs: _, ...before } = QUIET;
  expect(workSpread([before, before])).toBe(1);
  expect(workSpread([before, QUIET, { ...QUIET, workUs: 150 }])).toBe(1.5);
});

test('a control has all its figures', async () => {
  const noise = await measureNoise(60);
  for (const value of [noise.p50Us, noise.p99Us, noise.maxUs, noise.workUs]) expect(value).toBeGreaterThan(0);
});
