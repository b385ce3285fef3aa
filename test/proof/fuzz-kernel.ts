// `npm run proof -- fuzz-kernel [--size 1000000000] [--for 30m] [--seed S]`: arbitrary bytes in the input areas of the
// kernel that ships. The small twin, with the debug build too, is test/property/kernel/fuzz-kernel.test.ts.
import { parseArgs } from 'node:util';
import { KernelFuzz } from '../support/fuzz-kernel.js';
import { randomFrom } from '../support/open-world.js';
import { shippedKernel } from '../support/shipped.js';
import { RunLength, report } from './run-length.js';

export default async function proveFuzzKernel(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: '1000000000' },
      seed: { type: 'string', default: '1' },
      for: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const length = new RunLength(Number(values.size), values.for);
  const fuzz = new KernelFuzz(shippedKernel(), randomFrom(seed));
  fuzz.run((done) => length.goesOn(done));
  report('fuzz-kernel', `${fuzz.calls} calls and points`, seed, fuzz.faults);
}
