// The key store: one libsql file in the data folder, shared by the server and the command. Every call blocks, so the
// server uses it from a worker thread only (worker.ts). No key text is ever stored or logged, only its digest. The file
// has no write-ahead log beside it, so that a backup that is moved over it is not mixed with what was there before.
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { KeyState, StoredKey } from './key-ring.js';
import { ensureDataDir, replacePrivateFile } from './private-files.js';
import { digestOf, makeKeyText } from './secret.js';

/** A key as listed. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly createdMs: number;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
    created_ms INTEGER NOT NULL
  ) STRICT`;

const BUSY_TIMEOUT_MS = 5000;

export function storePath(dataDir: string): string {
  return join(dataDir, 'keys.db');
}

/** The errors of its methods are those of libsql; `storeFault` makes sentences of them. */
export class KeyStore {
  readonly #db: Database.Database;

  private constructor(
    private readonly dataDir: string,
    busyTimeoutMs: number,
  ) {
    this.#db = new Database(storePath(dataDir));
    try {
      this.#db.pragma(`busy_timeout = ${busyTimeoutMs}`);
      this.#db.pragma('journal_mode = DELETE');
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Opens a store that is there. A folder that cannot be written to is enough for reading. */
  static open(dataDir: string, busyTimeoutMs = BUSY_TIMEOUT_MS): KeyStore {
    if (!existsSync(storePath(dataDir))) throw new Error(`there is no key store in ${dataDir}`);
    return new KeyStore(dataDir, busyTimeoutMs);
  }

  /** Opens the store, made if it is not there. */
  static openOrMake(dataDir: string): KeyStore {
    ensureDataDir(dataDir);
    // Made by us first, so that the file and the journal beside it are its owner's alone.
    if (!existsSync(storePath(dataDir))) closeSync(openSync(storePath(dataDir), 'a', 0o600));
    const store = new KeyStore(dataDir, BUSY_TIMEOUT_MS);
    try {
      store.#db.exec(SCHEMA);
    } catch (error) {
      store.close();
      throw error;
    }
    return store;
  }

  /**
   * Makes a key, whose text is handed to `keep` and never again. The key is stored only if `keep` returns: if it
   * throws, there is no key.
   */
  create(name: string, pepper: string, keep: (keyText: string, id: string) => void): void {
    this.#inTransaction(() => this.#insert(name, pepper, keep));
  }

  /** In a store without any key, makes one and leaves its text in the file `first-key`. */
  createFirst(pepper: string): void {
    this.#inTransaction(() => {
      if (this.count() > 0) return;
      const path = join(this.dataDir, 'first-key');
      this.#insert('first', pepper, (keyText) => replacePrivateFile(path, `${keyText}\n`));
    });
  }

  count(): number {
    return (this.#db.prepare('SELECT count(*) AS count FROM api_key').get() as { count: number }).count;
  }

  list(): KeyRow[] {
    return this.#db
      .prepare('SELECT id, name, state, created_ms AS createdMs FROM api_key ORDER BY created_ms, id')
      .all() as KeyRow[];
  }

  /** False if there is no such key, or it is revoked: that is for good. */
  setState(id: string, state: KeyState): boolean {
    const result = this.#db
      .prepare("UPDATE api_key SET state = ? WHERE id = ? AND state <> 'revoked'")
      .run(state, id);
    return result.changes > 0;
  }

  /** What the server keeps in memory, ordered by id. */
  load(): StoredKey[] {
    const rows = this.#db.prepare('SELECT id, name, digest, state FROM api_key ORDER BY id').all() as {
      id: string;
      name: string;
      digest: ArrayBuffer | Uint8Array;
      state: KeyState;
    }[];
    return rows.map(({ id, name, digest, state }) => ({
      id,
      name,
      state,
      digestHex: Buffer.from(digest as ArrayBuffer).toString('hex'),
    }));
  }

  /** A number that differs after another connection has changed the file. */
  dataVersion(): number {
    return (this.#db.prepare('PRAGMA data_version').get() as { data_version: number }).data_version;
  }

  close(): void {
    this.#db.close();
  }

  #insert(name: string, pepper: string, keep: (keyText: string, id: string) => void): void {
    const id = randomBytes(6).toString('hex');
    const keyText = makeKeyText();
    this.#db
      .prepare('INSERT INTO api_key (id, name, digest, state, created_ms) VALUES (?, ?, ?, ?, ?)')
      .run(id, name, digestOf(keyText, pepper), 'active', Date.now());
    keep(keyText, id);
  }

  #inTransaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      // SQLite itself has rolled back after some errors, a full disk among them.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is damaged, or no key store',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_ERROR: 'is damaged, or no key store',
  SQLITE_FULL: 'cannot be written: the disk is full',
  SQLITE_READONLY: 'cannot be written: it is read-only',
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_BUSY: 'is locked by another process',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error, or is full',
};

/** Of errors of the file system. */
const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be made or written to: the disk is read-only',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies below a file, not a folder',
};

/** What is wrong with the store, as a sentence for people. */
export function storeFault(dataDir: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 'ENOENT') return `${storePath(dataDir)} is not there`;
  const folderFault = FOLDER_FAULTS[String(code)];
  if (folderFault !== undefined) return `the data folder ${dataDir} ${folderFault}`;
  if (code === 'ENOSPC') return `the disk of ${dataDir} is full`;
  const kind = /^SQLITE_(?:IOERR|[A-Z]+)/.exec(String(code))?.[0] ?? '';
  const sentence = SENTENCES[kind];
  if (sentence === undefined) return typeof message === 'string' ? message : String(error);
  return `${storePath(dataDir)} ${sentence} (${message})`;
}
