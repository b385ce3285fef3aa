// The usage of keys in the database that several nodes share, by one connection of the thread of usage. Its tables
// stand in the schema of the key store. Rows are written in the order of key ids: nodes that flush at the same time
// wait for each other in one direction only. The time of shared buckets is the database's: the clocks of nodes may
// differ.
import { PostgresConnection } from '../../keys/store/postgres-connection.js';
import {
  askedIds,
  compareRows,
  grantOf,
  isWritten,
  NODE_AGE_MS,
  PAGE_ROWS,
  type PeriodSum,
  type QuotaGrant,
  type QuotaOrder,
  type RateKind,
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

const COUNT = `INSERT INTO hexcodes_usage AS u (hour_ms, key_id, operation, outcome, requests, points)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
  ON CONFLICT (hour_ms, key_id, operation, outcome)
  DO UPDATE SET requests = u.requests + excluded.requests, points = u.points + excluded.points`;
const USE = `INSERT INTO hexcodes_used AS u (period, key_id, requests, points, held)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
  ON CONFLICT (period, key_id)
  DO UPDATE SET requests = u.requests + excluded.requests, points = u.points + excluded.points,
    held = u.held + excluded.held`;
/** Rows that are not there could not be locked. */
const MAKE = `INSERT INTO hexcodes_used (period, key_id, requests, points)
  SELECT period, key_id, 0, 0 FROM unnest($1::text[], $2::text[]) AS t (period, key_id)
  ON CONFLICT (period, key_id) DO NOTHING`;
const LOCK = `SELECT period, key_id, requests, points, held FROM hexcodes_used
  WHERE (period, key_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
  ORDER BY key_id COLLATE "C", period COLLATE "C" DESC FOR UPDATE`;
const HOLDERS = `SELECT key_id AS "keyId", node, points::float8 AS points, is_wanted AS "isWanted",
    at_ms > extract(epoch FROM clock_timestamp()) * 1000 - $2 AS "isAlive"
  FROM hexcodes_holder WHERE key_id = ANY($1)`;
const HOLD = `INSERT INTO hexcodes_holder (key_id, node, points, is_wanted, at_ms)
  SELECT key_id, $1, points, false, extract(epoch FROM clock_timestamp()) * 1000
  FROM unnest($2::text[], $3::bigint[]) AS t (key_id, points)
  ON CONFLICT (key_id, node) DO UPDATE SET points = excluded.points, is_wanted = false, at_ms = excluded.at_ms`;
const WANT = `UPDATE hexcodes_holder SET is_wanted = true WHERE key_id = ANY($1) AND node <> $2 AND points > 0`;
const LET_GO = 'DELETE FROM hexcodes_holder WHERE node = $1 AND points = 0';
/** A new bucket is a full one. The row that is inserted lacks as many tokens of its capacity as are taken. */
const TAKE = `INSERT INTO hexcodes_rate AS r (key_id, kind, per_second, capacity, tokens, at_ms)
  SELECT key_id, kind, per_second, capacity, capacity - spent, extract(epoch FROM clock_timestamp()) * 1000
  FROM unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::float8[])
    AS taken (key_id, kind, per_second, capacity, spent)
  ON CONFLICT (key_id, kind) DO UPDATE SET
    tokens = least(excluded.capacity, r.tokens + greatest(0, excluded.at_ms - r.at_ms) * excluded.per_second / 1000)
      - (excluded.capacity - excluded.tokens),
    per_second = excluded.per_second, capacity = excluded.capacity, at_ms = excluded.at_ms
  RETURNING key_id AS "keyId", kind, tokens`;
const FLUSHED = `INSERT INTO hexcodes_flushed (node, batch, at_ms) VALUES ($1, $2, $3)
  ON CONFLICT (node) DO UPDATE SET batch = excluded.batch, at_ms = excluded.at_ms`;
const USED = `SELECT period, key_id, requests, points, held FROM hexcodes_used WHERE period IN ($1, $2)`;
const ROWS = `SELECT hour_ms, key_id, operation, outcome, requests, points FROM hexcodes_usage
  WHERE (hour_ms, key_id, operation, outcome) > ($1, $2, $3, $4) AND hour_ms < $5
  ORDER BY hour_ms, key_id, operation, outcome LIMIT ${PAGE_ROWS}`;

/** Numbers of more than 32 bits come as text. */
interface SumRow {
  readonly period: string;
  readonly key_id: string;
  readonly requests: string;
  readonly points: string;
  readonly held: string;
}

interface HolderRow {
  readonly keyId: string;
  readonly node: string;
  readonly points: number;
  readonly isWanted: boolean;
  readonly isAlive: boolean;
}

interface CountRow {
  readonly hour_ms: string;
  readonly key_id: string;
  readonly operation: string;
  readonly outcome: string;
  readonly requests: string;
  readonly points: string;
}

export class PostgresUsage implements UsageStore {
  private constructor(private readonly connection: PostgresConnection) {}

  /** @param mayMake make the tables if they are not there */
  static async open(url: string, mayMake: boolean): Promise<PostgresUsage> {
    return new PostgresUsage(await PostgresConnection.open(url, 'hexcodes usage', mayMake));
  }

  get isCurrent(): boolean {
    return !this.connection.isGone;
  }

  async load(day: string, month: string): Promise<StoredUse> {
    const [latest] = await this.connection.query<{ day: string | null }>(
      'SELECT max(period) AS day FROM hexcodes_used WHERE length(period) = 10',
    );
    const sums = (await this.connection.query<SumRow>(USED, [day, month])).map(sumOf);
    return { latestDay: latest?.day ?? undefined, used: usedOf(sums, day) };
  }

  async add(node: string, batch: UsageBatch, nowMs: number): Promise<Stored> {
    const { day, month } = batch;
    const added = isWritten(batch) ? await this.#addOnce(node, batch, nowMs) : NOTHING_ADDED;
    const rows = await this.connection.query<SumRow>(`${USED} AND key_id = ANY($3)`, [
      day,
      month,
      askedIds(batch),
    ]);
    return { used: usedOf(rows.map(sumOf), day), ...added };
  }

  async prune(month: string, nowMs: number, beforeMs: number): Promise<void> {
    await this.connection.query('DELETE FROM hexcodes_used WHERE period < $1', [month]);
    for (const table of ['hexcodes_flushed', 'hexcodes_rate', 'hexcodes_holder'])
      await this.connection.query(`DELETE FROM ${table} WHERE at_ms < $1`, [nowMs - NODE_AGE_MS]);
    await this.connection.query('DELETE FROM hexcodes_usage WHERE hour_ms < $1', [beforeMs]);
  }

  async *rows(fromMs: number, untilMs: number): AsyncGenerator<UsageRow> {
    let after: readonly [number, string, string, string] = [fromMs, '', '', ''];
    for (;;) {
      const rows = (await this.connection.query<CountRow>(ROWS, [...after, untilMs])).map(countOf);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_ROWS) return;
      after = [last.hourMs, last.keyId, last.operation, last.outcome];
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  #addOnce(node: string, batch: UsageBatch, nowMs: number): Promise<Added> {
    return this.connection.inTransaction(async () => {
      const [last] = await this.connection.query<{ batch: string }>(
        'SELECT batch FROM hexcodes_flushed WHERE node = $1',
        [node],
      );
      if (last !== undefined && Number(last.batch) >= batch.number)
        return { rates: [], grants: await this.#grantedBefore(node, batch) };
      const { counts, sums } = rowsOf(batch);
      const returned = returnedOf(batch);
      // In one order in every batch: nodes wait for one another, but never in a circle.
      if (counts.length > 0) await this.#count(batch, counts);
      if (batch.quotas.length + returned.length > 0) await this.#lock(batch, [...sums, ...returned]);
      if (sums.length > 0) await this.#use(sums);
      if (returned.length > 0) await this.#use(returned.map((row) => heldRow(row, -row.points)));
      const grants = batch.quotas.length === 0 ? [] : await this.#grant(node, batch);
      const rates = batch.rates.length === 0 ? [] : await this.#take(batch);
      await this.connection.query(FLUSHED, [node, batch.number, nowMs]);
      return { rates, grants };
    });
  }

  /**
   * Locks all rows of sums that the batch may change, in one order for all nodes, and makes those that are not there.
   */
  async #lock({ quotas, day, month }: UsageBatch, changed: readonly Row[]): Promise<void> {
    const asked = quotas.flatMap(({ keyId }) => [day, month].map((period) => ({ keyId, period })));
    const rows = [...changed, ...asked].sort(compareRows);
    const columns = [rows.map(({ period }) => period), rows.map(({ keyId }) => keyId)];
    await this.connection.query(MAKE, columns);
    await this.connection.query(LOCK, columns);
  }

  async #count({ hourMs }: UsageBatch, counts: readonly UsageRow[]): Promise<void> {
    await this.connection.query(COUNT, [
      counts.map(() => hourMs),
      counts.map(({ keyId }) => keyId),
      counts.map(({ operation }) => operation),
      counts.map(({ outcome }) => outcome),
      counts.map(({ requests }) => requests),
      counts.map(({ points }) => points),
    ]);
  }

  /** Adds to the sums of keys. */
  async #use(sums: readonly PeriodSum[]): Promise<void> {
    await this.connection.query(USE, [
      sums.map(({ period }) => period),
      sums.map(({ keyId }) => keyId),
      sums.map(({ requests }) => requests),
      sums.map(({ points }) => points),
      sums.map(({ held }) => held),
    ]);
  }

  /** Gives points of quotas whose rows are locked. */
  async #grant(node: string, { quotas, day, month }: UsageBatch): Promise<QuotaGrant[]> {
    const keyIds = quotas.map(({ keyId }) => keyId);
    const sums = (
      await this.connection.query<SumRow>(`${USED} AND key_id = ANY($3)`, [day, month, keyIds])
    ).map(sumOf);
    const taken = new Map(
      sums.map(({ keyId, period, points, held }) => [`${keyId} ${period}`, points + held]),
    );
    const takenOf = (keyId: string, period: string): number => taken.get(`${keyId} ${period}`) ?? 0;
    const granted = new Map(
      quotas.map((order) => [
        order.keyId,
        grantOf(order, { day: takenOf(order.keyId, day), month: takenOf(order.keyId, month) }),
      ]),
    );
    const given = [...granted].flatMap(([keyId, points]) =>
      points === 0 ? [] : [day, month].map((period) => heldRow({ keyId, period }, points)),
    );
    if (given.length > 0) await this.#use(given.sort(compareRows));
    const holders = await this.#holders(keyIds);
    const needed = quotas.filter(({ keyId, need, isShared }) => isShared && granted.get(keyId)! < need);
    if (needed.length > 0) await this.connection.query(WANT, [needed.map(({ keyId }) => keyId), node]);
    await this.connection.query(HOLD, [
      node,
      keyIds,
      quotas.map(({ keyId, held }) => held + granted.get(keyId)!),
    ]);
    await this.connection.query(LET_GO, [node]);
    return quotas.map((order) => {
      const { own, others } = heldOf(order, node, holders.get(order.keyId));
      return {
        keyId: order.keyId,
        granted: granted.get(order.keyId)!,
        others,
        isWanted: own?.isWanted === true,
      };
    });
  }

  /** The answers to the orders of a batch that was added, and whose answer was lost. */
  async #grantedBefore(node: string, { quotas }: UsageBatch): Promise<QuotaGrant[]> {
    if (quotas.length === 0) return [];
    const holders = await this.#holders(quotas.map(({ keyId }) => keyId));
    return quotas.map((order) => {
      const { keyId, held } = order;
      const { own, others } = heldOf(order, node, holders.get(keyId));
      return { keyId, granted: Math.max(0, (own?.points ?? held) - held), others, isWanted: false };
    });
  }

  /** Holders by key. */
  async #holders(keyIds: readonly string[]): Promise<Map<string, HolderRow[]>> {
    const holders = new Map<string, HolderRow[]>();
    for (const row of await this.connection.query<HolderRow>(HOLDERS, [keyIds, SILENT_MS])) {
      const ofKey = holders.get(row.keyId);
      if (ofKey === undefined) holders.set(row.keyId, [row]);
      else ofKey.push(row);
    }
    return holders;
  }

  #take({ rates }: UsageBatch): Promise<RateLevel[]> {
    const taken = [...rates].sort((a, b) => (a.keyId + a.kind < b.keyId + b.kind ? -1 : 1));
    return this.connection.query<{ keyId: string; kind: RateKind; tokens: number }>(TAKE, [
      taken.map(({ keyId }) => keyId),
      taken.map(({ kind }) => kind),
      taken.map(({ perSecond }) => perSecond),
      taken.map(({ capacity }) => capacity),
      taken.map(({ spent }) => spent),
    ]);
  }
}

