// Builds a trace from columns of text: `time`, and where there are such columns `vehicle` and `points`.
import { instantOf, type TimeKind } from './instants.js';
import type { Trace } from './trace.js';

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
   * @param mostPoints of one message
   * @throws TraceFault without a column `time`
   */
  constructor(
    names: readonly string[],
    private readonly mostPoints: number,
  ) {
    const known = names.map((name) => name.trim().toLowerCase());
    [this.#timeAt, this.#vehicleAt, this.#pointsAt] = ['time', 'vehicle', 'points'].map((name) =>
      known.indexOf(name),
    ) as [number, number, number];
    if (this.#timeAt === -1) throw new TraceFault('it has no column "time"');
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
    const instant = instantOf(text);
    if (instant === null) throw new TraceFault(`${JSON.stringify(text)} is ${TIME_RULE}`, row, 'time');
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
    if (points >= 1 && points <= this.mostPoints) return points;
    throw new TraceFault(
      `${JSON.stringify(text)} is no whole number of points from 1 to ${this.mostPoints.toLocaleString('en')}, the most of one message`,
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
