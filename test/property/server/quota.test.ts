// A quota that several processes share, by a model that drives the shipped reservations (test/support/usage-model):
// large by `npm run proof -- quota`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ownFolder } from '../../support/shared.js';
import { type QuotaClass, runSchedule } from '../../support/usage-model.js';

const SCHEDULES = 800;
const STEPS = 120;
const folder = ownFolder('quota');

describe.each([
  ['never', false],
  ['never', true],
  ['closed', true],
  ['open', true],
] as const)('the store is away: %s, processes die: %s', (away, deaths) => {
  test(`${SCHEDULES} schedules: the quota is never passed, and used up to its last point`, () => {
    const sum = { taken: 0, waits: 0, refusals: 0 };
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const outcome = runSchedule({ seed, steps: STEPS, away, deaths });
      sum.taken += outcome.taken;
      sum.waits += outcome.waits;
      sum.refusals += outcome.refusals;
    }
    // The schedules reach all outcomes.
    expect(Math.min(sum.taken, sum.waits, sum.refusals)).toBeGreaterThan(SCHEDULES / 10);
  });
});

test.each([21_317, 106_120])(
  'points used while the store was away are paid before others: schedule %d',
  (seed) => {
    runSchedule({ seed, steps: STEPS, away: 'open', deaths: true });
  },
);

/** The shipped module without one of its lines. */
async function without(line: string): Promise<QuotaClass> {
  const shipped = readFileSync('dist/server/ledger/quota.js', 'utf8');
  expect(shipped.split(line)).toHaveLength(2);
  const path = join(folder, `quota-${line.length}-${Math.random()}.mjs`);
  writeFileSync(path, shipped.replace(line, ''));
  return ((await import(pathToFileURL(path).href)) as { Quota: QuotaClass }).Quota;
}

test.each([
  ['reserves', 'this.#free -= points;\n'],
  ['gives a quota back to its own day', 'this.#giveBack(period, held - usedOfHeld);'],
  ['gives back what is not used', 'this.#free += held - usedOfHeld;'],
  ['tells that what was held is used', 'this.#covered += usedOfHeld;'],
])('the model notices a process that no longer %s', async (_, line) => {
  const Broken = await without(line);
  const run = (): void => {
    for (let seed = 1; seed <= SCHEDULES; seed++)
      runSchedule({ seed, steps: STEPS, away: 'never', deaths: false }, Broken);
  };
  expect(run).toThrow(/points/);
});
