// The usage of keys in the database that several nodes share, by one connection of the thread of usage. Its tables stand in
// the schema of the key store. Rows are written in the order of key ids: nodes that flush at the same time wait for each
// other in one direction only. The time of shared buckets is the database's: the clocks of nodes may differ.
import { PostgresConnection } from '../../keys/store/postgres-connection.js';
import type { RateKind, RateLevel, Stored, StoredUse, UsageBatch, UsageRow } from '../batch.js';
import { type PeriodSum, rowsOf, usedOf } from '../batch-rows.js';
import { NODE_AGE_MS, PAGE_ROWS, type UsageStore } from './usage-store.js';

const COUNT = `INSERT INTO hexcodes_usage AS u (hour_ms, key_id, operation, outcome, requests, points)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
  ON CONFLICT (hour_ms, key_id, operation, outcome)
  DO UPDATE SET requests = u.requests + excluded.requests, points = u.points + excluded.points`;
const USE = `INSERT INTO hexcodes_used AS u (period, key_id, requests, points)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
  ON CONFLICT (period, key_id)
  DO UPDATE SET requests = u.requests + excluded.requests, points = u.points + excluded.points`;
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
const USED = `SELECT period, key_id, requests, points FROM hexcodes_used WHERE period IN ($1, $2)`;
const ROWS = `SELECT hour_ms, key_id, operation, outcome, requests, points FROM hexcodes_usage
  WHERE (hour_ms, key_id, operation, outcome) > ($1, $2, $3, $4) AND hour_ms < $5
  ORDER BY hour_ms, key_id, operation, outcome LIMIT ${PAGE_ROWS}`;

/** Numbers of more than 32 bits come as text. */
interface SumRow {
  readonly period: string;
  readonly key_id: string;
  readonly requests: string;
  readonly points: string;
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

  get isInPlace(): boolean {
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
    const { day, month, keyIds, watchedIds } = batch;
    // A batch that only asks writes nothing.
    const isWritten = keyIds.length > 0 || batch.rates.length > 0;
    const rates = isWritten ? await this.#addOnce(node, batch, nowMs) : [];
    const rows = await this.connection.query<SumRow>(`${USED} AND key_id = ANY($3)`, [
      day,
      month,
      [...keyIds, ...watchedIds],
    ]);
    return { used: usedOf(rows.map(sumOf), day), rates };
  }

  async prune(month: string, nowMs: number, beforeMs: number): Promise<void> {
    await this.connection.query('DELETE FROM hexcodes_used WHERE period < $1', [month]);
    for (const table of ['hexcodes_flushed', 'hexcodes_rate'])
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

  #addOnce(node: string, batch: UsageBatch, nowMs: number): Promise<RateLevel[]> {
    return this.connection.inTransaction(async () => {
      const [last] = await this.connection.query<{ batch: string }>(
        'SELECT batch FROM hexcodes_flushed WHERE node = $1',
        [node],
      );
      if (last !== undefined && Number(last.batch) >= batch.number) return [];
      const { counts, sums } = rowsOf(batch);
      const write = (text: string, columns: readonly unknown[][]): Promise<unknown> =>
        this.connection.query(text, columns);
      if (counts.length > 0) {
        const { hourMs } = batch;
        await write(COUNT, [
          counts.map(() => hourMs),
          counts.map(({ keyId }) => keyId),
          counts.map(({ operation }) => operation),
          counts.map(({ outcome }) => outcome),
          counts.map(({ requests }) => requests),
          counts.map(({ points }) => points),
        ]);
        await write(USE, [
          sums.map(({ period }) => period),
          sums.map(({ keyId }) => keyId),
          sums.map(({ requests }) => requests),
          sums.map(({ points }) => points),
        ]);
      }
      const rates = batch.rates.length === 0 ? [] : await this.#take(batch);
      await this.connection.query(FLUSHED, [node, batch.number, nowMs]);
      return rates;
    });
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

const sumOf = (row: SumRow): PeriodSum => ({
  period: row.period,
  keyId: row.key_id,
  requests: Number(row.requests),
  points: Number(row.points),
});

const countOf = (row: CountRow): UsageRow => ({
  hourMs: Number(row.hour_ms),
  keyId: row.key_id,
  operation: row.operation,
  outcome: row.outcome,
  requests: Number(row.requests),
  points: Number(row.points),
});
