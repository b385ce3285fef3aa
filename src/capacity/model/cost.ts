// The CPU time of one message: by its size, measured under backlog, and a surcharge for the wake-ups of a process that
// is not busy. Figures of an idle server alone would mislead by several times, and those of a saturated one as well.
import type { WayKind } from '../generator/job.js';
import { wasSentOnTime } from '../measure/knee-search.js';
import type { Results, WayResult } from '../measure/results.js';

export class Costs {
  /** @param scale costs are multiplied by it: 1, or the edges of their spread */
  constructor(
    private readonly results: Results,
    private readonly scale = 1,
  ) {}

  /** The same results at other costs. */
  scaled(scale: number): Costs {
    return new Costs(this.results, scale);
  }

  /** Whether a plan can be made of messages of a kind. */
  has(kind: WayKind): boolean {
    return this.results.ways.some(({ name, costBacklogUs }) => name === kind && costBacklogUs !== null);
  }

  /**
   * Whether the machine was quiet while it was measured: else knees say more about the machine than about the service.
   */
  get isQuietEnough(): boolean {
    return this.results.isQuietEnough;
  }

  /** The way whose figures stand for a kind. @throws Error where it was not measured, or without CPU times */
  way(kind: WayKind): WayResult & { readonly services: string } {
    const way = this.results.ways.find(({ name }) => name === kind);
    if (way === undefined) throw new Error(`the results have no figures of ${kind}`);
    if (way.costBacklogUs === null || way.services === null)
      throw new Error(
        'the results have no CPU times: they are of a server elsewhere. Plan from a bench on its machine',
      );
    return way as WayResult & { services: string };
  }

  /** Under backlog. @param points of one message */
  backlogUs(kind: WayKind, points: number): number {
    const way = this.way(kind);
    const known = this.results.sizes
      .filter((size) => size.kind === kind && size.costUs !== null)
      .map((size) => [size.points, size.costUs!] as const)
      // The profile's own figure has more samples.
      .filter(([size]) => size !== way.pointsPerUnit)
      .concat([[way.pointsPerUnit, way.costBacklogUs!.median]])
      .sort((a, b) => a[0] - b[0]);
    return this.scale * interpolate(known, points);
  }

  /**
   * At a rate, of one process.
   * @param busyAtBacklogCost share of its core that all messages would take at their costs under backlog
   */
  atUs(kind: WayKind, points: number, busyAtBacklogCost: number): number {
    return this.backlogUs(kind, points) + this.wakeUpUs(kind, busyAtBacklogCost);
  }

  /**
   * The surcharge of a message that comes alone: the wake-up of a process that sleeps, and a turn of its event loop.
   */
  wakeUpUs(kind: WayKind, busyAtBacklogCost: number): number {
    return this.scale * this.#surchargeUs(this.way(kind), busyAtBacklogCost);
  }

  /**
   * How much longer than the CPU time of its message an exchange takes: both ends of the connection, on the measured
   * machine.
   */
  beyondCpuUs(kind: WayKind): number {
    const beyond = this.way(kind)
      .curve.filter((point) => point.costUs !== null && wasSentOnTime(point))
      .map(({ p50Us, costUs }) => Math.max(0, p50Us - costUs!))
      .sort((a, b) => a - b);
    // A queue lengthens the upper ones.
    return beyond[Math.floor((beyond.length - 1) / 2)] ?? 0;
  }

  #surchargeUs(way: WayResult, busy: number): number {
    const backlogUs = way.costBacklogUs!.median;
    const known = way.curve
      .filter((point) => point.costUs !== null && wasSentOnTime(point))
      .map(
        (point) =>
          [Math.log((point.ratePerS * backlogUs) / 1e6), Math.max(0, point.costUs! - backlogUs)] as const,
      )
      .sort((a, b) => a[0] - b[0]);
    // With the queue never empty nothing wakes anything.
    known.push([Math.log(1), 0]);
    const [first] = known;
    const at = Math.log(Math.max(busy, 1e-9));
    return at <= first![0] ? first![1] : at >= 0 ? 0 : interpolate(known, at);
  }
}

/** Linear between known pairs; before the first and behind the last as the nearest two go on, never below 0. */
function interpolate(known: readonly (readonly [x: number, y: number])[], x: number): number {
  if (known.length === 1) return known[0]![1];
  let right = known.findIndex(([knownX]) => knownX >= x);
  if (right === -1) right = known.length - 1;
  const [[x0, y0], [x1, y1]] = [known[Math.max(0, right - 1)]!, known[Math.max(1, right)]!];
  return Math.max(0, y0 + ((y1 - y0) * (x - x0)) / (x1 - x0));
}
