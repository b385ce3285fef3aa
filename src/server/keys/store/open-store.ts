// Opens the store that the configuration names: the file in the data folder, or a database that several nodes share.
import { existsSync } from 'node:fs';
import type { FollowedStore, KeyStore } from '../key-record.js';
import { SqliteStore, storePath } from './sqlite-store.js';
import { postgresFault, sqliteFault } from './store-faults.js';

export interface StoreOptions {
  readonly dataDir: string;
  /** `postgres://…`; undefined: the file in the data folder. */
  readonly url: string | undefined;
}

/** How long a call of the service waits for another process; a stop waits for a call under way. */
const FOLLOWED_BUSY_MS = 200;

/** Whether there may be a store to open: a database says so itself. */
export function mayBeThere({ dataDir, url }: StoreOptions): boolean {
  return url !== undefined || existsSync(storePath(dataDir));
}

/** Opens a store that is there. */
export async function openStore({ dataDir, url }: StoreOptions): Promise<KeyStore> {
  return url === undefined ? SqliteStore.open(dataDir) : openPostgres(url, false);
}

/** Opens the store, made if it is not there. */
export async function openOrMakeStore({ dataDir, url }: StoreOptions): Promise<KeyStore> {
  return url === undefined ? SqliteStore.openOrMake(dataDir) : openPostgres(url, true);
}

/**
 * Opens a store that is there, for the worker thread of the service.
 * @param wake called when something has changed, if the store can tell
 */
export async function openFollowedStore(
  { dataDir, url }: StoreOptions,
  wake: () => void,
): Promise<FollowedStore> {
  if (url === undefined) return SqliteStore.open(dataDir, FOLLOWED_BUSY_MS);
  const store = await openPostgres(url, false);
  try {
    await store.listen(wake);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Renames a file that is no store, or a damaged one, so that another can be made in its place. */
export async function setAsideIfDamaged({ dataDir, url }: StoreOptions): Promise<void> {
  if (url === undefined) await SqliteStore.setAsideIfDamaged(dataDir);
}

/** The fault of a store, as a sentence for people, from an error that a call of it threw. */
export function storeFault({ dataDir, url }: StoreOptions, error: unknown): string {
  return url === undefined ? sqliteFault(dataDir, error) : postgresFault(url, error);
}

/** The driver is loaded only where it is used. */
async function openPostgres(url: string, mayMake: boolean) {
  const { PostgresStore } = await import('./postgres-store.js');
  return PostgresStore.open(url, mayMake);
}
