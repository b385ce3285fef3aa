// Small twins of the proofs `fuzz-http`, `fuzz-bulk` and `fuzz-frames`: damaged input on real connections to a server in
// a process of its own, and whatever was once found that way (test/fixtures/corpus).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpFuzz } from '../../support/fuzz-http.js';
import { randomFrom } from '../../support/open-world.js';
import { ServerProcess } from '../../support/server-process.js';

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
console.log(`fuzz: seed ${seed}`);

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.kill());

test('mutated requests and the corpus: no 500, right requests are answered right, the same process', async () => {
  const fuzz = new HttpFuzz(server, randomFrom(seed));
  await fuzz.corpus();
  await fuzz.run((exchanges) => exchanges < 4000);
  expect(fuzz.faults).toEqual([]);
  expect(fuzz.statuses['200']).toBeGreaterThan(100);
  expect(fuzz.statuses['400']).toBeGreaterThan(100);
});
