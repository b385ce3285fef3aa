// A trace of arrivals, in the order of time: the time, points and, where the trace names one, vehicle of each message.

// Times of a trace from their texts: a number of seconds, or ISO 8601. Nothing is guessed, and every digit of a
// fraction counts.
type TimeKind = 'a number of seconds' | 'ISO 8601 with a zone' | 'ISO 8601 without a zone';

interface Instant {
  readonly kind: TimeKind;
  readonly wholeS: number;
  /** Fraction of the second; negative before 1970. */
  readonly fractionUs: number;
}

/** Seconds up to the year 5138; a larger number is milliseconds, and is refused. */
const SECONDS = /^([+-]?)(\d{1,11})(?:\.(\d+))?$/;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d+))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;

/** @returns null where the text is neither */
export function instantOf(text: string): Instant | null {
  const seconds = SECONDS.exec(text);
  if (seconds !== null) {
    const [, sign, whole, fraction] = seconds;
    const factor = sign === '-' ? -1 : 1;
    return {
      kind: 'a number of seconds',
      wholeS: factor * Number(whole),
      fractionUs: factor * microsecondsOf(fraction),
    };
  }
  const iso = ISO.exec(text);
  if (iso === null) return null;
  const [, year, month, day, hour, minute, second = '0', fraction, zone] = iso;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // Date reads 31 February as a day in March.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  return {
    kind: zone === undefined ? 'ISO 8601 without a zone' : 'ISO 8601 with a zone',
    wholeS:
      date.getTime() / 1000 +
      (60 * Number(hour) + Number(minute)) * 60 +
      Number(second) -
      60 * offsetMinutesOf(zone),
    fractionUs: microsecondsOf(fraction),
  };
}

/** One literal: a product would lose digits. */
const microsecondsOf = (digits: string | undefined): number =>
  digits === undefined ? 0 : Number(`0.${digits}e6`);

function offsetMinutesOf(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const minutes = 60 * Number(zone.slice(1, 3)) + Number(zone.slice(3).replace(':', '') || '0');
  return zone.startsWith('-') ? -minutes : minutes;
}

/** A trace that cannot be read: where, and the rule. Rows count from 1. */
export class TraceFault extends Error {
  override readonly name = 'TraceFault';
  constructor(
    message: string,
    readonly row?: number,
    readonly column?: string,
  ) {
    super(message);
  }
}

const TIME_RULE =
  'neither a number of seconds, such as 12.5, nor ISO 8601 with date and time, such as 2026-01-31T08:15:00.25Z';

/** @throws TraceFault */
function requireInstant(text: string, row: number): Instant {
  const instant = instantOf(text);
  if (instant === null) throw new TraceFault(`${JSON.stringify(text)} is ${TIME_RULE}`, row, 'time');
  return instant;
}

/** @returns the index of a column by its name; -1 where there is none. @throws TraceFault where a needed one is not */
function columnsOf(names: readonly string[], needed: readonly string[]): (name: string) => number {
  const known = names.map((name) => name.trim().toLowerCase());
  const missing = needed.find((name) => !known.includes(name));
  if (missing !== undefined) throw new TraceFault(`it has no column "${missing}"`);
  return (name) => known.indexOf(name);
}

export class TraceBuilder {
  readonly #timeAt: number;
  readonly #vehicleAt: number;
  readonly #pointsAt: number;
  readonly #timesUs: number[] = [];
  readonly #points: number[] = [];
  readonly #vehicleOf: number[] = [];
  readonly #vehicles = new Map<string, number>();
  #kind: TimeKind | undefined;
  #baseS = 0;

