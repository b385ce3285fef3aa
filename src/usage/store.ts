// The usage of keys in a libsql file of its own, usage.db in the data folder, so that its writes hold up no reader of keys.
// Every call blocks: the service uses it from a worker thread. Like the key store it has no write-ahead log beside it: a
// reader holds up a flush at most for the rows it reads at a time, and the file can be moved, replaced or removed.
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { ensureDataDir } from '../keys/private-files.js';
import type { StoredUse, UsageBatch, UsageRow, UsedByKey } from './batch.js';
import { CELLS, cellAt, OPERATIONS, OUTCOMES, REFUSED } from './operations.js';

const SCHEMA_VERSION = 1;
const SCHEMA = `
  CREATE TABLE usage (
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
  ) STRICT, WITHOUT ROWID`;

const COUNT = `INSERT INTO usage (hour_ms, key_id, operation, outcome, requests, points) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, points = points + excluded.points`;
const USE = `INSERT INTO used (period, key_id, requests, points) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, points = points + excluded.points`;
const FLUSHED = `INSERT INTO flushed (node, batch, at_ms) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET batch = excluded.batch, at_ms = excluded.at_ms`;
const USED = `SELECT key_id AS keyId, period, requests, points FROM used WHERE period IN (?, ?)`;
const ROWS = `SELECT hour_ms AS hourMs, key_id AS keyId, operation, outcome, requests, points FROM usage
  WHERE (hour_ms, key_id, operation, outcome) > (?, ?, ?, ?) AND hour_ms < ?
  ORDER BY hour_ms, key_id, operation, outcome LIMIT ?`;

const BUSY_TIMEOUT_MS = 1000;
/** Rows of one read: what a reader holds up a flush for. */
const PAGE_ROWS = 10_000;
/** A process that has flushed nothing for so long has ended. */
const NODE_AGE_MS = 40 * 24 * 3_600_000;

export function usagePath(dataDir: string): string {
  return join(dataDir, 'usage.db');
}

/** The errors of its methods are those of libsql. */
export class UsageStore {
  readonly #db: Database.Database;
  readonly #stamp: string;

  private constructor(private readonly path: string) {
    this.#db = new Database(path);
    try {
      this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      this.#db.pragma('journal_mode = DELETE');
      this.#stamp = stampOf(path);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Opens a store that is there, for reading. */
  static open(dataDir: string): UsageStore {
    const path = usagePath(dataDir);
    if (!existsSync(path)) throw new Error(`there is no usage.db in ${dataDir}`);
    const store = new UsageStore(path);
    store.#refuseNewer();
    return store;
  }

  /** Opens the store, made if it is not there. */
  static openOrMake(dataDir: string): UsageStore {
    ensureDataDir(dataDir);
    const path = usagePath(dataDir);
    // Made by us first, so that the file and the journal beside it are its owner's alone.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    const store = new UsageStore(path);
    try {
      store.#refuseNewer();
      store.#inTransaction(() => {
        if (store.#version() > 0) return;
        store.#db.exec(SCHEMA);
        store.#db.pragma(`user_version = ${SCHEMA_VERSION}`);
      });
    } catch (error) {
      store.close();
      throw error;
    }
    return store;
  }

  /** Whether the file that is open is the one at its path. */
  get isInPlace(): boolean {
    try {
      return stampOf(this.path) === this.#stamp;
    } catch {
      return false;
    }
  }

  /** The use of a day and of a month. */
  load(day: string, month: string): StoredUse {
    const { latestDay } = this.#db
      .prepare('SELECT max(period) AS latestDay FROM used WHERE length(period) = 10')
      .get() as { latestDay: string | null };
    return { latestDay: latestDay ?? undefined, used: this.#used(day, month, undefined) };
  }

  /**
   * Adds the counts of a batch, in one transaction, unless the batch has been added before.
   * @param node names the process
   * @returns what the keys of the batch have used, by all processes that share the store
   */
  add(node: string, batch: UsageBatch, nowMs: number): Map<string, UsedByKey> {
    const { day, month, keyIds } = batch;
    this.#inTransaction(() => {
      const last = this.#db.prepare('SELECT batch FROM flushed WHERE node = ?').get(node) as
        | { batch: number }
        | undefined;
      if (last !== undefined && last.batch >= batch.number) return;
      const count = this.#db.prepare(COUNT);
      const use = this.#db.prepare(USE);
      for (const [index, keyId] of keyIds.entries()) {
        const cells = batch.cells.subarray(2 * CELLS * index, 2 * CELLS * (index + 1));
        let requests = 0;
        let points = 0;
        for (const [operation, word] of OPERATIONS.entries()) {
          for (const [outcome, ending] of OUTCOMES.entries()) {
            const at = cellAt(operation, outcome);
            if (cells[at] === 0 && cells[at + 1] === 0) continue;
            count.run(batch.hourMs, keyId, word, ending, cells[at], cells[at + 1]);
            if (outcome === REFUSED) continue;
            requests += cells[at]!;
            points += cells[at + 1]!;
          }
        }
        for (const period of [day, month]) use.run(period, keyId, requests, points);
      }
      this.#db.prepare(FLUSHED).run(node, batch.number, nowMs);
    });
    return this.#used(day, month, new Set(keyIds));
  }

  /** Removes what nobody asks for any more: sums of periods before `month`, and processes that have long ended. */
  prune(month: string, nowMs: number): void {
    this.#db.prepare('DELETE FROM used WHERE period < ?').run(month);
    this.#db.prepare('DELETE FROM flushed WHERE at_ms < ?').run(nowMs - NODE_AGE_MS);
  }

  /**
   * All rows of hours that begin within bounds, by hour, key, operation and outcome; read in pages, between which a service may write.
   * @param fromMs, untilMs milliseconds since 1970; `untilMs` is not within
   */
  *rows(fromMs: number, untilMs: number): Generator<UsageRow> {
    const page = this.#db.prepare(ROWS);
    let after: readonly [number, string, string, string] = [fromMs, '', '', ''];
    for (;;) {
      const rows = page.all(...after, untilMs, PAGE_ROWS) as UsageRow[];
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_ROWS) return;
      after = [last.hourMs, last.keyId, last.operation, last.outcome];
    }
  }

  close(): void {
    this.#db.close();
  }

  /** @param only of these keys; undefined: of all */
  #used(day: string, month: string, only: ReadonlySet<string> | undefined): Map<string, UsedByKey> {
    interface Sum {
      readonly keyId: string;
      readonly period: string;
      readonly requests: number;
      readonly points: number;
    }
    const sums: Sum[] = [];
    if (only === undefined) sums.push(...(this.#db.prepare(USED).all(day, month) as Sum[]));
    else {
      const one = this.#db.prepare(`${USED} AND key_id = ?`);
      for (const keyId of only) sums.push(...(one.all(day, month, keyId) as Sum[]));
    }
    const used = new Map<string, UsedByKey>();
    for (const { keyId, period, requests, points } of sums) {
      const before = used.get(keyId) ?? { dayRequests: 0, dayPoints: 0, monthRequests: 0, monthPoints: 0 };
      used.set(
        keyId,
        period === day
          ? { ...before, dayRequests: requests, dayPoints: points }
          : { ...before, monthRequests: requests, monthPoints: points },
      );
    }
    return used;
  }

  #version(): number {
    return (this.#db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
  }

  #refuseNewer(): void {
    if (this.#version() <= SCHEMA_VERSION) return;
    this.close();
    throw new Error(`${this.path} was made by a newer version of hexcodes`);
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

function stampOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev},${ino}`;
}
