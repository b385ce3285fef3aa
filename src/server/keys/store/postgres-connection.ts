// One connection to the shared store, with its tables up to date. A database that does not answer in time counts as
// away: the query fails, and the owner drops the connection and opens another.

import { Socket } from 'node:net';
import pg from 'pg';
import { Connection, type Dialect, type Value } from './connection.js';

/** Timeout after which a database counts as away. */
const ANSWER_TIMEOUT_MS = 4000;
/**
 * A client that waits for a lock beyond its own timeout would occupy a connection of the database. The limit is set
 * in each transaction, because a bouncer shares sessions.
 */
const BOUNDED = `; SET LOCAL statement_timeout = ${ANSWER_TIMEOUT_MS}`;

const POSTGRES: Dialect = {
  tables: {
    key: 'hexcodes_key',
    head: 'hexcodes_store',
    usage: 'hexcodes_usage',
    used: 'hexcodes_used',
    rate: 'hexcodes_rate',
    holder: 'hexcodes_holder',
    flushed: 'hexcodes_flushed',
  },
  begin: `BEGIN${BOUNDED}`,
  beginReading: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY${BOUNDED}`,
  locksRows: true,
  forUpdate: 'FOR UPDATE',
  skipLocked: (table) => `FOR UPDATE OF ${table} SKIP LOCKED`,
  least: 'least',
  greatest: 'greatest',
  nowMs: 'extract(epoch FROM clock_timestamp()) * 1000',
  // Another server, after a failover behind a balancer, may lack writes of the previous one.
  epoch: "epoch || ' ' || pg_postmaster_start_time()",
  hex: (column) => `encode(${column}, 'hex')`,
  listJson: (column) => `array_to_json(${column})::text`,
  objectJson: (column) => `${column}::text`,
  list: (texts) => texts,
  isIn: (column, parameter) => `${column} = ANY(${parameter})`,
  select: (columns, from) =>
    `SELECT coalesce(json_agg(json_build_array(${columns})), '[]')::text AS rows FROM ${from}`,
  elements: 'jsonb_array_elements',
};

/** The longest delay before a change is seen: notifications shorten it, and nothing depends on them. */
const POLL_MS = 5000;

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
  // Nodes of version 0.2.0 continue to add to `points`: so the points held are in a column beside it, and the sum of
  // both stays right.
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

/** Timeout of closing a connection to a database that may be away. */
const CLOSE_TIMEOUT_MS = 500;

/** Numbers of 64 bits, which pg hands over as text. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

export class PostgresConnection extends Connection {
  readonly sql = POSTGRES;
  readonly pollMs = POLL_MS;
  #isGone = false;

  private constructor(
    readonly address: string,
    private readonly client: pg.Client,
    private readonly socket: Socket,
  ) {
    super();
    const gone = (): void => {
      this.#isGone = true;
    };
    // Without a listener an error of an idle connection would end the process.
    client.on('error', gone);
    client.on('end', gone);
  }

  /**
   * @param url in the form of libpq, with TLS and credentials:
   * `postgres://user:password@host/database?sslmode=verify-full`
   * @param name of the connection for the database's administrator
   * @param mayMake create missing tables
   */
  static async open(url: string, name: string, mayMake: boolean): Promise<PostgresConnection> {
    // Our own socket, to be able to drop a connection that is stuck.
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      stream: () => socket,
      types,
    });
    const address = `postgres://${client.host}:${client.port}/${client.database ?? ''}`;
    const connection = new PostgresConnection(address, client, socket);
    try {
      await client.connect();
      await connection.#migrate(mayMake);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** A connection that has ended must be replaced. */
  get isCurrent(): boolean {
    return !this.#isGone;
  }

  news(): 'perhaps' | 'gone' {
    return this.#isGone ? 'gone' : 'perhaps';
  }

  /** A single statement is a transaction, too: in one of ours, it is bounded. */
  async all<R>(text: string, values: readonly Value[] = []): Promise<R[]> {
    if (!this.isInTransaction) return this.inTransaction(() => this.all(text, values));
    return (await this.client.query(text, [...values])).rows as R[];
  }

  async run(text: string, values?: readonly Value[]): Promise<void> {
    await this.all(text, values);
  }

  quietly(work: () => Promise<void>): Promise<void> {
    return work();
  }

  /** Calls `notified` whenever somebody notifies the channel. */
  async listen(channel: string, notified: () => void): Promise<void> {
    this.client.on('notification', notified);
    await this.run(`LISTEN ${channel}`);
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.socket.destroy(), CLOSE_TIMEOUT_MS);
    await this.client.end().catch(() => {});
    clearTimeout(timer);
    this.socket.destroy();
  }

  /** Creates the tables or brings them up to date. Several nodes may do this at once. */
  async #migrate(mayMake: boolean): Promise<void> {
    const version = await this.reading(() => this.#version());
    if (version === undefined && !mayMake)
      throw new Error(`there is no key store in ${this.address}: make one with \`hexcodes keys init\``);
    if (version === VERSION) return;
    await this.inTransaction(async () => {
      await this.run('SELECT pg_advisory_xact_lock($1)', [LOCK]);
      // Another node may have migrated them meanwhile.
      for (const step of STEPS.slice((await this.#version()) ?? 0)) await this.run(step);
      await this.run('UPDATE hexcodes_store SET version = $1', [VERSION]);
    });
  }

  /** The version of the tables; undefined if there are none. Throws if it is later than this program's. */
  async #version(): Promise<number | undefined> {
    // Not by to_regclass: in a transaction that waited for the lock, it does not see tables made meanwhile.
    const there = await this.all(
      "SELECT FROM pg_class WHERE relname = 'hexcodes_store' AND pg_table_is_visible(oid)",
    );
    if (there.length === 0) return undefined;
    const [row] = await this.all<{ version: number }>('SELECT version FROM hexcodes_store');
    if (row !== undefined && row.version > VERSION)
      throw new Error(
        `${this.address} was written by a later version of hexcodes (its store has version ${row.version}, this program knows ${VERSION}): install that version`,
      );
    return row?.version;
  }
}
