// Messages between the panel of the fleet and its worker.
import type { PointsToDraw } from '../points/drawn-points.js';
import type { KernelPaths } from '../shell/worker-kernel.js';

export interface FleetTask {
  /** Address of the stream, without the key; undefined: the kernel of the worker answers. */
  readonly url: string | undefined;
  readonly paths: KernelPaths;
  readonly key: string;
  /** Address of the land line. */
  readonly land: string;
  readonly lat: number;
  readonly lng: number;
  readonly vehicles: number;
  readonly reportsPerSecond: number;
  readonly seconds: number;
}

/** Counts of answers that came over the socket; none is an estimate. */
export interface FleetFigures {
  /** All points that are answered. */
  readonly points: number;
  /** Points answered in the last second. */
  readonly pointsPerSecond: number;
  /** Vehicles whose code was another one than the time before, in the last second. */
  readonly changesPerSecond: number;
  /** Points that were answered without a code. */
  readonly failed: number;
  /** Points that the service refused, over a limit of the key or overloaded. */
  readonly refused: number;
  /** Frames that have no answer now. */
  readonly unanswered: number;
  /** Frames that may have none. */
  readonly window: number;
  /** Middle and longest time from a frame to its answer, of those of the last second; undefined without one. */
  readonly medianMs: number | undefined;
  readonly longestMs: number | undefined;
}

export type FleetState =
  /** The stream is being opened. */
  | 'opening'
  | 'running'
  /** The connection is lost; another is tried. */
  | 'lost'
  /** The time is over, or somebody stopped it. */
  | 'ended'
  /** The service does not want this client. */
  | 'refused';

/** The key is not let in, or has used up its quota; or the answers are not those of a service. */
export type FleetRefusal = 'denied' | 'quota' | 'broken';

export interface FleetNews {
  readonly state: FleetState;
  /** Why the service refuses. */
  readonly reason: FleetRefusal;
  readonly figures: FleetFigures;
  readonly secondsLeft: number;
  /** Positions that are answered, in the colours of the first groups of their codes. */
  readonly points: PointsToDraw;
  /** The latest codes of the first vehicles; empty before their first answer. */
  readonly codes: readonly string[];
}
