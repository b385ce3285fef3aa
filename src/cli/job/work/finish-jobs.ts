// Ends jobs whose parts all have a result, with their manifests. Every worker may do it at any time: all write the
// same.

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { JobPlan } from '../../../bus/jobs/job.js';
import {
  endOf,
  manifestName,
  manifestOf,
  manifestStart,
  progressOf,
} from '../../../bus/jobs/job-progress.js';
import type { JobStore, StoredResult } from '../../../bus/jobs/job-store.js';
import { SchemaFault } from '../../../bus/schema.js';
import { destinationOf, type FileDestination } from '../../../files/disk/destination.js';
import { createAfresh, replaceBy } from '../../../files/disk/file-output.js';
import { badOutput } from '../../../files/exit-codes.js';
import { VERSION } from '../../../hexcodes/version.js';
import { removeReplaced } from '../parts/replaced-names.js';
import type { SharedFolder } from '../shared-folder.js';
import { type Pinned, pinFolder, removeThose } from './scratch.js';

// The manifest of a job as a file: opened before the results are read, which may be many, and given its name when it is
// whole.
class ManifestFile {
  readonly #name: string;
  readonly #job: string;
  readonly #destination: FileDestination;
  readonly #folder: Pinned;
  readonly #beside: string;
  readonly #file: number;

  /** @throws CliFailure BAD_OUTPUT */
  constructor(shared: SharedFolder, folder: string, job: string) {
    const path = shared.outputPath(folder, manifestName(job));
    this.#job = job;
    this.#name = `${folder}/${manifestName(job)}`;
    this.#folder = pinFolder(shared, realpathSync(dirname(path)), this.#name);
    const own = join(this.#folder.path, manifestName(job));
    this.#beside = `${own}.${randomUUID()}`;
    try {
      const destination = destinationOf(path);
      if (destination.kind !== 'file' || destination.path !== path) throw new Error('it is no regular file');
      this.#destination = { ...destination, path: own };
      this.#requireOwn();
      this.#file = createAfresh(this.#beside);
    } catch (error) {
      this.#folder.close();
      throw badOutput(this.#name, error);
    }
  }

  /** @throws CliFailure BAD_OUTPUT */
  write(text: string): void {
    try {
      writeFileSync(this.#file, text);
      fsyncSync(this.#file);
      this.#requireOwn();
      replaceBy(this.#beside, this.#destination);
    } catch (error) {
      throw badOutput(this.#name, error);
    }
  }

  /** Removes what was not written whole. */
  close(): void {
    closeSync(this.#file);
    rmSync(this.#beside, { force: true });
    this.#folder.close();
  }

  /** A file of that name is replaced only if it is a manifest of the same job. */
  #requireOwn(): void {
    const { path } = this.#destination;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
    const file = openSync(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
    try {
      const start = Buffer.from(manifestStart(this.#job));
      const found = Buffer.alloc(start.length);
      const isOwn = fstatSync(file).isFile() && readSync(file, found, 0, found.length, 0) === start.length;
      if (!isOwn || !found.equals(start)) throw new Error('it is there, and no manifest of this job');
    } finally {
      closeSync(file);
    }
  }
}

interface OpenJob {
  readonly plan: JobPlan;
  /** The last part, which had no result; undefined before the first look, and where all had one. */
  missing: number | undefined;
}

export class JobFinisher {
  readonly #store: JobStore;
  readonly #shared: SharedFolder;
  readonly #say: (sentence: string) => void;
  #open = new Map<string, OpenJob>();
  /** Jobs whose plan is none: said once, and not read again. */
  #refused = new Set<string>();

  /** @param say called with a sentence for each job that was ended, and each that could not be */
  constructor(store: JobStore, shared: SharedFolder, say: (sentence: string) => void) {
    this.#store = store;
    this.#shared = shared;
    this.#say = say;
  }

  /** Ends all jobs that are done. One that cannot be ended holds no other up. @throws where the servers are away */
  async finish(): Promise<void> {
    const before = this.#open;
    const refused = this.#refused;
    this.#open = new Map();
    this.#refused = new Set();
    for (const { id, isCancelled, isEnded } of await this.#store.jobs()) {
      if (isCancelled || isEnded) continue;
      if (refused.has(id)) {
        this.#refused.add(id);
        continue;
      }
      try {
        const plan = before.get(id)?.plan ?? (await this.#store.planOf(id))?.plan;
        if (plan === undefined) continue;
        const job = before.get(id) ?? { plan, missing: undefined };
        this.#open.set(id, job);
        // Jobs of another version are left to its workers: nobody here knows what their plans may say.
        if (plan.version === VERSION && (await this.#isDone(job))) await this.#end(plan);
      } catch (error) {
        if (this.#store.isPassing(error)) throw error;
        if (error instanceof SchemaFault) {
          this.#refused.add(id);
          this.#say(`the plan of job ${id} is none, and it is left out: ${error.message}`);
        } else this.#say(`job ${id} cannot be ended yet: ${(error as Error).message}`);
      }
    }
  }

  /**
   * Asks for one part, the one that is handed out last; only when that has a result, a long list of all is asked for.
   */
  async #isDone(job: OpenJob): Promise<boolean> {
    const { id, parts } = job.plan;
    if (job.missing !== undefined && !(await this.#store.hasResult(id, job.missing))) return false;
    const done = await this.#store.resultNumbers(id);
    let missing = parts;
    while (done.has(missing)) missing--;
    job.missing = missing < 1 ? undefined : missing;
    return job.missing === undefined;
  }

  async #end(plan: JobPlan): Promise<void> {
    const stored = await this.#writeManifest(plan);
    if (stored === undefined) return;
    removeThose(this.#shared, plan.output, plan.id, () => true);
    const progress = progressOf(plan, stored, Date.now());
    // Parts that have failed may be tried again.
    if (progress.failures.length === 0) removeReplaced(join(this.#shared.path, plan.output), plan.id);
    if ((await this.#store.markEnded(plan.id, endOf(progress))) === 'already') return;
    const failed = progress.failures.length;
    const words = `${plan.parts} parts${failed === 0 ? '' : `, ${failed} failed`}`;
    this.#say(`job ${plan.id} has ended: ${words}, ${plan.output}/${manifestName(plan.id)}`);
  }

  /** @returns its results; undefined where one of them was dropped meanwhile */
  async #writeManifest(plan: JobPlan): Promise<StoredResult[] | undefined> {
    const manifest = new ManifestFile(this.#shared, plan.output, plan.id);
    try {
      const stored = (await this.#store.results(plan.id)).filter(({ result }) => result.part <= plan.parts);
      if (stored.length < plan.parts) return undefined;
      const results = stored.map(({ result }) => result);
      manifest.write(manifestOf(plan, results));
      return stored;
    } finally {
      manifest.close();
    }
  }
}
