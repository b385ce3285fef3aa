// The store that several nodes share: PostgreSQL, by one connection. Every change of a key has a number, given under
// the lock of one row, so that the numbers come in the order in which the changes can be seen. NOTIFY shortens the wait
// for the next look; nothing depends on its coming.
import type { FollowedStore, KeyLimits, KeyState, Scope, StoredKey, StoreHead } from '../key-record.js';
import { PostgresConnection } from './postgres-connection.js';

/** The longest that a change takes to be seen. */
const POLL_MS = 5000;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly digest: Buffer;
  readonly scopes: Scope[];
  readonly expires_ms: string | null;
  readonly origins: string[];
  readonly cidrs: string[];
  readonly limits: KeyLimits;
  readonly created_ms: string;
  readonly last_used_ms: string | null;
  readonly generation: number;
  readonly former_digest: Buffer | null;
  readonly former_until_ms: string | null;
}

const SELECT = `SELECT id, name, state, digest, scopes, expires_ms, origins, cidrs, limits, created_ms, last_used_ms,
  generation, former_digest, former_until_ms FROM hexcodes_key`;

const PUT = `INSERT INTO hexcodes_key (id, name, state, digest, scopes, expires_ms, origins, cidrs, limits, created_ms,
    last_used_ms, generation, former_digest, former_until_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, state = excluded.state, digest = excluded.digest,
    scopes = excluded.scopes, expires_ms = excluded.expires_ms, origins = excluded.origins, cidrs = excluded.cidrs,
    limits = excluded.limits, generation = excluded.generation, former_digest = excluded.former_digest,
    former_until_ms = excluded.former_until_ms`;

/** In the order of ids, and past rows that a change holds: so that it waits for nobody and nobody waits in a circle. */
const TOUCH = `UPDATE hexcodes_key SET last_used_ms = use.used_ms FROM (
    SELECT k.id, given.used_ms FROM hexcodes_key k
    JOIN unnest($1::text[], $2::bigint[]) AS given (id, used_ms) USING (id)
    WHERE coalesce(k.last_used_ms, 0) < given.used_ms ORDER BY k.id FOR UPDATE OF k SKIP LOCKED
  ) use WHERE hexcodes_key.id = use.id`;

export class PostgresStore implements FollowedStore {
  readonly pollMs = POLL_MS;

  private constructor(private readonly connection: PostgresConnection) {}

  /** @param mayMake make the tables if they are not there */
  static async open(url: string, mayMake: boolean): Promise<PostgresStore> {
    return new PostgresStore(await PostgresConnection.open(url, 'hexcodes keys', mayMake));
  }

  get address(): string {
    return this.connection.address;
  }

  listen(changed: () => void): Promise<void> {
    return this.connection.listen('hexcodes_keys', changed);
  }

  async head(): Promise<StoreHead> {
    // Another server, after a failover behind a balancer, may have lost what the one before had.
    const [row] = await this.connection.query<{
      epoch: string;
      change: string;
      pepper_check: string | null;
      started: string;
    }>('SELECT epoch, change, pepper_check, pg_postmaster_start_time()::text AS started FROM hexcodes_store');
    if (row === undefined)
      throw new Error(`the key store in ${this.address} is damaged: hexcodes_store has no row`);
    return {
      epoch: `${row.epoch} ${row.started}`,
      change: Number(row.change),
      pepperCheck: row.pepper_check ?? undefined,
    };
  }

  async keys(): Promise<StoredKey[]> {
    return (await this.connection.query<Row>(`${SELECT} ORDER BY created_ms, id`, [])).map(keyOf);
  }

  async *changedKeys(afterChange: number): AsyncGenerator<StoredKey[]> {
    yield (await this.connection.query<Row>(`${SELECT} WHERE change > $1`, [afterChange])).map(keyOf);
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const [row] = await this.connection.query<Row>(`${SELECT} WHERE id = $1`, [id]);
    return row === undefined ? undefined : keyOf(row);
  }

  async count(): Promise<number> {
    const [row] = await this.connection.query<{ count: string }>(
      'SELECT count(*) AS count FROM hexcodes_key',
    );
    return Number(row?.count);
  }

  async put(key: StoredKey): Promise<void> {
    await this.connection.query(PUT, [
      key.id,
      key.name,
      key.state,
      Buffer.from(key.digestHex, 'hex'),
      key.scopes,
      key.expiresMs ?? null,
      key.origins,
      key.cidrs,
      JSON.stringify(key.limits),
      key.createdMs,
      key.lastUsedMs ?? null,
      key.generation,
      key.formerDigestHex === undefined ? null : Buffer.from(key.formerDigestHex, 'hex'),
      key.formerUntilMs ?? null,
    ]);
  }

  async removeAll(): Promise<void> {
    await this.connection.query('DELETE FROM hexcodes_key');
  }

  async setPepperCheck(check: string): Promise<void> {
    await this.connection.query('UPDATE hexcodes_store SET pepper_check = $1', [check]);
  }

  async touch(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.connection.query(TOUCH, [[...uses.keys()], [...uses.values()]]);
  }

  inTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.connection.inTransaction(async () => {
      await this.connection.query('SELECT FROM hexcodes_store FOR UPDATE');
      return work();
    });
  }

  async news(): Promise<'perhaps' | 'gone'> {
    return this.connection.isGone ? 'gone' : 'perhaps';
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

const numberOf = (text: string | null): number | undefined => (text === null ? undefined : Number(text));

function keyOf(row: Row): StoredKey {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    digestHex: row.digest.toString('hex'),
    scopes: row.scopes,
    expiresMs: numberOf(row.expires_ms),
    origins: row.origins,
    cidrs: row.cidrs,
    limits: row.limits,
    createdMs: Number(row.created_ms),
    lastUsedMs: numberOf(row.last_used_ms),
    generation: row.generation,
    formerDigestHex: row.former_digest?.toString('hex'),
    formerUntilMs: numberOf(row.former_until_ms),
  };
}
