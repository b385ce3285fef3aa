// Limits and usage of a service: the meters of its keys, what they go on from at the start, and the thread that stores what they
// count.

import type { KeyLimits } from '../../keys/key-limits.js';
import type { KeyInfo } from '../../keys/key-record.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { StoredUse } from '../../usage/batch.js';
import { UsageFlusher } from '../../usage/flusher.js';
import type { Logger } from '../log.js';
import type { Exchange } from '../transport/exchange.js';
import type { KeyMeter } from './key-meter.js';
import { admitRequest } from './limit-answers.js';
import { Meters } from './meters.js';
import type { Sharing } from './shared-bucket.js';

/** The settings of limits and usage. */
export interface MeteringConfig {
  readonly dataDir: string;
  /** The database that nodes share; undefined: a file of the data folder. */
  readonly store: string | undefined;
  /** Of this service, on one data folder. */
  readonly processes: number | undefined;
  readonly defaultPointsPerSecond: number;
  readonly defaultRequestsPerSecond: number;
  readonly defaultPointsPerDay: number;
  readonly defaultPointsPerMonth: number;
  readonly maxPointsPerSecond: number;
  readonly quotaTimeZone: string;
  readonly usageFlushMs: number;
  readonly usageDays: number;
  readonly limitsLeaseMs: number;
  readonly limitsWhenAway: 'open' | 'closed';
}

export interface Metering {
  readonly meters: Meters;
  /** A sentence that says why usage cannot be stored just now. */
  readonly fault: string | undefined;
  /** How often a batch could not be stored. */
  readonly failures: number;
  /** Counts a request of a key that is let in; false where its limits refuse it, and it is answered. */
  admit(x: Exchange, key: KeyInfo): boolean;
  /** Resolves when all is known that other processes have told the store of the key; undefined where there are none. */
  refresh(meter: KeyMeter): Promise<void> | undefined;
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
  const flusher = new UsageFlusher({
    address: { dataDir: config.dataDir, url: config.store },
    flushMs: config.usageFlushMs,
    keepDays: config.usageDays,
    failed: (reason) => logger.error({ reason }, 'usage cannot be stored; it is kept in memory until it can'),
    recovered: () => logger.info('usage can be stored again'),
    kept: (batches) =>
      logger.warn(
        { batches },
        'usage that could not be stored is in a file of the data folder for the next start',
      ),
    lost: (batches) => logger.error({ batches }, 'usage that could not be stored until the stop is lost'),
  });
  const isShared = config.store !== undefined || (config.processes ?? 1) > 1;
  const isClosed = config.limitsWhenAway === 'closed';
  const sharing: Sharing = {
    leaseMs: config.limitsLeaseMs,
    mustSettle: () => isClosed || !flusher.isAway,
    hurry: () => flusher.hurry(),
  };
  const meters = new Meters({
    defaults,
    pointsPerSecond: config.maxPointsPerSecond,
    zone: config.quotaTimeZone,
    sharing: isShared ? sharing : undefined,
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
    get failures() {
      return flusher.failures;
    },
    admit: (x, key) => admitRequest(meters, x, key),
    refresh: (meter) => {
      if (!isShared) return undefined;
      meters.watch(meter);
      return flusher.round();
    },
    close: () => flusher.stop(),
  };
}
