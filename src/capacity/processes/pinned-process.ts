// The processes of a bench from the outside, each on cores of its own where the system has taskset.
import { type ChildProcess, type ForkOptions, fork, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Behaviour } from '../control/control-server.js';
import type { GeneratorMessage, Job, JobReport } from '../generator/job.js';

const CONTROL_SERVER = new URL('../control/program.js', import.meta.url);

interface ControlProcess {
  /** Its address, without a path. */
  readonly base: string;
  readonly pid: number;
  end(): void;
}

export async function startControlProcess(behaviour: Behaviour): Promise<ControlProcess> {
  const child = forkPinned(CONTROL_SERVER, [JSON.stringify(behaviour)], String(SERVER_CORE));
  const { port } = await messageOf<{ port: number }>(child);
  return {
    base: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    end: () => child.disconnect(),
  };
}

const CORE_SPEED = new URL('./core-speed-program.js', import.meta.url);
const WORK_MS = 20;

/** The speed of the server's core at this moment, which has to be asked while the server rests. */
export class CoreSpeed {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<CoreSpeed> {
    const child = forkPinned(CORE_SPEED, [], String(SERVER_CORE));
    await messageOf(child);
    return new CoreSpeed(child);
  }

  /** The time of a piece of work, in microseconds. */
  async workUs(): Promise<number> {
    const answer = messageOf<{ workUs: number }>(this.child);
    this.child.send(WORK_MS);
    return (await answer).workUs;
  }

  end(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

const GENERATOR = new URL('../generator/program.js', import.meta.url);

export class GeneratorProcess {
  private constructor(private readonly child: ChildProcess) {}

  static async start(): Promise<GeneratorProcess> {
    const child = forkPinned(GENERATOR, [], String(measuringCore()));
    await messageOf<GeneratorMessage>(child);
    return new GeneratorProcess(child);
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

  end(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

let hasTaskset: boolean | undefined;

/** Whether processes can be bound to cores, and there is more than one. */
export function canPin(): boolean {
  hasTaskset ??= spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;
  return hasTaskset && availableParallelism() > 1;
}

/** The core of the server, and the last one, of everything that measures it. */
export const SERVER_CORE = 0;
export const measuringCore = (): number => availableParallelism() - 1;

/** A program of this package with a channel. @param cores to bind it to; undefined: all */
export function forkPinned(program: URL, args: readonly string[], cores: string | undefined): ChildProcess {
  const options: ForkOptions = { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' };
  if (cores !== undefined && canPin()) {
    options.execPath = 'taskset';
    options.execArgv = ['-c', cores, process.execPath];
  }
  return fork(program, [...args], options);
}

/** A program with its standard error piped. @param cores to bind it to; undefined: all */
export function spawnPinned(
  args: readonly string[],
  cores: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess {
  const [command, ...words] =
    cores !== undefined && canPin()
      ? ['taskset', '-c', cores, process.execPath, ...args]
      : [process.execPath, ...args];
  return spawn(command!, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The next message of a process; rejects where it ends instead. */
export function messageOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      child.off('error', onExit);
    };
    const onMessage = (message: unknown): void => {
      done();
      resolve(message as T);
    };
    const onExit = (): void => {
      done();
      reject(new Error('a process of the measurement has ended'));
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
    child.on('error', onExit);
  });
}
