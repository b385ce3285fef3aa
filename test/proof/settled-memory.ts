// The resident memory of a process that rests.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOKS = 20;

/** The least of some looks: garbage comes and goes. */
export async function residentMiB(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    await sleep(100);
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    least = Math.min(least, Number(kibibytes) / 1024);
  }
  return least;
}
