// Messages between the service and the store of usage: plain data that goes to the worker thread and back.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedText, readChecked } from '../../config/checked-state.js';
import { ensureDataDir } from '../keys/secret.js';
import { OPERATIONS } from '../observe/operations.js';

// Operations of usage (observe/operations.ts) and outcomes of requests. Counts are kept at their indexes in these
// lists.

/**
 * Outcomes of requests: OK, an error, refused over a limit. Of points: OK, another status, refused over a limit.
 */
const OUTCOMES = ['ok', 'failed', 'refused'] as const;

export const OK = OUTCOMES.indexOf('ok');
export const FAILED = OUTCOMES.indexOf('failed');
export const REFUSED = OUTCOMES.indexOf('refused');

/** A cell counts the requests and the points of an operation and outcome, in two adjacent numbers. */
export const CELLS = OPERATIONS.length * OUTCOMES.length;

/** Where the requests of a cell are counted; its points are after them. */
export function cellAt(operation: number, outcome: number): number {
  return 2 * (OUTCOMES.length * operation + outcome);
}

// Quotas between the service and the store: what a process requests, and the points granted. Both stores, and the
// model of the tests, grant by one function.

/** Points that a process asks for, before it uses them. */
export interface QuotaOrder {
  readonly keyId: string;
  /** The quotas; undefined where there is none. */
  readonly perDay: number | undefined;
  readonly perMonth: number | undefined;
  /** Points that the process holds: granted, and neither used nor returned. */
  readonly held: number;
  /** Granted as a whole or not at all; 0: none are needed at once. */
  readonly need: number;
  /** As many as are useful, at least `need`. */
  readonly want: number;
  /** Whether other processes may hold points of this key. */
  readonly isShared: boolean;
}

export interface QuotaGrant {
  readonly keyId: string;
  /** Points that the process may use from now on; nobody else is given them. */
  readonly granted: number;
  /** Points held by other processes, except those silent for `SILENT_MS`. */
  readonly others: number;
  /** Another process needs points and finds none: this one should return points that it does not need. */
  readonly isWanted: boolean;
}

/** Points of a day and its month that a process held and does not need. */
export interface QuotaReturn {
  readonly keyId: string;
  readonly day: string;
  readonly month: string;
  readonly points: number;
}

/**
 * Silence after which a process may be dead: nobody waits for the points that it holds, and they are not granted to
 * others.
 */
export const SILENT_MS = 3000;

/** A process is granted this share of the points left, unless it needs more at once, so that several find some. */
const SHARE = 8;

/**
 * Points to give to a process.
 * @param taken points of the day and of the month that are used or held by any process
 */
export function grantOf(
  { perDay, perMonth, need, want }: Pick<QuotaOrder, 'perDay' | 'perMonth' | 'need' | 'want'>,
  taken: { readonly day: number; readonly month: number },
): number {
  const left = Math.min((perDay ?? INFINITE) - taken.day, (perMonth ?? INFINITE) - taken.month);
  if (left < need) return 0;
  // The quota was removed meanwhile.
  if (left === INFINITE) return want;
  return Math.max(need, Math.min(want, Math.floor(left / SHARE)), 0);
}

const INFINITE = Number.POSITIVE_INFINITY;

/** Rows of one read, which bounds how long a reader delays a flush. */
export const PAGE_ROWS = 10_000;
/** Time without a flush after which a process has ended, and without a taker after which a bucket is full. */
export const NODE_AGE_MS = 40 * 24 * 3_600_000;

/** The use of a key in a day or a month. */
export interface PeriodSum {
  readonly period: string;
  readonly keyId: string;
  readonly requests: number;
  readonly points: number;
  /** In a batch: the change. Points that processes hold of the quota, besides those that are used. */
  readonly held: number;
}

interface BatchRows {
  readonly counts: readonly UsageRow[];
  readonly sums: readonly PeriodSum[];
}

