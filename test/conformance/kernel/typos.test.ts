// Exhaustive slips on 2,176 codes of every admin code and resolution: none is accepted, though the reach allows all.

import { expect, test } from 'vitest';
import { openKernel, randomFrom } from '../../support/open-world.js';
import { countAccepted, randomCodes, slipsOf } from '../../support/typos.js';

const SEED = 34;

test('no substitution, swap or twin of a code is a code', () => {
  const kernel = openKernel();
  const codes = randomCodes(kernel, randomFrom(SEED), 4);
  expect(new Set(codes).size).toBeGreaterThan(2_000);
  const counts = countAccepted(kernel, codes);
  expect(counts.accepted, `seed ${SEED}`).toEqual([]);
  expect(counts.slips).toBeGreaterThan(1_000_000);
});

test('all four slips occur, and a slip undone is accepted', () => {
  const kernel = openKernel();
  const slips = [...slipsOf('HN-6GHMK-53FMF')];
  expect(slips.filter(([slip]) => slip === 'substitution')).toHaveLength(12 * 33);
  expect(slips.filter(([slip]) => slip === 'swap')).toHaveLength(11);
  expect(slips.filter(([slip]) => slip === 'next-neighbour swap')).toHaveLength(9);
  expect([...slipsOf('HN-2J')].some(([slip]) => slip === 'twin')).toBe(false);
  expect([...slipsOf('HN-66')].filter(([slip]) => slip === 'twin')).toHaveLength(19);
  expect(kernel.readText('HN-6GHMK-53FMF')).toBe(0);
});

test('two slips can be a code: the check is one symbol', () => {
  const kernel = openKernel();
  let accepted = 0;
  for (const [, text] of slipsOf('HN-6GHMK-53FMF'))
    for (const [, twice] of slipsOf(text))
      if (kernel.readText(twice) === 0 && twice !== 'HN-6GHMK-53FMF') accepted++;
  expect(accepted).toBeGreaterThan(0);
});
