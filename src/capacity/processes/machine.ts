// The machine and the commit that a file of results names, and what Linux shows in /proc: CPU time, memory and children
// of processes, and the time that a hypervisor has taken.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * CPU time of all threads of the processes until now, user and system, in microseconds. Threads that have ended are
 * missing.
 */
export function cpuMicrosOf(pids: readonly number[]): number {
  let nanos = 0;
  for (const pid of pids)
    for (const thread of threadsOf(pid)) {
      const text = textOf(`/proc/${pid}/task/${thread}/schedstat`);
      nanos += Number(text.slice(0, text.indexOf(' ')));
    }
  return nanos / 1000;
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The process and every process below it. */
export function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`)
      .split(' ')
      .filter((word) => word.trim() !== '')
      .map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** Resident memory in bytes: now, and at most so far. */
export function memoryOf(pid: number): { readonly bytes: number; readonly peakBytes: number } {
  const status = textOf(`/proc/${pid}/status`);
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return { bytes: kib('VmRSS') * 1024, peakBytes: kib('VmHWM') * 1024 };
}

/** Begins now. @returns tells the share of the machine's time, 0 to 1, that its hypervisor has given to others since */
export function watchSteal(): () => number {
  const before = ticksNow();
  return () => {
    const { all, stolen } = ticksNow();
    return (stolen - before.stolen) / Math.max(1, all - before.all);
  };
}

/** Ticks of all cores since the machine started: all, and those that the hypervisor gave to others. */
function ticksNow(): { readonly all: number; readonly stolen: number } {
  const ticks = (textOf('/proc/stat').split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, value) => sum + value, 0), stolen: ticks[7] ?? 0 };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const GOVERNOR = '/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor';
const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

export function machineNow() {
  return {
    model: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    kernel: release(),
    governor: existsSync(GOVERNOR) ? readFileSync(GOVERNOR, 'utf8').trim() : null,
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/**
 * The commit of the checkout that this code was built in, with + where files are not as committed; null outside of one.
 */
export function commitNow(): string | null {
  // An installed package may lie in the checkout of somebody else.
  if (!['.git', 'assembly'].every((name) => existsSync(`${CHECKOUT}${name}`))) return null;
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', CHECKOUT, ...args], { encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return null;
  }
}
