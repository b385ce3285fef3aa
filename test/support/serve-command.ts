// `hexcodes serve` as a process, with what it says and logs, and what it counts at its end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const COMMAND_KEY = 'command_0123456789abcdef';

type LogLine = Readonly<Record<string, unknown>>;

export class ServeCommand {
  readonly child: ChildProcess;
  readonly exit: Promise<number | string | null>;
  #out = '';
  #err = '';
  readonly #ownFolder: string | undefined;

  /**
   * @param args after `serve`; ports are free ones unless they say otherwise. A data folder of its own, unless env has
   *   one.
   */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    if (env.HEXCODES_DATA_DIR === undefined) this.#ownFolder = mkdtempSync(join(tmpdir(), 'hexcodes-serve-'));
    this.child = spawn(process.execPath, ['dist/cli/main.js', 'serve', ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        HEXCODES_PORT: '0',
        HEXCODES_ADMIN_PORT: '0',
        // A test that waits for the end of a process has nobody who must notice it before.
        HEXCODES_DRAIN_MS: '0',
        HEXCODES_API_KEYS: `command:${COMMAND_KEY}`,
        HEXCODES_DATA_DIR: this.#ownFolder ?? '',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (bytes) => (this.#out += bytes));
    this.child.stderr?.on('data', (bytes) => (this.#err += bytes));
    this.exit = once(this.child, 'close').then(([code, signal]) => code ?? signal);
  }

  /** Undefined where the environment names one. */
  get dataDir(): string | undefined {
    return this.#ownFolder;
  }

  get err(): string {
    return this.#err;
  }

  get log(): LogLine[] {
    const whole = this.#out.slice(0, this.#out.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** The log lines of a message. */
  lines(message: string): LogLine[] {
    return this.log.filter((line) => line.msg === message);
  }

  /** Waits until there is a number of log lines of the message. @returns the last of them */
  async line(message: string, count = 1): Promise<LogLine> {
    for (;;) {
      const found = this.lines(message);
      if (found.length >= count) return found[count - 1] as LogLine;
      if (this.hasEnded) throw new Error(`no line "${message}" before the end: ${this.#err}${this.#out}`);
      await sleep(10);
    }
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until it answers. @returns its address, without a path */
  async base(): Promise<string> {
    for (;;) {
      const base = /answers on (http:\/\/\S+)/.exec(this.#err)?.[1];
      if (base !== undefined) return base;
      if (this.hasEnded) throw new Error(this.#err);
      await sleep(10);
    }
  }

  /** Waits until it answers. @returns the address of the admin port */
  async adminBase(): Promise<string> {
    await this.base();
    const supervised = this.#err.includes('supervises') || this.lines('all processes listen').length > 0;
    const { admin_port: port } = await this.line(supervised ? 'all processes listen' : 'listening');
    return `http://127.0.0.1:${port}`;
  }

  /** Requests read and frames taken, by all processes that have stopped so far. */
  get counts(): { requests: number; frames: number } {
    const counts = { requests: 0, frames: 0 };
    for (const line of this.lines('stopped')) {
      counts.requests += line.requests as number;
      counts.frames += line.frames as number;
    }
    return counts;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    this.child.kill(signal);
    const ending = await this.exit;
    this.remove();
    return ending;
  }

  remove(): void {
    if (!this.hasEnded) this.child.kill('SIGKILL');
    if (this.#ownFolder !== undefined) rmSync(this.#ownFolder, { recursive: true, force: true });
  }
}
