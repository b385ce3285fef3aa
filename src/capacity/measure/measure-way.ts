// One profile against one server: what a unit costs under backlog and at rising rates, and the rate at which its p99
// still holds.
import type { Latencies } from '../generator/latencies.js';
import type { Noise } from '../processes/noise.js';
import type { Gauge } from './gauge.js';
import { searchKnee } from './knee-search.js';
import type { Durations, Profile } from './profiles.js';
import { type Knee, type RatePoint, type Samples, samplesOf, type WayResult } from './results.js';

/** The first rate of every curve: the cost of one where almost nothing happens. */
export const IDLE_RATE_PER_S = 100;
/**
 * The other rates of a curve lie between that one and this share of the rate under backlog, each the same multiple of
 * the one before and no more than this.
 */
const HIGHEST_SHARE = 0.8;
const MAX_APART = 3;
/** Where the search for the knee begins, and where latencies are recorded in whole. */
const START_SHARE = 0.25;
const RECORDED_SHARE = 0.8;

const PERCENTILES = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100];

/** Under backlog, of all rounds. */
export interface Backlog {
  readonly perS: Samples;
  readonly costUs: Samples | null;
  readonly busyShare: number | null;
  readonly services: string;
}

export interface WayTools {
  readonly gauge: Gauge;
  readonly durations: Durations;
  readonly targetP99Us: number;
  noise(): Promise<Noise>;
}

/** Backlog in one more round; rounds of all profiles take turns, so that a bad minute is not all of one. */
export async function measureBacklog(
  gauge: Gauge,
  profile: Profile,
  durationMs: number,
  before?: Backlog,
): Promise<Backlog> {
  const { perS, costUs, busyShare, services } = await gauge.backlog(profile.backlog!, durationMs);
  const rounded = (values: readonly number[]) =>
    samplesOf(values.map((value) => Number(value.toPrecision(5))));
  const costs = costUs === null ? null : rounded([...(before?.costUs?.samples ?? []), ...costUs]);
  const isBusier = (busyShare ?? 0) >= (before?.busyShare ?? 0);
  return {
    perS: rounded([...(before?.perS.samples ?? []), ...perS]),
    costUs: costs,
    // The round in which the server was kept busiest has the service times that say most.
    busyShare: isBusier ? busyShare : before!.busyShare,
    services: isBusier ? services : before!.services,
  };
}

/** @param backlog of this profile, or for mixed traffic of its first load */
export async function measureWay(
  { gauge, durations, targetP99Us, noise }: WayTools,
  profile: Profile,
  backlog: Backlog,
): Promise<WayResult> {
  const quiet = await noise();
  const fullPerS = backlog.perS.median;
  const curve: RatePoint[] = [];
  let bytes = { sentBytesPerUnit: 0, receivedBytesPerUnit: 0 };
  for (const ratePerS of ratesOf(fullPerS)) {
    const { point, loads } = await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), durations.curveMs);
    curve.push(point);
    const { sentBytesPerUnit, receivedBytesPerUnit } = loads[0]!;
    // Bytes at the highest rate, where handshakes do not show.
    bytes = { sentBytesPerUnit, receivedBytesPerUnit };
  }
  const found = await searchKnee({
    targetP99Us,
    startPerS: START_SHARE * fullPerS,
    bisections: durations.bisections,
    repeats: durations.repeats,
    measure: async (ratePerS) =>
      (await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), durations.stepMs)).point,
  });
  const knee: Knee | null = found.ratePerS === 0 ? null : { ...found, targetP99Us };
  const constant = knee && (await gauge.atRate(profile.loadsAt(knee.ratePerS, 'constant'), durations.stepMs));
  const recorded =
    knee &&
    (await gauge.atRate(profile.loadsAt(RECORDED_SHARE * knee.ratePerS, 'poisson'), durations.stepMs));
  return {
    name: profile.name,
    pointsPerUnit: profile.pointsPerUnit,
    connections: profile.loadsAt(1, 'poisson').reduce((sum, load) => sum + load.connections, 0),
    costBacklogUs: profile.backlog === undefined ? null : backlog.costUs,
    backlogPerS: profile.backlog === undefined ? null : backlog.perS,
    backlogBusyShare: profile.backlog === undefined ? null : backlog.busyShare,
    services: profile.backlog === undefined ? null : backlog.services,
    curve,
    knee,
    constant: constant?.point ?? null,
    intendedUs: recorded === null ? [] : percentilesOf(recorded.intended),
    naiveUs: recorded === null ? [] : percentilesOf(recorded.naive),
    ...bytes,
    noise: quiet,
  };
}

/** @param fullPerS rate under backlog */
export function ratesOf(fullPerS: number): number[] {
  const highest = Math.max(IDLE_RATE_PER_S, HIGHEST_SHARE * fullPerS);
  const steps = Math.ceil(Math.log(highest / IDLE_RATE_PER_S) / Math.log(MAX_APART));
  return Array.from(
    { length: steps + 1 },
    (_, at) => IDLE_RATE_PER_S * (highest / IDLE_RATE_PER_S) ** (at / Math.max(1, steps)),
  );
}

function percentilesOf(latencies: Latencies): [number, number][] {
  return PERCENTILES.map((percentile) => [percentile, latencies.atUs(percentile)]);
}
