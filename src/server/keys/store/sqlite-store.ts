// The embedded store: one libsql file in the data folder, shared by the service and the command. It is declared async,
// but the calls block. The file has no write-ahead log beside it, so that a backup that is moved over it is not mixed
// with what was there before.
import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { KeyLimits } from '../key-limits.js';
import type { KeyState, Scope, StoredKey } from '../key-record.js';
import { ensureDataDir } from '../private-files.js';
import type { FollowedStore, StoreHead } from './key-store.js';
import { isDamage } from './sqlite-faults.js';
import { migrate } from './sqlite-schema.js';

const BUSY_TIMEOUT_MS = 5000;

/** A change is seen well within a second; asking costs microseconds. */
const POLL_MS = 250;

export function storePath(dataDir: string): string {
  return join(dataDir, 'keys.db');
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly digest: ArrayBuffer | Uint8Array;
  readonly scopes: string;
  readonly expires_ms: number | null;
  readonly origins: string;
  readonly cidrs: string;
  readonly limits: string;
  readonly created_ms: number;
  readonly last_used_ms: number | null;
  readonly generation: number;
  readonly former_digest: ArrayBuffer | Uint8Array | null;
  readonly former_until_ms: number | null;
}

const SELECT = `SELECT id, name, state, digest, scopes, expires_ms, origins, cidrs, limits, created_ms, last_used_ms,
  generation, former_digest, former_until_ms FROM api_key`;

const PUT = `INSERT INTO api_key (id, name, state, digest, scopes, expires_ms, origins, cidrs, limits, created_ms,
    last_used_ms, generation, former_digest, former_until_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, state = excluded.state, digest = excluded.digest,
    scopes = excluded.scopes, expires_ms = excluded.expires_ms, origins = excluded.origins, cidrs = excluded.cidrs,
    limits = excluded.limits, generation = excluded.generation, former_digest = excluded.former_digest,
    former_until_ms = excluded.former_until_ms`;

export class SqliteStore implements FollowedStore {
  readonly pollMs = POLL_MS;
  readonly address: string;
  readonly #db: Database.Database;
  /** The file that is open, and when it was last changed. */
  #stamp: string;
  /** Differs after another connection has changed the file. */
  readonly #version: number;

