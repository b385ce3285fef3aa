// The machine, the versions and the commit that a file of results records of results.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Machine } from '../measure/results.js';

const GOVERNOR = '/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor';
const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

export function machineNow(): Omit<Machine, 'stealShare' | 'counted'> {
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