interface Row {
  readonly keyId: string;
  readonly period: string;
}

/** A change of the points held. */
const heldRow = ({ keyId, period }: Row, held: number): PeriodSum => ({
  keyId,
  period,
  requests: 0,
  points: 0,
  held,
});

interface Added {
  readonly rates: readonly RateLevel[];
  readonly grants: readonly QuotaGrant[];
}

const NOTHING_ADDED: Added = { rates: [], grants: [] };

/** The points of a key that this node holds, and others. */
function heldOf(
  { isShared }: QuotaOrder,
  node: string,
  holders: readonly HolderRow[] = [],
): { own: HolderRow | undefined; others: number } {
  const others = isShared ? holders.filter((row) => row.node !== node && row.isAlive) : [];
  return {
    own: holders.find((row) => row.node === node),
    others: others.reduce((sum, { points }) => sum + points, 0),
  };
}

const sumOf = (row: SumRow): PeriodSum => ({
  period: row.period,
  keyId: row.key_id,
  requests: Number(row.requests),
  points: Number(row.points),
  held: Number(row.held),
});

const countOf = (row: CountRow): UsageRow => ({
  hourMs: Number(row.hour_ms),
  keyId: row.key_id,
  operation: row.operation,
  outcome: row.outcome,
  requests: Number(row.requests),
  points: Number(row.points),
});
