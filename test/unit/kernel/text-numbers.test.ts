// The kernel's numbers, read and printed, against Number and String; `npm run proof -- numbers` runs far more.
import { expect, test } from 'vitest';
import { openKernel, randomFrom } from '../../support/open-world.js';
import { checkRound, HARD_TEXTS, NumberChecker } from '../../support/text-numbers.js';

const SEED = 20261121;
/** About 40 readings each, by both grammars. */
const ROUNDS = { kernel: 20_000, 'kernel.debug': 3_000 } as const;

test.each(Object.entries(ROUNDS))('%s reads and prints as JavaScript does', (build, rounds) => {
  const checker = new NumberChecker(openKernel(build as keyof typeof ROUNDS));
  for (const text of HARD_TEXTS) checker.read(text);
  const random = randomFrom(SEED);
  for (let round = 0; round < rounds; round++) checkRound(checker, random);
  const { wrong, read, printed } = checker.counts;
  expect(wrong, `seed ${SEED}`).toEqual([]);
  expect(read).toBeGreaterThan(rounds * 40);
  expect(printed).toBeGreaterThan(rounds * 4);
});
