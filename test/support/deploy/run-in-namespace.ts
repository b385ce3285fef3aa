// Drivers of this folder as processes in a network namespace of their own, which send what they found as messages and
// end when their channel does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TaskName } from './proxied.js';
import type { TaskOptions, TaskResult } from './task.js';

class Driver {
  readonly #child: ChildProcess;
  readonly #failed: Promise<never>;
  #err = '';

  /** @param name of a program of this folder */
  constructor(name: string, proxy: string) {
    const command = ['-n', process.execPath, `build/test/support/deploy/${name}.js`, proxy];
    this.#child = spawn('unshare', command, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
    this.#child.stderr?.on('data', (bytes) => (this.#err += bytes));
    this.#failed = once(this.#child, 'exit').then(([code]) => {
      throw new Error(`the driver ended with ${code}: ${this.#err}`);
    });
    this.#failed.catch(() => {});
  }

  async message<T>(): Promise<T> {
    const [found] = await Promise.race([once(this.#child, 'message'), this.#failed]);
    return found as T;
  }

  send(message: readonly [TaskName, TaskOptions]): void {
    this.#child.send(message);
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#failed.catch(() => {});
  }
}

/**
 * Two nodes behind a proxy, which are started once, and again after a task that failed: it may have left one of them
 * dead. The proxy is started again where a task wants another file.
 */
export class Proxied {
  readonly #proxy: string;
  #driver: Driver | undefined;

  constructor(proxy: string) {
    this.#proxy = proxy;
  }

  async run(task: TaskName, options: TaskOptions = {}): Promise<TaskResult> {
    try {
      this.#driver ??= await this.#started();
      this.#driver.send([task, options]);
      return await this.#driver.message();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #started(): Promise<Driver> {
    const driver = new Driver('proxied', this.#proxy);
    await driver.message();
    return driver;
  }

  async stop(): Promise<void> {
    const driver = this.#driver;
    this.#driver = undefined;
    await driver?.stop();
  }
}

/** Reports behind a proxy while both nodes end its kept connections. */
export async function runStale(proxy: string): Promise<TaskResult> {
  const driver = new Driver('stale', proxy);
  try {
    return await driver.message();
  } finally {
    await driver.stop();
  }
}
