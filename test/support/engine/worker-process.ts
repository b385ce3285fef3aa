// `hexcodes worker` as a process, with the counts that it says.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MAIN = resolve('dist/cli/main.js');

export interface Counts {
  messages: number;
  points: number;
  redelivered: number;
  already: number;
  dead: number;
}

const WORDS: readonly (readonly [keyof Counts, string])[] = [
  ['messages', 'messages'],
  ['points', 'points'],
  ['redelivered', 'delivered again'],
  ['already', 'answered already'],
  ['dead', 'dead letters'],
];

export interface WorkerPlace {
  readonly command: readonly string[];
  readonly before: readonly string[];
  readonly cwd: string;
}

export class WorkerProcess {
  readonly child: ChildProcess;
  text = '';

  /** @param before the words of a program that starts it */
  constructor(
    url: string,
    args: readonly string[] = [],
    env: Record<string, string> = {},
    { command = ['worker'], before = [], cwd = process.cwd() }: Partial<WorkerPlace> = {},
  ) {
    const [program = '', ...words] = [...before, process.execPath, MAIN, ...command, ...args];
    this.child = spawn(program, words, {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HEXCODES_NATS_URL: url, ...env },
    });
    this.child.stderr!.setEncoding('utf8');
    this.child.stderr!.on('data', (text: string) => {
      this.text += text;
    });
  }

  /** The counts that it has said last. */
  get counts(): Counts {
    const line = this.text.split('\n').findLast((each) => / messages {2}/.test(each)) ?? '';
    const counts: Counts = { messages: 0, points: 0, redelivered: 0, already: 0, dead: 0 };
    for (const [name, words] of WORDS)
      counts[name] = Number(new RegExp(`([\\d,]+) ${words}`).exec(line)?.[1]?.replaceAll(',', '') ?? 0);
    return counts;
  }

  /** Waits until it has said this. */
  async says(words: string | RegExp, patienceMs = 60_000): Promise<void> {
    for (const deadline = performance.now() + patienceMs; this.text.search(words) < 0; await sleep(20)) {
      if (performance.now() > deadline || this.hasEnded)
        throw new Error(`the worker has not said ${words}, but: ${this.text}`);
    }
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** @returns its exit code, null where a signal ended it */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (!this.hasEnded) {
      const closed = once(this.child, 'close');
      this.child.kill(signal);
      await closed;
    }
    return this.child.exitCode;
  }

  /** Waits until it ends by itself; its exit code. */
  async ended(): Promise<number | null> {
    if (!this.hasEnded) await once(this.child, 'close');
    return this.child.exitCode;
  }
}
