// The tables of the embedded store, and how an older store becomes the present one. `user_version` counts the steps
// that a file has taken; the first version that people used had the first table and no number.
import type Database from 'libsql';

/**
 * Each step is taken once, in its place, and never edited after a release. A change by anybody, by hand in the file as
 * well, has a number: the triggers see to that.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS api_key (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     digest BLOB NOT NULL UNIQUE,
     state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
     created_ms INTEGER NOT NULL
   ) STRICT`,
  `ALTER TABLE api_key ADD COLUMN scopes TEXT NOT NULL DEFAULT '["encode","decode","bulk"]';
   ALTER TABLE api_key ADD COLUMN expires_ms INTEGER;
   ALTER TABLE api_key ADD COLUMN origins TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE api_key ADD COLUMN cidrs TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE api_key ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE api_key ADD COLUMN last_used_ms INTEGER;
   ALTER TABLE api_key ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE api_key ADD COLUMN former_digest BLOB;
   ALTER TABLE api_key ADD COLUMN former_until_ms INTEGER;
   ALTER TABLE api_key ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX api_key_change ON api_key (change);
   CREATE TABLE key_head (
     change INTEGER NOT NULL,
     epoch TEXT NOT NULL,
     pepper_check TEXT
   ) STRICT;
   INSERT INTO key_head (change, epoch) VALUES (0, hex(randomblob(8)));
   CREATE TRIGGER api_key_made AFTER INSERT ON api_key BEGIN
     UPDATE key_head SET change = change + 1;
     UPDATE api_key SET change = (SELECT change FROM key_head) WHERE id = NEW.id;
   END;
   CREATE TRIGGER api_key_changed AFTER UPDATE OF id, name, digest, state, scopes, expires_ms, origins, cidrs, limits,
       generation, former_digest, former_until_ms ON api_key BEGIN
     UPDATE key_head SET change = change + 1;
     UPDATE api_key SET change = (SELECT change FROM key_head) WHERE id = NEW.id;
   END;
   CREATE TRIGGER api_key_removed AFTER DELETE ON api_key BEGIN
     UPDATE key_head SET change = change + 1, epoch = hex(randomblob(8));
   END`,
  // Look-ups took any key before they had a scope: keys that are there keep them.
  `UPDATE api_key SET scopes = json_insert(scopes, '$[#]', 'lookup')`,
];

const VERSION = STEPS.length;

/**
 * Takes the steps that are missing. A store that is up to date is not written to.
 * @throws Error with a sentence if the store is of a later version
 */
export function migrate(db: Database.Database, address: string): void {
  if (versionOf(db, address) === VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been here first.
    for (let at = versionOf(db, address); at < VERSION; at++) db.exec(STEPS[at] as string);
    db.pragma(`user_version = ${VERSION}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The version of the file. Throws if it is later than this program's. */
function versionOf(db: Database.Database, address: string): number {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > VERSION) {
    throw new Error(
      `${address} was written by a later version of hexcodes (its store has version ${version}, this program knows ${VERSION}): install that version, or restore a backup made by this one`,
    );
  }
  return version;
}
