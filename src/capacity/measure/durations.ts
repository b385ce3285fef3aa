// How long each part of a bench takes: some four minutes with --quick, some twenty-five without, and a tenth of a
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
  readonly ladderRounds: number;
  readonly speedUpMs: number;
  /** Connections that are held to see what one takes. */
  readonly heldConnections: number;
  /** The processes of the speed-ups: every number up to the cores, or powers of two and the cores. */
  readonly isEveryProcessCount: boolean;
}

export const QUICK: Durations = {
  againMs: 30_000,
  ...{ noiseMs: 700, warmUpMs: 300, heatMs: 3000, backlogMs: 1500, rounds: 2, curveMs: 1500 },
  ...{ stepMs: 1500, bisections: 3, repeats: 1, sizeMs: 500, ladderRounds: 150, speedUpMs: 2000 },
  ...{ heldConnections: 1000, isEveryProcessCount: false },
};

export const FULL: Durations = {
  againMs: 300_000,
  ...{ noiseMs: 2000, warmUpMs: 1000, heatMs: 15_000, backlogMs: 5000, rounds: 5, curveMs: 8000 },
  ...{ stepMs: 8000, bisections: 6, repeats: 3, sizeMs: 3000, ladderRounds: 1000, speedUpMs: 10_000 },
  ...{ heldConnections: 4000, isEveryProcessCount: true },
};

export const TINY: Durations = {
  againMs: 0,
  ...{ noiseMs: 50, warmUpMs: 20, heatMs: 260, backlogMs: 300, rounds: 1, curveMs: 100 },
  ...{ stepMs: 100, bisections: 1, repeats: 1, sizeMs: 260, ladderRounds: 5, speedUpMs: 300 },
  ...{ heldConnections: 50, isEveryProcessCount: false },
};
