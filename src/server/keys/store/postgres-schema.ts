// The tables of the shared store, in the schema that the connection finds first, and how they come up to date.
import type { Client } from 'pg';

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
export async function migrate(client: Client, address: string, mayMake: boolean): Promise<void> {
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
