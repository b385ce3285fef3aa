// One process of the service as its supervisor sees it: started by fork(), told what to do in one message, stopped by
// SIGTERM. It ends by itself when the supervisor is gone.
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServeConfig } from '../../../config/config.js';
import type { ProcessInfo } from '../../serve.js';

/** The first and only message to a process. */
export interface StartMessage {
  readonly config: ServeConfig;
  readonly processInfo: ProcessInfo;
  /** Worker threads of its pool. */
  readonly threads: number;
}

/** The process accepts requests. */
export interface ReadyMessage {
  readonly kind: 'ready';
  readonly adminPort: number;
  readonly firstKeyFile: string | undefined;
  readonly transport: { readonly name: string; readonly version: string };
}

/** The process cannot start, and ends. */
interface FailedMessage {
  readonly kind: 'failed';
  /** A sentence for people. */
  readonly reason: string;
}

export type ProcessMessage = ReadyMessage | FailedMessage;

/** How a process ended: its exit code, or the signal. */
export type Ending = number | string;

/** A process that does not listen by then is killed. */
const START_TIMEOUT_MS = 60_000;

export class ServiceProcess {
  readonly number: number;
  readonly #child: ChildProcess;
  readonly #startedMs = performance.now();
  /** Resolves when requests are accepted; rejects with a sentence if the process ends before. */
  readonly ready: Promise<ReadyMessage>;
  readonly ended: Promise<Ending>;
  /** Undefined until requests are accepted, and again once the process is told to stop or has ended. */
  adminPort: number | undefined;
  /** Requests were accepted, and the process has not ended. */
  #isServing = false;

  /** @param entry the module that the process runs */
  constructor(entry: URL, message: StartMessage) {
    this.number = message.processInfo.number;
    const { uws } = message.config;
    const child = fork(entry, [String(this.number)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      env: uws === undefined ? process.env : { ...process.env, HEXCODES_UWS: uws },
    });
    this.#child = child;
    this.ended = new Promise((resolve) => {
      // `error`: it could not be started at all.
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 1));
    });
    this.ready = this.#whenReady();
    // The caller that waits for it gets the error.
    this.ready.catch(() => {});
    void this.ended.then(() => {
      this.adminPort = undefined;
      this.#isServing = false;
    });
    child.send(message, () => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get ageMs(): number {
    return performance.now() - this.#startedMs;
  }

  async #whenReady(): Promise<ReadyMessage> {
    const told = new Promise<ProcessMessage>((resolve) => this.#child.once('message', resolve));
    const late = sleep(START_TIMEOUT_MS, undefined, { ref: false });
    const outcome = await Promise.race([told, this.ended, late]);
    if (typeof outcome === 'object' && outcome.kind === 'ready') {
      this.adminPort = outcome.adminPort;
      this.#isServing = true;
      return outcome;
    }
    this.kill();
    if (typeof outcome === 'object') throw new Error(outcome.reason);
    const end = outcome === undefined ? 'did not listen in time' : `ended (${outcome}) before it listened`;
    throw new Error(`process ${this.number} ${end}`);
  }

  /**
   * Lets it finish its answers; kills it if it still runs after the time.
   * @returns whether it has finished them; one that does not listen yet, or has died before, has none
   */
  async stop(timeoutMs: number): Promise<boolean> {
    const hasAnswers = this.#isServing;
    this.adminPort = undefined;
    this.#child.kill('SIGTERM');
    const late = sleep(timeoutMs, undefined, { ref: false });
    if ((await Promise.race([this.ended, late])) === undefined) this.kill();
    return (await this.ended) === 0 || !hasAnswers;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
