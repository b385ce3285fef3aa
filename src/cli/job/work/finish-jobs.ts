// Ends jobs whose parts all have a result, with their manifests. Every worker may do it at any time: all write the
// same.
import { join } from 'node:path';
import type { JobPlan } from '../../../bus/jobs/job.js';
import { endOf } from '../../../bus/jobs/job-end.js';
import { progressOf } from '../../../bus/jobs/job-progress.js';
import type { JobStore, StoredResult } from '../../../bus/jobs/job-store.js';
import { manifestName, manifestOf } from '../../../bus/jobs/manifest.js';
import { SchemaFault } from '../../../bus/schema.js';
import { VERSION } from '../../../hexcodes/version.js';
import { removeReplaced } from '../parts/replaced-names.js';
import type { SharedFolder } from '../shared-folder.js';
import { ManifestFile } from './manifest-file.js';
import { removeThose } from './scratch.js';

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
