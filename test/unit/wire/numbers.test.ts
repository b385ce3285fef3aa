// The kernel's numbers, read and printed, against Number and String; `npm run proof -- numbers` runs far more.

import { expect, test } from 'vitest';
import { openKernel, randomFrom } from '../../support/open-world.js';
import {
  checkRound,
  checkUsual,
  HARD_TEXTS,
  NumberChecker,
  USUAL_PRINTINGS,
} from '../../support/text-numbers.js';

const SEED = 20261121;
/** About 40 readings and 50 printings each. */
const ROUNDS = { kernel: 1250, 'kernel.debug': 250 } as const;

test.each(Object.entries(ROUNDS))('%s reads and prints as JavaScript does', (build, rounds) => {
  const checker = new NumberChecker(openKernel(build as keyof typeof ROUNDS));
  for (const text of HARD_TEXTS) checker.read(text);
  const random = randomFrom(SEED);
  for (let round = 0; round < rounds; round++) checkRound(checker, random);
  expect(checker.counts.printed).toBeGreaterThan(rounds * 4);
  const before = checker.counts.printed;
  for (let round = 0; round < rounds; round++) checkUsual(checker, random);
  const { wrong, read, printed } = checker.counts;
  expect(wrong, `seed ${SEED}`).toEqual([]);
  expect(read).toBeGreaterThan(rounds * 40);
  expect(printed).toBe(before + rounds * USUAL_PRINTINGS);
});
