// `hexcodes job` in a folder of the test's own, with a stream of its own on a server that tests share.
import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { CliFolder, type Ran } from '../cli.js';
import type { NatsServer } from '../nats.js';
import { WorkerProcess } from './worker-process.js';

export interface Manifest {
  readonly rows: number;
  readonly failed: Record<string, number>;
  readonly failedParts: number;
  readonly parts: readonly {
    readonly input: string;
    readonly output: string | null;
    readonly reason?: string;
    readonly rows?: number;
    readonly sha256?: string;
  }[];
}

let folders = 0;

export class JobFolder extends CliFolder {
  readonly #number = ++folders;
  readonly #server: NatsServer;
  readonly #workers: WorkerProcess[] = [];

  private constructor(server: NatsServer) {
    super();
    this.#server = server;
  }

  /** With a folder `in` and a stream. */
  static async make(server: NatsServer): Promise<JobFolder> {
    const folder = new JobFolder(server);
    mkdirSync(folder.file('in'));
    const made = await folder.job('setup', '--ack-wait', '2s');
    expect(made.stderr).toMatch(/^made stream .*\nmade consumer .*\n$/);
    return folder;
  }

  get stream(): string {
    return `JOBS${this.#number}`;
  }

  /** Before all subjects. */
  get prefix(): string {
    return `jobs${this.#number}`;
  }

  /** The options of every command. */
  place(prefix = this.prefix): string[] {
    return ['--stream', this.stream, '--subject', prefix, '--nats', this.#server.url];
  }

  job(...args: string[]): Promise<Ran> {
    return this.run(['job', ...args, ...this.place()]);
  }

  /** @returns the id of the job, whose outputs go to the folder `out` */
  async submit(...args: string[]): Promise<string> {
    const ran = await this.job('submit', ...args, '--to', 'out');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('job ')]);
    return ran.stdout.trim();
  }

  /** Starts a worker. @param before the words of a program that starts it */
  start(before: readonly string[] = [], prefix = this.prefix): WorkerProcess {
    const worker = new WorkerProcess(
      this.#server.url,
      [...this.place(prefix), '--report', '1s'],
      {},
      { command: ['job', 'worker'], before, cwd: this.path },
    );
    this.#workers.push(worker);
    return worker;
  }

  /** The status of a job when it has ended. */
  ended(id: string): Promise<Ran> {
    return this.job('status', id, '--wait');
  }

  manifest(id: string): Manifest {
    return JSON.parse(this.read(`out/manifest-${id}.json`)) as Manifest;
  }

  /** A file whose last row fails. */
  csv(name: string, rows = 3): string {
    return this.write(name, `id,lat,lng\n${'1,21.0306,105.8489\n'.repeat(rows - 1)}2,1,1\n`);
  }

  /** Ends all workers, too. */
  async end(): Promise<void> {
    await Promise.all(this.#workers.map((each) => each.end('SIGKILL')));
    this.remove();
  }
}
