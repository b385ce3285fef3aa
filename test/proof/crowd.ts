// `npm run proof -- crowd [--for 30m] [--seed S]`: crowds of peers that do anything, most of them without a key,
// against one service by an allocator that overwrites freed memory. Between the crowds everybody rests for two idle
// times of the transport. The service must live, and hold what it held after five minutes. The small twin is in
// test/e2e/server/transport/crowds.test.ts.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../support/crowd.js';
import { freedMemory } from '../support/freed-memory.js';
import { randomFrom } from '../support/open-world.js';
import { ServeCommand } from '../support/serve-command.js';
import { millisecondsOf, optionsOf, report } from './run-length.js';

const KEY = 'one_key_0123456789abcdef';
const REQUESTS = 100_000;
const CROWD_MS = 60_000;
const REST_MS = 25_000;
/** Limits that a crowd passes, so that connections are closed by them too. */
const LIMITS = ['--max-connections', '400', '--max-keyless-per-address', '40'];
const WARM_UP_MS = 300_000;
const MAX_GROWTH_MIB = 20;

export default async function proveCrowd(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '30m', seed: '1' });
  const [lengthMs, seed] = [millisecondsOf(values.for), Number(values.seed)];
  if (freedMemory === undefined) throw new Error('this proof needs a C compiler (cc) and glibc');
  const command = new ServeCommand([...LIMITS, '--log-level', 'error'], {
    ...freedMemory,
    HEXCODES_API_KEYS: `one:${KEY}`,
  });
  const from = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
  const memoryMiB: number[] = [];
  try {
    const port = Number(new URL(await command.base()).port);
    const crowd = new Crowd({ port, key: KEY, random: randomFrom(seed), atOnce: 40, from });
    const startMs = performance.now();
    const isOver = (): boolean => command.hasEnded || performance.now() - startMs >= lengthMs;
    while (!isOver()) {
      const endMs = performance.now() + CROWD_MS;
      await crowd.run(() => performance.now() < endMs && !isOver());
      await Promise.race([sleep(REST_MS), command.exit]);
      if (command.hasEnded) break;
      const nowMiB = await residentMiB(command.child.pid as number);
      const minutes = Math.round((performance.now() - startMs) / 60_000);
      console.log(`minute ${minutes}: ${crowd.requests} requests, ${nowMiB.toFixed(0)} MiB`);
      if (performance.now() - startMs >= WARM_UP_MS) memoryMiB.push(nowMiB);
    }
    crowd.end();
    const faults: string[] = [];
    if (command.hasEnded) faults.push(`the service ended: ${command.child.signalCode} ${command.err}`);
    else {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/meta`, { headers: { 'X-API-Key': KEY } });
      if (answer.status !== 200) faults.push(`a right request was answered ${answer.status}`);
    }
    faults.push(...command.lines('a handler threw').map((line) => JSON.stringify(line)));
    if (crowd.requests < REQUESTS) faults.push(`fewer requests than ${REQUESTS}`);
    const [least, most] = [Math.min(...memoryMiB), Math.max(...memoryMiB)];
    if (!(most - least <= MAX_GROWTH_MIB)) faults.push(`memory between ${least} and ${most} MiB`);
    const memory = `${least.toFixed(0)} to ${most.toFixed(0)} MiB from the fifth minute to the end`;
    const reached = `${crowd.requests} requests on ${crowd.connections} connections in ${values.for}, ${memory}`;
    report('crowd', reached, seed, faults);
  } finally {
    await command.stop('SIGKILL');
  }
}

const LOOKS = 20;

/** The resident memory of a process that rests: the least of some looks, as garbage comes and goes. */
async function residentMiB(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    await sleep(100);
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    least = Math.min(least, Number(kibibytes) / 1024);
  }
  return least;
}