/** In the order of key ids, so that concurrent writers cannot deadlock. */
export function rowsOf({ hourMs, day, month, keyIds, cells, covered }: UsageBatch): BatchRows {
  const counts: UsageRow[] = [];
  const sums: PeriodSum[] = [];
  const order = [...keyIds.keys()].sort((a, b) => (keyIds[a]! < keyIds[b]! ? -1 : 1));
  for (const index of order) {
    const keyId = keyIds[index]!;
    const first = 2 * CELLS * index;
    const sum = { requests: 0, points: 0, held: 0 - (covered[index] ?? 0) };
    for (const [operationAt, operation] of OPERATIONS.entries()) {
      for (const [outcomeAt, outcome] of OUTCOMES.entries()) {
        const at = first + cellAt(operationAt, outcomeAt);
        const requests = cells[at]!;
        const points = cells[at + 1]!;
        if (requests === 0 && points === 0) continue;
        counts.push({ hourMs, keyId, operation, outcome, requests, points });
        if (outcomeAt === REFUSED) continue;
        sum.requests += requests;
        sum.points += points;
      }
    }
    for (const period of [day, month]) sums.push({ period, keyId, ...sum });
  }
  return { counts, sums };
}

export const NOTHING_USED: UsedByKey = {
  dayRequests: 0,
  dayPoints: 0,
  monthRequests: 0,
  monthPoints: 0,
  dayHeld: 0,
  monthHeld: 0,
};

/** The use as another day, and perhaps another month, begins. */
export const restarted = (used: UsedByKey, dayIsNew: boolean, monthIsNew: boolean): UsedByKey => ({
  ...used,
  ...(dayIsNew ? { dayRequests: 0, dayPoints: 0, dayHeld: 0 } : {}),
  ...(monthIsNew ? { monthRequests: 0, monthPoints: 0, monthHeld: 0 } : {}),
});

/** @param sums of a day and of its month */
export function usedOf(sums: readonly PeriodSum[], day: string): Map<string, UsedByKey> {
  const used = new Map<string, UsedByKey>();
  for (const { keyId, period, requests, points, held } of sums) {
    const before = used.get(keyId) ?? NOTHING_USED;
    used.set(
      keyId,
      period === day
        ? { ...before, dayRequests: requests, dayPoints: points, dayHeld: held }
        : { ...before, monthRequests: requests, monthPoints: points, monthHeld: held },
    );
  }
  return used;
}

/** A batch of the parts that share its number. */
export function mergedBatch(parts: readonly UsageBatch[]): UsageBatch {
  const [first, ...more] = parts;
  if (first === undefined || more.length === 0) return first as UsageBatch;
  const cells = new Float64Array(parts.reduce((sum, part) => sum + part.cells.length, 0));
  let at = 0;
  for (const part of parts) {
    cells.set(part.cells, at);
    at += part.cells.length;
  }
  return {
    ...first,
    keyIds: parts.flatMap(({ keyIds }) => keyIds),
    cells,
    covered: parts.flatMap(({ covered }) => covered),
    rates: parts.flatMap(({ rates }) => rates),
    quotas: parts.flatMap(({ quotas }) => quotas),
    returns: parts.flatMap(({ returns }) => returns),
    watchedIds: parts.flatMap(({ watchedIds }) => watchedIds),
  };
}

/** Whether a batch changes the store; a batch of questions does not. */
export function isWritten({ keyIds, rates, quotas, returns }: UsageBatch): boolean {
  return keyIds.length + rates.length + quotas.length + returns.length > 0;
}

/** The keys whose use the answer to a batch has. */
export function askedIds({ keyIds, quotas, watchedIds }: UsageBatch): string[] {
  return [...new Set([...keyIds, ...quotas.map(({ keyId }) => keyId), ...watchedIds])];
}