  private constructor(dataDir: string, busyTimeoutMs: number) {
    this.address = storePath(dataDir);
    this.#stamp = this.#fileStamp();
    this.#db = new Database(this.address);
    try {
      this.#db.pragma(`busy_timeout = ${busyTimeoutMs}`);
      this.#db.pragma('journal_mode = DELETE');
      migrate(this.#db, this.address);
      this.#version = this.#dataVersion();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Opens a store that is there. A folder that cannot be written to is enough for reading. */
  static open(dataDir: string, busyTimeoutMs = BUSY_TIMEOUT_MS): SqliteStore {
    if (!existsSync(storePath(dataDir)))
      throw Object.assign(new Error('it is not there'), { code: 'ENOENT' });
    // An empty file is no store, though libsql would make one of it: it may be what a damage has left.
    if (statSync(storePath(dataDir)).size === 0)
      throw Object.assign(new Error('it is empty'), { code: 'SQLITE_NOTADB' });
    return new SqliteStore(dataDir, busyTimeoutMs);
  }

  /** Opens the store, made if it is not there. */
  static openOrMake(dataDir: string): SqliteStore {
    ensureDataDir(dataDir);
    // Made by us first, so that the file and the journal beside it are its owner's alone.
    if (!existsSync(storePath(dataDir))) closeSync(openSync(storePath(dataDir), 'a', 0o600));
    return new SqliteStore(dataDir, BUSY_TIMEOUT_MS);
  }

  /** Renames a file that cannot be read as a store to `keys.db.damaged`, and what SQLite keeps beside it. */
  static async setAsideIfDamaged(dataDir: string): Promise<void> {
    const path = storePath(dataDir);
    if (!existsSync(path)) return;
    try {
      const store = SqliteStore.open(dataDir);
      await store.count();
      await store.close();
    } catch (error) {
      if (!isDamage(error)) throw error;
      for (const ending of ['', '-journal'])
        if (existsSync(path + ending)) renameSync(path + ending, `${path}${ending}.damaged`);
    }
  }

  async head(): Promise<StoreHead> {
    const row = this.#db.prepare('SELECT epoch, change, pepper_check FROM key_head').get() as {
      epoch: string;
      change: number;
      pepper_check: string | null;
    };
    return { epoch: row.epoch, change: row.change, pepperCheck: row.pepper_check ?? undefined };
  }

  async keys(afterChange = -1): Promise<StoredKey[]> {
    const rows = this.#db.prepare(`${SELECT} WHERE change > ? ORDER BY created_ms, id`).all(afterChange);
    return (rows as Row[]).map(keyOf);
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const row = this.#db.prepare(`${SELECT} WHERE id = ?`).get(id) as Row | undefined;
    return row === undefined ? undefined : keyOf(row);
  }

  async count(): Promise<number> {
    return (this.#db.prepare('SELECT count(*) AS count FROM api_key').get() as { count: number }).count;
  }

  async put(key: StoredKey): Promise<void> {
    this.#db
      .prepare(PUT)
      .run(
        key.id,
        key.name,
        key.state,
        Buffer.from(key.digestHex, 'hex'),
        JSON.stringify(key.scopes),
        key.expiresMs ?? null,
        JSON.stringify(key.origins),
        JSON.stringify(key.cidrs),
        JSON.stringify(key.limits),
        key.createdMs,
        key.lastUsedMs ?? null,
        key.generation,
        key.formerDigestHex === undefined ? null : Buffer.from(key.formerDigestHex, 'hex'),
        key.formerUntilMs ?? null,
      );
  }

  async removeAll(): Promise<void> {
    this.#db.exec('DELETE FROM api_key');
  }

  async setPepperCheck(check: string): Promise<void> {
    this.#db.prepare('UPDATE key_head SET pepper_check = ?').run(check);
  }

  async touch(uses: ReadonlyMap<string, number>): Promise<void> {
    const update = this.#db.prepare(
      'UPDATE api_key SET last_used_ms = ? WHERE id = ? AND coalesce(last_used_ms, 0) < ?',
    );
    let isAsRead = false;
    await this.inTransaction(async () => {
      isAsRead = (await this.news()) === 'none';
      for (const [id, usedMs] of uses) update.run(usedMs, id, usedMs);
    });
    // This write changes no key, so nothing has to be read again if nobody else has written.
    const stamp = this.#fileStamp();
    if (isAsRead && fileOf(stamp) === fileOf(this.#stamp)) this.#stamp = stamp;
  }

  async inTransaction<T>(work: () => Promise<T>): Promise<T> {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = await work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite itself has rolled back after some errors, a full disk among them.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * A file that is replaced or written to is opened again: it may be another, or damaged. The version differs once
   * another connection has written, also where `touch` has mistaken that for its own write.
   */
  async news(): Promise<'none' | 'gone'> {
    return this.#fileStamp() === this.#stamp && this.#dataVersion() === this.#version ? 'none' : 'gone';
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #dataVersion(): number {
    return (this.#db.prepare('PRAGMA data_version').get() as { data_version: number }).data_version;
  }

  #fileStamp(): string {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(this.address, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  }
}

/** Device and inode of a stamp. */
const fileOf = (stamp: string): string => stamp.split(',').slice(0, 2).join();

function keyOf(row: Row): StoredKey {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    digestHex: hexOf(row.digest),
    scopes: JSON.parse(row.scopes) as Scope[],
    expiresMs: row.expires_ms ?? undefined,
    origins: JSON.parse(row.origins) as string[],
    cidrs: JSON.parse(row.cidrs) as string[],
    limits: JSON.parse(row.limits) as KeyLimits,
    createdMs: row.created_ms,
    lastUsedMs: row.last_used_ms ?? undefined,
    generation: row.generation,
    formerDigestHex: row.former_digest === null ? undefined : hexOf(row.former_digest),
    formerUntilMs: row.former_until_ms ?? undefined,
  };
}

const hexOf = (bytes: ArrayBuffer | Uint8Array): string => Buffer.from(bytes as ArrayBuffer).toString('hex');
