// Starts the processes of a bench, each on cores of its own where the system has taskset.
import { type ChildProcess, type ForkOptions, fork, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

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
