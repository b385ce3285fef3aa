// Runs rolling.ts in a network namespace of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RollingResult } from './rolling.js';

const DRIVER = 'build/test/support/deploy/rolling.js';

export async function runRolling(proxy: string, rounds: number): Promise<RollingResult> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-rolling-result-'));
  const result = join(folder, 'result.json');
  try {
    const command = ['-n', process.execPath, DRIVER, proxy, String(rounds), result];
    const child = spawn('unshare', command, { stdio: ['ignore', 'inherit', 'pipe'] });
    let err = '';
    child.stderr?.on('data', (bytes) => (err += bytes));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`the driver ended with ${code}: ${err}`);
    return JSON.parse(readFileSync(result, 'utf8')) as RollingResult;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
