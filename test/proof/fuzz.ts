// `npm run proof -- fuzz-http`, `fuzz-bulk`, `fuzz-frames`, `fuzz-kernel` `[--size N] [--for 30m] [--seed S]`: damaged
// requests, bulk bodies of every format, messages and WebSocket frames against one server process; arbitrary bytes in
// the input areas of the kernel. `soak` sends all three kinds at once. Memory and descriptors of the process are as
// they were after a warm-up. Small twins: test/e2e/server/load-proofs.test.ts,
// test/property/kernel/scan-members.test.ts.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BulkFuzz } from '../support/fuzz-bulk.js';
import { KernelFuzz } from '../support/fuzz-kernel.js';
import { FramesFuzz, HttpFuzz } from '../support/fuzz-service.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import { shippedKernel } from '../support/shipped.js';
import { millisecondsOf, optionsOf, RunLength, report } from './run-length.js';

/** Growth of the resident memory that garbage may cause after the warm-up. */
const MAX_GROWTH_MB = 64;
/** Connections without an answer are closed after 12 s by uws-pack and after 36 s by 20.57.0 (transport/README U24). */
const MAX_SETTLE_MS = 60_000;

interface Outcome {
  readonly reached: string;
  readonly faults: readonly string[];
}

type Fuzz = (server: ServerProcess, seed: number, length: RunLength) => Promise<Outcome>;

async function http(server: ServerProcess, seed: number, length: RunLength): Promise<Outcome> {
  const fuzz = new HttpFuzz(server, randomFrom(seed));
  await fuzz.corpus();
  await fuzz.run((done) => length.goesOn(done));
  const statuses = JSON.stringify(fuzz.statuses);
  return {
    reached: `${fuzz.exchanges} exchanges on ${fuzz.connections} connections, answered ${statuses}`,
    faults: fuzz.faults,
  };
}

async function bulk(server: ServerProcess, seed: number, length: RunLength): Promise<Outcome> {
  const fuzz = new BulkFuzz(server, shippedKernel(), randomFrom(seed));
  await fuzz.run((done) => length.goesOn(done));
  const { bodies, whole, refused, cut, faults } = fuzz;
  return {
    reached: `${bodies} bodies: ${whole} answered whole, ${refused} refused, ${cut} cut off`,
    faults,
  };
}

async function frames(server: ServerProcess, seed: number, length: RunLength): Promise<Outcome> {
  const fuzz = new FramesFuzz(server, shippedKernel(), randomFrom(seed));
  await fuzz.run((done) => length.goesOn(done));
  const { messages, answered, broken, faults } = fuzz;
  return {
    reached: `${messages} messages: ${answered} damaged and answered, ${broken} in damaged WebSocket frames`,
    faults,
  };
}

async function together(server: ServerProcess, seed: number, length: RunLength): Promise<Outcome> {
  const outcomes = await Promise.all([http, bulk, frames].map((fuzz) => fuzz(server, seed, length)));
  return {
    reached: outcomes.map(({ reached }) => reached).join('; '),
    faults: outcomes.flatMap(({ faults }) => faults),
  };
}

/** The sender, its default size, and the size that warms the server. */
const KINDS = {
  'fuzz-http': { fuzz: http, size: 5_000_000, warmUpSize: 5000 },
  'fuzz-bulk': { fuzz: bulk, size: 1_000_000, warmUpSize: 5000 },
  // Some twenty seconds.
  'fuzz-frames': { fuzz: frames, size: 2_000_000, warmUpSize: 100_000 },
  soak: { fuzz: together, size: 1_000_000, warmUpSize: 2000 },
} satisfies Record<string, { fuzz: Fuzz; size: number; warmUpSize: number }>;

export async function proveFuzz(name: keyof typeof KINDS, args: string[]): Promise<void> {
  const { fuzz, size, warmUpSize } = KINDS[name];
  const { seed, length, warmUp } = lengthOf(args, size);
  const server = await ServerProcess.start({ isQuiet: true });
  try {
    const descriptors = countDescriptors(server);
    await fuzz(server, seed + 1, new RunLength(warmUpSize, warmUp));
    const beforeMb = await settledMb(server);
    const { reached, faults } = await fuzz(server, seed, length());
    const afterMb = server.hasEnded ? Number.NaN : await settledMb(server);
    const grown = afterMb - beforeMb > MAX_GROWTH_MB ? ['memory grew'] : [];
    const left = (await isBackTo(descriptors, server)) ? [] : ['descriptors are left open'];
    const memory = `memory ${beforeMb.toFixed(0)} MB after the warm-up, ${afterMb.toFixed(0)} MB at the end`;
    report(name, `${reached}, ${memory}`, seed, [...faults, ...grown, ...left]);
  } finally {
    await server.kill();
  }
}

export async function proveFuzzKernel(args: string[]): Promise<void> {
  const { seed, length } = lengthOf(args, 1_000_000_000);
  const fuzz = new KernelFuzz(shippedKernel(), randomFrom(seed));
  const whole = length();
  fuzz.run((done) => whole.goesOn(done));
  report('fuzz-kernel', `${fuzz.calls} calls and points`, seed, fuzz.faults);
}

/** A warm-up of a minute, unless the whole is shorter. */
function lengthOf(args: string[], size: number): { seed: number; length: () => RunLength; warmUp: string } {
  const values = optionsOf(args, { size: String(size), seed: '1', for: undefined });
  const warmUp = values.for !== undefined && millisecondsOf(values.for) < 60_000 ? values.for : '60s';
  return { seed: Number(values.seed), length: () => new RunLength(Number(values.size), values.for), warmUp };
}

const countDescriptors = ({ child }: ServerProcess): number => readdirSync(`/proc/${child.pid}/fd`).length;

/** Waits for connections that the service has not closed yet. */
async function isBackTo(descriptors: number, server: ServerProcess): Promise<boolean> {
  const endMs = performance.now() + MAX_SETTLE_MS;
  while (!server.hasEnded && performance.now() < endMs) {
    if (countDescriptors(server) <= descriptors) return true;
    await sleep(500);
  }
  return false;
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
