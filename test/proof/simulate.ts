// `npm run proof -- simulate [--size 1000000] [--for 30m] [--seed S]`: runs of the stream without sockets, each with
// faults of its own seed; every tenth on a way that doubles and drops messages. The small twin is
// test/property/stream/simulate.test.ts.
import { parseArgs } from 'node:util';
import { randomFrom } from '../support/open-world.js';
import { simulateStream } from '../support/simulated-stream.js';
import { RunLength, report } from './run-length.js';

export default async function proveSimulate(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      for: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const length = new RunLength(Number(values.size), values.for);
  const faults: string[] = [];
  const sums = { points: 0, connections: 0, refusals: 0, refused: 0 };
  let runs = 0;
  for (; length.goesOn(runs) && faults.length < 20; runs++) {
    const isBroken = runs % 10 === 9;
    const run = await simulateStream(randomFrom(seed + runs), isBroken);
    sums.points += run.points;
    sums.connections += run.connections;
    sums.refusals += run.refusals;
    if (run.wasRefused) sums.refused++;
    if (run.fault !== undefined)
      faults.push(`seed ${seed + runs}, ${isBroken ? 'broken way' : 'way'}: ${run.fault}`);
    // Sessions look at their sockets in a turn of their own.
    if (runs % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { points, connections, refusals, refused } = sums;
  report(
    'simulate',
    `${runs} runs: ${points} points on ${connections} connections, ${refusals} frames refused and sent again, ${refused} broken ways noticed`,
    seed,
    faults,
  );
}
