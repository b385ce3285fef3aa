// A batch as rows of the tables that both stores have, and sums of periods as the service reads them.
import type { UsageBatch, UsageRow, UsedByKey } from './batch.js';
import { CELLS, cellAt, OPERATIONS, OUTCOMES, REFUSED } from './operations.js';

/** The use of a key in a day or a month. */
export interface PeriodSum {
  readonly period: string;
  readonly keyId: string;
  readonly requests: number;
  readonly points: number;
  /** In a batch: the change. Points that processes hold of the quota, beside those that are used. */
  readonly held: number;
}

export interface BatchRows {
  readonly counts: readonly UsageRow[];
  readonly sums: readonly PeriodSum[];
}

/** In the order of key ids, so that processes that write at the same time do not wait for one another in a circle. */
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

/** Whether a batch changes the store: one that only asks does not. */
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
