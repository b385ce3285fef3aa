// The clock of a time zone: its offset at an instant, local times as instants, and their text.

import { badUsage } from '../exit-codes.js';
import { type FileFormat, FORMATS } from '../format.js';
import type { TableColumn, TimeUnitName } from '../formats/table.js';
import { codeTextOf } from '../formats/values/column-text.js';
import { numberOf } from './values.js';

// Values of columns as instants: timestamps of typed files, texts of ISO 8601, and numbers of Unix time, whose size
// shows whether they count seconds, milliseconds, microseconds or nanoseconds.
const DAY_MS = 86_400_000;
/** Years of four digits, which Date holds and texts show. */
const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const END_MS = Date.parse('9999-12-31T23:59:59.999Z') + 1;

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;
/** Smaller numbers are years, days of a spreadsheet (46024.5), dates (20260102) or clocks that were not set. */
const MIN_UNIX = 1e8;
/** 202601022330, 20260102233000: dates without separators, and no Unix time of 1976 or 2612. */
const COMPACT_DATES = [1e8, 1e10].map((perYear) => [1900 * perYear, 2100 * perYear] as const);

/**
 * A value in milliseconds since 1970, with microseconds where a timestamp has them; NaN where it is not an instant.
 * Times without an offset are those of the zone.
 */
export function instantOf(column: TableColumn, value: unknown, clock: ZoneClock): number {
  if (value === null || value === undefined) return Number.NaN;
  if (column.kind === 'timestamp') {
    const [ms, fraction] = millisecondsOf(BigInt(value as bigint), column.unit ?? 'ms');
    return within((column.isUtc === true ? ms : clock.instantOf(ms)) + fraction);
  }
  if (column.kind === 'date') return within(clock.instantOf((value as number) * DAY_MS));
  const text = typeof value === 'string' ? codeTextOf(column, value).trim() : undefined;
  const iso = text === undefined ? null : ISO.exec(text);
  if (iso !== null) return within(ofIso(iso, clock));
  const number = numberOf(column, value);
  return number === null || number === undefined ? Number.NaN : within(ofUnix(number));
}

/** Whole milliseconds, and the microseconds after them as a fraction: 23:59:59.999999999 is not midnight. */
function millisecondsOf(value: bigint, unit: TimeUnitName): [ms: number, fraction: number] {
  if (unit === 's') return [Number(value) * 1000, 0];
  if (unit === 'ms') return [Number(value), 0];
  const microseconds = unit === 'us' ? value : floorOf(value, 1000n);
  const ms = floorOf(microseconds, 1000n);
  return [Number(ms), Number(microseconds - ms * 1000n) / 1000];
}

/** Division of BigInt cuts towards zero. */
const floorOf = (value: bigint, by: bigint): bigint => (value < 0n ? (value + 1n) / by - 1n : value / by);

/**
 * The remedy if no value of a column is an instant.
 * @param text the first value; undefined: all are empty
 */
export function timeHint(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const shown = JSON.stringify(text.slice(0, 40));
  const dayFirst = /^\d\d\/\d\d\/\d{4}\b/.test(text)
    ? String.raw` Days that stand first are turned by sed -E 's#(..)/(..)/(....)#\3-\2-\1#' FILE.`
    : '';
  return `${shown} is not a time that is read: write 2026-01-02 23:30, with +07:00 or Z where it has a zone, or Unix time.${dayFirst}`;
}

/** Seconds from March 1973 until the year 5138, milliseconds from 1973 on, and so on. */
function ofUnix(given: number | bigint): number {
  if (typeof given === 'bigint')
    return Number(floorOf(given, given < 10n ** 17n && given > -(10n ** 17n) ? 1000n : 1_000_000n));
  if (COMPACT_DATES.some(([first, end]) => given >= first && given < end)) return Number.NaN;
  const size = Math.abs(given);
  if (size < MIN_UNIX) return Number.NaN;
  if (size < 1e11) return given * 1000;
  if (size < 1e14) return given;
  return size < 1e17 ? Math.floor(given / 1e3) : Math.floor(given / 1e6);
}

function ofIso(match: RegExpExecArray, clock: ZoneClock): number {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  const digits = fraction.padEnd(6, '0');
  // 24:00 is the end of a day. A leap second falls on the end of a quarter of an hour in every zone.
  const isTime = seconds < 86_400 || (seconds === 86_400 && Number(digits) === 0);
  const isSecond = second !== '60' || Number(minute) % 15 === 14;
  if (!isDate || !isTime || !isSecond) return Number.NaN;
  const local = date.getTime() + seconds * 1000 + Number(digits.slice(0, 3));
  return instantIn(zone, local, clock) + Number(digits.slice(3, 6)) / 1000;
}

/** @param zone as ISO 8601 writes it; undefined for that of the clock */
function instantIn(zone: string | undefined, localMs: number, clock: ZoneClock): number {
  if (zone === undefined) return clock.instantOf(localMs);
  if (zone === 'Z' || zone === 'z') return localMs;
  const offset = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || '0');
  return localMs - (zone.startsWith('-') ? -1 : 1) * offset * 60_000;
}

