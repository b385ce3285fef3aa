// Opens the store that the configuration names: the file in the data folder, or a database that several nodes share.
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkPepper } from '../manage/key-changes.js';
import { keptPepper } from '../secret.js';
import { isDamage, postgresFault, sqliteFault } from './connection.js';
import { KeyStore } from './key-store.js';
import { LibsqlConnection, type SqliteFile } from './libsql.js';

export type { KeyStore } from './key-store.js';

export interface StoreOptions {
  readonly dataDir: string;
  /** `postgres://…`; undefined: the file in the data folder. */
  readonly url: string | undefined;
}

/**
 * Migrations of older files; the first published version had the first table and no number. Triggers number every
 * change, even one made by hand in the file.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS api_key (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     digest BLOB NOT NULL UNIQUE,
     state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
     created_ms INTEGER NOT NULL
   ) STRICT`,
  `ALTER TABLE api_key ADD COLUMN scopes TEXT NOT NULL DEFAULT '["encode","decode","bulk"]';
   ALTER TABLE api_key ADD COLUMN expires_ms INTEGER;
   ALTER TABLE api_key ADD COLUMN origins TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE api_key ADD COLUMN cidrs TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE api_key ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE api_key ADD COLUMN last_used_ms INTEGER;
   ALTER TABLE api_key ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE api_key ADD COLUMN former_digest BLOB;
   ALTER TABLE api_key ADD COLUMN former_until_ms INTEGER;
   ALTER TABLE api_key ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX api_key_change ON api_key (change);
   CREATE TABLE key_head (
     change INTEGER NOT NULL,
     epoch TEXT NOT NULL,
     pepper_check TEXT
   ) STRICT;
   INSERT INTO key_head (change, epoch) VALUES (0, hex(randomblob(8)));
   CREATE TRIGGER api_key_made AFTER INSERT ON api_key BEGIN
     UPDATE key_head SET change = change + 1;
     UPDATE api_key SET change = (SELECT change FROM key_head) WHERE id = NEW.id;
   END;
   CREATE TRIGGER api_key_changed AFTER UPDATE OF id, name, digest, state, scopes, expires_ms, origins, cidrs, limits,
       generation, former_digest, former_until_ms ON api_key BEGIN
     UPDATE key_head SET change = change + 1;
     UPDATE api_key SET change = (SELECT change FROM key_head) WHERE id = NEW.id;
   END;
   CREATE TRIGGER api_key_removed AFTER DELETE ON api_key BEGIN
     UPDATE key_head SET change = change + 1, epoch = hex(randomblob(8));
   END`,
  // Look-ups accepted any key before they had a scope: existing keys keep access.
  `UPDATE api_key SET scopes = json_insert(scopes, '$[#]', 'lookup')`,
];

/** The name of the connection for the database's administrator. */
const NAME = 'hexcodes keys';
const BUSY_TIMEOUT_MS = 5000;
/** How long a call of the service waits for another process; a stop waits for a call under way. */
const FOLLOWED_BUSY_MS = 200;

export function storePath(dataDir: string): string {
  return join(dataDir, 'keys.db');
}

function fileIn(dataDir: string, busyTimeoutMs = BUSY_TIMEOUT_MS): SqliteFile {
  const path = storePath(dataDir);
  const later = (version: number): string =>
    `${path} was written by a later version of hexcodes (its store has version ${version}, this program knows ${STEPS.length}): install that version, or restore a backup made by this one`;
  return { path, steps: STEPS, busyTimeoutMs, later };
}

/** Whether there may be a store to open; for a database only a connection tells. */
export function mayBeThere({ dataDir, url }: StoreOptions): boolean {
  return url !== undefined || existsSync(storePath(dataDir));
}

/** Opens an existing store. */
export async function openStore({ dataDir, url }: StoreOptions): Promise<KeyStore> {
  const opened =
    url === undefined ? LibsqlConnection.open(fileIn(dataDir)).migrate() : openPostgres(url, NAME, false);
  return new KeyStore(await opened);
}

/** Opens the store; creates it if it is absent. */
export async function openOrMakeStore({ dataDir, url }: StoreOptions): Promise<KeyStore> {
  const opened =
    url === undefined ? LibsqlConnection.openOrMake(fileIn(dataDir)) : openPostgres(url, NAME, true);
  return new KeyStore(await opened);
}

/**
 * Refuses a file that a start would refuse, and changes nothing: one of an earlier version is not looked into.
 * @param pepper undefined: that of the data folder
 * @throws Error with a sentence for people
 */
export async function examineStore(dataDir: string, pepper: string | undefined): Promise<void> {
  const path = storePath(dataDir);
  if (!existsSync(path) || statSync(path).size === 0) {
    keptPepper(dataDir, 0, path);
    return;
  }
  try {
    const connection = LibsqlConnection.open(fileIn(dataDir));
    const store = new KeyStore(connection);
    try {
      if (!connection.isOfThisVersion) return;
      const kept = pepper ?? keptPepper(dataDir, await store.count(), path);
      if (kept) checkPepper(path, await store.head(), kept);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw new Error(sqliteFault(dataDir, error), { cause: error });
  }
}

/**
 * Opens an existing store for the worker thread of the service.
 * @param wake called when something has changed, if the store can notify
 */
export async function openFollowedStore({ dataDir, url }: StoreOptions, wake: () => void): Promise<KeyStore> {
  if (url === undefined)
    return new KeyStore(await LibsqlConnection.open(fileIn(dataDir, FOLLOWED_BUSY_MS)).migrate());
  const connection = await openPostgres(url, NAME, false);
  try {
    await connection.listen('hexcodes_keys', wake);
    return new KeyStore(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Renames a file that cannot be read as a store to `keys.db.damaged`, with SQLite's files beside it. */
export async function setAsideIfDamaged(options: StoreOptions): Promise<void> {
  if (options.url !== undefined || !mayBeThere(options)) return;
  try {
    const store = await openStore(options);
    await store.count();
    await store.close();
  } catch (error) {
    if (!isDamage(error)) throw error;
    const path = storePath(options.dataDir);
    for (const ending of ['', '-journal'])
      if (existsSync(path + ending)) renameSync(path + ending, `${path}${ending}.damaged`);
  }
}

/** The fault of a store, as a sentence for people, from an error that a call of it threw. */
export function storeFault({ dataDir, url }: StoreOptions, error: unknown): string {
  return url === undefined ? sqliteFault(dataDir, error) : postgresFault(url, error);
}

/** The driver is loaded only where it is used. */
export async function openPostgres(url: string, name: string, mayMake: boolean) {
  const { PostgresConnection } = await import('./postgres-connection.js');
  return PostgresConnection.open(url, name, mayMake);
}
