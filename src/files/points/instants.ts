// Values of columns as instants: timestamps of typed files, texts of ISO 8601, and numbers of Unix time, whose size
// shows whether they count seconds, milliseconds, microseconds or nanoseconds.

import type { TableColumn } from '../formats/table.js';
import { codeTextOf } from '../formats/values/column-text.js';
import { numberOf } from './values.js';
import type { ZoneClock } from './zone-clock.js';

const PER_MS = { s: 1e-3, ms: 1, us: 1e3, ns: 1e6 } as const;
const DAY_MS = 86_400_000;
/** Years of four digits, which Date holds and texts show. */
const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** A value in milliseconds since 1970; NaN where it is no instant. Times without an offset are those of the zone. */
export function instantOf(column: TableColumn, value: unknown, clock: ZoneClock): number {
  if (value === null || value === undefined) return Number.NaN;
  if (column.kind === 'timestamp') {
    const ms = Math.floor(Number(value as bigint) / PER_MS[column.unit ?? 'ms']);
    return within(column.isUtc === true ? ms : clock.instantOf(ms));
  }
  if (column.kind === 'date') return within(clock.instantOf((value as number) * DAY_MS));
  const text = typeof value === 'string' ? codeTextOf(column, value).trim() : undefined;
  const iso = text === undefined ? null : ISO.exec(text);
  if (iso !== null) return within(ofIso(iso, clock));
  const number = numberOf(column, value);
  return number === null || number === undefined ? Number.NaN : within(ofUnix(Number(number)));
}

/** Seconds until the year 5138, milliseconds from 1973 on, and so on. */
function ofUnix(value: number): number {
  const size = Math.abs(value);
  if (size < 1e11) return value * 1000;
  if (size < 1e14) return value;
  return size < 1e17 ? Math.floor(value / 1e3) : Math.floor(value / 1e6);
}

function ofIso(match: RegExpExecArray, clock: ZoneClock): number {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!isDate || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60) return Number.NaN;
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  const local = date.getTime() + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + ms;
  if (zone === undefined) return clock.instantOf(local);
  if (zone === 'Z' || zone === 'z') return local;
  const offset = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || '0');
  return local - (zone.startsWith('-') ? -1 : 1) * offset * 60_000;
}

function within(ms: number): number {
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? ms : Number.NaN;
}
