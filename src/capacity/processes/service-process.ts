// The service that is measured: the shipped `hexcodes serve`, in a process of its own with a key and a data folder of
// its own.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMicrosOf, familyOf, memoryOf } from './machine.js';
import { SERVER_CORE, spawnPinned } from './pinned-process.js';

const COMMAND = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const KEY = 'bench_key_0123456789abcdefghijklmnopqrstuvwxyz';
/** All load has one key, which therefore may have as much under way as all. */
const ONE_KEY = { HEXCODES_MAX_REQUESTS_PER_KEY: '100000', HEXCODES_MAX_SOCKETS_PER_KEY: '50000' };
const STOP_TIMEOUT_MS = 10_000;

/** A server that is measured. */
export interface Subject {
  /** Address, without a path. */
  readonly base: string;
  readonly key: string;
  /** All its processes; empty where it runs elsewhere. */
  readonly pids: readonly number[];
}

export class ServiceProcess implements Subject {
  private constructor(
    private readonly child: ChildProcess,
    readonly base: string,
    readonly pids: readonly number[],
    private readonly remove: () => void,
  ) {}

  readonly key = KEY;

  /** @param processes of `--processes`, on as many cores; 1: the service alone, on the first core */
  static async start(processes = 1): Promise<ServiceProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('HEXCODES_')),
    );
    const settings = {
      HEXCODES_PORT: '0',
      HEXCODES_ADMIN_PORT: '0',
      HEXCODES_DATA_DIR: folder,
      ...ONE_KEY,
      HEXCODES_API_KEYS: `bench:${KEY}`,
    };
    const args = [COMMAND, 'serve', ...(processes === 1 ? [] : ['--processes', String(processes)])];
    const cores = processes === 1 ? String(SERVER_CORE) : `0-${processes - 1}`;
    const child = spawnPinned(args, cores, { ...env, ...settings });
    // Neither the service nor its files stay, however the process of the measurement ends.
    const remove = (): void => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    };
    process.once('exit', remove);
    let said = '';
    const base = await new Promise<string>((resolve, reject) => {
      child.stderr!.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        const found = /answers on (http:\/\/\S+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.on('error', reject);
      child.on('exit', () => reject(new Error(`the service does not start: ${said.trim()}`)));
    }).catch((error: unknown) => {
      process.off('exit', remove);
      remove();
      throw error;
    });
    return new ServiceProcess(child, base, familyOf(child.pid!), remove);
  }

  cpuUs(): number {
    return cpuMicrosOf(this.pids);
  }

  /** Memory of all processes of the service. */
  memory(): { readonly bytes: number; readonly peakBytes: number } {
    const all = this.pids.map(memoryOf);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    return {
      bytes: sum(all.map(({ bytes }) => bytes)),
      peakBytes: sum(all.map(({ peakBytes }) => peakBytes)),
    };
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async stop(): Promise<void> {
    if (this.isRunning) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    }
    process.off('exit', this.remove);
    this.remove();
  }
}
