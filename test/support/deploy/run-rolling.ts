// Runs rolling.ts in a network namespace of its own.
import type { RollingResult } from './rolling.js';
import { runInOwnNetwork } from './run-in-namespace.js';

export function runRolling(proxy: string, rounds: number): Promise<RollingResult> {
  return runInOwnNetwork('rolling', [proxy, String(rounds)]);
}