  /**
   * @param maxPoints most points of one message
   * @throws TraceFault without a column `time`
   */
  constructor(
    names: readonly string[],
    private readonly maxPoints: number,
  ) {
    const at = columnsOf(names, ['time']);
    [this.#timeAt, this.#vehicleAt, this.#pointsAt] = [at('time'), at('vehicle'), at('points')];
  }

  /** @param columns texts of the next rows, by column. @throws TraceFault */
  add(columns: readonly (readonly string[])[]): void {
    const [times, vehicles, points] = [this.#timeAt, this.#vehicleAt, this.#pointsAt].map(
      (at) => columns[at],
    );
    for (const [at, time] of times!.entries()) {
      this.#addTime(time.trim());
      if (vehicles !== undefined) this.#addVehicle(vehicles[at]!.trim());
      this.#points.push(points === undefined ? 1 : this.#pointsOf(points[at]!.trim()));
    }
  }

  /** @throws TraceFault where there are fewer than two arrivals, or no time passes */
  build(): Trace {
    if (this.#timesUs.length < 2) throw new TraceFault('it has fewer than two rows');
    const order = orderOf(this.#timesUs);
    const firstUs = this.#timesUs[order[0]!]!;
    const arrivalsUs = Float64Array.from(order, (at) => this.#timesUs[at]! - firstUs);
    if (arrivalsUs.at(-1) === 0) throw new TraceFault('all its rows have the same time');
    const hasVehicles = this.#vehicleAt !== -1;
    return {
      arrivalsUs,
      points: Int32Array.from(order, (at) => this.#points[at]!),
      vehicleOf: hasVehicles ? Int32Array.from(order, (at) => this.#vehicleOf[at]!) : null,
      vehicles: hasVehicles ? this.#vehicles.size : null,
    };
  }

  #addTime(text: string): void {
    const row = this.#timesUs.length + 1;
    const instant = requireInstant(text, row);
    if (this.#kind === undefined) [this.#kind, this.#baseS] = [instant.kind, instant.wholeS];
    if (instant.kind !== this.#kind)
      throw new TraceFault(
        `${JSON.stringify(text)} is ${instant.kind}, and the rows before it have ${this.#kind}: a trace has one kind of times`,
        row,
        'time',
      );
    // Whole seconds are subtracted before fractions are added: seconds since 1970 would leave no digits for them.
    this.#timesUs.push((instant.wholeS - this.#baseS) * 1e6 + instant.fractionUs);
  }

  #addVehicle(text: string): void {
    if (text === '')
      throw new TraceFault('it is empty: each row names its vehicle', this.#timesUs.length, 'vehicle');
    const known = this.#vehicles.get(text) ?? this.#vehicles.size;
    this.#vehicles.set(text, known);
    this.#vehicleOf.push(known);
  }

  #pointsOf(text: string): number {
    // Some programs write whole numbers as 3.0.
    const points = /^\d+(?:\.0+)?$/.test(text) ? Number(text) : 0;
    if (points >= 1 && points <= this.maxPoints) return points;
    throw new TraceFault(
      `${JSON.stringify(text)} is not a whole number of points from 1 to ${this.maxPoints.toLocaleString('en')}, the most of one message`,
      this.#timesUs.length,
      'points',
    );
  }
}

/** Rows in the order of time; rows of the same time keep their order. */
function orderOf(timesUs: readonly number[]): Uint32Array {
  const order = Uint32Array.from(timesUs, (_, at) => at);
  const isSorted = timesUs.every((us, at) => at === 0 || us >= timesUs[at - 1]!);
  return isSorted ? order : order.sort((a, b) => timesUs[a]! - timesUs[b]! || a - b);
}

export interface Trace {
  /** Microseconds from the first arrival, ascending. */
  readonly arrivalsUs: Float64Array;
  /** Points of each message. */
  readonly points: Int32Array;
  /** Vehicle of each message, from 0; null where the trace has no vehicles. */
  readonly vehicleOf: Int32Array | null;
  /** Different vehicles; null where the trace has none. */
  readonly vehicles: number | null;
}

/** The most arrivals in one whole second of the trace, counted from its start. */
export function peakPerS({ arrivalsUs }: Trace): number {
  let [most, count, second] = [0, 0, 0];
  for (const us of arrivalsUs) {
    const at = Math.floor(us / 1e6);
    if (at !== second) [second, count] = [at, 0];
    if (++count > most) most = count;
  }
  return most;
}

// Counts of a fleet over time, of hours or shorter, as a day: the mean and the busiest count of each hour, against the
// mean of all hours.

/** One hour of the day, as the file writes its times; shares are counts ÷ the mean count of an hour. */
interface HourOfDay {
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
    const at = columnsOf(names, ['time', 'count']);
    [this.#timeAt, this.#countAt] = [at('time'), at('count')];
  }

  /** @param columns texts of the next rows, by column. @throws TraceFault for a row, and past MAX_HOURS */
  add(columns: readonly (readonly string[])[]): void {
    for (const [at, time] of columns[this.#timeAt]!.entries()) {
      this.#rows++;
      const text = time.trim();
      const instant = requireInstant(text, this.#rows);
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
