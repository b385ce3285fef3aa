// `npm run proof -- fuzz-bulk [--size 1000000] [--for 30m] [--seed S]`: damaged bulk bodies of every format against one
// server process. The small twin is in test/e2e/server/fuzz.test.ts.
import { BulkFuzz } from '../support/fuzz-bulk.js';
import { randomFrom } from '../support/open-world.js';
import { shippedKernel } from '../support/shipped.js';
import { runFuzz } from './fuzz-run.js';

export default async function proveFuzzBulk(args: string[]): Promise<void> {
  const kernel = shippedKernel();
  await runFuzz('fuzz-bulk', args, 1_000_000, async (server, seed, length) => {
    const fuzz = new BulkFuzz(server, kernel, randomFrom(seed));
    await fuzz.run((done) => length.goesOn(done));
    const { bodies, whole, refused, cut, rowsChecked, faults } = fuzz;
    return {
      reached: `${bodies} bodies: ${whole} answered whole, ${refused} refused, ${cut} cut off; ${rowsChecked} rows against the library`,
      faults,
    };
  });
}
