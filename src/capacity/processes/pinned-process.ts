// The processes of a bench from the outside, each on cores of its own where the system has taskset.

import {
  type ChildProcess,
  execFileSync,
  type ForkOptions,
  fork,
  spawn,
  spawnSync,
} from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GeneratorMessage, Job, JobReport } from '../generator/job.js';
import type { ConversionResult } from '../measure/results.js';
import { cpuMicrosOf, familyOf, memoryOf } from './machine.js';

/** A program of this package with a channel, which has sent its first message. */
abstract class Program {
  protected constructor(protected readonly child: ChildProcess) {}

  /** @param program its module, from here @param core to bind it to */
  protected static async begun<T>(program: string, core: number) {
    const options: ForkOptions = { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' };
    if (canPin()) {
      options.execPath = 'taskset';
      options.execArgv = ['-c', String(core), process.execPath];
    }
    const child = fork(new URL(program, import.meta.url), [], options);
    return { child, first: await messageOf<T>(child) };
  }

  end(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

export class ControlProcess extends Program {
  private constructor(
    child: ChildProcess,
    /** Its address, without a path. */
    readonly base: string,
  ) {
    super(child);
  }

  static async start(): Promise<ControlProcess> {
    const { child, first } = await Program.begun<{ port: number }>('../control/program.js', SERVER_CORE);
    return new ControlProcess(child, `http://127.0.0.1:${first.port}`);
  }

  get pid(): number {
    return this.child.pid!;
  }
}

const WORK_MS = 20;

/** Measures the current speed of the server's core, while the server is idle. */
export class CoreSpeed extends Program {
  static async start(): Promise<CoreSpeed> {
    return new CoreSpeed((await Program.begun('./core-speed-program.js', SERVER_CORE)).child);
  }

  /** The time of a piece of work, in microseconds. */
  async workUs(): Promise<number> {
    const answer = messageOf<{ workUs: number }>(this.child);
    this.child.send(WORK_MS);
    return (await answer).workUs;
  }
}

export class GeneratorProcess extends Program {
  static async start(): Promise<GeneratorProcess> {
    return new GeneratorProcess((await Program.begun('../generator/program.js', measuringCore())).child);
  }

  /**
   * @param onConnected called when all connections are open, before anything is sent
   * @throws Error for a wrong answer of the server, a lost connection or one that cannot be opened
   */
  async run(job: Job, onConnected: () => void = () => {}): Promise<JobReport> {
    this.child.send(job);
    for (;;) {
      const message = await messageOf<GeneratorMessage>(this.child);
      if (message.kind === 'connected') onConnected();
      else if (message.kind === 'done') return message.report;
      else if (message.kind === 'failed') throw new Error(message.reason);
    }
  }
}

let hasTaskset: boolean | undefined;

/** Whether processes can be bound to cores, and there is more than one. */
function canPin(): boolean {
  hasTaskset ??= spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;
  return hasTaskset && availableParallelism() > 1;
}

/** The core of the server, and the last one, of everything that measures it. */
export const SERVER_CORE = 0;
export const measuringCore = (): number => availableParallelism() - 1;

/** A program with its standard error piped. @param cores to bind it to */
function spawnPinned(
  args: readonly string[],
  cores: string,
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess {
  const [command, ...words] = canPin()
    ? ['taskset', '-c', cores, process.execPath, ...args]
    : [process.execPath, ...args];
  return spawn(command!, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The next message of a process; rejects where it ends instead. */
export async function messageOf<T>(child: ChildProcess): Promise<T> {
  const listening = new AbortController();
  const next = (event: 'message' | 'exit') => once(child, event, { signal: listening.signal });
  const end = (): never => {
    throw new Error('a process of the measurement has ended');
  };
  const [message] = await Promise.race([next('message').catch(end), next('exit').then(end, end)]).finally(
    () => listening.abort(),
  );
  return message as T;
}

// The service that is measured: the shipped `hexcodes serve`, in a process of its own with a key and a data folder of
// its own.

const COMMAND = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const KEY = 'bench_key_0123456789abcdefghijklmnopqrstuvwxyz';
/** All load comes under one key, so the limits of a key are those of the whole load. */
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
    // The service ends and its files are removed, however the measuring process ends.
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

// Files through the shipped command, and the CPU time of a row: the slope between a small and a large file, so that the
// start of the command is not in it.

const CONVERSION_FORMATS = ['csv', 'ndjson', 'parquet', 'arrow'] as const;
const ROWS_AT_ONCE = 100_000;
/** Prints the CPU time of all threads of the process at its end, in microseconds. */
const TELL_CPU = `data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stdout.write(String(user+system))})`;

/** @param pairsDeg lat, lng, … in degrees, used again and again @param rows of the large file, 1000 or more */
export async function measureConversions(pairsDeg: Float64Array, rows: number): Promise<ConversionResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-conversions-'));
  try {
    const sizes = [Math.round(rows / 8), rows] as const;
    const made = sizes.map((count) => {
      const path = join(folder, `${count}.csv`);
      writeFileSync(path, 'id,lat,lng\n');
      for (let from = 0; from < count; from += ROWS_AT_ONCE) {
        const lines = Array.from({ length: Math.min(ROWS_AT_ONCE, count - from) }, (_, i) => {
          const at = (2 * (from + i)) % pairsDeg.length;
          return `${from + i},${pairsDeg[at]},${pairsDeg[at + 1]}\n`;
        });
        appendFileSync(path, lines.join(''));
      }
      return path;
    });
    const all: ConversionResult[] = [];
    for (const format of CONVERSION_FORMATS) {
      const runs: { us: number; readBytes: number; writtenBytes: number }[] = [];
      for (const csv of made) {
        const input = format === 'csv' ? csv : csv.replace(/csv$/, format);
        if (format !== 'csv')
          // A column `resolution` would set the resolution of each row, which few files do.
          execFileSync(
            process.execPath,
            [COMMAND, 'encode', csv, '--prefix', 'old_', '--quiet', '-o', input],
            {
              stdio: 'ignore',
            },
          );
        const output = join(folder, `out.${format}`);
        rmSync(output, { force: true });
        const us = await cpuUsOf(['encode', input, '--prefix', 'new_', '--quiet', '-o', output]);
        runs.push({ us, readBytes: statSync(input).size, writtenBytes: statSync(output).size });
      }
      const [small, large] = runs as [(typeof runs)[number], (typeof runs)[number]];
      const more = sizes[1] - sizes[0];
      all.push({
        format,
        nsPerRow: Math.max(1, (1000 * (large.us - small.us)) / more),
        readBytesPerRow: large.readBytes / sizes[1],
        writtenBytesPerRow: large.writtenBytes / sizes[1],
      });
    }
    return all;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function cpuUsOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--import', TELL_CPU, COMMAND, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`hexcodes ${args.join(' ')}: ${err.trim()}`);
  return Number(out);
}
