// A key as JSON: of the admin port, of `keys list --json` and of exported files.
import type { KeyLimits } from '../key-limits.js';
import type { StoredKey } from '../key-record.js';

/** Limits, as members and in JSON. */
export const LIMIT_NAMES: readonly (readonly [keyof KeyLimits, string])[] = [
  ['pointsPerSecond', 'points_per_second'],
  ['pointsBurst', 'points_burst'],
  ['requestsPerSecond', 'requests_per_second'],
  ['requestsBurst', 'requests_burst'],
  ['pointsPerDay', 'points_per_day'],
  ['pointsPerMonth', 'points_per_month'],
];

/** Times are ISO 8601 in UTC, null where there is none. Holds neither text nor digest. */
export interface KeyJson {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly created: string;
  readonly expires: string | null;
  readonly last_used: string | null;
  readonly origins: readonly string[];
  readonly cidrs: readonly string[];
  /** Those that are set; 0: none, whatever the service's default is. */
  readonly limits: Readonly<Record<string, number>>;
  readonly generation: number;
  /** Until when the text before the last rotation is let in. */
  readonly overlap_until: string | null;
}

const isoOf = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

export function keyJson(key: StoredKey): KeyJson {
  return {
    id: key.id,
    name: key.name,
    state: key.state,
    scopes: key.scopes,
    created: isoOf(key.createdMs) as string,
    expires: isoOf(key.expiresMs),
    last_used: isoOf(key.lastUsedMs),
    origins: key.origins,
    cidrs: key.cidrs,
    limits: limitsJson(key.limits),
    generation: key.generation,
    overlap_until: isoOf(key.formerUntilMs),
  };
}

function limitsJson(limits: KeyLimits): Record<string, number> {
  return Object.fromEntries(
    LIMIT_NAMES.flatMap(([member, inJson]) => {
      const limit = limits[member];
      return limit === undefined ? [] : [[inJson, limit]];
    }),
  );
}
