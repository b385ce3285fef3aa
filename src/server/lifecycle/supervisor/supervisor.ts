// Runs the service in several processes that share one port. A crash costs the connections of its own process only,
// which is started again; on reload the processes are replaced one by one, each by one that listens already, so that no
// request is lost. The supervisor itself answers no request; its admin port speaks for all.
import { randomBytes } from 'node:crypto';
import type { ServeConfig } from '../../../config/config.js';
import { Networks } from '../../../config/networks.js';
import { type AdminListener, listenSentence, tryAddress } from '../../admin/port.js';
import type { Logger } from '../../observe/log.js';
import { openSupervisorAdmin } from './admin.js';
import { type ReadyMessage, ServiceProcess } from './service-process.js';

/** Lifetime after which earlier deaths of a process are forgotten. */
const STABLE_MS = 60_000;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

/**
 * How long a process that died stays away: at once the first time, then longer each time, so that a fault that kills
 * it over and over does not take the machine.
 */
export class RestartDelay {
  #deaths = 0;

  /** The delay for a process that has just died. */
  nextMs(livedMs: number): number {
    if (livedMs >= STABLE_MS) this.#deaths = 0;
    const delayMs = this.#deaths === 0 ? 0 : FIRST_DELAY_MS * 2 ** (this.#deaths - 1);
    this.#deaths++;
    return Math.min(delayMs, MAX_DELAY_MS);
  }
}

/** Resolves to the number of the port (0: any free one); rejects with a sentence if it cannot be had. */
async function probePort(host: string, port: number): Promise<number> {
  const address = { host, port, use: 'the service' } as const;
  const taken = await tryAddress(address);
  if (typeof taken !== 'number') throw new Error(listenSentence(address, taken));
  return taken;
}

export interface SupervisorOptions {
  /** The module that each process runs. */
  readonly entry: URL;
  readonly config: ServeConfig & { readonly processes: number };
  /** Reads the configuration again; throws with a sentence. */
  readonly readConfig: () => ServeConfig;
  /** Worker threads of each process. */
  readonly threads: number;
  readonly logger: Logger;
}

/** Settings that hold as long as the supervisor runs. */
const FIXED = ['host', 'port', 'adminHost', 'adminPort', 'processes', 'ownPorts', 'dataDir'] as const;
/** Time beyond the grace period after which a process that has not ended itself is killed. */
const KILL_AFTER_MS = 8000;

/** One of the processes, whichever runs in its place. */
interface Post {
  readonly number: number;
  process: ServiceProcess;
  readonly delay: RestartDelay;
  restart: NodeJS.Timeout | undefined;
}

export class Supervisor {
  readonly #logger: Logger;
  #config: ServeConfig;
  readonly #posts: Post[] = [];
  /** Replaced, and finishing their answers. */
  readonly #leaving = new Set<ServiceProcess>();
  #admin: AdminListener | undefined;
  #rolling: Promise<void> | undefined;
  #isReloadAsked = false;
  #isStopping = false;
  #deaths = 0;
  /** A process believes only who has it about a client, as any local program can call its admin port. */
  readonly #token = randomBytes(24).toString('base64url');

  private constructor(
    private readonly options: SupervisorOptions,
    /** The shared one. */
    readonly port: number,
  ) {
    this.#logger = options.logger;
    this.#config = { ...options.config, port };
  }

