// The demand of a fleet on the service: messages, points, bytes and connections, on average and at its peak.
import { MAX_BATCH_ITEMS, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import type { WayKind } from '../generator/job.js';

/** Frames of the stream, single HTTP requests, or JSON batches. */
export type FleetProfile = 'stream' | 'single' | 'batch';

export interface Fleet {
  readonly vehicles: number;
  readonly intervalMs: number;
  readonly pointsPerReport: number;
  /** Share of the vehicles that report at the same moment of every interval, 0 to 1. */
  readonly togetherShare: number;
  readonly profile: FleetProfile;
  /**
   * Gateways collect the points of many vehicles and send them after a time or a number of points; undefined: each
   * vehicle sends.
   */
  readonly flush: { readonly everyMs: number } | { readonly points: number } | undefined;
  readonly gateways: number;
  /** Peak ÷ mean over a day. */
  readonly peakFactor: number;
  /** Everything is multiplied by it. */
  readonly growth: number;
  /** Points that come as CSV within a window of every night. */
  readonly nightly: { readonly points: number; readonly windowMs: number } | undefined;
}

/** Traffic of one kind. */
export interface Stream {
  readonly kind: WayKind;
  readonly pointsPerMessage: number;
  readonly messagesPerS: number;
}

export interface Demand {
  readonly connections: number;
  readonly meanPointsPerS: number;
  readonly peakPointsPerS: number;
  /** Points of a mean day, nights included. */
  readonly pointsPerDay: number;
  /** At the peak of the day. */
  readonly peak: readonly Stream[];
  /** On average, where messages come together: their share is larger then than at the peak; undefined: none do. */
  readonly mean: readonly Stream[] | undefined;
  /** At night: the fleet on average and what comes in bulk; undefined without any. */
  readonly night: readonly Stream[] | undefined;
  /** Messages that come at the same moment, and how often; 0: none. */
  readonly together: number;
  readonly togetherEveryMs: number;
  /** More points were to be sent together than the service takes in one message, so they come in several. */
  readonly isCut: boolean;
  /** How long a gateway keeps the first point of a message; 0: no gateway does. */
  readonly mostFlushMs: number;
}

/** The most points of one message. */
const MAX_POINTS: Readonly<Record<WayKind, number>> = {
  stream: MAX_FRAME_POINTS,
  batch: MAX_BATCH_ITEMS,
  single: 1,
  csv: 1e9,
};
const DAY_S = 86_400;
/** Rows of one body at night, as the reckoning has them: costs of larger ones are in proportion. */
const BULK_ROWS = 10_000;

export function demandOf(fleet: Fleet): Demand {
  const { intervalMs, pointsPerReport, flush, gateways, profile } = fleet;
  const vehicles = fleet.vehicles * fleet.growth;
  const reportsPerS = (1000 * vehicles) / intervalMs;
  const meanPointsPerS = reportsPerS * pointsPerReport;
  const peakPointsPerS = meanPointsPerS * fleet.peakFactor;
  const sentAtOnce = (pointsPerS: number): number => {
    if (flush === undefined) return pointsPerReport;
    return Math.max(1, 'points' in flush ? flush.points : (pointsPerS * flush.everyMs) / 1000 / gateways);
  };
  const at = (pointsPerS: number): Stream => {
    const kind = kindOf(profile, sentAtOnce(pointsPerS));
    const pointsPerMessage = Math.min(MAX_POINTS[kind], sentAtOnce(pointsPerS));
    return { kind, pointsPerMessage, messagesPerS: pointsPerS / pointsPerMessage };
  };
  const peak = at(peakPointsPerS);
  // A gateway sends one message whatever comes together.
  const perReport = Math.ceil(pointsPerReport / peak.pointsPerMessage);
  const together = flush === undefined ? perReport * Math.round(fleet.togetherShare * vehicles) : 0;
  const nightly = fleet.nightly && (1000 * fleet.nightly.points * fleet.growth) / fleet.nightly.windowMs;
  return {
    connections: Math.round(flush === undefined ? vehicles : gateways),
    meanPointsPerS,
    peakPointsPerS,
    pointsPerDay: DAY_S * meanPointsPerS + (fleet.nightly?.points ?? 0) * fleet.growth,
    peak: [peak],
    mean: together > 0 && fleet.peakFactor > 1 ? [at(meanPointsPerS)] : undefined,
    night:
      nightly === undefined
        ? undefined
        : [
            at(meanPointsPerS),
            { kind: 'csv', pointsPerMessage: BULK_ROWS, messagesPerS: nightly / BULK_ROWS },
          ],
    together,
    togetherEveryMs: intervalMs,
    isCut: peak.pointsPerMessage < sentAtOnce(peakPointsPerS),
    mostFlushMs:
      flush === undefined
        ? 0
        : 'points' in flush
          ? (1000 * flush.points * gateways) / meanPointsPerS
          : flush.everyMs,
  };
}

/** A single request has one point; with more it is a batch. */
export function kindOf(profile: FleetProfile, pointsPerMessage: number): WayKind {
  return profile === 'single' && pointsPerMessage !== 1 ? 'batch' : profile;
}
