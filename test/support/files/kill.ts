// Kills the command at random moments and resumes it until it finishes.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const MAIN = resolve('dist/cli/main.js');

export interface KilledRun {
  /** How often it was killed while it ran. */
  readonly kills: number;
  /** Runs that resumed from a journal. */
  readonly resumed: number;
}

/**
 * Runs `hexcodes ARGS -o OUT --resume`. Kills it (SIGKILL) `kills` times: when the journal first appears, then each
 * time after a random part of `spanMs`. Then lets it finish.
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
    // The first run is killed when the journal appears, so that there is always something to resume.
    const isFirst = run === 0 && kills > 0;
    const outcome = await once(args, cwd, isLast ? null : isFirst ? 'journal' : random() * spanMs);
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

function once(args: readonly string[], cwd: string, kill: number | 'journal' | null): Promise<Outcome> {
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
    const timer = typeof kill === 'number' ? setTimeout(() => child.kill('SIGKILL'), kill) : undefined;
    const journal = join(cwd, `${args[args.indexOf('-o') + 1]}.partial.journal`);
    const poll =
      kill === 'journal' ? setInterval(() => existsSync(journal) && child.kill('SIGKILL'), 1) : undefined;
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      clearInterval(poll);
      done({ code, signal, stderr });
    });
  });
}
