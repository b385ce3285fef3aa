// Where the plans, parts and results of jobs are kept. nats/nats-jobs.ts is the one adapter.

import type { Stored } from '../engine.js';
import type { DeadMessage } from '../patient-store.js';
import type { JobPart, JobPlan, PartResult } from './job.js';

export interface StoredPlan {
  readonly plan: JobPlan;
  /** When it was stored, in milliseconds since 1970. */
  readonly atMs: number;
}

export interface StoredResult {
  readonly result: PartResult;
  readonly atMs: number;
}

/** Kept with the mark of a job that has ended. */
export interface JobEnd {
  readonly rows: number;
  readonly failedRows: number;
  readonly rowsPerS: number;
  readonly bytesPerS: number;
  /** Numbers of the failed parts, ascending. */
  readonly failed: readonly number[];
}

export interface KnownJob {
  readonly id: string;
  readonly isCancelled: boolean;
  /** Its manifest is written. */
  readonly isEnded: boolean;
}

/**
 * All that it gives has passed its schema. Every call may throw a StoreFault, or an error of the bus while it is away;
 * those that read a plan or a part throw a SchemaFault for one that is none.
 */
export interface JobStore {
  addPlan(plan: JobPlan): Promise<Stored>;
  addPart(part: JobPart): Promise<Stored>;
  /** `already`: another worker was first, and its result holds. */
  addResult(job: string, result: PartResult): Promise<Stored>;
  markCancelled(job: string): Promise<Stored>;
  /** @param end undefined where it is too large to be kept */
  markEnded(job: string, end: JobEnd | undefined): Promise<Stored>;
  unmark(kind: 'cancelled' | 'ended', job: string): Promise<void>;
  /** Stores a message that is no part to the dead letters. */
  bury(message: DeadMessage, reason: string): Promise<void>;
  /** Every job that has a message under the subject of its plan. */
  jobs(): Promise<KnownJob[]>;
  planOf(job: string): Promise<StoredPlan | undefined>;
  /** undefined where nothing is kept of it. */
  endOf(job: string): Promise<JobEnd | undefined>;
  partOf(job: string, part: number): Promise<JobPart | undefined>;
  isCancelled(job: string): Promise<boolean>;
  hasResult(job: string, part: number): Promise<boolean>;
  /** Numbers of the parts that have a message under the subject of their result. */
  resultNumbers(job: string): Promise<Set<number>>;
  /** Numbers of the parts whose message is there, also of those that are done. */
  partNumbers(job: string): Promise<Set<number>>;
  /**
   * Results by their parts.
   * @param known results that need not be read again
   */
  results(job: string, known?: ReadonlyMap<number, StoredResult>): Promise<StoredResult[]>;
  /** Results of these parts, as far as they have one, in their order. */
  resultsOf(job: string, parts: readonly number[]): Promise<StoredResult[]>;
  /** Removes the messages of all parts of a job, or of one. */
  dropParts(job: string, part?: number): Promise<void>;
  dropResult(job: string, part: number): Promise<void>;
  /** Parts of all jobs that workers have now, and those that wait. */
  underWay(): Promise<{ readonly taken: number; readonly waiting: number }>;
  /** Whether the same call may be successful later: the servers are away, or have just started. */
  isPassing(error: unknown): boolean;
}
