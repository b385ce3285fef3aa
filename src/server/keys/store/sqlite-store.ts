// The embedded store: one libsql file in the data folder, shared by the service and the command. It is declared async,
// but the calls block. The file has no write-ahead log beside it, so that a backup that is moved over it is not mixed
// with what was there before.

import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FollowedStore, StoreHead } from '../key-record.js';
import { type KeyLimits, type KeyState, SCOPES, type Scope, type StoredKey } from '../key-record.js';
import { ensureDataDir } from '../private-files.js';
import { Database, type Libsql, refuseOtherSchema, Statements } from './libsql.js';
import { isDamage } from './store-faults.js';

// The tables of the embedded store, and how an older store becomes the present one. `user_version` counts the steps
// that a file has taken; the first version that people used had the first table and no number.

/**
 * Each step is taken once, in its place, and never edited after a release. A change by anybody, by hand in the file as
 * well, has a number: the triggers see to that.
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
  // Look-ups took any key before they had a scope: keys that are there keep them.
  `UPDATE api_key SET scopes = json_insert(scopes, '$[#]', 'lookup')`,
];

const VERSION = STEPS.length;

/**
 * Takes the steps that are missing. A store that is up to date is not written to.
 * @throws Error with a sentence if the store is of a later version
 */
function migrate(db: Libsql.Database, address: string): void {
  if (versionOf(db, address) === VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been here first.
    for (let at = versionOf(db, address); at < VERSION; at++) db.exec(STEPS[at] as string);
    db.pragma(`user_version = ${VERSION}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The version of the file. Throws if it is later than this program's. */
function versionOf(db: Libsql.Database, address: string): number {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > VERSION) {
    throw new Error(
      `${address} was written by a later version of hexcodes (its store has version ${version}, this program knows ${VERSION}): install that version, or restore a backup made by this one`,
    );
  }
  return version;
}

const BUSY_TIMEOUT_MS = 5000;

/** A change is seen well within a second; asking costs microseconds. */
const POLL_MS = 250;

export function storePath(dataDir: string): string {
  return join(dataDir, 'keys.db');
}

/** A key as SQL makes it an array, in the order of COLUMNS. */
type Row = readonly [
  id: string,
  name: string,
  state: KeyState,
  digestHex: string,
  scopes: string,
  expiresMs: number | null,
  origins: string,
  cidrs: string,
  limits: string,
  createdMs: number,
  lastUsedMs: number | null,
  generation: number,
  formerDigestHex: string,
  formerUntilMs: number | null,
  change: number,
  rowId: number,
];

/** As JSON, since a call into SQLite for each value of each key costs more than to print and to read them. */
const COLUMNS = `json_array(id, name, state, lower(hex(digest)), scopes, expires_ms, origins, cidrs, limits, created_ms,
  last_used_ms, generation, lower(hex(former_digest)), former_until_ms, change, rowid)`;
const PAGE_KEYS = 1000;
/** Row ids are below it. */
const MAX_ROW_ID = Number.MAX_SAFE_INTEGER;
/** The next keys in the order of their changes, as one array: a statement for all would sort all of them in memory. */
const PAGE = `SELECT json_group_array(json(text)) AS text FROM (SELECT ${COLUMNS} AS text FROM api_key
  WHERE (change, rowid) > (?, ?) ORDER BY change, rowid LIMIT ${PAGE_KEYS})`;
const ONE = `SELECT ${COLUMNS} AS text FROM api_key WHERE id = ?`;

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
  readonly #db: Libsql.Database;
  readonly #statements: Statements;
  /** The file that is open, and when it was last changed. */
  #stamp: string;
  /** Differs after another connection has changed the file. */
  readonly #version: number;

  private constructor(dataDir: string, busyTimeoutMs: number) {
    this.address = storePath(dataDir);
    this.#stamp = this.#fileStamp();
    this.#db = new Database(this.address);
    this.#statements = new Statements(this.#db);
    try {
      this.#db.pragma(`busy_timeout = ${busyTimeoutMs}`);
      this.#db.pragma('journal_mode = DELETE');
      refuseOtherSchema(this.#db, this.address, STEPS);
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
    const row = this.#statements.of('SELECT epoch, change, pepper_check FROM key_head').get() as {
      epoch: string;
      change: number;
      pepper_check: string | null;
    };
    return { epoch: row.epoch, change: row.change, pepperCheck: row.pepper_check ?? undefined };
  }

  async keys(): Promise<StoredKey[]> {
    const keys: StoredKey[] = [];
    // Nobody changes keys between two pages.
    const isOwn = !this.#db.inTransaction;
    if (isOwn) this.#db.exec('BEGIN');
    try {
      for (const page of this.#pages(-1)) keys.push(...page);
    } finally {
      if (isOwn && this.#db.inTransaction) this.#db.exec('COMMIT');
    }
    return keys.sort(byAge);
  }

  async *changedKeys(afterChange: number): AsyncGenerator<StoredKey[]> {
    yield* this.#pages(afterChange);
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const row = this.#statements.of(ONE).get(id) as { text: string } | undefined;
    return row === undefined ? undefined : this.#keyOf(JSON.parse(row.text) as Row, new Parsed());
  }

  async count(): Promise<number> {
    return (this.#statements.of('SELECT count(*) AS count FROM api_key').get() as { count: number }).count;
  }

  async put(key: StoredKey): Promise<void> {
    this.#statements
      .of(PUT)
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
    this.#statements.of('UPDATE key_head SET pepper_check = ?').run(check);
  }

  async touch(uses: ReadonlyMap<string, number>): Promise<void> {
    const update = this.#statements.of(
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

  *#pages(afterChange: number): Generator<StoredKey[]> {
    const parsed = new Parsed();
    const page = this.#statements.of(PAGE);
    let after: [change: number, rowId: number] = [afterChange, MAX_ROW_ID];
    let rows: Row[];
    do {
      rows = JSON.parse((page.get(...after) as { text: string }).text) as Row[];
      after = rows.at(-1)?.slice(-2) as typeof after;
      yield rows.map((row) => this.#keyOf(row, parsed));
    } while (rows.length === PAGE_KEYS);
  }

  /** @throws Error that names file, key and column */
  #keyOf(row: Row, parsed: Parsed): StoredKey {
    try {
      return keyOf(row, parsed);
    } catch (error) {
      throw new Error(`${this.address}: key ${JSON.stringify(row[0])}: ${(error as Error).message}`);
    }
  }

  #dataVersion(): number {
    return (this.#statements.of('PRAGMA data_version').get() as { data_version: number }).data_version;
  }

  #fileStamp(): string {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(this.address, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  }
}

/** Device and inode of a stamp. */
const fileOf = (stamp: string): string => stamp.split(',').slice(0, 2).join();

/** A kind of values in a JSON column. */
interface JsonColumn<T> {
  readonly what: string;
  readonly is: (value: unknown) => value is T;
}

const isList = <T>(value: unknown, is: (each: unknown) => each is T): value is T[] =>
  Array.isArray(value) && value.every(is);
const isText = (value: unknown): value is string => typeof value === 'string';
const isScope = (value: unknown): value is Scope => (SCOPES as readonly unknown[]).includes(value);
const TEXTS: JsonColumn<string[]> = {
  what: 'a JSON list of texts',
  is: (value) => isList(value, isText),
};
const SCOPE_LIST: JsonColumn<Scope[]> = {
  what: `a JSON list of ${SCOPES.join(', ')}`,
  is: (value) => isList(value, isScope),
};
const LIMITS: JsonColumn<KeyLimits> = {
  what: 'a JSON object of numbers that are 0 or more',
  is: (value): value is KeyLimits =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => typeof each === 'number' && each >= 0),
};

/** Values of JSON columns: equal texts are one object, which many keys share. */
class Parsed {
  readonly #values = new Map<JsonColumn<unknown>, Map<string, unknown>>();

  /** @throws Error that begins with the column's name */
  of<T>(name: string, text: string, column: JsonColumn<T>): T {
    let values = this.#values.get(column);
    if (values === undefined) {
      values = new Map();
      this.#values.set(column, values);
    }
    let value = values.get(text);
    if (value === undefined) {
      try {
        value = JSON.parse(text);
      } catch {
        value = undefined;
      }
      if (!column.is(value)) throw new Error(`${name} must be ${column.what}`);
      values.set(text, value);
    }
    return value as T;
  }
}

/** The greatest time that a Date holds. */
const MAX_TIME_MS = 8.64e15;

function checkTime(column: string, timeMs: number | null): void {
  if (timeMs !== null && !(Math.abs(timeMs) <= MAX_TIME_MS)) throw new Error(`${column} is no time`);
}

/** @throws Error that begins with the column */
function keyOf(row: Row, parsed: Parsed): StoredKey {
  const [id, name, state, digestHex, scopes, expiresMs, origins, cidrs, limits, createdMs, ...rest] = row;
  const [lastUsedMs, generation, formerDigestHex, formerUntilMs] = rest;
  checkTime('created_ms', createdMs);
  checkTime('expires_ms', expiresMs);
  checkTime('last_used_ms', lastUsedMs);
  checkTime('former_until_ms', formerUntilMs);
  return {
    id,
    name,
    state,
    digestHex,
    scopes: parsed.of('scopes', scopes, SCOPE_LIST),
    expiresMs: expiresMs ?? undefined,
    origins: parsed.of('origins', origins, TEXTS),
    cidrs: parsed.of('cidrs', cidrs, TEXTS),
    limits: parsed.of('limits', limits, LIMITS),
    createdMs,
    lastUsedMs: lastUsedMs ?? undefined,
    generation,
    formerDigestHex: formerDigestHex === '' ? undefined : formerDigestHex,
    formerUntilMs: formerUntilMs ?? undefined,
  };
}

const byAge = (a: StoredKey, b: StoredKey): number =>
  a.createdMs - b.createdMs || (a.id < b.id ? -1 : Number(a.id > b.id));
