// Figures of a service whose core neighbours share, who halve its speed for seconds: each is divided by the time of a
// piece of work on that core just before and behind it.
import type { CoreSpeed } from '#dist/capacity/processes/pinned-process.js';

/** Where others are at hand, a figure whose core changed its speed by more than this meanwhile does not count. */
const MAX_CHANGE = 0.15;

export interface Seen {
  readonly ratePerS: number;
  readonly costUs: number;
  readonly turnsPerS: number;
}

/** Figures by name, each divided by the time of a piece of work on the service's core. */
export class Figures {
  readonly #all = new Map<string, (Seen & { readonly change: number })[]>();
  #fastestUs = Number.POSITIVE_INFINITY;

  constructor(private readonly core: CoreSpeed) {}

  async measure(name: string, run: () => Promise<Seen>): Promise<void> {
    const before = await this.core.workUs();
    const seen = await run();
    const after = await this.core.workUs();
    this.#fastestUs = Math.min(this.#fastestUs, before, after);
    if (Number.isNaN(seen.costUs)) return;
    const costUs = seen.costUs / ((before + after) / 2);
    const change = Math.abs(before / after - 1);
    this.#all.set(name, [...(this.#all.get(name) ?? []), { ...seen, costUs, change }]);
  }

  /** Mean of the middle half. @returns NaN without any; times as on the core at its fastest */
  middle(name: string, of: keyof Seen): number {
    const every = (this.#all.get(name) ?? []).toSorted((a, b) => a.change - b.change);
    const steady = every.filter(({ change }) => change <= MAX_CHANGE);
    const all = (steady.length > 0 ? steady : every.slice(0, 1)).map((seen) => seen[of]);
    if (all.length === 0) return Number.NaN;
    const sorted = all.sort((a, b) => a - b);
    const quarter = Math.floor(sorted.length / 4);
    const kept = sorted.slice(quarter, sorted.length - quarter);
    const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
    return mean * (of === 'costUs' ? this.#fastestUs : 1);
  }
}