function within(ms: number): number {
  return ms >= EARLIEST_MS && ms < END_MS ? ms : Number.NaN;
}

interface TimeColumn {
  readonly column: TableColumn;
  /** The value of an instant in milliseconds since 1970. */
  valueIn(utcMs: number): unknown;
}

export function timeColumn(name: string, format: FileFormat, clock: ZoneClock): TimeColumn {
  if (FORMATS[format].hasTypes)
    return {
      column: { name, kind: 'timestamp', unit: 'ms', isUtc: true, zone: clock.zone },
      valueIn: (utcMs) => BigInt(utcMs),
    };
  return { column: { name, kind: 'text' }, valueIn: (utcMs) => clock.text(utcMs) };
}

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
};
/** 1970 began on a Thursday; weeks begin on Monday. */
const MONDAY_MS = 4 * DAY_MS;

/** A length as `15m`, `1h`, `1d` or `1w`, in milliseconds. @throws CliFailure USAGE */
export function bucketMsOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit ?? ''] ?? Number.NaN);
  const isFitting = ms > 0 && (ms < DAY_MS ? DAY_MS % ms === 0 : ms % DAY_MS === 0);
  if (isFitting) return ms;
  throw badUsage(
    `--bucket ${text}: must be a part of a day that divides it, or whole days, as 15m, 1h, 1d or 1w`,
  );
}

/** Any length as `90s`, `30m` or `2h`, in milliseconds. @throws CliFailure USAGE */
export function durationMsOf(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (unit === undefined) throw badUsage(`${option} ${text}: must be a length as 90s, 30m, 2h or 1d`);
  return Number(count) * UNITS_MS[unit]!;
}

/** The first instant of the bucket that holds an instant, in milliseconds since 1970. */
export function bucketStartOf(utcMs: number, bucketMs: number, clock: ZoneClock): number {
  const offset = clock.offsetMs(utcMs);
  const local = utcMs + offset;
  const anchor = bucketMs % UNITS_MS.w! === 0 ? MONDAY_MS : 0;
  const startLocal = Math.floor((local - anchor) / bucketMs) * bucketMs + anchor;
  // On a day with one offset the hour that the clock repeats lasts two hours.
  const start = startLocal - offset;
  return clock.offsetMs(start) === offset ? start : clock.instantOf(startLocal);
}

const MINUTE_MS = 60_000;
/** Zones change their offset at whole quarters of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;
const MAX_QUARTERS = 100_000;

const two = (value: number): string => String(value).padStart(2, '0');

export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** Offsets by quarter of an hour since 1970. */
  readonly #offsets = new Map<number, number>();

  /** @param zone of the IANA, as `Asia/Ho_Chi_Minh` @throws CliFailure USAGE for any other name */
  constructor(readonly zone: string) {
    try {
      this.#format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
        era: 'short',
      });
    } catch {
      throw badUsage(`--zone ${zone}: is not a time zone, as Asia/Ho_Chi_Minh or UTC are`);
    }
  }

  /** Local time minus UTC, at an instant in milliseconds since 1970. */
  offsetMs(utcMs: number): number {
    const quarter = Math.floor(utcMs / QUARTER_MS);
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      offset = this.#offsetAt(quarter * QUARTER_MS);
      if (this.#offsets.size >= MAX_QUARTERS) this.#offsets.clear();
      this.#offsets.set(quarter, offset);
    }
    return offset;
  }

  /** The instant of a local time, given as if it were UTC. Of a repeated time the first. */
  instantOf(localMs: number): number {
    const guess = localMs - this.offsetMs(localMs);
    const before = localMs - this.offsetMs(guess - 3 * 60 * MINUTE_MS);
    return before + this.offsetMs(before) === localMs ? before : localMs - this.offsetMs(guess);
  }

  /** `2026-11-01T08:00:00+07:00` */
  text(utcMs: number): string {
    const offset = Math.round(this.offsetMs(utcMs) / MINUTE_MS);
    // Offsets before the time zones had seconds, which the text does not: the instant counts.
    const local = new Date(utcMs + offset * MINUTE_MS).toISOString();
    const minutes = Math.abs(offset);
    const sign = offset < 0 ? '-' : '+';
    return `${local.replace(/\.000Z$|Z$/, '')}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  }

  #offsetAt(utcMs: number): number {
    const at: Record<string, string> = {};
    for (const { type, value } of this.#format.formatToParts(utcMs)) at[type] = value;
    const year = at.era?.startsWith('B') ? 1 - Number(at.year) : Number(at.year);
    const local = new Date(0);
    local.setUTCFullYear(year, Number(at.month) - 1, Number(at.day));
    local.setUTCHours(Number(at.hour), Number(at.minute), Number(at.second));
    return local.getTime() - utcMs;
  }
}
