// Spans and points of time as people write them: `90d`, `24h`, `2027-01-31`, `2027-01-31T17:00:00Z`.

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** In milliseconds; undefined if it is none. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * In milliseconds since 1970; a date alone is its midnight in UTC, a duration counts from now. Undefined if it is none.
 */
export function parseTime(text: string, nowMs = Date.now()): number | undefined {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return nowMs + durationMs;
  const timeMs = TIME.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 31 February for a day in March.
  if (Number.isNaN(timeMs)) return undefined;
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10))
    ? timeMs
    : undefined;
}
