// `npm run proof -- fuzz-http [--size 5000000] [--for 30m] [--seed S]`: mutated requests against one server process,
// whose memory is as before when they are over. The small twin is in test/e2e/server/fuzz.test.ts.
import { HttpFuzz } from '../support/fuzz-http.js';
import { randomFrom } from '../support/open-world.js';
import { runFuzz } from './fuzz-run.js';

export default async function proveFuzzHttp(args: string[]): Promise<void> {
  await runFuzz('fuzz-http', args, 5_000_000, async (server, seed, length) => {
    const fuzz = new HttpFuzz(server, randomFrom(seed));
    await fuzz.corpus();
    await fuzz.run((done) => length.goesOn(done));
    const statuses = JSON.stringify(fuzz.statuses);
    return {
      reached: `${fuzz.exchanges} exchanges on ${fuzz.connections} connections, answered ${statuses}`,
      faults: fuzz.faults,
    };
  });
}
