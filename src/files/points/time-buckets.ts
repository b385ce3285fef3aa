// Times cut into buckets of equal length by the clock of a zone: parts of a day, days, or weeks from Monday on.

import { CliFailure, EXIT } from '../exit-codes.js';
import type { ZoneClock } from './zone-clock.js';

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DAY_MS = 86_400_000;
/** 1970 began on a Thursday; weeks begin on Monday. */
const MONDAY_MS = 4 * DAY_MS;

/** A length as `15m`, `1h`, `1d` or `1w`, in milliseconds. @throws CliFailure USAGE */
export function bucketMsOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit ?? ''] ?? Number.NaN);
  const isFitting = ms > 0 && (ms < DAY_MS ? DAY_MS % ms === 0 : ms % DAY_MS === 0);
  if (isFitting) return ms;
  throw new CliFailure(
    EXIT.USAGE,
    `--bucket ${text}: must be a part of a day that divides it, or whole days, as 15m, 1h, 1d or 1w`,
  );
}

/** Any length as `90s`, `30m` or `2h`, in milliseconds. @throws CliFailure USAGE */
export function durationMsOf(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (unit === undefined)
    throw new CliFailure(EXIT.USAGE, `${option} ${text}: must be a length as 90s, 30m, 2h or 1d`);
  return Number(count) * UNITS_MS[unit]!;
}

/** The first instant of the bucket that holds an instant, in milliseconds since 1970. */
export function bucketStartOf(utcMs: number, bucketMs: number, clock: ZoneClock): number {
  const offset = clock.offsetMs(utcMs);
  const local = utcMs + offset;
  const anchor = bucketMs % UNITS_MS.w! === 0 ? MONDAY_MS : 0;
  const startLocal = Math.floor((local - anchor) / bucketMs) * bucketMs + anchor;
  // Within a day of one offset the hour that the clock shows twice stays two hours.
  const start = startLocal - offset;
  return clock.offsetMs(start) === offset ? start : clock.instantOf(startLocal);
}
