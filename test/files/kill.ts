// Kills the command at random moments and resumes it, until it comes through.

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const MAIN = resolve('dist/cli/main.js');

export interface KilledRun {
  /** Times it was killed while at work. */
  readonly kills: number;
  /** Runs that went on from a journal. */
  readonly resumed: number;
}

/**
 * Runs `hexcodes ARGS --resume`, each time killed (SIGKILL) after a random part of `spanMs`, `kills` times, then lets
 * it finish.
 */
export async function runKilled(
  args: readonly string[],
  cwd: string,
  kills: number,
  spanMs: number,
  random: () => number,
): Promise<KilledRun> {
  let killed = 0;
  let resumed = 0;
  for (let run = 0; ; run++) {
    const isLast = killed >= kills || run > 20 * kills;
    const outcome = await once(args, cwd, isLast ? null : random() * spanMs);
    if (!/Nothing to resume/.test(outcome.stderr) && run > 0) resumed++;
    if (outcome.signal === 'SIGKILL') killed++;
    else if (outcome.code !== 0) throw new Error(`exit ${outcome.code}: ${outcome.stderr}`);
    else return { kills: killed, resumed };
  }
}

interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

function once(args: readonly string[], cwd: string, killAfterMs: number | null): Promise<Outcome> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [MAIN, ...args, '--resume'], {
      cwd,
      env: { ...process.env, HEXCODES_CHECKPOINT_BYTES: String(256 * 1024) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    const timer = killAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      done({ code, signal, stderr });
    });
  });
}
