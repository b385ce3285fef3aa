// The part of a plan that can be held against measurements on a machine whose neighbours halve its speed for seconds:
// CPU and p90. Two services take turns, one for the figures of a bench and one for those that are predicted, in rounds
// of some 20 s; each figure is divided by the time of a piece of work on the service's core just before and behind it.
// Of each, those count in which the hypervisor gave least to others, whatever they say, and their medians are compared.
import type { Load } from '#dist/capacity/generator/job.js';
import { Gauge, QuietGuard } from '#dist/capacity/measure/gauge.js';
import { PROFILES } from '#dist/capacity/measure/profiles.js';
import { type RatePoint, type Results, samplesOf } from '#dist/capacity/measure/results.js';
import { Costs } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import { simulateTail } from '#dist/capacity/model/tail.js';
import { watchSteal } from '#dist/capacity/processes/machine.js';
import type { CoreSpeed, GeneratorProcess } from '#dist/capacity/processes/pinned-process.js';
import { ServiceProcess } from '#dist/capacity/processes/service-process.js';

const ROUNDS = 20;
/** Number of least disturbed runs of each figure that count. */
const COUNTED = 7;
const HEAT_MS = 15_000;
const EACH_MS = 2000;
/** A figure whose core changed its speed by more than this meanwhile says nothing. */
const MAX_CHANGE = 0.15;

interface Figures {
  readonly costUs: number;
  readonly p50Us: number;
  readonly p90Us: number;
}

export interface Predicted {
  readonly share: number;
  readonly predicted: { readonly cpuUs: number; readonly p90Us: number };
  readonly seen: { readonly cpuUs: number; readonly p90Us: number };
  /** The most that the hypervisor gave to others in one of the figures that count, 0 to 1. */
  readonly stealShare: number;
}

/** @param results of a bench of the way: its rates and service times are used, and none of its costs */
export async function comparePlan(
  generator: GeneratorProcess,
  core: CoreSpeed,
  results: Results,
  kneePerS: number,
  shares: readonly number[],
): Promise<Predicted[]> {
  const way = results.ways[0]!;
  const kind = way.name as 'batch';
  const profile = PROFILES.find(({ name }) => name === kind)!;
  const services = [await ServiceProcess.start(), await ServiceProcess.start()] as const;
  try {
    const [known, fresh] = services.map(
      (subject) =>
        new Gauge({
          ...{ generator, subject, seed: 1000, warmUpMs: 500, guard: new QuietGuard(0, undefined) },
          onJob: () => {},
        }),
    ) as [Gauge, Gauge];
    for (const gauge of [known, fresh]) await gauge.backlog(profile.backlog!, HEAT_MS);
    const figures = new Map<string, (Figures & { readonly stealShare: number })[]>();
    const measure = async (name: string, run: () => Promise<Figures>): Promise<void> => {
      const before = await core.workUs();
      const steal = watchSteal();
      const { costUs, p50Us, p90Us } = await run();
      const stealShare = steal();
      const after = await core.workUs();
      if (Math.abs(before / after - 1) > MAX_CHANGE) return;
      const workUs = (before + after) / 2;
      const all = figures.get(name) ?? [];
      all.push({ costUs: costUs / workUs, p50Us: p50Us / workUs, p90Us: p90Us / workUs, stealShare });
      figures.set(name, all);
    };
    const atRate = (gauge: Gauge, ratePerS: number) => async () => {
      const { point } = await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), EACH_MS);
      return { costUs: point.costUs!, p50Us: point.p50Us, p90Us: point.p90Us };
    };
    const backlog = (load: Load) => async () => ({
      ...{ costUs: (await known.backlog(load, EACH_MS)).meanCostUs!, p50Us: 0, p90Us: 0 },
    });
    let fastestUs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      await measure('backlog', backlog(profile.backlog!));
      for (const { ratePerS } of way.curve) await measure(`curve ${ratePerS}`, atRate(known, ratePerS));
      for (const share of shares) await measure(`share ${share}`, atRate(fresh, share * kneePerS));
      fastestUs = Math.min(fastestUs, await core.workUs());
    }
    const counted = (name: string) =>
      (figures.get(name) ?? []).sort((a, b) => a.stealShare - b.stealShare).slice(0, COUNTED);
    const median = (name: string, of: keyof Figures): number =>
      fastestUs * samplesOf(counted(name).map((figure) => figure[of])).median;
    const curve = way.curve.map((point): RatePoint => {
      const name = `curve ${point.ratePerS}`;
      return { ...point, lateShare: 0, costUs: median(name, 'costUs'), p50Us: median(name, 'p50Us') };
    });
    const costBacklogUs = samplesOf([median('backlog', 'costUs')]);
    const costs = { ...results, sizes: [], ways: [{ ...way, curve, costBacklogUs }] };
    const model = new Costs(costs);
    return shares.map((share) => {
      const ratePerS = share * kneePerS;
      const predicted = {
        cpuUs: (1e6 * busyAt(model, kind, ratePerS)) / ratePerS,
        p90Us: p90Of(model, kind, ratePerS),
      };
      const name = `share ${share}`;
      const seen = { cpuUs: median(name, 'costUs'), p90Us: median(name, 'p90Us') };
      const stealShare = Math.max(...[...figures.keys()].flatMap(counted).map((figure) => figure.stealShare));
      return { share, predicted, seen, stealShare };
    });
  } finally {
    for (const service of services) await service.stop();
  }
}

/** Share of its core that a server was busy. */
export const busyOf = ({ answeredPerS, costUs }: RatePoint): number => (answeredPerS * costUs!) / 1e6;

/** The same as the model predicts it. */
export function busyAt(costs: Costs, kind: 'batch', ratePerS: number): number {
  const [loaded] = streamsAt(costs, kind, ratePerS);
  return (ratePerS * loaded!.costUs) / 1e6;
}

function streamsAt(costs: Costs, kind: 'batch', messagesPerS: number) {
  return loadOf([{ kind, pointsPerMessage: costs.way(kind).pointsPerUnit, messagesPerS }], costs, 1, 1);
}

/** p90 of the costs, by simulation. */
export function p90Of(costs: Costs, kind: 'batch', ratePerS: number): number {
  const fleet = { singlePerS: ratePerS, together: 0, everyUs: 1e6 };
  return simulateTail(costs, streamsAt(costs, kind, ratePerS), fleet).p90Us;
}
