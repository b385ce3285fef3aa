// A fleet of workers as numbers, and the figures of its simulation (simulated-fleet.ts).

export interface FleetPlan {
  /** Pairs of streams, each with a server of its own that leads it. */
  readonly streams: number;
  /** Workers of all streams together. */
  readonly workers: number;
  readonly pointsPerFrame: number;
  readonly pointsPerSecond: number;
  readonly lengthS: number;
  /** All messages are in their streams at the beginning, and none comes later. */
  readonly isBacklog?: boolean;
  /** CPU time of the worker a frame, in seconds. */
  readonly workerS: number;
  /** CPU time of the server a frame: to take it, to hand it out, to store its answer. */
  readonly serverS: { readonly take: number; readonly handOut: number; readonly store: number };
  /** Between worker and server, one way. */
  readonly networkS: number;
  /** Messages that one worker holds. */
  readonly window: number;
  /** Messages that all workers of a stream hold. */
  readonly maxAckPending: number;
  readonly ackWaitS: number;
  /** Mean time until a worker, and a server, dies; Infinity: never. */
  readonly workerLifeS: number;
  readonly serverLifeS: number;
  /** Until the next worker is there, and until the server, or another leader. */
  readonly workerRestartS: number;
  readonly serverRestartS: number;
  readonly seed: number;
}

export interface FleetResult {
  readonly frames: number;
  readonly lost: number;
  readonly redelivered: number;
  /** Second answers, each of which would be stored twice without a subject of its own. */
  readonly refused: number;
  readonly workerDeaths: number;
  readonly serverDeaths: number;
  /** Points of a second that were stored while messages arrived; of a backlog, until all were. */
  readonly pointsPerSecond: number;
  /** From arrival to the stored answer, in seconds. */
  readonly p50S: number;
  readonly p99S: number;
  /** Share of the time in which the average server, and the average worker, was busy. */
  readonly serverLoad: number;
  readonly workerLoad: number;
}
