// 200,000 mutated requests against one server process; the small twin is in test/e2e/hostile.test.ts.
import { fuzz } from '../e2e/fuzz.js';
import { randomFrom } from '../open-world.js';

const MAX_GROWTH_BYTES = 32 * 2 ** 20;

const requests = Number(process.env.SIZE ?? 200_000);
const seed = Number(process.env.SEED ?? 4);
const result = await fuzz(requests, randomFrom(seed));
console.log(JSON.stringify({ seed, ...result }, null, 2));
const grownBytes = result.endResidentBytes - result.baseResidentBytes;
if (!result.samePid || result.statuses['500'] !== undefined || grownBytes > MAX_GROWTH_BYTES) {
  console.error('http-fuzz: failed');
  process.exitCode = 1;
}
