// Whether the tables of an embedded store are this program's: a view in the place of a table, or a trigger of somebody
// else, runs any statement, and one that never ends would hold its thread for good.
import type { Libsql } from './libsql.js';

/**
 * @param steps texts of SQL that have made the tables and triggers
 * @throws Error with a sentence that names the file and what does not belong there
 */
export function refuseOtherSchema(db: Libsql.Database, address: string, steps: readonly string[]): void {
  const tables = steps.flatMap((step) =>
    [...step.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, name]) => name as string),
  );
  const found = db
    .prepare(`SELECT type, name, tbl_name AS of, sql FROM sqlite_master WHERE type IN ('view', 'trigger')`)
    .all() as { type: string; name: string; of: string; sql: string }[];
  const other = found.find(({ type, name, of, sql }) =>
    type === 'view'
      ? tables.includes(name)
      : tables.includes(of) && !steps.some((step) => step.includes(sql)),
  );
  if (other === undefined) return;
  throw new Error(
    `${address} has a ${other.type} ${JSON.stringify(other.name)}, which is not of hexcodes: remove it, or restore a backup`,
  );
}