  /**
   * Resolves with what the first process says when all accept requests; rejects with a sentence if one cannot start.
   */
  static async start(options: SupervisorOptions): Promise<{ supervisor: Supervisor; first: ReadyMessage }> {
    const { host, port, processes, ownPorts } = options.config;
    const sharedPort = await probePort(host, port);
    for (let i = 1; ownPorts && i <= processes; i++) await probePort(host, sharedPort + i);
    const supervisor = new Supervisor(options, sharedPort);
    try {
      return { supervisor, first: await supervisor.#startAll(processes) };
    } catch (error) {
      await supervisor.stop();
      throw error;
    }
  }

  get adminPort(): number {
    return this.#admin?.port ?? 0;
  }

  async #startAll(count: number): Promise<ReadyMessage> {
    const { adminHost, adminPort, adminNames, trustedProxies } = this.#config;
    this.#admin = await openSupervisorAdmin(adminHost, adminPort, {
      processes: () => this.#posts.map(({ process }) => process),
      isStopping: () => this.#isStopping,
      deaths: () => this.#deaths,
      trustedProxies: trustedProxies.length === 0 ? undefined : new Networks(trustedProxies),
      names: adminNames,
      token: this.#token,
    });
    // The first one alone makes what is missing in an empty data folder: the store, the pepper, the first key.
    const first = await this.#occupy(1);
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => this.#occupy(i + 2)));
    const pids = this.#posts.map(({ process }) => process.pid);
    this.#logger.info({ pids, port: this.port, admin_port: this.adminPort }, 'all processes listen');
    for (const post of this.#posts) this.#watch(post, post.process);
    return first;
  }

  #occupy(number: number): Promise<ReadyMessage> {
    const process = this.#launch(number);
    this.#posts.push({ number, process, delay: new RestartDelay(), restart: undefined });
    return process.ready;
  }

  #launch(number: number): ServiceProcess {
    const ownPort = this.#config.ownPorts ? this.port + number : undefined;
    // The admin port of a process is for the supervisor, which hands on what is asked of it.
    const config: ServeConfig = { ...this.#config, adminHost: '127.0.0.1', adminPort: 0 };
    return new ServiceProcess(this.options.entry, {
      config,
      processInfo: { number, ownPort, token: this.#token },
      threads: this.options.threads,
    });
  }

  /** Starts another process in the post when this one dies. */
  #watch(post: Post, process: ServiceProcess): void {
    void process.ended.then((ending) => {
      if (this.#isStopping || post.process !== process) return;
      this.#deaths++;
      const delayMs = post.delay.nextMs(process.ageMs);
      this.#logger.error(
        { process: post.number, pid: process.pid, ending, restart_in_ms: delayMs },
        'a process has died',
      );
      post.restart = setTimeout(() => {
        post.restart = undefined;
        this.#replaceDead(post);
      }, delayMs);
    });
  }

  #replaceDead(post: Post): void {
    if (this.#isStopping) return;
    const process = this.#launch(post.number);
    post.process = process;
    this.#watch(post, process);
    process.ready.then(
      () => this.#logger.info({ process: post.number, pid: process.pid }, 'the process listens again'),
      (error: Error) =>
        this.#logger.error({ process: post.number, reason: error.message }, 'a process cannot start'),
    );
  }

  /**
   * Reads the configuration again and replaces the processes one by one. With a fault in it, or a process that cannot
   * start, the log says so and everything stays as it is. A call during a reload is another one after it.
   */
  reload(): Promise<void> {
    this.#isReloadAsked = true;
    this.#rolling ??= this.#rollWhileAsked().finally(() => {
      this.#rolling = undefined;
    });
    return this.#rolling;
  }

  async #rollWhileAsked(): Promise<void> {
    while (this.#isReloadAsked && !this.#isStopping) {
      this.#isReloadAsked = false;
      const before = this.#config;
      try {
        this.#config = this.#readAgain();
        this.#logger.info({ processes: this.#posts.length }, 'reloading');
        for (const post of this.#posts) await this.#replace(post);
        if (!this.#isStopping) this.#logger.info('reloaded');
      } catch (error) {
        if (this.#isStopping) return;
        this.#config = before;
        const reason = error instanceof Error ? error.message : String(error);
        this.#logger.error(
          { reason },
          'not reloaded: the processes that are not replaced go on as they were',
        );
      }
    }
  }

  #readAgain(): ServeConfig {
    const config = this.options.readConfig();
    const given = this.options.config;
    const changed = FIXED.filter((name) => config[name] !== given[name]);
    if (changed.length > 0)
      this.#logger.warn({ settings: changed }, 'these settings change with a restart only');
    const fixed = Object.fromEntries(FIXED.map((name) => [name, this.#config[name]]));
    return { ...config, ...fixed };
  }

  async #replace(post: Post): Promise<void> {
    if (this.#isStopping) return;
    const next = this.#launch(post.number);
    this.#leaving.add(next);
    try {
      await next.ready;
    } finally {
      this.#leaving.delete(next);
    }
    const last = post.process;
    clearTimeout(post.restart);
    post.restart = undefined;
    post.process = next;
    this.#watch(post, next);
    if (this.#isStopping) return;
    this.#leaving.add(last);
    await last.stop(this.#killAfterMs);
    this.#leaving.delete(last);
  }

  get #killAfterMs(): number {
    return this.#config.drainMs + this.#config.graceMs + KILL_AFTER_MS;
  }

  /**
   * Stops all processes at once; resolves to whether each has finished its answers. A second call waits for the same.
   */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    for (const { restart } of this.#posts) clearTimeout(restart);
    const running = [...this.#posts.map(({ process }) => process), ...this.#leaving];
    const areDone = await Promise.all(running.map((process) => process.stop(this.#killAfterMs)));
    await this.#rolling;
    await this.#admin?.close();
    return areDone.every((isDone) => isDone);
  }

  /** Ends all processes without waiting for their answers. */
  killAll(): void {
    this.#isStopping = true;
    for (const process of [...this.#posts.map((post) => post.process), ...this.#leaving]) process.kill();
  }
}
