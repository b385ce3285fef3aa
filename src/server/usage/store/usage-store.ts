// Where usage is kept: one interface, whichever database it is. The service uses a store from the thread of usage only.
import type { Stored, StoredUse, UsageBatch, UsageRow } from '../batch.js';

export interface UsageStore {
  /** Whether the open store is still the current one; else it has to be opened again. */
  readonly isCurrent: boolean;
  /** The use of a day and of a month. */
  load(day: string, month: string): Promise<StoredUse>;
  /**
   * Adds the counts of a batch, and takes its tokens from the shared buckets, in one transaction, unless the batch has
   * been added before.
   * @param node names the process
   */
  add(node: string, batch: UsageBatch, nowMs: number): Promise<Stored>;
  /**
   * Removes what nobody asks for any more: sums of periods before `month`, processes and buckets without any use for
   * long, and counts of hours before `beforeMs`.
   */
  prune(month: string, nowMs: number, beforeMs: number): Promise<void>;
  /**
   * All rows of hours that begin within bounds, by hour, key, operation and outcome; read in pages, between which a
   * service may write.
   * @param fromMs, untilMs milliseconds since 1970; `untilMs` is not within
   */
  rows(fromMs: number, untilMs: number): AsyncIterable<UsageRow>;
  close(): Promise<void>;
}

/** Rows of one read: what a reader holds up a flush for. */
export const PAGE_ROWS = 10_000;
/** Time without a flush after which a process has ended, and without a taker after which a bucket is full. */
export const NODE_AGE_MS = 40 * 24 * 3_600_000;
