// One connection to the shared store, with its tables up to date. A database that does not answer in time counts as one
// that is away: the query fails, and whoever holds the connection lets go of it and opens another.

import { Socket } from 'node:net';
import type { Client } from 'pg';
import pg from 'pg';

/** Each step is taken once, in its place, and never edited after a release. */
const STEPS: readonly string[] = [
  `CREATE TABLE hexcodes_store (
     version integer NOT NULL,
     change bigint NOT NULL,
     epoch text NOT NULL,
     pepper_check text
   );
   INSERT INTO hexcodes_store (version, change, epoch) VALUES (0, 0, gen_random_uuid()::text);
   CREATE TABLE hexcodes_key (
     id text PRIMARY KEY,
     name text NOT NULL,
     state text NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
     digest bytea NOT NULL UNIQUE,
     scopes text[] NOT NULL,
     expires_ms bigint,
     origins text[] NOT NULL,
     cidrs text[] NOT NULL,
     limits jsonb NOT NULL,
     created_ms bigint NOT NULL,
     last_used_ms bigint,
     generation integer NOT NULL,
     former_digest bytea,
     former_until_ms bigint,
     change bigint NOT NULL DEFAULT 0
   );
   CREATE INDEX hexcodes_key_change ON hexcodes_key (change);
   CREATE FUNCTION hexcodes_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       UPDATE hexcodes_store SET change = change + 1 RETURNING change INTO NEW.change;
       PERFORM pg_notify('hexcodes_keys', '');
       RETURN NEW;
     END
   $$;
   CREATE FUNCTION hexcodes_key_removed() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       UPDATE hexcodes_store SET change = change + 1, epoch = gen_random_uuid()::text;
       PERFORM pg_notify('hexcodes_keys', '');
       RETURN NULL;
     END
   $$;
   CREATE TRIGGER hexcodes_key_changed BEFORE INSERT OR UPDATE OF id, name, state, digest, scopes, expires_ms, origins,
       cidrs, limits, generation, former_digest, former_until_ms ON hexcodes_key
     FOR EACH ROW EXECUTE FUNCTION hexcodes_key_changed();
   CREATE TRIGGER hexcodes_key_removed AFTER DELETE OR TRUNCATE ON hexcodes_key
     FOR EACH STATEMENT EXECUTE FUNCTION hexcodes_key_removed()`,
  `CREATE TABLE hexcodes_usage (
     hour_ms bigint NOT NULL,
     key_id text NOT NULL,
     operation text NOT NULL,
     outcome text NOT NULL,
     requests bigint NOT NULL,
     points bigint NOT NULL,
     PRIMARY KEY (hour_ms, key_id, operation, outcome)
   );
   CREATE TABLE hexcodes_used (
     period text NOT NULL,
     key_id text NOT NULL,
     requests bigint NOT NULL,
     points bigint NOT NULL,
     PRIMARY KEY (period, key_id)
   );
   CREATE TABLE hexcodes_rate (
     key_id text NOT NULL,
     kind text NOT NULL,
     per_second double precision NOT NULL,
     capacity double precision NOT NULL,
     tokens double precision NOT NULL,
     at_ms double precision NOT NULL,
     PRIMARY KEY (key_id, kind)
   );
   CREATE TABLE hexcodes_flushed (
     node text PRIMARY KEY,
     batch bigint NOT NULL,
     at_ms bigint NOT NULL
   )`,
  // Nodes of version 0.2.0 go on adding to `points`: so the points held are beside, and the sum of both stays true.
  `ALTER TABLE hexcodes_used ADD COLUMN held bigint NOT NULL DEFAULT 0;
   CREATE TABLE hexcodes_holder (
     key_id text NOT NULL,
     node text NOT NULL,
     points bigint NOT NULL,
     is_wanted boolean NOT NULL,
     at_ms double precision NOT NULL,
     PRIMARY KEY (key_id, node)
   )`,
  // Look-ups took any key before they had a scope: keys that are there keep them.
  `UPDATE hexcodes_key SET scopes = array_append(scopes, 'lookup')`,
];

const VERSION = STEPS.length;

/** Number of the advisory lock that no other program on the database takes. */
const LOCK = 4_838_200_611;

/** The version of the tables; undefined if there are none. */
async function versionOf(client: Client): Promise<number | undefined> {
  // Not by to_regclass: in a transaction that waited for the lock, it does not see what was made meanwhile.
  const there = await client.query(
    "SELECT FROM pg_class WHERE relname = 'hexcodes_store' AND pg_table_is_visible(oid)",
  );
  if (there.rowCount === 0) return undefined;
  const { rows } = await client.query<{ version: number }>('SELECT version FROM hexcodes_store');
  return rows[0]?.version;
}

/**
 * Brings the tables up to date, or makes them. Several nodes may do this at once.
 * @param mayMake otherwise tables that are not there are a fault
 * @throws Error with a sentence
 */
async function migrate(client: Client, address: string, mayMake: boolean): Promise<void> {
  const version = await versionOf(client);
  if (version === undefined && !mayMake)
    throw new Error(`there is no key store in ${address}: make one with \`hexcodes keys init\``);
  refuseLater(version, address);
  if (version === VERSION) return;
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    // Another node may have been here first.
    const now = await versionOf(client);
    refuseLater(now, address);
    for (const step of STEPS.slice(now ?? 0)) await client.query(step);
    await client.query('UPDATE hexcodes_store SET version = $1', [VERSION]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

function refuseLater(version: number | undefined, address: string): void {
  if ((version ?? 0) <= VERSION) return;
  throw new Error(
    `${address} was written by a later version of hexcodes (its store has version ${version}, this program knows ${VERSION}): install that version`,
  );
}

/** A database that does not answer is one that is away. */
const ANSWER_TIMEOUT_MS = 4000;
/** Time to say goodbye to a database that may be away. */
const CLOSE_TIMEOUT_MS = 500;

export class PostgresConnection {
  #isGone = false;

  private constructor(
    /** Where the database is, for people; without credentials. */
    readonly address: string,
    private readonly client: pg.Client,
    private readonly socket: Socket,
  ) {
    const gone = (): void => {
      this.#isGone = true;
    };
    // Without a listener an error of an idle connection would end the process.
    client.on('error', gone);
    client.on('end', gone);
  }

  /**
   * @param url as libpq has them, with TLS and credentials:
   *   `postgres://user:password@host/database?sslmode=verify-full`
   * @param name as the database's administrator sees the connection
   * @param mayMake make the tables if they are not there
   */
  static async open(url: string, name: string, mayMake: boolean): Promise<PostgresConnection> {
    // Our own, to be able to let go of a connection that is stuck.
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      stream: () => socket,
    });
    const address = `postgres://${client.host}:${client.port}/${client.database ?? ''}`;
    const connection = new PostgresConnection(address, client, socket);
    try {
      await client.connect();
      await migrate(client, address, mayMake);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** The connection has ended: another has to be opened. */
  get isGone(): boolean {
    return this.#isGone;
  }

  async query<R>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.client.query(text, [...values])).rows as R[];
  }

  async inTransaction<T>(work: () => Promise<T>): Promise<T> {
    await this.client.query('BEGIN');
    try {
      const result = await work();
      await this.client.query('COMMIT');
      return result;
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** Calls `notified` whenever somebody notifies the channel. */
  async listen(channel: string, notified: () => void): Promise<void> {
    this.client.on('notification', notified);
    await this.client.query(`LISTEN ${channel}`);
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.socket.destroy(), CLOSE_TIMEOUT_MS);
    await this.client.end().catch(() => {});
    clearTimeout(timer);
    this.socket.destroy();
  }
}
