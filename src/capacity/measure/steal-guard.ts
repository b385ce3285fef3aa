// On a virtual machine the hypervisor gives the cores to others at times, tens of milliseconds long: no tail and no rate of those
// moments is the server's. What was measured then is measured again, as long as there is time for it.
import { watchSteal } from '../processes/cpu-time.js';
import { MOST_STEAL_SHARE } from '../processes/noise.js';

export class StealGuard {
  /** Of the measurements that count, the most of their time that was given to others, 0 to 1. */
  worstShare = 0;

  /** @param leftMs time for measuring again, of all measurements together */
  constructor(
    private leftMs: number,
    private readonly watch = watchSteal,
  ) {}

  /** @param ms how long the measurement takes @returns the one of which least was given to others */
  async run<T>(ms: number, measure: () => Promise<T>): Promise<T> {
    let best = await this.#once(measure);
    for (; best.share > MOST_STEAL_SHARE && this.leftMs >= ms; this.leftMs -= ms) {
      const next = await this.#once(measure);
      if (next.share < best.share) best = next;
    }
    this.worstShare = Math.max(this.worstShare, best.share);
    return best.value;
  }

  async #once<T>(measure: () => Promise<T>): Promise<{ value: T; share: number }> {
    const share = this.watch();
    const value = await measure();
    return { value, share: share() };
  }
}
