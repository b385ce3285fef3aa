// The real server as a process of its own, with a key and a data folder that go away with it, and its memory as the
// system sees it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
