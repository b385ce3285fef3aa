// Runs a driver of this folder in a network namespace of its own and reads what it found.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RollingResult } from './rolling.js';
import type { TaskOptions, TaskResult } from './task.js';
import type { TaskName } from './tasks.js';

// Runs rolling.ts in a network namespace of its own.

export function runRolling(proxy: string, rounds: number): Promise<RollingResult> {
  return runInOwnNetwork('rolling', [proxy, String(rounds)]);
}

/** @param driver name of a program of this folder, whose last argument is the file of its result */
export async function runInOwnNetwork<T>(driver: string, args: readonly string[]): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-driver-'));
  const result = join(folder, 'result.json');
  try {
    const command = ['-n', process.execPath, `build/test/support/deploy/${driver}.js`, ...args, result];
    const child = spawn('unshare', command, { stdio: ['ignore', 'inherit', 'pipe'] });
    let err = '';
    child.stderr?.on('data', (bytes) => (err += bytes));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`the driver ended with ${code}: ${err}`);
    return JSON.parse(readFileSync(result, 'utf8')) as T;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Puts a task to two nodes behind a proxy. */
export function runProxied(proxy: string, task: TaskName, options: TaskOptions = {}): Promise<TaskResult> {
  return runInOwnNetwork('proxied', [proxy, task, JSON.stringify(options)]);
}

/** Reports behind a proxy while both nodes end its kept connections. */
export function runStale(proxy: string): Promise<TaskResult> {
  return runInOwnNetwork('stale', [proxy]);
}
