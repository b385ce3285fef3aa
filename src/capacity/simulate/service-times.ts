// Service times to draw from: those measured under backlog, moved to the cost that a plan reckons with.
import type { Latencies } from '../generator/latencies.js';

const QUANTILES = 10_000;
/** Multiple of the usual service time beyond which it has met a pause: the collector, the system, another process. */
const PAUSE_FROM = 3;

export class ServiceTimes {
  readonly #limitUs: number;
  readonly #usualMeanUs: number;

  private constructor(
    /** Ascending; each stands for an equal share. */
    private readonly quantilesUs: Float64Array,
    readonly usualUs: number,
  ) {
    this.#limitUs = PAUSE_FROM * usualUs;
    const usual = quantilesUs.filter((us) => us <= this.#limitUs);
    this.#usualMeanUs = usual.reduce((sum, us) => sum + us, 0) / usual.length;
  }

  static measured(services: Latencies): ServiceTimes {
    const quantiles = new Float64Array(QUANTILES);
    const at = (n: number): number => services.atUs((100 * (n + 0.5)) / QUANTILES);
    // A histogram has few different values, and finding one takes long: ranges between equal ends are filled.
    const fill = (first: number, last: number, firstUs: number, lastUs: number): void => {
      quantiles[first] = firstUs;
      quantiles[last] = lastUs;
      if (last - first < 2) return;
      if (firstUs === lastUs) {
        quantiles.fill(firstUs, first, last);
        return;
      }
      const middle = (first + last) >> 1;
      const middleUs = at(middle);
      fill(first, middle, firstUs, middleUs);
      fill(middle, last, middleUs, lastUs);
    };
    fill(0, QUANTILES - 1, at(0), at(QUANTILES - 1));
    return new ServiceTimes(quantiles, services.atUs(50));
  }

  get meanUs(): number {
    return this.quantilesUs.reduce((sum, value) => sum + value, 0) / QUANTILES;
  }

  /**
   * The same with another mean of the usual services; pauses stay as long and as frequent as they were.
   * @param costUs of a service that meets no pause
   */
  movedTo(costUs: number): ServiceTimes {
    return new ServiceTimes(this.quantilesUs.map((us) => this.moved(us, costUs)).sort(), costUs);
  }

  /** One service time, as `movedTo(costUs)` moves it: for messages that each have a cost of their own. */
  moved(us: number, costUs: number): number {
    return us <= this.#limitUs ? (us * costUs) / this.#usualMeanUs : costUs + us - this.usualUs;
  }

  draw(uniform: () => number): number {
    return this.quantilesUs[Math.floor(uniform() * QUANTILES)]!;
  }
}
