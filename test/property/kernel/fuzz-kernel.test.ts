// The kernel under arbitrary bytes, in both builds: the small twin of the proof `fuzz-kernel`.
import { expect, test } from 'vitest';
import { KernelFuzz } from '../../support/fuzz-kernel.js';
import { openKernel, randomFrom } from '../../support/open-world.js';

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
console.log(`fuzz-kernel: seed ${seed}`);

test.each(['kernel', 'kernel.debug'] as const)('%s: no call traps or writes outside its output', (build) => {
  const fuzz = new KernelFuzz(openKernel(build), randomFrom(seed), build);
  fuzz.run((calls) => calls < 500_000);
  expect(fuzz.faults).toEqual([]);
});

test('a write outside is seen', () => {
  const kernel = openKernel();
  const fuzz = new KernelFuzz(kernel, randomFrom(seed));
  const { encodeBatch } = kernel.exports;
  const exports = {
    ...kernel.exports,
    encodeBatch: (count: number, resolution: number): number => {
      new Uint8Array(kernel.exports.memory.buffer)[kernel.exports.REACH.value]! ^= 1;
      return encodeBatch(count, resolution);
    },
  };
  Object.assign(kernel, { exports });
  // Which of the fuzz's steps calls encodeBatch first, and when, depends on the seed.
  fuzz.run((calls) => fuzz.faults.length === 0 && calls < 2_000_000);
  expect(fuzz.faults[0]).toMatch(/: memory .* was written$/);
});
