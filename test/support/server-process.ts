// The real server as a process of its own, with a key and a data folder that go away with it: `ServerProcess`, with
// its memory as the system sees it, and `ServeCommand`, with what it says and logs.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const KEY = 'proof_0123456789abcdef';
const OTHER_KEY = 'other_0123456789abcdef';
/** Unit of /proc on Linux. */
const TICKS_PER_SECOND = 100;
/** Characters kept of what it writes on its error output. */
const LAST_WORDS = 4000;

export class ServerProcess {
  readonly key = KEY;
  readonly otherKey = OTHER_KEY;
  private constructor(
    readonly child: ChildProcess,
    readonly port: number,
    readonly dataDir: string,
    readonly lastWords: () => string,
  ) {}

  /**
   * @param options.core to which the process and its threads are bound, where the system has taskset
   * @param options.isQuiet its log is not shown: abuse of every kind is refused in it
   */
  static async start({
    core,
    isQuiet = false,
  }: {
    core?: string;
    isQuiet?: boolean;
  } = {}): Promise<ServerProcess> {
    const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-proof-'));
    const settings = [
      '--port',
      '0',
      '--admin-port',
      '0',
      '--data-dir',
      dataDir,
      '--log-level',
      'warn',
      '--drain-ms',
      '0',
    ];
    const command = [process.execPath, 'dist/cli/main.js', 'serve', ...settings];
    if (core !== undefined) command.unshift('taskset', '-c', core);
    const child = spawn(command[0]!, command.slice(1), {
      stdio: ['ignore', isQuiet ? 'ignore' : 'inherit', 'pipe'],
      env: { ...process.env, HEXCODES_API_KEYS: `proof:${KEY},other:${OTHER_KEY}` },
    });
    // The pipe is read to the end: a server whose reader left could not say why it ends.
    let said = '';
    const ended = once(child, 'close');
    child.stderr!.setEncoding('utf8');
    const greeted = new Promise<void>((resolve) => {
      child.stderr!.on('data', (text: string) => {
        said = (said + text).slice(-LAST_WORDS);
        if (/answers on \S+:\d+ /.test(said)) resolve();
      });
    });
    await Promise.race([greeted, ended]);
    const port = Number(/answers on \S+:(\d+)/.exec(said)?.[1]);
    if (!(port > 0)) throw new Error(`the server did not start: ${said}`);
    return new ServerProcess(child, port, dataDir, () => said);
  }

  /** How it ended, and the last it said. */
  get end(): string {
    return `exit ${this.child.exitCode}, signal ${this.child.signalCode}: ${this.lastWords()}`;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /** Resident memory now, and the most since `resetPeak`, in MB; NaN where the system does not tell. */
  memoryMb(): { now: number; peak: number } {
    const file = `/proc/${this.child.pid}/status`;
    const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const mb = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
    return { now: mb('VmRSS'), peak: mb('VmHWM') };
  }

  /** Seconds of CPU that it has used; NaN where the system does not tell. */
  cpuSeconds(): number {
    const file = `/proc/${this.child.pid}/stat`;
    const stat = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const [user = Number.NaN, system = Number.NaN] = stat
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return (user + system) / TICKS_PER_SECOND;
  }

  resetPeak(): void {
    if (existsSync(`/proc/${this.child.pid}/clear_refs`)) {
      writeFileSync(`/proc/${this.child.pid}/clear_refs`, '5');
    }
  }

  /** Ends it without waiting for what it still does. */
  async kill(): Promise<void> {
    if (!this.hasEnded) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

// `hexcodes serve` as a process, with what it says and logs, and what it counts at its end.

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
