// Figures of a service whose core neighbours share, who halve its speed for seconds: each is divided by the time of a
// piece of work on that core just before and behind it.
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, QuietGuard } from '#dist/capacity/measure/gauge.js';
import type { CoreSpeed, GeneratorProcess } from '#dist/capacity/processes/pinned-process.js';
import { ServiceProcess } from '#dist/capacity/processes/service-process.js';

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

export interface GaugedService {
  readonly service: ServiceProcess;
  readonly gauge: Gauge;
}

/** A service that is scheduled in real time, which takes root, and the gauge of its load. */
export async function startGauged(
  generator: GeneratorProcess,
  seed: number,
  warmUpMs: number,
): Promise<GaugedService> {
  const service = await ServiceProcess.start();
  for (const pid of service.pids) spawnSync('chrt', ['--all-tasks', '--rr', '--pid', '1', String(pid)]);
  const guard = new QuietGuard(0, undefined);
  const gauge = new Gauge({ generator, subject: service, seed, warmUpMs, guard, onJob: () => {} });
  return { service, gauge };
}

/** CPU time that a service without load takes in a second, µs. */
export async function restUsPerS(service: ServiceProcess, ms: number): Promise<number> {
  const beforeUs = service.cpuUs();
  await sleep(ms);
  return (1000 * (service.cpuUs() - beforeUs)) / ms;
}
