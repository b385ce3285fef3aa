// Opens the store of usage that the configuration names: the file in the data folder, or the database that nodes share.
import { existsSync } from 'node:fs';
import { postgresFault } from '../../keys/store/postgres-faults.js';
import { SqliteUsage, usagePath } from './sqlite-usage.js';
import { sqliteUsageFault } from './usage-faults.js';
import type { UsageStore } from './usage-store.js';

export interface UsageAddress {
  readonly dataDir: string;
  /** `postgres://…`; undefined: the file in the data folder. */
  readonly url: string | undefined;
}

/** Whether there may be a store to read: a database says so itself. */
export function mayHaveUsage({ dataDir, url }: UsageAddress): boolean {
  return url !== undefined || existsSync(usagePath(dataDir));
}

/** Opens a store that is there, for reading. */
export async function openUsage({ dataDir, url }: UsageAddress): Promise<UsageStore> {
  return url === undefined ? SqliteUsage.open(dataDir) : openPostgres(url, false);
}

/** Opens the store, made if it is not there. */
export async function openOrMakeUsage({ dataDir, url }: UsageAddress): Promise<UsageStore> {
  return url === undefined ? SqliteUsage.openOrMake(dataDir) : openPostgres(url, true);
}

/** The fault of a store, as a sentence for people, from an error that a call of it threw. */
export function usageFault({ dataDir, url }: UsageAddress, error: unknown): string {
  return url === undefined ? sqliteUsageFault(dataDir, error) : postgresFault(url, error);
}

/** The driver is loaded only where it is used. */
async function openPostgres(url: string, mayMake: boolean): Promise<UsageStore> {
  const { PostgresUsage } = await import('./postgres-usage.js');
  return PostgresUsage.open(url, mayMake);
}
