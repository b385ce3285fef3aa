// The CPU time of one message: by its size, measured under backlog, and a surcharge for the wake-ups of a process that is not busy.
// Figures of an idle server alone would mislead by several times, and those of a saturated one as well.
import type { WayKind } from '../generator/job.js';
import { wasSentOnTime } from '../measure/knee-search.js';
import type { Results, WayResult } from '../measure/results.js';

export class Costs {
  /** The most that a process may be busy with a kind and size of message at a target: found once, as it takes a simulation. */
  readonly mostBusy: Map<string, number>;

  /** @param scale costs are multiplied by it: 1, or the edges of their spread */
  constructor(
    private readonly results: Results,
    private readonly scale = 1,
    mostBusy = new Map<string, number>(),
  ) {
    this.mostBusy = mostBusy;
  }

  /** The same results at other costs. How busy a process may be is hardly another then, and stays. */
  scaled(scale: number): Costs {
    return new Costs(this.results, scale, this.mostBusy);
  }

  /** Whether the machine was quiet while it was measured: else knees say more about the machine than about the service. */
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
    return this.backlogUs(kind, points) + this.scale * this.#wakeUpUs(kind, busyAtBacklogCost);
  }

  /** The surcharge of a message where the process sleeps in between. */
  #wakeUpUs(kind: WayKind, busy: number): number {
    const way = this.way(kind);
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
