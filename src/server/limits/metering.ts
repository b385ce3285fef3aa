// Limits and usage of a service: the meters of its keys, what they go on from at the start, and the thread that stores what they
// count.

import type { KeyLimits } from '../../keys/key-limits.js';
import type { KeyInfo } from '../../keys/key-record.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { StoredUse } from '../../usage/batch.js';
import { UsageFlusher } from '../../usage/flusher.js';
import type { Logger } from '../log.js';
import type { Exchange } from '../transport/exchange.js';
import { admitRequest } from './limit-answers.js';
import { Meters } from './meters.js';

/** The settings of limits and usage. */
export interface MeteringConfig {
  readonly dataDir: string;
  readonly defaultPointsPerSecond: number;
  readonly defaultRequestsPerSecond: number;
  readonly defaultPointsPerDay: number;
  readonly defaultPointsPerMonth: number;
  readonly maxPointsPerSecond: number;
  readonly quotaTimeZone: string;
  readonly usageFlushMs: number;
}

export interface Metering {
  readonly meters: Meters;
  /** A sentence that says why usage cannot be stored just now. */
  readonly fault: string | undefined;
  /** Counts a request of a key that is let in; false where its limits refuse it, and it is answered. */
  admit(x: Exchange, key: KeyInfo): boolean;
  /** Stores what is counted. */
  close(): Promise<void>;
}

/** Resolves when what keys have used today and this month is known, or cannot be read. */
export async function openMetering(config: MeteringConfig, ring: KeyRing, logger: Logger): Promise<Metering> {
  const defaults: KeyLimits = {
    pointsPerSecond: config.defaultPointsPerSecond,
    requestsPerSecond: config.defaultRequestsPerSecond,
    pointsPerDay: config.defaultPointsPerDay,
    pointsPerMonth: config.defaultPointsPerMonth,
  };
  const meters = new Meters({
    defaults,
    pointsPerSecond: config.maxPointsPerSecond,
    zone: config.quotaTimeZone,
  });
  const flusher = new UsageFlusher({
    dataDir: config.dataDir,
    flushMs: config.usageFlushMs,
    failed: (reason) => logger.error({ reason }, 'usage cannot be stored; it is kept in memory until it can'),
    recovered: () => logger.info('usage can be stored again'),
  });
  const load = (): Promise<StoredUse | undefined> => {
    const { day, month } = meters.calendar.periods;
    return flusher.load(day.name, month.name);
  };
  const stored = await load();
  if (stored !== undefined) meters.resume((meters.followStore(stored) ? await load() : stored)?.used);
  meters.onCut(() => flusher.cut());
  flusher.start(meters);
  ring.onChange(() => meters.refresh((key) => ring.current(key)));
  return {
    meters,
    get fault() {
      return flusher.fault;
    },
    admit: (x, key) => admitRequest(meters, x, key),
    close: () => flusher.stop(),
  };
}
