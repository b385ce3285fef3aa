// A batch as rows of the tables that both stores have, and sums of periods as the service reads them.
import type { UsageBatch, UsageRow, UsedByKey } from './batch.js';
import { CELLS, cellAt, OPERATIONS, OUTCOMES, REFUSED } from './operations.js';

/** The use of a key in a day or a month. */
export interface PeriodSum {
  readonly period: string;
  readonly keyId: string;
  readonly requests: number;
  readonly points: number;
}

export interface BatchRows {
  readonly counts: readonly UsageRow[];
  readonly sums: readonly PeriodSum[];
}

/** In the order of key ids, so that processes that write at the same time do not wait for one another in a circle. */
export function rowsOf({ hourMs, day, month, keyIds, cells }: UsageBatch): BatchRows {
  const counts: UsageRow[] = [];
  const sums: PeriodSum[] = [];
  const order = [...keyIds.keys()].sort((a, b) => (keyIds[a]! < keyIds[b]! ? -1 : 1));
  for (const index of order) {
    const keyId = keyIds[index]!;
    const first = 2 * CELLS * index;
    const sum = { requests: 0, points: 0 };
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

/** @param sums of a day and of its month */
export function usedOf(sums: readonly PeriodSum[], day: string): Map<string, UsedByKey> {
  const used = new Map<string, UsedByKey>();
  for (const { keyId, period, requests, points } of sums) {
    const before = used.get(keyId) ?? { dayRequests: 0, dayPoints: 0, monthRequests: 0, monthPoints: 0 };
    used.set(
      keyId,
      period === day
        ? { ...before, dayRequests: requests, dayPoints: points }
        : { ...before, monthRequests: requests, monthPoints: points },
    );
  }
  return used;
}
