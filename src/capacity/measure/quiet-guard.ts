// On a machine that others use too the hypervisor gives the cores away for tens of milliseconds, and neighbours on the
// same core halve its speed for seconds: no tail and no cost of those moments is the server's. Measurements of such
// moments are repeated, as long as there is time for it.
import type { CoreSpeed } from '../processes/core-speed.js';
import { watchSteal } from '../processes/cpu-time.js';
import { type Disturbance, MOST_STEAL_SHARE, MOST_WORK_SPREAD } from '../processes/noise.js';

interface Run<T> {
  readonly value: T;
  readonly stealShare: number;
  /** Before or behind it, whichever was slower; 0: not known. */
  readonly workUs: number;
}

export class QuietGuard {
  #fastestUs = Number.POSITIVE_INFINITY;
  #stealShare = 0;
  #slowestUs = 0;

  /**
   * @param leftMs time for measuring again, of all measurements together
   * @param core of the server; undefined: its speed is not known
   */
  constructor(
    private leftMs: number,
    private readonly core: Pick<CoreSpeed, 'workUs'> | undefined,
    private readonly watch = watchSteal,
  ) {}

  /** The worst disturbance among the measurements that count. */
  get worst(): Disturbance {
    return {
      stealShare: this.#stealShare,
      slowness: this.#slowestUs === 0 ? 1 : this.#slowestUs / this.#fastestUs,
    };
  }

  /** @param ms how long the measurement takes @returns the one that was disturbed least */
  async run<T>(ms: number, measure: () => Promise<T>): Promise<T> {
    let best = await this.#once(measure);
    for (; this.#levelOf(best) > 1 && this.leftMs >= ms; this.leftMs -= ms) {
      const next = await this.#once(measure);
      if (this.#levelOf(next) < this.#levelOf(best)) best = next;
    }
    this.#stealShare = Math.max(this.#stealShare, best.stealShare);
    this.#slowestUs = Math.max(this.#slowestUs, best.workUs);
    return best.value;
  }

  async #once<T>(measure: () => Promise<T>): Promise<Run<T>> {
    const before = await this.#workUs();
    const stealShare = this.watch();
    const value = await measure();
    return { value, stealShare: stealShare(), workUs: Math.max(before, await this.#workUs()) };
  }

  async #workUs(): Promise<number> {
    const workUs = (await this.core?.workUs()) ?? 0;
    if (workUs > 0) this.#fastestUs = Math.min(this.#fastestUs, workUs);
    return workUs;
  }

  /** Level of disturbance; above 1 the run does not count, if there is time for another. */
  #levelOf({ stealShare, workUs }: Run<unknown>): number {
    const slowness = workUs === 0 ? 1 : workUs / this.#fastestUs;
    return Math.max(stealShare / MOST_STEAL_SHARE, (slowness - 1) / (MOST_WORK_SPREAD - 1));
  }
}
