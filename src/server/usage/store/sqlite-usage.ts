// The usage of keys in a libsql file of its own, usage.db in the data folder, so that its writes hold up no reader of
// keys. Every call blocks: the service uses it from a worker thread. Like the key store it has no write-ahead log
// beside it: a reader holds up a flush at most for the rows it reads at a time, and the file can be moved, replaced or
// removed.

import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDataDir } from '../../keys/private-files.js';
import { Database, type Libsql, refuseOtherSchema, Statements } from '../../keys/store/libsql.js';
import {
  askedIds,
  grantOf,
  isWritten,
  NODE_AGE_MS,
  PAGE_ROWS,
  type PeriodSum,
  type QuotaGrant,
  type QuotaOrder,
  type RateLevel,
  returnedOf,
  rowsOf,
  SILENT_MS,
  type Stored,
  type StoredUse,
  type UsageBatch,
  type UsageRow,
  type UsageStore,
  usedOf,
} from '../batch.js';

/** Each step is taken once, in its place, and never edited after a release. */
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
const VERSION = STEPS.length;

/** Rows as JSON: a call into SQLite for each of many keys costs several times as much. */
const COUNT_ALL = `INSERT INTO usage (hour_ms, key_id, operation, outcome, requests, points)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?) WHERE true
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, points = points + excluded.points`;
const ADD_USE = `ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, points = points + excluded.points,
    held = held + excluded.held`;
const USE = `INSERT INTO used (period, key_id, requests, points, held) VALUES (?, ?, ?, ?, ?) ${ADD_USE}`;
const USE_ALL = `INSERT INTO used (period, key_id, requests, points, held)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) WHERE true ${ADD_USE}`;
const TAKEN = `SELECT points + held AS taken FROM used WHERE period = ? AND key_id = ?`;
const HOLDER = `SELECT points, is_wanted AS isWanted FROM holder WHERE key_id = ? AND node = ?`;
const OTHERS = `SELECT coalesce(sum(points), 0) AS points FROM holder WHERE key_id = ? AND node <> ? AND at_ms > ?`;
const WANT = `UPDATE holder SET is_wanted = 1 WHERE key_id = ? AND node <> ? AND points > 0`;
const LET_GO = 'DELETE FROM holder WHERE key_id = ? AND node = ?';
const HOLD = `INSERT INTO holder (key_id, node, points, is_wanted, at_ms) VALUES (?, ?, ?, 0, ?)
  ON CONFLICT DO UPDATE SET points = excluded.points, is_wanted = 0, at_ms = excluded.at_ms`;
/** A new bucket is a full one. The row that is inserted lacks as many tokens of its capacity as are taken. */
const TAKE = `INSERT INTO rate (key_id, kind, per_second, capacity, tokens, at_ms) VALUES (?1, ?2, ?3, ?4, ?4 - ?5, ?6)
  ON CONFLICT DO UPDATE SET
    tokens = min(excluded.capacity, tokens + max(0, excluded.at_ms - at_ms) * excluded.per_second / 1000)
      - (excluded.capacity - excluded.tokens),
    per_second = excluded.per_second, capacity = excluded.capacity, at_ms = excluded.at_ms
  RETURNING tokens`;
const FLUSHED = `INSERT INTO flushed (node, batch, at_ms) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET batch = excluded.batch, at_ms = excluded.at_ms`;
const USED = `SELECT json_group_array(json_array(key_id, period, requests, points, held)) AS rows FROM used
  WHERE period IN (?, ?)`;
const USED_BY = `${USED} AND key_id IN (SELECT value FROM json_each(?))`;
const ROWS = `SELECT hour_ms AS hourMs, key_id AS keyId, operation, outcome, requests, points FROM usage
  WHERE (hour_ms, key_id, operation, outcome) > (?, ?, ?, ?) AND hour_ms < ?
  ORDER BY hour_ms, key_id, operation, outcome LIMIT ?`;

