// The highest rate at which a server holds a latency target: doubled until it fails, then halved in between, then
// confirmed. A generator that starts requests late only moves answers away from their intended starts, so a rate that
// holds the target with late starts holds it without them; where a rate fails and starts were late, the server may
// carry more.

import type { Load, WayKind } from '../generator/job.js';
import type { RatePoint } from './results.js';

/** A rate that fails with more late starts than this says nothing about the server. */
const MAX_LATE_SHARE = 0.01;
/** More late starts than this come so close together that the CPU time of a request is that of another rate. */
const MAX_BUNCHED_SHARE = 0.1;
/** A rate fails when it has failed this often: one pause of the machine is not a limit of the server. */
const TRIES = 2;
/** Largest share of skipped, refused or unanswered requests at a rate that is held. */
const MAX_LOST_SHARE = 0.001;
/** The lowest rate that is tried is the first rate divided by this. */
const MIN_PART = 256;
/** A rate whose repeats did not hold is lowered by this share, MAX_LOWERINGS times at most. */
const LOWERED_BY = 0.1;
const MAX_LOWERINGS = 6;

interface KneeSearch {
  readonly targetP99Us: number;
  readonly startPerS: number;
  /** Rates in between that are tried once an upper bound is known. */
  readonly bisections: number;
  /** Repeats of the rate that was found; more than half of them have to hold. */
  readonly repeats: number;
  measure(ratePerS: number): Promise<RatePoint>;
}

interface FoundKnee {
  readonly ratePerS: number;
  readonly steps: readonly (RatePoint & { readonly holds: boolean })[];
  readonly isConfirmed: boolean;
  readonly isGeneratorLimit: boolean;
}

export const holdsTarget = (point: RatePoint, targetP99Us: number): boolean =>
  point.answeredPerS > 0 &&
  point.p99Us <= targetP99Us &&
  point.skippedShare + point.refusedShare <= MAX_LOST_SHARE;

/** Whether the CPU time of a request at this rate is of use. */
export const wasSentOnTime = ({ lateShare }: RatePoint): boolean => lateShare <= MAX_BUNCHED_SHARE;

export async function searchKnee(search: KneeSearch): Promise<FoundKnee> {
  const steps: (RatePoint & { holds: boolean })[] = [];
  let failed: RatePoint | undefined;
  const measure = async (ratePerS: number): Promise<(typeof steps)[number]> => {
    const point = await search.measure(ratePerS);
    const step = { ...point, holds: holdsTarget(point, search.targetP99Us) };
    steps.push(step);
    return step;
  };
  const holds = async (ratePerS: number): Promise<boolean> => {
    let step = await measure(ratePerS);
    for (let tries = 1; tries < TRIES && !step.holds; tries++) step = await measure(ratePerS);
    if (!step.holds && (failed === undefined || ratePerS <= failed.ratePerS)) failed = step;
    return step.holds;
  };

  let low = 0;
  let high = search.startPerS;
  while (await holds(high)) {
    low = high;
    high *= 2;
  }
  // The first rate may be too high already.
  while (low === 0 && high > search.startPerS / MIN_PART) {
    const lower = high / 4;
    if (await holds(lower)) low = lower;
    else high = lower;
  }
  for (let left = search.bisections; left > 0 && low > 0; left--) {
    const middle = (low + high) / 2;
    if (await holds(middle)) low = middle;
    else high = middle;
  }
  const isGeneratorLimit = failed !== undefined && failed.lateShare > MAX_LATE_SHARE;
  let isConfirmed = low > 0 && search.repeats === 0;
  for (let lowered = 0; lowered <= MAX_LOWERINGS && low > 0 && !isConfirmed; lowered++) {
    let held = 0;
    for (let repeat = 0; repeat < search.repeats; repeat++) if ((await measure(low)).holds) held++;
    isConfirmed = held * 2 > search.repeats;
    if (!isConfirmed && lowered < MAX_LOWERINGS) low *= 1 - LOWERED_BY;
  }
  return { ratePerS: low, steps, isConfirmed, isGeneratorLimit };
}

// The traffic that is measured: five profiles, each with its loads and how they share a rate, and the sizes of requests
// and frames.

/**
 * How long each part of a bench takes: a tenth of a second a part in tests, where only the shape of the results counts;
 * some five minutes with --quick; some twenty-five without.
 */
