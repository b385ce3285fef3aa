// The ledger of a service, its state at the start, and the thread that stores its counts.

import type { ServeConfig } from '../../config/config.js';
import type { KeyLimits } from '../keys/key-record.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { Logger } from '../observe/log.js';
import type { PointCounts } from '../observe/metrics/request-counts.js';
import type { StoredUse } from '../usage/batch.js';
import { UsageFlusher } from '../usage/flusher.js';
import type { KeyLedger } from './key-ledger.js';
import { Ledger } from './ledger.js';

export interface OpenLedger {
  readonly ledger: Ledger;
  readonly flusher: UsageFlusher;
  /**
   * Resolves when everything is known that other processes have stored about the key; undefined where there are none.
   */
  refresh(key: KeyLedger): Promise<void> | undefined;
  /** Stores what is counted. */
  close(): Promise<void>;
}

/** Interval at which unneeded points of quotas are returned. */
const GIVE_BACK_MS = 500;

/**
 * Resolves when the use of keys today and this month is known, or cannot be read.
 * @param opening the keys, whose store is opened first; the thread that stores usage starts meanwhile
 */
export async function openLedger(
  config: ServeConfig,
  opening: Promise<{ readonly ring: KeyRing }>,
  counts: PointCounts,
  logger: Logger,
): Promise<OpenLedger> {
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
    logger,
  });
  const isShared = config.store !== undefined || (config.processes ?? 1) > 1;
  const ledger = new Ledger({
    defaults,
    pointsPerSecond: config.maxPointsPerSecond,
    zone: config.quotaTimeZone,
    store: flusher,
    isOpen: config.limitsWhenAway === 'open',
    leaseMs: isShared ? config.limitsLeaseMs : undefined,
    counts,
  });
  const load = (): Promise<StoredUse | undefined> => {
    const { day, month } = ledger.calendar.periods;
    return flusher.load(day.name, month.name);
  };
  flusher.warm();
  const { ring } = await opening.catch(async (error) => {
    await flusher.stop();
    throw error;
  });
  const stored = await load();
  if (stored !== undefined) ledger.resume((ledger.followStore(stored) ? await load() : stored)?.used);
  ledger.onCut(() => flusher.cut());
  flusher.start(ledger);
  ring.onChange((changed) => {
    if (changed !== undefined) ledger.refresh(changed, (key) => ring.current(key));
  });
  const giveBack = setInterval(() => ledger.giveBackIdle(), GIVE_BACK_MS);
  giveBack.unref();
  return {
    ledger,
    flusher,
    refresh: (key) => {
      if (!isShared) return undefined;
      ledger.watch(key);
      return flusher.round();
    },
    close: () => {
      clearInterval(giveBack);
      ledger.giveAllBack();
      return flusher.stop();
    },
  };
}
