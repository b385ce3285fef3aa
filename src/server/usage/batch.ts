// Messages between the service and the store of usage: plain data that goes to the worker thread and back.
import type { QuotaGrant, QuotaOrder, QuotaReturn } from './grants.js';

/** Counts of one flush. A batch is counted once however often it is flushed. */
export interface UsageBatch {
  /** Numbers of the batches of one process grow. */
  readonly number: number;
  /** The start of the hour of the counts, milliseconds since 1970. */
  readonly hourMs: number;
  /** The names of the day and the month of the counts. */
  readonly day: string;
  readonly month: string;
  readonly keyIds: readonly string[];
  /** The cells of each key (operations.ts), one key after the other. */
  readonly cells: Float64Array;
  /** Points of each key, of those in its cells, that the process held before it used them (grants.ts). */
  readonly covered: readonly number[];
  /** Taken from buckets that processes share. */
  readonly rates: readonly RateUse[];
  /** Points of quotas that are asked for, and those that go back. */
  readonly quotas: readonly QuotaOrder[];
  readonly returns: readonly QuotaReturn[];
  /** Further keys of which the process has to know what all have used. */
  readonly watchedIds: readonly string[];
}

/** The kinds of buckets of a key. */
export type RateKind = 'points' | 'requests';

/** Tokens that a process has taken from a bucket that processes share. */
export interface RateUse {
  readonly keyId: string;
  readonly kind: RateKind;
  readonly perSecond: number;
  readonly capacity: number;
  /** Less than 0 where some were given back. */
  readonly spent: number;
}

/** A shared bucket after that; less than 0 tokens where some are owed. */
export interface RateLevel {
  readonly keyId: string;
  readonly kind: RateKind;
  readonly tokens: number;
}

/** Requests and points of a key in the present day and month, refused ones left out. */
export interface UsedByKey {
  readonly dayRequests: number;
  readonly dayPoints: number;
  readonly monthRequests: number;
  readonly monthPoints: number;
  /**
   * Points that processes hold and have not used, or that were lost with a process that was killed: nobody else may use
   * them.
   */
  readonly dayHeld: number;
  readonly monthHeld: number;
}

export type UsedByKeys = ReadonlyMap<string, UsedByKey>;

/** The state of the store after a batch, of the keys in it: all processes together. */
export interface Stored {
  readonly used: UsedByKeys;
  readonly rates: readonly RateLevel[];
  /** One for each quota of the batch. */
  readonly grants: readonly QuotaGrant[];
}

/** The part of a store that a process needs at its start. */
export interface StoredUse {
  /** The latest day that anything is counted in; undefined where nothing is. */
  readonly latestDay: string | undefined;
  readonly used: UsedByKeys;
}

/** Counts of one hour, key, operation and outcome, as they are exported. */
export interface UsageRow {
  readonly hourMs: number;
  readonly keyId: string;
  readonly operation: string;
  readonly outcome: string;
  readonly requests: number;
  readonly points: number;
}
