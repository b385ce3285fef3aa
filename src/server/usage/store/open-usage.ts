// Opens the store of usage that the configuration names: the file in the data folder, or the database that nodes share.
import { existsSync } from 'node:fs';
import { postgresFault } from '../../keys/store/store-faults.js';
import type { UsageStore } from '../batch.js';
import { SqliteUsage, usagePath } from './sqlite-usage.js';

const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is damaged, or no store of usage',
  SQLITE_ERROR: 'is damaged, or no store of usage',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_FULL: 'cannot be written: the disk is full',
  SQLITE_READONLY: 'cannot be written: it is read-only',
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_BUSY: 'is locked by another process',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error, or is full',
  ENOSPC: 'cannot be written: the disk is full',
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be written: the disk is read-only',
  EEXIST: 'cannot be made: the data folder is a file',
  ENOTDIR: 'cannot be made: the data folder lies below a file',
};

function sqliteUsageFault(dataDir: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const kind = /^SQLITE_(?:IOERR|[A-Z]+)/.exec(String(code))?.[0] ?? String(code);
  const sentence = SENTENCES[kind];
  if (sentence === undefined) return typeof message === 'string' ? message : String(error);
  return `${usagePath(dataDir)} ${sentence}`;
}

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
