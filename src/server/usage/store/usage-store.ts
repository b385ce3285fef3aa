// The store of usage, over a connection to SQLite or PostgreSQL. Rows are written in the order of key ids: nodes that
// flush at the same time wait for each other in one direction only. The time of shared buckets is the database's: the
// clocks of nodes may differ.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Connection,
  type Dialect,
  given,
  postgresFault,
  sqliteSentence,
} from '../../keys/store/connection.js';
import { LibsqlConnection, type SqliteFile } from '../../keys/store/libsql.js';
import { openPostgres, type StoreOptions } from '../../keys/store/open-store.js';
import {
  askedIds,
  compareRows,
  grantOf,
  isWritten,
  NODE_AGE_MS,
  PAGE_ROWS,
  type PeriodSum,
  type QuotaGrant,
  type RateLevel,
  returnedOf,
  rowsOf,
  SILENT_MS,
  type Stored,
  type StoredUse,
  type UsageBatch,
  type UsageRow,
  usedOf,
} from '../batch.js';

/** Removes the rows of the oldest period: those of all could be more than a statement has time for. */
const oldest = (table: string, column: string): string =>
  `DELETE FROM ${table} WHERE ${column} < $1 AND ${column} = (SELECT min(${column}) FROM ${table}) RETURNING ${column}`;

function statementsOf(sql: Dialect) {
  const { usage, used, rate, holder, flushed } = sql.tables;
  const { isIn, least, greatest, nowMs } = sql;
  const sumColumns = 'period, key_id, requests, points, held';
  const usedIn = `${used} WHERE period IN ($1, $2)`;
  return {
    dayBefore: `SELECT max(period) AS day FROM ${used} WHERE length(period) = 10 AND period < $1`,
    allUsed: sql.select(sumColumns, usedIn),
    used: sql.select(sumColumns, `${usedIn} AND ${isIn('key_id', '$3')}`),
    lastBatch: `SELECT batch FROM ${flushed} WHERE node = $1`,
    flushed: `INSERT INTO ${flushed} (node, batch, at_ms) VALUES ($1, $2, $3)
      ON CONFLICT (node) DO UPDATE SET batch = excluded.batch, at_ms = excluded.at_ms`,
    count: `INSERT INTO ${usage} AS u (hour_ms, key_id, operation, outcome, requests, points)
      SELECT hour_ms, key_id, operation, outcome, requests, points
      FROM ${given(sql, '$1', 'hour_ms bigint, key_id text, operation text, outcome text, requests bigint, points bigint')}
      WHERE true ON CONFLICT (hour_ms, key_id, operation, outcome)
      DO UPDATE SET requests = u.requests + excluded.requests, points = u.points + excluded.points`,
    use: `INSERT INTO ${used} AS u (period, key_id, requests, points, held)
      SELECT period, key_id, requests, points, held
      FROM ${given(sql, '$1', 'period text, key_id text, requests bigint, points bigint, held bigint')}
      WHERE true ON CONFLICT (period, key_id)
      DO UPDATE SET requests = u.requests + excluded.requests, points = u.points + excluded.points,
        held = u.held + excluded.held`,
    /** Rows that are not there could not be locked. */
    make: `INSERT INTO ${used} (period, key_id, requests, points)
      SELECT period, key_id, 0, 0 FROM ${given(sql, '$1', 'period text, key_id text')}
      WHERE true ON CONFLICT (period, key_id) DO NOTHING`,
    lock: `SELECT points FROM ${used}
      WHERE (period, key_id) IN (SELECT period, key_id FROM ${given(sql, '$1', 'period text, key_id text')})
      ORDER BY key_id COLLATE "C", period COLLATE "C" DESC ${sql.forUpdate}`,
    /**
     * The points of each key that this node holds, whether others want them, and those that others hold. A time to come
     * is one before the clock was set back.
     */
    holdings: `SELECT key_id AS "keyId", max(CASE WHEN node = $1 THEN points END) AS own,
        max(CASE WHEN node = $1 AND is_wanted THEN 1 ELSE 0 END) AS "isWanted",
        CAST(sum(CASE WHEN node <> $1 AND abs(${nowMs} - at_ms) < ${SILENT_MS} THEN points ELSE 0 END) AS bigint) AS others
      FROM ${holder} WHERE ${isIn('key_id', '$2')} GROUP BY key_id`,
    hold: `INSERT INTO ${holder} (key_id, node, points, is_wanted, at_ms)
      SELECT key_id, $1, points, false, ${nowMs} FROM ${given(sql, '$2', 'key_id text, points bigint')}
      WHERE true ON CONFLICT (key_id, node)
      DO UPDATE SET points = excluded.points, is_wanted = false, at_ms = excluded.at_ms`,
    want: `UPDATE ${holder} SET is_wanted = true WHERE node <> $1 AND points > 0 AND ${isIn('key_id', '$2')}`,
    letGo: `DELETE FROM ${holder} WHERE node = $1 AND points = 0 AND ${isIn('key_id', '$2')}`,
    /** A new bucket is a full one. The row that is inserted lacks as many tokens of its capacity as are taken. */
    take: `INSERT INTO ${rate} AS r (key_id, kind, per_second, capacity, tokens, at_ms)
      SELECT key_id, kind, per_second, capacity, capacity - spent, ${nowMs}
      FROM ${given(sql, '$1', 'key_id text, kind text, per_second float8, capacity float8, spent float8')}
      WHERE true ON CONFLICT (key_id, kind) DO UPDATE SET
        tokens = ${least}(excluded.capacity,
            r.tokens + ${greatest}(0, excluded.at_ms - r.at_ms) * excluded.per_second / 1000)
          - (excluded.capacity - excluded.tokens),
        per_second = excluded.per_second, capacity = excluded.capacity, at_ms = excluded.at_ms
      RETURNING key_id AS "keyId", kind, tokens`,
    rows: sql.select(
      'hour_ms, key_id, operation, outcome, requests, points',
      `(SELECT * FROM ${usage} WHERE (hour_ms, key_id, operation, outcome) > ($1, $2, $3, $4) AND hour_ms < $5
        ORDER BY hour_ms, key_id, operation, outcome LIMIT ${PAGE_ROWS}) AS page`,
    ),
    pruneSilent: [flushed, rate, holder].map((table) => `DELETE FROM ${table} WHERE at_ms < $1`),
    pruneUsed: oldest(used, 'period'),
    pruneUsage: oldest(usage, 'hour_ms'),
  };
}

