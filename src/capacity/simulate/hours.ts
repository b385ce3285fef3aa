// Counts of a fleet over time, of hours or shorter, as a day: the mean and the busiest count of each hour, against the
// mean of all hours.
import { instantOf, TIME_RULE, TraceFault } from './trace.js';

/** One hour of the day, as the file writes its times; shares are counts ÷ the mean count of an hour. */
export interface HourOfDay {
  /** 0 to 23. */
  readonly hour: number;
  readonly meanShare: number;
  /** The busiest of all days. */
  readonly peakShare: number;
}

export interface DayProfile {
  readonly hours: readonly HourOfDay[];
  /** The busiest hour ÷ the mean one. */
  readonly peakFactor: number;
  /** Hours from the first count to the last. */
  readonly counted: number;
}

const HOUR_S = 3600;
/** Hours that a file may span. */
const MAX_HOURS = 20 * 366 * 24;
const ISO_HOUR = /^\d{4}-\d\d-\d\d[T ](\d\d)/;

export class CountsBuilder {
  readonly #timeAt: number;
  readonly #countAt: number;
  /** Counts of each hour, by hours since 1970, with the hour of the day. */
  readonly #hours = new Map<number, { readonly hour: number; count: number }>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #rows = 0;

  /** @throws TraceFault without a column `time` or `count` */
  constructor(names: readonly string[]) {
    const known = names.map((name) => name.trim().toLowerCase());
    [this.#timeAt, this.#countAt] = ['time', 'count'].map((name) => known.indexOf(name)) as [number, number];
    for (const [at, name] of [
      [this.#timeAt, 'time'],
      [this.#countAt, 'count'],
    ] as const)
      if (at === -1) throw new TraceFault(`it has no column "${name}"`);
  }

  /** @param columns texts of the next rows, by column. @throws TraceFault for a row, and past MAX_HOURS */
  add(columns: readonly (readonly string[])[]): void {
    for (const [at, time] of columns[this.#timeAt]!.entries()) {
      this.#rows++;
      const text = time.trim();
      const instant = instantOf(text);
      if (instant === null)
        throw new TraceFault(`${JSON.stringify(text)} is ${TIME_RULE}`, this.#rows, 'time');
      const since = Math.floor(instant.wholeS / HOUR_S);
      this.#first = Math.min(this.#first, since);
      this.#last = Math.max(this.#last, since);
      if (this.#last - this.#first >= MAX_HOURS)
        throw new TraceFault(`its counts are of more than ${MAX_HOURS} hours`, this.#rows, 'time');
      const hour = Number(ISO_HOUR.exec(text)?.[1] ?? ((since % 24) + 24) % 24);
      const count = this.#countOf(columns[this.#countAt]![at]!.trim());
      const known = this.#hours.get(since);
      if (known === undefined) this.#hours.set(since, { hour, count });
      else known.count += count;
    }
  }

  /** @throws TraceFault without counts, or with counts of one hour only */
  build(): DayProfile {
    const counted = this.#last - this.#first + 1;
    if (counted < 2) throw new TraceFault('its counts are of fewer than two hours');
    const counts = [...this.#hours.values()];
    const mean = counts.reduce((sum, { count }) => sum + count, 0) / counted;
    if (mean === 0) throw new TraceFault('all its counts are 0');
    // An hour of the day that no row names had nothing to count.
    const hours = Array.from({ length: 24 }, (_, hour): HourOfDay => {
      const own = counts.filter((each) => each.hour === hour).map(({ count }) => count / mean);
      const days = Math.max(1, own.length, Math.floor(counted / 24));
      const sum = own.reduce((all, share) => all + share, 0);
      return { hour, meanShare: sum / days, peakShare: Math.max(0, ...own) };
    });
    return { hours, counted, peakFactor: Math.max(...hours.map(({ peakShare }) => peakShare)) };
  }

  #countOf(text: string): number {
    const count = /^\d+(?:\.\d+)?(?:[eE][+]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isFinite(count)) return count;
    throw new TraceFault(
      `${JSON.stringify(text)} is not a count, a number from 0 on, such as 125000`,
      this.#rows,
      'count',
    );
  }
}
