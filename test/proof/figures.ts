// Figures of a service whose core neighbours share, who halve its speed for seconds: each is divided by the time of a
// piece of work on that core just before and behind it.
import type { CoreSpeed } from '#dist/capacity/processes/pinned-process.js';

/** A figure whose core changed its speed by more than this meanwhile says nothing. */
const MOST_CHANGE = 0.15;

export interface Seen {
  readonly ratePerS: number;
  readonly costUs: number;
  readonly turnsPerS: number;
}

/** Figures by name, each divided by the time of a piece of work on the service's core. */
export class Figures {
  readonly #all = new Map<string, Seen[]>();
  #fastestUs = Number.POSITIVE_INFINITY;

  constructor(private readonly core: CoreSpeed) {}

  async measure(name: string, run: () => Promise<Seen>): Promise<void> {
    const before = await this.core.workUs();
    const seen = await run();
    const after = await this.core.workUs();
    this.#fastestUs = Math.min(this.#fastestUs, before, after);
    if (Number.isNaN(seen.costUs) || Math.abs(before / after - 1) > MOST_CHANGE) return;
    const costUs = seen.costUs / ((before + after) / 2);
    this.#all.set(name, [...(this.#all.get(name) ?? []), { ...seen, costUs }]);
  }

  /** Mean of the middle half. @returns NaN without any; times as on the core at its fastest */
  middle(name: string, of: keyof Seen): number {
    const all = (this.#all.get(name) ?? []).map((seen) => seen[of]);
    if (all.length === 0) return Number.NaN;
    const sorted = all.sort((a, b) => a - b);
    const quarter = Math.floor(sorted.length / 4);
    const kept = sorted.slice(quarter, sorted.length - quarter);
    const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
    return mean * (of === 'costUs' ? this.#fastestUs : 1);
  }
}
