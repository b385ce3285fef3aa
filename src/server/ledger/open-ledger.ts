// The ledger of a service, what it goes on from at the start, and the thread that stores what it counts.

import type { KeyLimits } from '../keys/key-record.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { Logger } from '../observe/log.js';
import type { PointCounts } from '../observe/metrics/request-counts.js';
import type { StoredUse } from '../usage/batch.js';
import { UsageFlusher } from '../usage/flusher.js';
import type { KeyLedger } from './key-ledger.js';
import { Ledger } from './ledger.js';

/** The settings of limits and usage. */
export interface LedgerConfig {
  readonly dataDir: string;
  /** The database that nodes share; undefined: a file of the data folder. */
  readonly store: string | undefined;
  /** Number of processes of this service, on one data folder. */
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

export interface OpenLedger {
  readonly ledger: Ledger;
  /** A sentence that says why usage cannot be stored just now. */
  readonly fault: string | undefined;
  /** A sentence that says that the thread which stores it does not answer. */
  readonly silence: string | undefined;
  /** How often a batch could not be stored. */
  readonly failures: number;
  /** Resolves when all is known that other processes have told the store of the key; undefined where there are none. */
  refresh(key: KeyLedger): Promise<void> | undefined;
  /** Stores what is counted. */
  close(): Promise<void>;
}

/** Points of quotas that are not needed go back in such steps. */
const GIVE_BACK_MS = 500;

/**
 * Resolves when what keys have used today and this month is known, or cannot be read.
 * @param opening the keys, whose store is opened first; the thread that stores usage starts meanwhile
 */
export async function openLedger(
  config: LedgerConfig,
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
    failed: (reason) => logger.error({ reason }, 'usage cannot be stored; it is kept in memory until it can'),
    recovered: () => logger.info('usage can be stored again'),
    kept: (batches) =>
      logger.warn(
        { batches },
        'usage that could not be stored is in a file of the data folder for the next start',
      ),
    refused: (path, reason) =>
      logger.error(
        { path, reason },
        'usage of an earlier process is not counted: its file cannot be believed',
      ),
    lost: (batches) => logger.error({ batches }, 'usage that could not be stored until the stop is lost'),
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
    get fault() {
      return flusher.fault;
    },
    get silence() {
      return flusher.silence;
    },
    get failures() {
      return flusher.failures;
    },
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
