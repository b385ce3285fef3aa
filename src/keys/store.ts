// The key store: one libsql file in the data folder, shared by the server and the command. Every call blocks, so the
// server uses it from a worker thread only (worker.ts). No key text is ever stored or logged, only its digest.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { KeyState, StoredKey } from './key-ring.js';
import { digestOf, ensureDataDir, makeKeyText, writePrivateFile } from './secret.js';

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

export class KeyStore {
  readonly #db: Database.Database;

  constructor(
    private readonly dataDir: string,
    private readonly pepper: string,
  ) {
    ensureDataDir(dataDir);
    const path = join(dataDir, 'keys.db');
    // Made by us first, so that the file and the journals beside it are its owner's alone.
    closeSync(openSync(path, 'a', 0o600));
    this.#db = new Database(path);
    this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    this.#db.pragma('journal_mode = WAL');
    this.#db.exec(SCHEMA);
  }

  /** Makes a key; its text is handed back here and never again. */
  create(name: string): { id: string; keyText: string } {
    const id = randomBytes(6).toString('hex');
    const keyText = makeKeyText();
    this.#db
      .prepare('INSERT INTO api_key (id, name, digest, state, created_ms) VALUES (?, ?, ?, ?, ?)')
      .run(id, name, digestOf(keyText, this.pepper), 'active', Date.now());
    return { id, keyText };
  }

  /** In a store without any key, makes one and leaves its text in the file `first-key`. */
  createFirst(): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const { count } = this.#db.prepare('SELECT count(*) AS count FROM api_key').get() as { count: number };
      if (count === 0) {
        const { keyText } = this.create('first');
        writePrivateFile(join(this.dataDir, 'first-key'), `${keyText}\n`, 'w');
      }
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  list(): KeyRow[] {
    return this.#db
      .prepare('SELECT id, name, state, created_ms AS createdMs FROM api_key ORDER BY created_ms, id')
      .all() as KeyRow[];
  }

  /** False if there is no such key, or it is revoked: that is for good. */
  setState(id: string, state: Exclude<KeyState, 'active'>): boolean {
    const result = this.#db
      .prepare("UPDATE api_key SET state = ? WHERE id = ? AND state <> 'revoked'")
      .run(state, id);
    return result.changes > 0;
  }

  /** What the server keeps in memory. */
  load(): StoredKey[] {
    const rows = this.#db.prepare('SELECT id, name, digest, state FROM api_key').all() as {
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
}
