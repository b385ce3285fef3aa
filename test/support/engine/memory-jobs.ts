// Jobs in memory, for tests of workers without a server. It counts what is asked for, as lists and results of large
// jobs are long.

import type { Stored } from '#dist/bus/engine.js';
import type { JobPart, JobPlan, PartResult } from '#dist/bus/jobs/job.js';
import { treeOf } from '#dist/bus/jobs/job-digest.js';
import type { JobEnd, JobStore, KnownJob, StoredPlan, StoredResult } from '#dist/bus/jobs/job-store.js';
import type { DeadMessage } from '#dist/bus/patient-store.js';
import { VERSION } from '#dist/hexcodes/version.js';

interface MemoryJob {
  readonly plan: StoredPlan;
  readonly parts: Map<number, JobPart>;
  readonly results: Map<number, StoredResult>;
  isCancelled: boolean;
  ended: { end: JobEnd | undefined } | undefined;
}

export class MemoryJobs implements JobStore {
  readonly #jobs = new Map<string, MemoryJob>();
  /** Lists of the numbers of all results. */
  lists = 0;
  /** Results that were read. */
  reads = 0;
  nowMs = 1_000_000;
  /** Dead letters: subjects and reasons. */
  readonly dead: [subject: string, reason: string][] = [];

  #of(job: string): MemoryJob {
    return this.#jobs.get(job)!;
  }

  async addPlan(plan: JobPlan): Promise<Stored> {
    if (this.#jobs.has(plan.id)) return 'already';
    this.#jobs.set(plan.id, {
      ...{ plan: { plan, atMs: this.nowMs }, parts: new Map(), results: new Map() },
      ...{ isCancelled: false, ended: undefined },
    });
    return 'stored';
  }

  async addPart(part: JobPart): Promise<Stored> {
    const { parts } = this.#of(part.job);
    if (parts.has(part.part)) return 'already';
    parts.set(part.part, part);
    return 'stored';
  }

  async addResult(job: string, result: PartResult): Promise<Stored> {
    const { results } = this.#of(job);
    if (results.has(result.part)) return 'already';
    results.set(result.part, { result, atMs: this.nowMs });
    return 'stored';
  }

  async markCancelled(job: string): Promise<Stored> {
    this.#of(job).isCancelled = true;
    return 'stored';
  }

  async markEnded(job: string, end: JobEnd | undefined): Promise<Stored> {
    if (this.#of(job).ended !== undefined) return 'already';
    this.#of(job).ended = { end };
    return 'stored';
  }

  async unmark(kind: 'cancelled' | 'ended', job: string): Promise<void> {
    if (kind === 'ended') this.#of(job).ended = undefined;
    else this.#of(job).isCancelled = false;
  }

  async bury({ subject }: DeadMessage, reason: string): Promise<void> {
    this.dead.push([subject, reason]);
  }

  async jobs(): Promise<KnownJob[]> {
    return Array.from(this.#jobs, ([id, { isCancelled, ended }]) => ({
      ...{ id, isCancelled, isEnded: ended !== undefined },
    }));
  }

  async planOf(job: string): Promise<StoredPlan | undefined> {
    return this.#jobs.get(job)?.plan;
  }

  async endOf(job: string): Promise<JobEnd | undefined> {
    return this.#of(job).ended?.end;
  }

  async partOf(job: string, part: number): Promise<JobPart | undefined> {
    return this.#of(job).parts.get(part);
  }

  async isCancelled(job: string): Promise<boolean> {
    return this.#of(job).isCancelled;
  }

  async hasResult(job: string, part: number): Promise<boolean> {
    return this.#of(job).results.has(part);
  }

  async resultNumbers(job: string): Promise<Set<number>> {
    this.lists++;
    return new Set(this.#of(job).results.keys());
  }

  async partNumbers(job: string): Promise<Set<number>> {
    return new Set(this.#of(job).parts.keys());
  }

  async results(job: string): Promise<StoredResult[]> {
    return this.resultsOf(
      job,
      [...(await this.resultNumbers(job))].sort((a, b) => a - b),
    );
  }

  async resultsOf(job: string, parts: readonly number[]): Promise<StoredResult[]> {
    this.reads += parts.length;
    return parts.flatMap((part) => this.#of(job).results.get(part) ?? []);
  }

  async dropParts(job: string, part?: number): Promise<void> {
    if (part === undefined) this.#of(job).parts.clear();
    else this.#of(job).parts.delete(part);
  }

  async dropResult(job: string, part: number): Promise<void> {
    this.#of(job).results.delete(part);
  }

  async underWay(): Promise<{ readonly taken: number; readonly waiting: number }> {
    return { taken: 0, waiting: 0 };
  }

  isPassing(): boolean {
    return false;
  }
}

/** The id of a job that a test calls by a digit. */
export const jobId = (digit: string): string => digit.repeat(16);

export function planOf(id: string, changes: Partial<JobPlan> = {}): JobPlan {
  return {
    ...{ id, version: VERSION, operation: 'encode', output: 'out', files: 1, parts: 1, sizeBytes: 1000 },
    ...{ partsDigest: '0'.repeat(32), conversion: {} },
    ...changes,
  };
}

/** The only part of a job, and its plan. */
export function withProof(
  plan: JobPlan,
  part: Omit<JobPart, 'proof' | 'job'>,
): { readonly plan: JobPlan; readonly part: JobPart } {
  const { digest, proofs } = treeOf([part]);
  return { plan: { ...plan, partsDigest: digest }, part: { job: plan.id, ...part, proof: proofs[0]! } };
}

/** @param reason of a part that failed */
export function resultOf(part: number, reason: string | null = null, job = jobId('a')): PartResult {
  const output = { name: `${part}.csv`, rows: 10, failed: {}, sizeBytes: 5, sha256: 'ab' };
  return {
    ...{ job, part, input: 'in/x.csv', range: null, inputBytes: 100, elapsedMs: 5, worker: 'w' },
    ...{ reason, output: reason === null ? output : null },
  };
}
