// The traffic that is measured: five profiles, each with its loads and how they share a rate, and the sizes of requests
// and frames.
import type { Load, WayKind } from '../generator/job.js';

// How long each part of a bench takes: some five minutes with --quick, some twenty-five without, and a tenth of a
// second a part in tests, where only the shape of the results counts.
export interface Durations {
  /** Time kept for measuring again after a disturbance by the hypervisor. */
  readonly againMs: number;
  readonly noiseMs: number;
  readonly warmUpMs: number;
  /** Backlog of each way before anything is measured, as code that has run for long is compiled better. */
  readonly heatMs: number;
  readonly backlogMs: number;
  /** How often backlog is measured, with all other ways in between. */
  readonly rounds: number;
  readonly curveMs: number;
  readonly stepMs: number;
  readonly bisections: number;
  readonly repeats: number;
  readonly sizeMs: number;
  /** Rows of the larger file of each format. */
  readonly conversionRows: number;
  readonly ladderRounds: number;
  readonly speedUpMs: number;
  /** Connections that are held to see what one takes. */
  readonly heldConnections: number;
  /** The processes of the speed-ups: every number up to the cores, or powers of two and the cores. */
  readonly isEveryProcessCount: boolean;
}

export const QUICK: Durations = {
  againMs: 30_000,
  noiseMs: 700,
  warmUpMs: 300,
  heatMs: 3000,
  backlogMs: 1200,
  rounds: 2,
  curveMs: 1200,

  stepMs: 1200,
  bisections: 3,
  repeats: 1,
  sizeMs: 500,
  ladderRounds: 150,
  conversionRows: 1_000_000,
  speedUpMs: 2000,
  heldConnections: 1000,
  isEveryProcessCount: false,
};

export const FULL: Durations = {
  againMs: 300_000,
  noiseMs: 2000,
  warmUpMs: 1000,
  heatMs: 15_000,
  backlogMs: 5000,
  rounds: 5,
  curveMs: 8000,

  stepMs: 8000,
  bisections: 6,
  repeats: 3,
  sizeMs: 3000,
  ladderRounds: 1000,
  conversionRows: 5_000_000,
  speedUpMs: 10_000,
  heldConnections: 4000,
  isEveryProcessCount: true,
};

export const TINY: Durations = {
  againMs: 0,
  noiseMs: 50,
  warmUpMs: 20,
  heatMs: 260,
  backlogMs: 300,
  rounds: 1,
  curveMs: 100,

  stepMs: 100,
  bisections: 1,
  repeats: 1,
  sizeMs: 260,
  ladderRounds: 5,
  conversionRows: 2000,
  speedUpMs: 300,
  heldConnections: 50,
  isEveryProcessCount: false,
};

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
