// A fuzzing proof against the server as a process: its arguments, a warm-up, the memory before and after, the report.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ServerProcess } from '../support/server-process.js';
import { RunLength, report } from './run-length.js';

/** Growth of the resident memory that garbage may cause after the warm-up. */
const MAX_GROWTH_MB = 64;
const WARM_UP_SIZE = 5000;
const WARM_UP_TIME = '60s';

export interface FuzzOutcome {
  readonly reached: string;
  readonly faults: readonly string[];
}

/**
 * @param fuzz sends until the length is over; called once to warm the server, and once in earnest
 * @param warmUpSize after which the heap of the server has its usual size
 */
export async function runFuzz(
  name: string,
  args: string[],
  size: number,
  fuzz: (server: ServerProcess, seed: number, length: RunLength) => Promise<FuzzOutcome>,
  warmUpSize = WARM_UP_SIZE,
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: String(size) },
      seed: { type: 'string', default: '1' },
      for: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const server = await ServerProcess.start({ isQuiet: true });
  try {
    await fuzz(server, seed + 1, new RunLength(warmUpSize, WARM_UP_TIME));
    const beforeMb = await settledMb(server);
    const { reached, faults } = await fuzz(server, seed, new RunLength(Number(values.size), values.for));
    const afterMb = server.hasEnded ? Number.NaN : await settledMb(server);
    const grown = afterMb - beforeMb > MAX_GROWTH_MB ? ['memory grew'] : [];
    const memory = `memory ${beforeMb.toFixed(0)} MB after the warm-up, ${afterMb.toFixed(0)} MB at the end`;
    report(name, `${reached}, ${memory}`, seed, [...faults, ...grown]);
  } finally {
    await server.kill();
  }
}

/** The least of some looks at the resident memory: garbage comes and goes. */
async function settledMb(server: ServerProcess): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 20; look++) {
    await sleep(100);
    least = Math.min(least, server.memoryMb().now);
  }
  return least;
}