interface Holding {
  readonly keyId: string;
  readonly own: number | null;
  readonly isWanted: number;
  readonly others: number;
}

export class UsageStore {
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor(private readonly connection: Connection) {
    this.#statements = statementsOf(connection.sql);
  }

  /** Whether the open store is still the current one; else it has to be opened again. */
  get isCurrent(): boolean {
    return this.connection.isCurrent;
  }

  /** The use of a day and of a month. */
  async load(day: string, month: string): Promise<StoredUse> {
    const sums = (await this.connection.rows<SumRow>(this.#statements.allUsed, [day, month])).map(sumOf);
    return { latestDay: await this.dayBefore(), used: usedOf(sums, day) };
  }

  /** The latest day before another, of all by default, that anything is counted in; undefined where there is none. */
  async dayBefore(day = 'a'): Promise<string | undefined> {
    const [latest] = await this.connection.all<{ day: string | null }>(this.#statements.dayBefore, [day]);
    return latest?.day ?? undefined;
  }

  /**
   * Adds the counts of a batch, and takes its tokens from the shared buckets, in one transaction, unless the batch has
   * been added before.
   * @param node names the process
   */
  async add(node: string, batch: UsageBatch, nowMs: number): Promise<Stored> {
    const added = isWritten(batch) ? await this.#addOnce(node, batch, nowMs) : NOTHING_ADDED;
    return { used: usedOf(await this.#sums(batch, askedIds(batch)), batch.day), ...added };
  }

  /**
   * Removes what nobody asks for any more: processes and buckets without any use for long, sums of one period before
   * `month`, and counts of one hour before `beforeMs`.
   * @returns whether nothing may be left
   */
  async prune(month: string, nowMs: number, beforeMs: number): Promise<boolean> {
    const { pruneUsed, pruneSilent, pruneUsage } = this.#statements;
    for (const statement of pruneSilent) await this.connection.run(statement, [nowMs - NODE_AGE_MS]);
    const sums = await this.connection.all(pruneUsed, [month]);
    const counts = await this.connection.all(pruneUsage, [beforeMs]);
    return sums.length + counts.length === 0;
  }

  /**
   * All rows of hours that begin within bounds, by hour, key, operation and outcome; read in pages, between which a
   * service may write.
   * @param fromMs, untilMs milliseconds since 1970; `untilMs` is not within
   */
  async *rows(fromMs: number, untilMs: number): AsyncGenerator<UsageRow> {
    let after: readonly [number, string, string, string] = [fromMs, '', '', ''];
    for (;;) {
      const rows = await this.connection.rows<CountRow>(this.#statements.rows, [...after, untilMs]);
      for (const row of rows) yield this.#countOf(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_ROWS) return;
      const [hourMs, keyId, operation, outcome] = last;
      after = [hourMs, keyId, operation, outcome];
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** A row that somebody has edited may have anything in it. */
  #countOf([hourMs, keyId, operation, outcome, requests, points]: CountRow): UsageRow {
    if (Number.isNaN(new Date(hourMs).getTime()) || requests < 0 || points < 0)
      throw new Error(
        `${this.connection.address}: usage of key ${JSON.stringify(keyId)}: hour_ms must be a time, and requests and points 0 or more`,
      );
    return { hourMs, keyId, operation, outcome, requests, points };
  }

  #addOnce(node: string, batch: UsageBatch, nowMs: number): Promise<Added> {
    return this.connection.inTransaction(async () => {
      const [last] = await this.connection.all<{ batch: number }>(this.#statements.lastBatch, [node]);
      if (last !== undefined && last.batch >= batch.number)
        return { rates: [], grants: await this.#grantedBefore(node, batch) };
      const { counts, sums } = rowsOf(batch);
      const returned = returnedOf(batch).map((row) => heldRow(row, -row.points));
      // In one order in every batch: nodes wait for one another, but never in a circle.
      await this.#write(this.#statements.count, counts.map(countRow));
      if (batch.quotas.length + returned.length > 0) await this.#lock(batch, [...sums, ...returned]);
      await this.#write(this.#statements.use, sums.map(sumRow));
      await this.#write(this.#statements.use, returned.map(sumRow));
      const grants = batch.quotas.length === 0 ? [] : await this.#grant(node, batch);
      const rates = batch.rates.length === 0 ? [] : await this.#take(batch);
      await this.connection.run(this.#statements.flushed, [node, batch.number, nowMs]);
      return { rates, grants };
    });
  }

  async #write(statement: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    if (rows.length > 0) await this.connection.run(statement, [JSON.stringify(rows)]);
  }

  /**
   * Locks all rows of sums that the batch may change, in one order for all nodes, and makes those that are not there.
   */
  async #lock({ quotas, day, month }: UsageBatch, changed: readonly Row[]): Promise<void> {
    if (!this.connection.sql.locksRows) return;
    const asked = quotas.flatMap(({ keyId }) => [day, month].map((period) => ({ keyId, period })));
    const rows = JSON.stringify(
      [...changed, ...asked].sort(compareRows).map(({ keyId, period }) => [period, keyId]),
    );
    await this.connection.run(this.#statements.make, [rows]);
    await this.connection.run(this.#statements.lock, [rows]);
  }

  async #sums({ day, month }: UsageBatch, keyIds: readonly string[]): Promise<PeriodSum[]> {
    const values = [day, month, this.connection.sql.list(keyIds)];
    return (await this.connection.rows<SumRow>(this.#statements.used, values)).map(sumOf);
  }

  /** Gives points of quotas whose rows are locked. */
  async #grant(node: string, batch: UsageBatch): Promise<QuotaGrant[]> {
    const { quotas, day, month } = batch;
    const keyIds = quotas.map(({ keyId }) => keyId);
    const taken = new Map(
      (await this.#sums(batch, keyIds)).map(({ keyId, period, points, held }) => [
        `${keyId} ${period}`,
        points + held,
      ]),
    );
    const takenOf = (keyId: string, period: string): number => taken.get(`${keyId} ${period}`) ?? 0;
    const granted = new Map(
      quotas.map((order) => [
        order.keyId,
        grantOf(order, { day: takenOf(order.keyId, day), month: takenOf(order.keyId, month) }),
      ]),
    );
    const grantedOf = (keyId: string): number => granted.get(keyId) ?? 0;
    const added = [...granted].flatMap(([keyId, points]) =>
      points === 0 ? [] : [day, month].map((period) => heldRow({ keyId, period }, points)),
    );
    await this.#write(this.#statements.use, added.sort(compareRows).map(sumRow));
    const holdings = await this.#holdings(node, keyIds);
    const needed = quotas.filter(({ keyId, need, isShared }) => isShared && grantedOf(keyId) < need);
    if (needed.length > 0) {
      const neededIds = needed.map(({ keyId }) => keyId);
      await this.connection.run(this.#statements.want, [node, this.connection.sql.list(neededIds)]);
    }
    const held = quotas.map(({ keyId, held }) => [keyId, held + grantedOf(keyId)]);
    await this.connection.run(this.#statements.hold, [node, JSON.stringify(held)]);
    await this.connection.run(this.#statements.letGo, [node, this.connection.sql.list(keyIds)]);
    return quotas.map(({ keyId, isShared }) => {
      const { isWanted, others } = holdings.get(keyId) ?? NOTHING_HELD;
      const granted = grantedOf(keyId);
      return { keyId, granted, others: isShared ? others : 0, isWanted: isWanted === 1 };
    });
  }

  /** The answers to the orders of a batch that was added, and whose answer was lost. */
  async #grantedBefore(node: string, { quotas }: UsageBatch): Promise<QuotaGrant[]> {
    if (quotas.length === 0) return [];
    const keyIds = quotas.map(({ keyId }) => keyId);
    const holdings = await this.#holdings(node, keyIds);
    return quotas.map(({ keyId, held, isShared }) => {
      const { own, others } = holdings.get(keyId) ?? NOTHING_HELD;
      const granted = Math.max(0, (own ?? held) - held);
      return { keyId, granted, others: isShared ? others : 0, isWanted: false };
    });
  }

  async #holdings(node: string, keyIds: readonly string[]): Promise<Map<string, Omit<Holding, 'keyId'>>> {
    const values = [node, this.connection.sql.list(keyIds)];
    const holdings = await this.connection.all<Holding>(this.#statements.holdings, values);
    return new Map(holdings.map((holding) => [holding.keyId, holding]));
  }

  #take({ rates }: UsageBatch): Promise<RateLevel[]> {
    const taken = [...rates]
      .sort((a, b) => (a.keyId + a.kind < b.keyId + b.kind ? -1 : 1))
      .map(({ keyId, kind, perSecond, capacity, spent }) => [keyId, kind, perSecond, capacity, spent]);
    return this.connection.all(this.#statements.take, [JSON.stringify(taken)]);
  }
}

type SumRow = readonly [period: string, keyId: string, requests: number, points: number, held: number];

function sumOf([period, keyId, requests, points, held]: SumRow): PeriodSum {
  return { period, keyId, requests, points, held };
}

function sumRow({ period, keyId, requests, points, held }: PeriodSum): SumRow {
  return [period, keyId, requests, points, held];
}

type CountRow = readonly [
  hourMs: number,
  keyId: string,
  operation: string,
  outcome: string,
  requests: number,
  points: number,
];

function countRow({ hourMs, keyId, operation, outcome, requests, points }: UsageRow): CountRow {
  return [hourMs, keyId, operation, outcome, requests, points];
}

interface Row {
  readonly keyId: string;
  readonly period: string;
}

/** A change of the points held. */
function heldRow({ keyId, period }: Row, held: number): PeriodSum {
  return { keyId, period, requests: 0, points: 0, held };
}

interface Added {
  readonly rates: readonly RateLevel[];
  readonly grants: readonly QuotaGrant[];
}

const NOTHING_ADDED: Added = { rates: [], grants: [] };

const NOTHING_HELD = { own: null, isWanted: 0, others: 0 };

// Opens the store of usage that the configuration names: the file in the data folder, or the database that nodes share.

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
