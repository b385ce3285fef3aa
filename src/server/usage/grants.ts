// Quotas between the service and the store: what a process asks for, and how many points it is given. Both stores, and
// the model of the tests, give by the same function.

/** Points that a process asks for, before it uses them. */
export interface QuotaOrder {
  readonly keyId: string;
  /** The quotas; undefined where there is none. */
  readonly perDay: number | undefined;
  readonly perMonth: number | undefined;
  /** Points that the process holds: given, and neither used nor given back. */
  readonly held: number;
  /** All of them or none are given; 0: none are needed at once. */
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
  /** Points that other processes hold, those that have been silent for `SILENT_MS` left out. */
  readonly others: number;
  /** Another process needs points and finds none: what this one holds and does not need should be given back. */
  readonly isWanted: boolean;
}

/** Points of a day and its month that a process held and does not need. */
export interface QuotaReturn {
  readonly keyId: string;
  readonly day: string;
  readonly month: string;
  readonly points: number;
}

/** Silence after which a process may be dead: nobody waits for the points that it holds, and nobody is given them. */
export const SILENT_MS = 3000;

/** A process is given this share of what is left, unless it needs more at once: so several find some. */
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
  // Where the quota was removed meanwhile.
  if (left === INFINITE) return want;
  return Math.max(need, Math.min(want, Math.floor(left / SHARE)), 0);
}

const INFINITE = Number.POSITIVE_INFINITY;