/** Several processes write in turns; beyond this the file counts as locked. */
const BUSY_TIMEOUT_MS = 3000;

export function usagePath(dataDir: string): string {
  return join(dataDir, 'usage.db');
}

/** The errors of its methods are those of libsql. */
export class SqliteUsage implements UsageStore {
  readonly #db: Libsql.Database;
  readonly #statements: Statements;
  readonly #stamp: string;

  private constructor(private readonly path: string) {
    this.#db = new Database(path);
    this.#statements = new Statements(this.#db);
    try {
      this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      this.#db.pragma('journal_mode = DELETE');
      refuseOtherSchema(this.#db, path, STEPS);
      this.#stamp = stampOf(path);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Opens a store that is there, for reading. */
  static open(dataDir: string): SqliteUsage {
    const path = usagePath(dataDir);
    if (!existsSync(path)) throw new Error(`there is no usage.db in ${dataDir}`);
    const store = new SqliteUsage(path);
    store.#refuseNewer();
    return store;
  }

  /** Opens the store, made if it is not there. */
  static openOrMake(dataDir: string): SqliteUsage {
    ensureDataDir(dataDir);
    const path = usagePath(dataDir);
    // Made by us first, so that the file and the journal beside it are its owner's alone.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    const store = new SqliteUsage(path);
    try {
      store.#refuseNewer();
      store.#inTransaction(() => {
        const version = store.#version();
        if (version === VERSION) return;
        for (const step of STEPS.slice(version)) store.#db.exec(step);
        store.#db.pragma(`user_version = ${VERSION}`);
      });
    } catch (error) {
      store.#db.close();
      throw error;
    }
    return store;
  }

  /** Whether the file that is open is the one at its path. */
  get isCurrent(): boolean {
    try {
      return stampOf(this.path) === this.#stamp;
    } catch {
      return false;
    }
  }

  async load(day: string, month: string): Promise<StoredUse> {
    const { latestDay } = this.#statements
      .of('SELECT max(period) AS latestDay FROM used WHERE length(period) = 10')
      .get() as { latestDay: string | null };
    return { latestDay: latestDay ?? undefined, used: usedOf(this.#sums(USED, day, month), day) };
  }

  async add(node: string, batch: UsageBatch, nowMs: number): Promise<Stored> {
    const { day, month } = batch;
    const rates: RateLevel[] = [];
    const grants: QuotaGrant[] = [];
    if (isWritten(batch)) {
      this.#inTransaction(() => {
        const last = this.#statements.of('SELECT batch FROM flushed WHERE node = ?').get(node) as
          | { batch: number }
          | undefined;
        if (last !== undefined && last.batch >= batch.number) {
          grants.push(...batch.quotas.map((order) => this.#grantedBefore(node, order)));
          return;
        }
        rates.push(...this.#addNew(batch, nowMs));
        grants.push(...batch.quotas.map((order) => this.#grant(node, order, batch, nowMs)));
        this.#statements.of(FLUSHED).run(node, batch.number, nowMs);
      });
    }
    const sums = this.#sums(USED_BY, day, month, JSON.stringify(askedIds(batch)));
    return { used: usedOf(sums, day), rates, grants };
  }

  async prune(month: string, nowMs: number, beforeMs: number): Promise<void> {
    this.#statements.of('DELETE FROM used WHERE period < ?').run(month);
    for (const table of ['flushed', 'rate', 'holder'])
      this.#statements.of(`DELETE FROM ${table} WHERE at_ms < ?`).run(nowMs - NODE_AGE_MS);
    this.#statements.of('DELETE FROM usage WHERE hour_ms < ?').run(beforeMs);
  }

  async *rows(fromMs: number, untilMs: number): AsyncGenerator<UsageRow> {
    const page = this.#statements.of(ROWS);
    let after: readonly [number, string, string, string] = [fromMs, '', '', ''];
    for (;;) {
      const rows = page.all(...after, untilMs, PAGE_ROWS) as UsageRow[];
      const odd = rows.find(({ hourMs, requests, points }) => !isHour(hourMs) || requests < 0 || points < 0);
      if (odd !== undefined)
        throw new Error(
          `${this.path}: usage of key ${JSON.stringify(odd.keyId)}: hour_ms must be a time, and requests and points 0 or more`,
        );
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_ROWS) return;
      after = [last.hourMs, last.keyId, last.operation, last.outcome];
    }
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #addNew(batch: UsageBatch, nowMs: number): RateLevel[] {
    const { counts, sums } = rowsOf(batch);
    const countRow = ({ hourMs, keyId, operation, outcome, requests, points }: UsageRow) =>
      [hourMs, keyId, operation, outcome, requests, points] as const;
    this.#statements.of(COUNT_ALL).run(JSON.stringify(counts.map(countRow)));
    const used = sums.map(({ period, keyId, requests, points, held }) => [
      period,
      keyId,
      requests,
      points,
      held,
    ]);
    const returned = returnedOf(batch).map(({ period, keyId, points }) => [period, keyId, 0, 0, -points]);
    this.#statements.of(USE_ALL).run(JSON.stringify([...used, ...returned]));
    const take = this.#statements.of(TAKE);
    return batch.rates.map(({ keyId, kind, perSecond, capacity, spent }) => {
      const { tokens } = take.get(keyId, kind, perSecond, capacity, spent, nowMs) as { tokens: number };
      return { keyId, kind, tokens };
    });
  }

  #sums(text: string, ...values: string[]): PeriodSum[] {
    const { rows } = this.#statements.of(text).get(...values) as { rows: string };
    return (JSON.parse(rows) as [string, string, number, number, number][]).map(
      ([keyId, period, requests, points, held]) => ({ keyId, period, requests, points, held }),
    );
  }

  #grant(node: string, order: QuotaOrder, { day, month }: UsageBatch, nowMs: number): QuotaGrant {
    const { keyId, held, need, isShared } = order;
    const taken = this.#statements.of(TAKEN);
    const takenOf = (period: string): number =>
      (taken.get(period, keyId) as { taken: number } | undefined)?.taken ?? 0;
    const granted = grantOf(order, { day: takenOf(day), month: takenOf(month) });
    const use = this.#statements.of(USE);
    if (granted > 0) for (const period of [day, month]) use.run(period, keyId, 0, 0, granted);
    const own = this.#statements.of(HOLDER).get(keyId, node) as { isWanted: number } | undefined;
    if (isShared && granted < need) this.#statements.of(WANT).run(keyId, node);
    if (held + granted > 0) this.#statements.of(HOLD).run(keyId, node, held + granted, nowMs);
    else this.#statements.of(LET_GO).run(keyId, node);
    return { keyId, granted, others: this.#others(node, order, nowMs), isWanted: own?.isWanted === 1 };
  }

  /** The answer to an order of a batch that was added, and whose answer was lost. */
  #grantedBefore(node: string, order: QuotaOrder): QuotaGrant {
    const { keyId, held } = order;
    const own = this.#statements.of(HOLDER).get(keyId, node) as { points: number } | undefined;
    const granted = Math.max(0, (own?.points ?? held) - held);
    return { keyId, granted, others: this.#others(node, order, Date.now()), isWanted: false };
  }

  #others(node: string, { keyId, isShared }: QuotaOrder, nowMs: number): number {
    if (!isShared) return 0;
    return (this.#statements.of(OTHERS).get(keyId, node, nowMs - SILENT_MS) as { points: number }).points;
  }

  #version(): number {
    return (this.#statements.of('PRAGMA user_version').get() as { user_version: number }).user_version;
  }

  #refuseNewer(): void {
    if (this.#version() <= VERSION) return;
    this.#db.close();
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

const isHour = (hourMs: number): boolean => !Number.isNaN(new Date(hourMs).getTime());

function stampOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev},${ino}`;
}
