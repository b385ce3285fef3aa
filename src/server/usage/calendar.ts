// Hours, days and months of a time zone, by the clock of the machine. A period never goes back: if the clock is set
// back by less than a day, the current day and month continue, so that no quota is granted twice. If it is set back
// by more, it was wrong before, and the periods follow it without a new quota.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No zone changes its offset by more in one day. */
const MAX_SHIFT_MS = 3 * HOUR_MS;

/** A day or a month. */
export interface Period {
  /** `2026-11-22` or `2026-11`. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The periods that hold now. */
export interface Periods {
  readonly day: Period;
  readonly month: Period;
}

interface LocalDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

/** @throws RangeError for a zone that is not in IANA's list */
export class Calendar {
  readonly #format: Intl.DateTimeFormat;
  /** The day and the month as of the last call of `follow`. */
  periods: Periods;

  /**
   * @param zone of the IANA, as `Asia/Ho_Chi_Minh`
   * @param nowMs milliseconds since 1970
   * @param onChange called before another day begins, with whether day and month have changed by the course of time,
   * and with the new periods
   */
  constructor(
    readonly zone: string,
    nowMs: number,
    private readonly onChange: (dayIsNew: boolean, monthIsNew: boolean, next: Periods) => void = () => {},
  ) {
    this.#format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
      timeZone: zone,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    });
    this.periods = this.periodsAt(nowMs);
  }

  /** The start of the hour of the zone. */
  hourAt(nowMs: number): number {
    const { startMs } = this.periodsAt(nowMs).day;
    return startMs + Math.floor((nowMs - startMs) / HOUR_MS) * HOUR_MS;
  }

  /** Takes note of the time. */
  follow(nowMs: number): Periods {
    const { day, month } = this.periods;
    if (nowMs >= day.startMs - DAY_MS && nowMs < day.endMs) return this.periods;
    const isLater = nowMs >= day.endMs;
    const next = this.periodsAt(nowMs);
    this.onChange(isLater, isLater && next.month.name !== month.name, next);
    this.periods = next;
    return next;
  }

  /** The periods of a time, without following it. */
  periodsAt(nowMs: number): Periods {
    const { day, month } = this.periods ?? {};
    if (day !== undefined && month !== undefined && nowMs >= day.startMs && nowMs < day.endMs)
      return this.periods;
    const { year, month: number, day: date } = this.#dateAt(nowMs);
    const monthName = `${year}-${twoDigits(number)}`;
    return {
      day: {
        name: `${monthName}-${twoDigits(date)}`,
        startMs: this.#startOf(year, number, date),
        endMs: this.#startOf(year, number, date + 1),
      },
      month: {
        name: monthName,
        startMs: this.#startOf(year, number, 1),
        endMs: this.#startOf(year, number + 1, 1),
      },
    };
  }

  /** The first moment of a day of the zone; days and months beyond the last are of the next month and year. */
  #startOf(year: number, month: number, day: number): number {
    const utcMs = Date.UTC(year, month - 1, day);
    // The offset of a zone is less than 15 hours. Where midnight does not exist the day begins later, in steps of a
    // quarter hour.
    let startMs = utcMs - 15 * HOUR_MS;
    const isBefore = (ms: number): boolean => {
      const date = this.#dateAt(ms);
      return Date.UTC(date.year, date.month - 1, date.day) < utcMs;
    };
    for (const stepMs of [MAX_SHIFT_MS, HOUR_MS / 4]) {
      while (isBefore(startMs + stepMs)) startMs += stepMs;
    }
    while (isBefore(startMs)) startMs += HOUR_MS / 4;
    return startMs;
  }

  #dateAt(ms: number): LocalDate {
    const date = { year: 0, month: 0, day: 0 };
    for (const { type, value } of this.#format.formatToParts(ms)) {
      if (type === 'year' || type === 'month' || type === 'day') date[type] = Number(value);
    }
    return date;
  }
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
