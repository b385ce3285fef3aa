// The clock of a time zone: its offset at an instant, local times as instants, and their text.

import { CliFailure, EXIT } from '../exit-codes.js';

const MINUTE_MS = 60_000;
/** Zones change their offset at whole quarters of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;
const MOST_QUARTERS = 100_000;

const two = (value: number): string => String(value).padStart(2, '0');

export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** Offsets by quarter of an hour since 1970. */
  readonly #offsets = new Map<number, number>();

  /** @param zone of the IANA, as `Asia/Ho_Chi_Minh` @throws CliFailure USAGE for any other name */
  constructor(readonly zone: string) {
    try {
      this.#format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
        ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
        ...{ hour: 'numeric', minute: 'numeric', second: 'numeric', era: 'short' },
      });
    } catch {
      throw new CliFailure(EXIT.USAGE, `--zone ${zone}: is no time zone, as Asia/Ho_Chi_Minh or UTC are`);
    }
  }

  /** Local time minus UTC, at an instant in milliseconds since 1970. */
  offsetMs(utcMs: number): number {
    const quarter = Math.floor(utcMs / QUARTER_MS);
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      offset = this.#offsetAt(quarter * QUARTER_MS);
      if (this.#offsets.size >= MOST_QUARTERS) this.#offsets.clear();
      this.#offsets.set(quarter, offset);
    }
    return offset;
  }

  /** The instant of a local time, given as if it were UTC. Of a time that the clock shows twice the first. */
  instantOf(localMs: number): number {
    const guess = localMs - this.offsetMs(localMs);
    const before = localMs - this.offsetMs(guess - 3 * 60 * MINUTE_MS);
    return before + this.offsetMs(before) === localMs ? before : localMs - this.offsetMs(guess);
  }

  /** `2026-11-01T08:00:00+07:00` */
  text(utcMs: number): string {
    const offset = this.offsetMs(utcMs);
    const local = new Date(utcMs + offset).toISOString();
    const minutes = Math.round(Math.abs(offset) / MINUTE_MS);
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