/** Points that go back, of days and of months, in the order of key ids. */
export function returnedOf({ returns }: UsageBatch): { period: string; keyId: string; points: number }[] {
  const sums = new Map<string, { period: string; keyId: string; points: number }>();
  for (const { keyId, day, month, points } of returns) {
    for (const period of [day, month]) {
      const name = `${keyId} ${period}`;
      const sum = sums.get(name) ?? { period, keyId, points: 0 };
      sum.points += points;
      sums.set(name, sum);
    }
  }
  return [...sums.values()].sort((a, b) => compareRows(a, b));
}

/** Order of rows: by key, a key's day before its month. Processes that write at once wait for one another in it. */
export function compareRows(
  a: { readonly keyId: string; readonly period: string },
  b: { readonly keyId: string; readonly period: string },
): number {
  if (a.keyId !== b.keyId) return a.keyId < b.keyId ? -1 : 1;
  return a.period > b.period ? -1 : 1;
}

/**
 * Counts of one flush, or of some of its keys: parts of a batch have one number. A batch is counted once however often
 * it is flushed.
 */
export interface UsageBatch {
  /** Numbers of the batches of one process grow. */
  readonly number: number;
  /** The start of the hour of the counts, milliseconds since 1970. */
  readonly hourMs: number;
  /** The names of the day and the month of the counts. */
  readonly day: string;
  readonly month: string;
  readonly keyIds: readonly string[];
  /** The cells of each key, one key after the other. */
  readonly cells: Float64Array;
  /** Points of each key, of those in its cells, that the process held before it used them. */
  readonly covered: readonly number[];
  /** Taken from buckets that processes share. */
  readonly rates: readonly RateUse[];
  /** Points of quotas that are requested, and those that go back. */
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

// Batches that could not be stored before the service stopped, in files of the data folder. The next process that
// opens the store adds them under the name of the process that made them, so that they are counted once however often
// they are found.

const NAME = /^usage-left-([0-9a-f]+)\.json$/;

interface Leftover {
  readonly path: string;
  /** Names the process. */
  readonly node: string;
  readonly batches: readonly UsageBatch[];
}

/** @throws errors of the file system */
export function keepLeftover(dataDir: string, node: string, batches: readonly UsageBatch[]): void {
  ensureDataDir(dataDir);
  // Tokens of rates are back by then, and nobody waits for points.
  const kept = batches.map((batch) => ({
    ...batch,
    cells: [...batch.cells],
    rates: [],
    quotas: [],
    watchedIds: [],
  }));
  const path = join(dataDir, `usage-left-${node}.json`);
  try {
    writeFileSync(path, checkedText(kept), { mode: 0o600 });
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** Batches of version 0.2.0 have no points held. */
type KeptBatch = Omit<UsageBatch, 'cells' | 'covered' | 'quotas' | 'returns'> & {
  readonly cells: readonly number[];
} & Partial<Pick<UsageBatch, 'covered' | 'returns'>>;

function batchOf(kept: KeptBatch): UsageBatch {
  const { cells, covered = [], returns = [] } = kept;
  return { ...kept, cells: Float64Array.from(cells), covered, returns, quotas: [] };
}

/**
 * An unreadable or altered file is left in place.
 * @param refused called with its path and the reason
 */
export function leftoversIn(
  dataDir: string,
  refused: (path: string, reason: string) => void = () => {},
): Leftover[] {
  return readdirSync(dataDir).flatMap((name): Leftover[] => {
    const node = NAME.exec(name)?.[1];
    if (node === undefined) return [];
    const path = join(dataDir, name);
    try {
      const text = readFileSync(path, 'utf8');
      // Versions before 0.4.0 wrote a list, without a digest.
      const kept = (text.startsWith('[') ? JSON.parse(text) : readChecked(text)) as KeptBatch[];
      return [{ path, node, batches: kept.map(batchOf) }];
    } catch (error) {
      refused(path, (error as Error).message);
      return [];
    }
  });
}

export function forgetLeftover({ path }: Leftover): void {
  rmSync(path, { force: true });
}
