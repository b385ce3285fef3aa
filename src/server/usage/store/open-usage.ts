// Opens the store of usage that the configuration names: the file in the data folder, or the database that nodes share.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LibsqlConnection, type SqliteFile } from '../../keys/store/libsql.js';
import { openPostgres, type StoreOptions } from '../../keys/store/open-store.js';
import { postgresFault, sqliteSentence } from '../../keys/store/store-faults.js';
import { UsageStore } from './usage-store.js';

const STEPS: readonly string[] = [
  `CREATE TABLE usage (
    hour_ms INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    outcome TEXT NOT NULL,
    requests INTEGER NOT NULL,
    points INTEGER NOT NULL,
    PRIMARY KEY (hour_ms, key_id, operation, outcome)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE used (
    period TEXT NOT NULL,
    key_id TEXT NOT NULL,
    requests INTEGER NOT NULL,
    points INTEGER NOT NULL,
    PRIMARY KEY (period, key_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE flushed (
    node TEXT PRIMARY KEY,
    batch INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE rate (
    key_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    per_second REAL NOT NULL,
    capacity REAL NOT NULL,
    tokens REAL NOT NULL,
    at_ms REAL NOT NULL,
    PRIMARY KEY (key_id, kind)
  ) STRICT, WITHOUT ROWID`,
  `ALTER TABLE used ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE holder (
    key_id TEXT NOT NULL,
    node TEXT NOT NULL,
    points INTEGER NOT NULL,
    is_wanted INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (key_id, node)
  ) STRICT, WITHOUT ROWID`,
];

/** Several processes write in turns. */
const BUSY_TIMEOUT_MS = 3000;

export function usagePath(dataDir: string): string {
  return join(dataDir, 'usage.db');
}

/** A file of its own, so that its writes hold up no reader of keys. */
function fileIn(dataDir: string): SqliteFile {
  const path = usagePath(dataDir);
  const later = (): string => `${path} was made by a newer version of hexcodes`;
  return { path, steps: STEPS, busyTimeoutMs: BUSY_TIMEOUT_MS, later };
}

/** Words for errors of the file system. */
const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: 'cannot be written: the disk is full',
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be written: the disk is read-only',
  EEXIST: 'cannot be made: the data folder is a file',
  ENOTDIR: 'cannot be made: the data folder lies below a file',
};

function sqliteUsageFault(dataDir: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const sentence = sqliteSentence(code, 'store of usage') ?? SENTENCES[String(code)];
  if (sentence === undefined) return typeof message === 'string' ? message : String(error);
  return `${usagePath(dataDir)} ${sentence}`;
}

/** The name of the connection for the database's administrator. */
const NAME = 'hexcodes usage';

/** Whether there may be a store to read: of a database only a connection tells. */
export function mayHaveUsage({ dataDir, url }: StoreOptions): boolean {
  return url !== undefined || existsSync(usagePath(dataDir));
}

/** Opens an existing store for reading. */
export async function openUsage({ dataDir, url }: StoreOptions): Promise<UsageStore> {
  return new UsageStore(
    url === undefined ? LibsqlConnection.open(fileIn(dataDir)) : await openPostgres(url, NAME, false),
  );
}

/** Opens the store; creates it if it is absent. */
export async function openOrMakeUsage({ dataDir, url }: StoreOptions): Promise<UsageStore> {
  const opened =
    url === undefined ? LibsqlConnection.openOrMake(fileIn(dataDir)) : openPostgres(url, NAME, true);
  return new UsageStore(await opened);
}

/** The fault of a store, as a sentence for people, from an error that a call of it threw. */
export function usageFault({ dataDir, url }: StoreOptions, error: unknown): string {
  return url === undefined ? sqliteUsageFault(dataDir, error) : postgresFault(url, error);
}
