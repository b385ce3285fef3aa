// `npm run proof -- http-fuzz [--size 200000] [--seed S]`: mutated requests against one server process; the small twin
// is in test/e2e/server/hostile.test.ts.
import { parseArgs } from 'node:util';
import { fuzz } from '../support/fuzz.js';
import { randomFrom } from '../support/open-world.js';

const MAX_GROWTH_BYTES = 32 * 2 ** 20;

export default async function proveHttpFuzz(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { size: { type: 'string', default: '200000' }, seed: { type: 'string', default: '1' } },
  });
  const seed = Number(values.seed);
  const result = await fuzz(Number(values.size), randomFrom(seed));
  console.log(JSON.stringify({ seed, ...result }, null, 2));
  if (!result.samePid) throw new Error('the server did not survive');
  if (result.statuses['500'] !== undefined) throw new Error('a request was answered 500');
  const grownBytes = result.endResidentBytes - result.baseResidentBytes;
  if (grownBytes > MAX_GROWTH_BYTES) throw new Error(`memory grew by ${grownBytes} bytes`);
}
