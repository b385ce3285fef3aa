// The traffic that is measured: five profiles, each with its loads and how they share a rate, and the sizes of requests
// and frames.
import type { Load, WayKind } from '../generator/job.js';

export interface Profile {
  readonly name: WayKind | 'mixed';
  readonly pointsPerUnit: number;
  /** At a rate for the whole profile. @param startTogether requests of the first load that start at once */
  loadsAt(ratePerS: number, arrivals: Load['arrivals']): readonly Load[];
  /** As fast as it is answered; undefined for mixed traffic. */
  readonly backlog: Load | undefined;
}

const REST = { ratePerS: 0, arrivals: 'poisson', startTogether: 1 } as const;

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
 * The service refuses more than 1,000 requests, and four for each connection, in one turn: what may be under way stays
 * below.
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
        ...{ kind: 'csv', points: 1000, connections: 16, depth: 1, ...REST },
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
  ...{ kind, points, connections: points > 1000 ? 8 : 32, depth: kind === 'stream' ? 4 : 1 },
  ...REST,
});