const DURATIONS = {
  /** Time reserved for repeating measurements that the hypervisor disturbed. */
  againMs: [0, 30_000, 300_000],
  noiseMs: [50, 700, 2000],
  warmUpMs: [20, 300, 1000],
  /** Warm-up of each way under backlog: code that has run for a while is compiled better. */
  heatMs: [260, 3000, 15_000],
  backlogMs: [300, 1200, 5000],
  /** Rounds of backlog, each through all ways. */
  rounds: [1, 2, 5],
  curveMs: [100, 1200, 8000],
  stepMs: [100, 1200, 8000],
  bisections: [1, 3, 6],
  repeats: [1, 1, 3],
  sizeMs: [260, 500, 3000],
  ladderRounds: [5, 150, 1000],
  /** Rows of the larger file of each format. */
  conversionRows: [2000, 1_000_000, 5_000_000],
  speedUpMs: [300, 2000, 10_000],
  /** Idle connections, by which the memory of one is measured. */
  heldConnections: [50, 1000, 4000],
  /** The processes of the speed-ups: every number up to the cores, or powers of two and the cores. */
  isEveryProcessCount: [false, false, true],
};

export type Durations = { readonly [Part in keyof typeof DURATIONS]: (typeof DURATIONS)[Part][number] };

const durationsAt = (column: 0 | 1 | 2): Durations =>
  Object.fromEntries(
    Object.entries(DURATIONS).map(([part, durations]) => [part, durations[column]!]),
  ) as Durations;

export const TINY = durationsAt(0);
export const QUICK = durationsAt(1);
export const FULL = durationsAt(2);

export interface Profile {
  readonly name: WayKind | 'mixed';
  readonly pointsPerUnit: number;
  /** At a rate for the whole profile. */
  loadsAt(ratePerS: number, arrivals: Load['arrivals']): readonly Load[];
  /** As fast as it is answered; undefined for mixed traffic. */
  readonly backlog: Load | undefined;
}

const REST = { ratePerS: 0, arrivals: 'poisson' } as const;

function profile(
  kind: WayKind,
  points: number,
  open: Pick<Load, 'connections' | 'depth'>,
  backlog = open,
): Profile {
  return {
    name: kind,
    pointsPerUnit: points,
    loadsAt: (ratePerS, arrivals) => [{ kind, points, ...open, ...REST, ratePerS, arrivals }],
    backlog: { kind, points, ...backlog, ...REST },
  };
}

/**
 * Rows of CSV for each frame of a vehicle in mixed traffic: a nightly load of some 20 % of all points beside the fleet
 * comes to one body of 1,000 rows for 4,000 frames.
 */
const FRAMES_PER_BULK = 4000;

/**
 * The service refuses more than 1,000 requests, and more than four of a connection, in one turn: the requests under way
 * stay below.
 */
export const PROFILES: readonly Profile[] = [
  profile('single', 1, { connections: 512, depth: 4 }, { connections: 64, depth: 1 }),
  profile('batch', 100, { connections: 128, depth: 4 }, { connections: 32, depth: 1 }),
  profile('csv', 1000, { connections: 256, depth: 1 }, { connections: 16, depth: 1 }),
  profile('stream', 1, { connections: 512, depth: 8 }, { connections: 64, depth: 4 }),
  {
    name: 'mixed',
    pointsPerUnit: 1 + 1000 / FRAMES_PER_BULK,
    loadsAt: (ratePerS, arrivals) => [
      { kind: 'stream', points: 1, connections: 1000, depth: 4, ...REST, ratePerS, arrivals },
      {
        kind: 'csv',
        points: 1000,
        connections: 16,
        depth: 1,
        ...REST,
        ratePerS: ratePerS / FRAMES_PER_BULK,
        arrivals,
      },
    ],
    backlog: undefined,
  },
];

export const SIZES: readonly { readonly kind: WayKind; readonly points: number }[] = [
  ...[1, 64, 1024, 4096, 16_384].map((points) => ({ kind: 'stream' as const, points })),
  ...[1, 10, 100, 1000, 10_000].map((points) => ({ kind: 'batch' as const, points })),
  ...[10, 100, 1000, 10_000].map((points) => ({ kind: 'csv' as const, points })),
];

/** Enough connections to keep the queue of one process from being empty. */
export const sizeLoad = (kind: WayKind, points: number): Load => ({
  kind,
  points,
  connections: points > 1000 ? 8 : 32,
  depth: kind === 'stream' ? 4 : 1,
  ...REST,
});
